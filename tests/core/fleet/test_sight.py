"""Who counts as disturbed, and as moving."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.fleet.sight import Sight, sight_of
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.reasons import Reason
from slackwater.core.world.world import World
from tests.core.factories import observation, world

UNSEEN = Unobserved(Reason.KAFKA_UNREACHABLE, "no answer", 0.0)


def without_a_pod(found: World) -> World:
    return replace(found, all_pods=found.all_pods[1:])


@pytest.mark.parametrize(
    ("found", "is_moving", "disturbed"),
    [
        (world(), False, False),
        (world(kafka=observation(state=GroupState.PREPARING_REBALANCE)), False, True),
        (world(kafka=UNSEEN), False, True),
        (without_a_pod(world()), True, True),
        (replace(world(kafka=observation(state=GroupState.EMPTY)), all_pods=(), sets=()), True, False),
    ],
    ids=["calm and whole", "it rebalances", "not to be seen", "a pod is away", "nothing of it was made yet"],
)
def test_what_a_look_says(found: World, is_moving: bool, disturbed: bool) -> None:
    seen = sight_of(replace(found, cluster_id="lkc-7f"))
    assert (seen.cluster, seen.is_moving, seen.disturbed) == ("lkc-7f", is_moving, disturbed)


def test_brokers_without_an_id_are_of_no_known_cluster() -> None:
    assert sight_of(replace(world(), cluster_id="")).cluster is None
    assert Sight().disturbed is None, "nobody has looked"

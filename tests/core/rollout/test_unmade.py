"""Which pods a StatefulSet's controller should have made by now."""

from __future__ import annotations

import pytest

from slackwater.core.rollout.unmade import find_unmade
from slackwater.core.world.world import World
from tests.core.factories import NAME, pod, workload, world

TWO = (pod(0), pod(2))
IN_ORDER = workload(fixed={"podManagementPolicy": "OrderedReady"})


def names(given: World) -> list[str]:
    return [name.removeprefix(f"{NAME}-") for name in find_unmade(given)]


@pytest.mark.parametrize(
    ("given", "unmade"),
    [
        (world(), []),
        (world(pods=TWO), ["1"]),
        (world(pods=()), ["0", "1", "2"]),
        (world(pods=(pod(0), pod(1, terminating=True), pod(2))), []),
        (world(pods=TWO, loose=frozenset({1})), []),
        (world(pods=TWO, workload=workload(owner_uid="somebody")), []),
        (world(pods=TWO, workload=workload(is_ending=True)), []),
        (world(pods=(pod(0), pod(1)), workload=workload(replicas=2)), []),
        (world(pods=TWO, workload=workload(replicas=2, start=1)), ["1"]),
        (world(pods=(), workload=IN_ORDER), ["0"]),
        (world(pods=(pod(0, ready=False),), workload=IN_ORDER), []),
        (world(pods=(pod(0),), workload=IN_ORDER), ["1"]),
    ],
    ids=lambda each: "" if isinstance(each, World) else ",".join(each) or "none",
)
def test_whose_name_nobody_has_and_whose_turn_it_is(given: World, unmade: list[str]) -> None:
    assert names(given) == unmade


def test_of_two_stateful_sets_each_is_asked_for_its_own() -> None:
    """As in a warm handover: the one makes ordinal 0, the other those above."""
    other = workload(name=f"{NAME}-b", uid="other", start=1, replicas=2)
    theirs = pod(1, name=f"{NAME}-b-1", workload=other.name)
    given = world(sets=(workload(replicas=1), other), pods=(theirs,))
    assert {name: each.uid for name, each in find_unmade(given).items()} == {
        f"{NAME}-0": "set-uid",
        f"{NAME}-b-2": "other",
    }

"""Groups that cannot be handed over: nothing is touched, and the reason names the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile
from tests.core.factories import group, members, observation, pod, world

WARM: dict[str, Any] = {"rollout": {"strategy": "WarmHandover"}}
CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "orders-data"}}]}
CONTAINERS = [{"name": "consumer", "image": "consumer:v2"}]
AT_REST = RolloutMemory(phase=RolloutPhase.COMPLETE)
MODERN = replace(observation(members(0, 1, 2)), type=GroupType.CONSUMER, epoch=3, settings={})


@pytest.mark.parametrize(
    ("of", "changes", "why"),
    [
        (group(**WARM), {"kafka": MODERN}, "KIP-848"),
        (group(**WARM), {"pods": tuple(pod(o, protocol=Profile.CONSUMER) for o in range(3))}, "KIP-848"),
        (group(**WARM, client={"library": "KafkaStreams", "version": "3.9"}), {}, "Streams"),
        (group(**WARM, client={"library": "Other"}), {}, "Other"),
        (group(**WARM, template={"spec": {"containers": CONTAINERS, **CLAIM}}), {}, "orders-data"),
    ],
    ids=["on KIP-848", "made for KIP-848", "Streams", "of no known library", "with a claim"],
)
def test_it_is_refused_with_the_way_out(of: Any, changes: dict[str, Any], why: str) -> None:
    decided = plan(world(group=of, memory=AT_REST, **changes))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.HANDOVER_IMPOSSIBLE
    assert why in decided.hold.message
    assert "set rollout.strategy to InPlace" in decided.hold.message


@pytest.mark.parametrize(
    ("owner", "way_out"),
    [("", "is not ours: delete it"), ("ConsumerGroup payments-alt", "belongs to ConsumerGroup payments-alt: give one")],
    ids=["nobody's", "another group's"],
)
def test_a_name_that_somebody_else_has_is_not_taken(owner: str, way_out: str) -> None:
    decided = plan(world(group=group(**WARM), memory=AT_REST, names_taken={"payments-alt": owner}))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.FOREIGN_STATEFUL_SET
    assert decided.hold.message.startswith(f"StatefulSet payments-alt is there already and {way_out}")

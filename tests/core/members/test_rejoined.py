"""What the readiness gate `slackwater.dev/rejoined` is to say of each pod."""

from __future__ import annotations

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.members.rejoined import marks_due
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import NOW, fresh_pod, member, members, observation, pod, watched, world

STEP = Step(2, NOW - 10, {"payments-2": "payments-2-a"}, made=True)
STALE = observation((*members(0, 1), member(2, "a")))
OUT = observation(members(0, 1))


def with_pod(new: Pod, **changes: object) -> World:
    return world(pods=(pod(0), pod(1), new), memory=RolloutMemory(step=STEP), **changes)


TABLE = [
    ("in the group, and not yet said", world(pods=(pod(0), pod(1), pod(2, rejoined=False))), [(2, True)]),
    ("in the group, and said", world(pods=(pod(0), pod(1), pod(2, rejoined=True))), []),
    ("it has no gate", world(), []),
    ("only its predecessor is listed", with_pod(fresh_pod(2, 5, rejoined=True), kafka=STALE), [(2, False)]),
    ("it is out", with_pod(fresh_pod(2, 5, rejoined=True), kafka=OUT, history=watched(OUT)), [(2, False)]),
    ("it is out, and said", with_pod(fresh_pod(2, 5, rejoined=False), kafka=OUT, history=watched(OUT)), []),
    (
        "Kafka cannot be asked",
        with_pod(pod(2, rejoined=True), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)),
        [],
    ),
    ("it does not run", with_pod(fresh_pod(2, 5, started_at=None, rejoined=True)), [(2, False)]),
    ("it ends", with_pod(fresh_pod(2, 5, started_at=None, rejoined=True, terminating=True)), []),
]


@pytest.mark.parametrize(("given", "due"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_marks(given: World, due: list[tuple[int, bool]]) -> None:
    assert [(mark.pod.ordinal, mark.rejoined) for mark in marks_due(given)] == due

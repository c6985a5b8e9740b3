"""How a rollout ends badly: when it may, and whether it stops or goes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout.ending import can_go_back, fail, go_back, may_fail, what_next
from slackwater.core.rollout.failure import Failure
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.observation import TopicPartition
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import NOW, group, tp, world

PROGRESSING, FAILED, BACK = RolloutPhase.PROGRESSING, RolloutPhase.FAILED, RolloutPhase.ROLLING_BACK
GOOD: dict[str, Any] = {"last_good_revision": "r", "last_good_hash": "good"}
SAME: dict[str, Any] = {"last_good_revision": "r", "last_good_hash": "target"}
STUCK = Failure(Reason.POD_STUCK, "pod payments-2 is stuck", 2)


def remembered(phase: RolloutPhase = PROGRESSING, **memory: Any) -> RolloutMemory:
    return RolloutMemory(phase=phase, target_hash="target", **memory)


def rolling(phase: RolloutPhase = PROGRESSING, wanted: dict[str, Any] | None = None, **memory: Any) -> World:
    return world(group=group(**(wanted or {})), memory=remembered(phase, **memory))


MAY = [
    ("a version that is being rolled out", rolling(**GOOD), True),
    ("the very first", rolling(), True),
    ("not the last good one itself", rolling(**SAME), False),
    ("not while paused", rolling(wanted={"annotations": {PAUSE: ""}}, **GOOD), False),
    ("not while going back", rolling(BACK, **GOOD), False),
    ("not once more", rolling(FAILED, **GOOD), False),
    ("not at rest", rolling(RolloutPhase.COMPLETE, **GOOD), False),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in MAY])
def test_may_fail(given: World, expected: bool) -> None:
    assert may_fail(given) is expected


WAYS_BACK = [
    ("to the last good version", GOOD, True),
    ("none, where none is known", {}, False),
    ("none, where it is this one", SAME, False),
    ("none, where only its hash is known", {"last_good_hash": "good"}, False),
]


@pytest.mark.parametrize(("known", "expected"), [pytest.param(k, e, id=name) for name, k, e in WAYS_BACK])
def test_the_way_back(known: dict[str, Any], expected: bool) -> None:
    given, memory = rolling(**known), remembered(**known)
    assert can_go_back(memory) is expected
    assert go_back(memory, "given up").phase is (BACK if expected else FAILED)
    said = what_next(given)
    assert "slackwater retry payments (annotation slackwater.dev/retry) tries this one again" in said
    assert ("slackwater abort payments (annotation slackwater.dev/abort) goes back" in said) is expected


def test_what_is_given_up_is_known_as_failed() -> None:
    memory = go_back(remembered(canary=Canary(0, NOW), retried_at=NOW, replicas=3, **GOOD), "given up")
    assert (memory.failed_hash, memory.message) == ("target", "given up")
    assert (memory.canary, memory.retried_at) == (None, None)
    assert memory.replicas == 3


def test_the_number_of_pods_is_held_only_where_a_rollout_is_under_way() -> None:
    assert go_back(remembered(RolloutPhase.COMPLETE, replicas=3, **GOOD), "given up").replicas is None


FAILS = [
    ("goes back, as onFailure says", "Rollback", GOOD, BACK, Reason.ROLLING_BACK),
    ("stops, as onFailure says", "Pause", GOOD, FAILED, Reason.POD_STUCK),
    ("stops, as there is no way back", "Rollback", {}, FAILED, Reason.POD_STUCK),
]


@pytest.mark.parametrize(
    ("on_failure", "known", "phase", "said"), [pytest.param(*row, id=name) for name, *row in FAILS]
)
def test_fail(on_failure: str, known: dict[str, Any], phase: RolloutPhase, said: Reason) -> None:
    decided = fail(rolling(wanted={"rollout": {"onFailure": on_failure}}, **known), STUCK)
    assert (decided.memory.phase, decided.memory.failed_hash) == (phase, "target")
    assert decided.memory.message == STUCK.message
    assert [(note.reason, note.warning) for note in decided.notes] == [(said, True)]
    assert decided.act is None
    assert decided.hold is not None
    assert (decided.hold.reason, decided.hold.message) == (STUCK.reason, STUCK.message)


@pytest.mark.parametrize("on_failure", ["Pause", "Rollback"])
@pytest.mark.parametrize(("halted", "ordinal", "noted"), [((tp(3),), 2, ("orders-3",)), ((), 2, ()), ((tp(3),), 1, ())])
def test_what_stands_by_the_versions_doing_is_remembered_with_its_step(
    on_failure: str, halted: tuple[TopicPartition, ...], ordinal: int, noted: tuple[str, ...]
) -> None:
    given = rolling(wanted={"rollout": {"onFailure": on_failure}}, step=Step(2, 10.0), **GOOD)
    step = fail(given, replace(STUCK, halted=halted, ordinal=ordinal)).memory.step
    assert step == Step(2, 10.0, halted=noted)


def test_of_several_the_one_that_failed_leads_from_then_on() -> None:
    """Whatever comes next begins with that one."""
    given = rolling(step=Step(2, 10.0, also=(1, 0), made=True), **GOOD)
    step = fail(given, replace(STUCK, halted=(tp(3),), ordinal=1)).memory.step
    assert step == Step(1, 10.0, halted=("orders-3",), also=(2, 0), made_also=(2,))

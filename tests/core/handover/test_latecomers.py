"""A pod that a handover waits for and that does not join: its tries, what is said, and when a third version goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.handover import leads_nowhere
from slackwater.core.handover.latecomers import TRIES, is_to_start_again, not_joining, not_taking_over
from slackwater.core.world.handover import Handover, Held, Over, TakenOver, Undone
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NAME, NOW, group
from tests.core.handover.stories import ALT, HELD, IN_USE, NEW, NEWCOMER, OLD, A, begun_with, both, looked_at, over

TIMEOUT_S: Final = 300.0
LATE: Final = NOW - TIMEOUT_S - 1
AWAY: Final = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)
WAYS_ON: Final = (
    "If its node is bad, cordon that and delete the pod; else make it start: see its log; or apply another version"
)


# Left alone.


@pytest.mark.parametrize(
    ("tries", "alone_s", "again"),
    [
        (0, TIMEOUT_S, False),
        (0, TIMEOUT_S + 1, True),
        (1, 2 * TIMEOUT_S, False),
        (1, 2 * TIMEOUT_S + 1, True),
        (2, 4 * TIMEOUT_S, False),
        (2, 4 * TIMEOUT_S + 1, True),
        (TRIES, 100 * TIMEOUT_S, False),
    ],
)
def test_it_is_started_again_three_times_after_longer_pauses(tries: int, alone_s: float, again: bool) -> None:
    then = over(alone_since=NOW - alone_s, not_come=tries)
    assert is_to_start_again(looked_at(None, None), then, replace(OLD, started_at=NOW - alone_s)) is again


def test_it_is_not_while_its_startup_probe_goes_on() -> None:
    assert not is_to_start_again(looked_at(None, None), over(alone_since=LATE), replace(OLD, starting=True))


def alone(
    then: Handover | None,
    holds: str | None = None,
    pods: tuple[Pod, ...] = (OLD,),
    gone_since: float | None = None,
    **changes: Any,
) -> str | None:
    seen = looked_at(holds, None, gone_since=gone_since, **changes)
    hold = not_joining(both(seen, then, pods, IN_USE, replace(NEWCOMER, replicas=0)))
    return None if hold is None else f"{hold.reason}: {hold.message}"


SAID: Final = "PodNotJoining: pod payments-0 has not joined the group after 5 min (rejoinTimeout)"
ALONE: Final = {
    "it has not joined": (alone(over(alone_since=LATE)), f"{SAID}. {WAYS_ON}"),
    "it was started again": (
        alone(over(alone_since=LATE, not_come=1)),
        f"{SAID}, and was started again once. {WAYS_ON}",
    ),
    "it was started again as often as it is": (
        alone(over(alone_since=LATE, not_come=TRIES)),
        f"{SAID}, and was started again 3 times. {WAYS_ON}",
    ),
    "it has had less than rejoinTimeout": (alone(over(alone_since=NOW - TIMEOUT_S)), None),
    "it is in the group": (alone(over(alone_since=LATE), A), None),
    "its handover is not over": (alone(begun_with(alone_since=LATE)), None),
    "it is not made": (alone(over(alone_since=LATE), pods=()), None),
    "it crashes again and again": (
        alone(over(alone_since=LATE), pods=(replace(OLD, ready=False, started_at=NOW - 3, restarts=9),)),
        f"{SAID}. {WAYS_ON}",
    ),
    "it does not run": (
        alone(over(alone_since=LATE), pods=(replace(OLD, ready=False, started_at=None, waiting="ErrImagePull"),)),
        f"{SAID}. {WAYS_ON}",
    ),
    "its startup probe goes on": (alone(over(alone_since=LATE), pods=(replace(OLD, starting=True),)), None),
    "it is another pod, made lately": (
        alone(over(alone_since=LATE), pods=(replace(OLD, created_at=NOW - TIMEOUT_S),)),
        None,
    ),
    "it was in the group, and has left it lately": (alone(over(alone_since=LATE), gone_since=NOW - TIMEOUT_S), None),
    "the group is watched since lately": (
        alone(over(alone_since=LATE), history=GroupHistory(watched_since=NOW - TIMEOUT_S)),
        None,
    ),
    "the group is not watched": (alone(over(alone_since=LATE), history=GroupHistory()), None),
    "Kafka cannot be asked": (alone(over(alone_since=LATE), kafka=AWAY), None),
    "nothing was ever handed over": (alone(None), None),
}


@pytest.mark.parametrize(("said", "expected"), ALONE.values(), ids=ALONE.keys())
def test_what_is_said_of_a_pod_that_is_alone(said: str | None, expected: str | None) -> None:
    assert said == expected


# Beside the pod that works, on the way back.

HOLDS: Final = replace(NEW, created_at=LONG_AGO, started_at=LONG_AGO)
"""The pod of the younger version."""
BACK_TO: Final = begun_with(Held({"payments-0": A}, HOLDS.run), to=NAME, started_at=LATE)
RETURNS: Final = replace(OLD, created_at=LATE, started_at=LATE, ready_changed_at=LATE)
THIRD: Final[dict[str, Any]] = {"target_hash": "a third version", "last_good_hash": "the version before"}


def beside(
    then: Handover | None = BACK_TO,
    returns: Pod | None = RETURNS,
    holds: Pod | None = HOLDS,
    kafka: Unobserved | None = None,
    newcomer: Any = NEWCOMER,
    **memory: Any,
) -> World:
    seen = looked_at(
        A, MemberSighting(A, LONG_AGO + 9, LONG_AGO + 8), group=group(rollout={"strategy": "WarmHandover"})
    )
    seen = seen if kafka is None else replace(seen, kafka=kafka)
    pods = tuple(pod for pod in (returns, holds) if pod is not None)
    return both(seen, then, pods, newcomer=newcomer, **{**THIRD, **memory})


def said_of(then: Handover = BACK_TO, new: Pod | None = RETURNS, old: Pod | None = HOLDS, **changes: Any) -> str | None:
    hold = not_taking_over(beside(**changes), then, old, new)
    return None if hold is None else f"{hold.reason}: {hold.message}"


LATE_BY: Final = f"after 5 min (rejoinTimeout). {WAYS_ON}"
BESIDE: Final = {
    "it does not take over": (
        said_of(),
        f"PodNotJoining: pod payments-0 has not taken over from payments-alt-0 {LATE_BY}",
    ),
    "the other one is gone": (said_of(old=None), f"PodNotJoining: pod payments-0 has not taken over {LATE_BY}"),
    "it may yet": (said_of(new=replace(RETURNS, started_at=NOW - TIMEOUT_S)), None),
    "it crashes again and again": (
        said_of(new=replace(RETURNS, restarts=9, started_at=NOW - 3, ready_changed_at=NOW - 2)),
        f"PodNotJoining: pod payments-0 has not taken over from payments-alt-0 {LATE_BY}",
    ),
    "it crashes, and was made lately": (
        said_of(new=replace(RETURNS, created_at=NOW - TIMEOUT_S, restarts=9, started_at=NOW - 3)),
        None,
    ),
    "it is being deleted": (said_of(new=replace(RETURNS, terminating=True)), None),
    "it is not made": (said_of(new=None), None),
    "no node can take it": (said_of(new=replace(RETURNS, started_at=None, waiting="Unschedulable")), None),
    "it has taken over": (said_of(replace(BACK_TO, state=TakenOver(HELD))), None),
    "it is being removed": (said_of(replace(BACK_TO, state=Undone(HELD))), None),
    "the handover is over": (said_of(replace(BACK_TO, state=Over(BACK_TO.reached))), None),
    "Kafka cannot be asked": (said_of(kafka=AWAY), None),
}


@pytest.mark.parametrize(("said", "expected"), BESIDE.values(), ids=BESIDE.keys())
def test_what_is_said_of_a_pod_that_does_not_take_over(said: str | None, expected: str | None) -> None:
    assert said == expected


NO_MORE: Final = replace(NEWCOMER, replicas=0)
ONWARDS: Final[dict[str, tuple[World, bool]]] = {
    "its pod does not take over, and the younger one's works": (beside(), True),
    "a version that was never whole": (beside(last_good_hash=""), True),
    "it may yet take over": (beside(replace(BACK_TO, started_at=NOW - TIMEOUT_S)), False),
    "the version before is wanted again": (beside(target_hash="the version before"), False),
    "the younger version is wanted": (beside(target_hash="a version"), False),
    "it is the way back to the last good version": (beside(phase=RolloutPhase.ROLLING_BACK), False),
    "the younger one's pod is not Ready": (
        beside(holds=replace(HOLDS, ready=False, ready_changed_at=NOW - 9)),
        False,
    ),
    "the younger one's pod is gone": (beside(holds=None), False),
    "it is the younger version's pod that does not take over": (
        beside(
            begun_with(started_at=LATE), OLD, replace(HOLDS, created_at=LATE, started_at=LATE, ready_changed_at=LATE)
        ),
        False,
    ),
    "the younger set has given the ordinal up": (beside(newcomer=NO_MORE), False),
    "another ordinal is handed over": (beside(replace(BACK_TO, ordinal=1)), False),
    "nothing is handed over": (beside(None), False),
    "Kafka cannot be asked": (beside(kafka=AWAY), False),
}


@pytest.mark.parametrize(("given", "expected"), ONWARDS.values(), ids=ONWARDS.keys())
def test_a_third_version_goes_on_over_the_younger_one(given: World, expected: bool) -> None:
    assert given.beside is not None
    assert leads_nowhere(given, given.beside) is expected


def test_the_pod_that_works_is_the_younger_version_s() -> None:
    """The builder's own story: who holds the ordinal, and who arrives."""
    given = beside()
    assert given.beside is not None
    assert given.pod(0) == HOLDS
    assert given.beside.arriving == (RETURNS,)
    assert HOLDS.workload == ALT

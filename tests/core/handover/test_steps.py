"""What comes next while there are two StatefulSets: without a gate, and once all gates hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.acts import DeleteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.steps import RETURNS, at_once, failing, onwards
from slackwater.core.world.handover import Begun, Handover, Held, Replacement
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.step import Step
from slackwater.core.world.two_sets import Beside, Direction
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NAME, NOW, group, member, observation, pod, world
from tests.core.handover.stories import ALT, IN_USE, NEWCOMER, begun_with, over, shown

BACK: Final[dict[str, Any]] = {"phase": RolloutPhase.ROLLING_BACK}


def placed(newcomer: range, in_use: range) -> tuple[Workload, Workload]:
    """The ordinals of `payments-alt`, and those of `payments`."""
    return (
        replace(IN_USE, start=in_use.start, replicas=len(in_use)),
        replace(NEWCOMER, start=newcomer.start, replicas=len(newcomer)),
    )


def calm(
    sets: tuple[Workload, Workload],
    rollout: dict[str, Any] | None = None,
    annotations: dict[str, str] | None = None,
    replacing: tuple[Pod, ...] = (),
    replicas: int = 3,
    **memory: Any,
) -> World:
    """Every pod is there and its member in the group for long; `replacing`: other pods in the place of those."""
    in_use, newcomer = sets
    pods = [pod(o, "before", workload=NAME) for o in in_use.ordinals]
    pods += [pod(o, "after", name=f"{ALT}-{o}", uid=f"alt-{o}", workload=ALT) for o in newcomer.ordinals]
    others = {each.name: each for each in replacing}
    listed = [member(ordinal) for ordinal in range(replicas)]
    sightings = {
        f"payments-{o}": MemberSighting(f"payments-{o}-a", LONG_AGO + 9, LONG_AGO + 8) for o in range(replicas)
    }
    history = GroupHistory(observed_at=NOW, watched_since=LONG_AGO, unchanged_since=LONG_AGO, members=sightings)
    remembered = RolloutMemory(phase=RolloutPhase.PROGRESSING, target_hash="a version")
    made = world(
        group=group(annotations, rollout={"strategy": "WarmHandover"} | (rollout or {}), replicas=replicas),
        kafka=observation(listed, replicas=replicas),
        history=history,
        memory=replace(remembered, **memory),
    )
    return replace(made, sets=sets, all_pods=tuple(others.get(each.name, each) for each in pods))


def both_of(world: World) -> tuple[World, Beside, Direction]:
    assert world.beside is not None
    assert world.way is not None
    return world, world.beside, world.way


OVERLAP: Final = placed(range(1), range(3))
HANDED_OVER: Final = placed(range(3), range(3, 3))
GOOD_NOW: Final[dict[str, Any]] = {"last_good_revision": "after", "last_good_hash": "a version"}
"""Written down before the emptied StatefulSet is deleted, which an operator may not live to do."""
A_THIRD: Final[dict[str, Any]] = {"target_hash": "a third version"}
AT_ONCE: Final = {
    "each ordinal is in one of them": (calm(placed(range(1), range(1, 3))), "nothing"),
    "another number of pods comes first": (calm(OVERLAP, replicas=4), f"SCALE {NAME} [0, 4)"),
    "then an ordinal in both": (calm(OVERLAP), f"TAKE_BACK {ALT} [0, 0)"),
    "the lowest of several in both": (calm(placed(range(2), range(3))), f"TAKE_BACK {ALT} [0, 0)"),
    "the highest of several in both on the way back": (
        calm(placed(range(2), range(3)), **BACK),
        f"TAKE_BACK {ALT} [0, 1)",
    ),
    "then an ordinal in neither is made by the new one": (calm(placed(range(0), range(1, 3))), f"FILL {ALT} [0, 1)"),
    "the lowest of several in neither": (calm(placed(range(0), range(2, 3))), f"FILL {ALT} [0, 1)"),
    "the highest of several in neither on the way back": (
        calm(placed(range(0), range(2, 3)), **BACK),
        f"FILL {NAME} [1, 3)",
    ),
    "a third version, where the second one is known to be good: the emptied one goes first": (
        calm(HANDED_OVER, **A_THIRD, **GOOD_NOW),
        f"DeleteWorkload {NAME}",
    ),
    "even before another number of pods": (
        calm(HANDED_OVER, replicas=4, **A_THIRD, **GOOD_NOW),
        f"DeleteWorkload {NAME}",
    ),
    "a third version, where the second one is not known to be good": (
        calm(HANDED_OVER, **A_THIRD, last_good_revision="before", last_good_hash="the version before"),
        "nothing",
    ),
    "a third version, where the first one is not emptied": (
        calm(placed(range(2), range(2, 3)), **A_THIRD, **GOOD_NOW),
        "nothing",
    ),
    "a third version, where nothing is known to be good, and the second one has not been read yet": (
        calm(
            (replace(IN_USE, start=0, replicas=0), replace(NEWCOMER, replicas=0, update_revision="")),
            replicas=0,
            **A_THIRD,
        ),
        "nothing",
    ),
    "no third version: the gates are asked": (calm(HANDED_OVER, **GOOD_NOW), "nothing"),
}


@pytest.mark.parametrize(("seen", "expected"), AT_ONCE.values(), ids=AT_ONCE.keys())
def test_what_needs_no_gate(seen: World, expected: str) -> None:
    assert shown(at_once(*both_of(seen))) == expected


HALF: Final = placed(range(1), range(1, 3))
WENT_DOWN: Final = pod(
    0,
    "after",
    name=f"{ALT}-0",
    uid="alt-0",
    workload=ALT,
    template_hash="a version",
    ready=False,
    ready_changed_at=NOW - 60,
)
ALL_BACK: Final = placed(range(0), range(3))
FROM_A_GOOD_ONE: Final = {**A_THIRD, "last_good_hash": "the version before"}
AWAY_BACK: Final = pod(1, "before", workload=NAME, created_at=NOW - 4, started_at=NOW - 3, ready_changed_at=NOW - 1)
ONWARDS: Final = {
    "the next ordinal": (calm(HALF), f"HAND_OVER {ALT} [0, 2)"),
    "a gate does not hold": (
        calm(HALF, annotations={"slackwater.dev/pause": ""}),
        "Paused: paused: remove the annotation slackwater.dev/pause to go on",
    ),
    "the last one was handed over": (calm(placed(range(3), range(3, 3))), f"DeleteWorkload {NAME}"),
    "the next ordinal on the way back": (calm(placed(range(2), range(2, 3)), **BACK), f"HAND_OVER {NAME} [1, 3)"),
    "the last one was handed back": (calm(placed(range(0), range(3)), **BACK), f"DeleteWorkload {ALT}"),
    "the next ordinal's old pod comes and goes: it goes first, as in place": (
        calm(HALF, handover=replace(over(ordinal=1, to=ALT), returned=RETURNS)),
        f"GIVE_UP {NAME} [2, 3)",
    ),
    "it may come and go": (
        calm(HALF, handover=replace(over(ordinal=1, to=ALT), returned=RETURNS - 1)),
        f"HAND_OVER {ALT} [0, 2)",
    ),
    "it was another ordinal's old pod": (
        calm(HALF, handover=replace(over(), returned=RETURNS)),
        f"HAND_OVER {ALT} [0, 2)",
    ),
    "all are back, one of them is away, and a third version is forced: the empty set goes": (
        calm(ALL_BACK, replacing=(AWAY_BACK,), forced_hash="a third version", **FROM_A_GOOD_ONE),
        f"DeleteWorkload {ALT}",
    ),
    "all are back, one of them is away, and a third version is not forced": (
        calm(ALL_BACK, replacing=(AWAY_BACK,), **FROM_A_GOOD_ONE),
        "MemberNotRejoined: the group lists pod payments-1's member, but not yet one that joined since the pod started",
    ),
    "all are back, and a third version is forced, and paused": (
        calm(ALL_BACK, annotations={"slackwater.dev/pause": ""}, forced_hash="a third version", **A_THIRD),
        "Paused: paused: remove the annotation slackwater.dev/pause to go on",
    ),
    "a pod that failed, and retry was given": (
        calm(HALF, replacing=(WENT_DOWN,), retried_at=NOW - 5),
        "DeletePod payments-alt-0",
    ),
    "a canary holds": (
        calm(HALF, {"canary": [{"replicas": 1, "hold": "60s"}]}),
        "CanaryHold: canary of 1 pod held for 60 s; to go on now: "
        "slackwater promote payments (annotation slackwater.dev/promote)",
    ),
    "a canary that has passed": (
        calm(HALF, {"canary": [{"replicas": 1, "hold": "60s"}]}, canary=Canary(0, NOW - 61)),
        f"HAND_OVER {ALT} [0, 2)",
    ),
    "no canary holds on the way back": (
        calm(placed(range(2), range(2, 3)), {"canary": [{"replicas": 1, "hold": "60s"}]}, **BACK),
        f"HAND_OVER {NAME} [1, 3)",
    ),
}


@pytest.mark.parametrize(("seen", "expected"), ONWARDS.values(), ids=ONWARDS.keys())
def test_what_comes_once_all_gates_hold(seen: World, expected: str) -> None:
    assert shown(onwards(*both_of(seen))) == expected


ALONE_FOR_LONG: Final = over(ordinal=0, to=NAME, alone_since=NOW - 400)
NOT_THERE: Final = pod(0, "before", workload=NAME)


def back_without_it(*, listed: bool = False, ready: bool = True, paused: bool = False) -> str:
    """Ordinal 0 was handed back, and its pod does not join; 1 and 2 were never handed over."""
    annotations = {"slackwater.dev/pause": ""} if paused else None
    replacing = (replace(NOT_THERE, ready=ready),)
    made = calm(placed(range(0), range(3)), None, annotations, replacing, handover=ALONE_FOR_LONG, **BACK)
    step = Step(1, NOW - 5, {})
    kafka = observation([member(ordinal) for ordinal in range(0 if listed else 1, 3)])
    return shown(onwards(*both_of(replace(made, kafka=kafka, memory=replace(made.memory, step=step)))))


@pytest.mark.parametrize(
    ("given", "begins"),
    [
        ({}, "PodNotJoining: pod payments-0 has not joined the group after 5 min (rejoinTimeout). "),
        ({"ready": False}, "PodNotJoining: pod payments-0 has not joined the group after 5 min (rejoinTimeout). "),
        ({"listed": True, "ready": False}, "PodNotReady: pod payments-0 is not Ready"),
        ({"paused": True}, "Paused: "),
    ],
    ids=["Ready", "not Ready", "in the group", "paused"],
)
def test_a_pod_that_the_last_handover_left_alone_is_told_with_what_helps(given: dict[str, bool], begins: str) -> None:
    assert back_without_it(**given).startswith(begins)


def test_before_a_replacement_is_made_the_old_pods_ids_are_written_down() -> None:
    decided = onwards(*both_of(calm(HALF, canary=Canary(0, NOW - 61))))
    held = Held({"payments-1": "payments-1-a"}, pod(1).run)
    assert decided.memory.handover == Handover(1, ALT, NOW, Begun(held), Replacement("a version"))
    assert decided.memory.step == Step(1, NOW, {"payments-1": "payments-1-a"}, uid_before=pod(1).uid)


def test_a_canary_that_passes_is_remembered_with_the_next_ordinal() -> None:
    decided = onwards(*both_of(calm(HALF, {"canary": [{"replicas": 1, "hold": "60s"}]}, canary=Canary(0, NOW - 61))))
    assert decided.memory.canary == Canary(0, NOW - 61, passed=True)


def closed(newcomer: range, in_use: range, replicas: int = 3, **memory: Any) -> Decision:
    sets = placed(newcomer, in_use)
    return onwards(*both_of(calm(sets, replicas=replicas, last_good_revision="good", last_good_hash="tried", **memory)))


def test_with_the_first_set_goes_the_way_back_to_its_version() -> None:
    decided = closed(range(3), range(3, 3))
    assert decided.act == DeleteWorkload(NAME, IN_USE.uid, "its last pod has been replaced", ("after",))
    assert (decided.memory.last_good_revision, decided.memory.last_good_hash) == ("after", "a version")


def test_on_the_way_back_the_last_good_version_stays() -> None:
    decided = closed(range(0), range(3), **BACK)
    assert decided.act == DeleteWorkload(ALT, NEWCOMER.uid, "every pod is back where it was", ("before", "good"))
    assert (decided.memory.last_good_revision, decided.memory.last_good_hash) == ("good", "tried")


def test_with_the_second_set_goes_the_way_back_to_its_version() -> None:
    """It was called good when all pods had it; they have gone back since, because of a third version."""
    seen = calm(placed(range(0), range(3)), **A_THIRD, **GOOD_NOW)
    decided = onwards(*both_of(seen))
    assert shown(decided) == f"DeleteWorkload {ALT}"
    assert (decided.memory.last_good_revision, decided.memory.last_good_hash) == ("before", "the version before")


def test_a_version_that_was_called_good_outlasts_a_crash_before_the_emptied_set_is_deleted() -> None:
    """And a third version, applied meanwhile."""
    first = onwards(*both_of(calm(HANDED_OVER)))
    seen = calm(HANDED_OVER)
    again = seen.remembering(replace(first.memory, target_hash="a third version"))
    decided = at_once(*both_of(again))
    assert decided is not None
    assert decided.act == first.act
    assert (decided.memory.last_good_revision, decided.memory.last_good_hash) == ("after", "a version")


def test_a_version_that_no_pod_has_run_is_not_known_to_be_good() -> None:
    decided = closed(range(0), range(0), replicas=0)
    assert shown(decided) == f"DeleteWorkload {NAME}"
    assert decided.memory.last_good_revision == "good"


# Whose failure it is.

STUCK: Final = replace(WENT_DOWN, started_at=None, waiting="CrashLoopBackOff", restarts=4, ended_at=NOW - 90)
BLAME: Final = {
    "it is stuck, and was alone when it ended": (over(alone_since=NOW - 91), Reason.POD_STUCK),
    "it is stuck, and ended while the other one was there": (over(alone_since=NOW - 90), None),
    "it is stuck, and its handover is not over": (begun_with(), None),
    "it is stuck, and its second handover is not over": (begun_with(alone_since=NOW - 91), None),
    "it is stuck, and another ordinal was handed over since": (over(ordinal=1), Reason.POD_STUCK),
    "it is stuck, and nothing was handed over": (None, Reason.POD_STUCK),
}


@pytest.mark.parametrize(("then", "reason"), BLAME.values(), ids=BLAME.keys())
def test_a_pod_that_was_fenced_is_not_to_blame(then: Handover | None, reason: Reason | None) -> None:
    seen, beside, _ = both_of(calm(HALF, replacing=(STUCK,), handover=then))
    failure = failing(seen, beside)
    assert (failure.reason if failure is not None else None) == reason

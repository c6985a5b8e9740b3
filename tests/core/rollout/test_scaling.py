"""Another number of pods while a rollout is under way: held, said, and taken up when it is over or stands still."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE, RETRY
from slackwater.core.decision.acts import Purpose, RemoveMembers, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import Template, wanted_template
from slackwater.core.plan import plan
from slackwater.core.rollout.scaling import (
    IN_VAIN_AGAIN_S,
    PUT_BACK_AGAIN_S,
    PUT_BACK_AT_ONCE,
    PUT_BACK_FORGOTTEN_S,
    scale,
)
from slackwater.core.status.conditions import verdicts
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase, Upgrade, read_memory, write_memory
from slackwater.core.world.observation import GroupState, Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.put_back import PutBack
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    NEW,
    NOW,
    OLD,
    dynamic_member,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    pod,
    stranger,
    workload,
    world,
)
from tests.core.plan.test_plan import rolling

ASKED = 5
CANARY: dict[str, Any] = {"rollout": {"canary": [{"replicas": 1}]}}
LAG: dict[str, Any] = {"rollout": {"maxLag": {"absolute": 100}}}
LAST_NEW = (pod(0), pod(1), pod(2, NEW))
BEGUN: dict[str, Any] = {"replicas": 3, "last_good_revision": OLD, "last_good_hash": "old"}


def asked_for_more(spec: dict[str, Any] | None = None, **changes: Any) -> World:
    """A rollout that began with three pods, of which five are asked for by now."""
    memory = BEGUN | changes.pop("memory", {})
    return rolling(spec={"replicas": ASKED, **(spec or {})}, memory=memory, **changes)


def scales(decided: Decision) -> bool:
    return isinstance(decided.act, WriteWorkload) and decided.act.purpose is Purpose.SCALE


def held(given: World, memory: RolloutMemory) -> tuple[str, str]:
    said = verdicts(replace(given, memory=memory), None)
    return next((v.status.value, v.reason.value) for v in said if v.type.value == "ScalingHeld")


def test_the_rollout_goes_on_with_the_pods_that_it_began_with_and_says_so() -> None:
    given = asked_for_more()
    decided = plan(given)
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.replicas) == (Purpose.RESTART, 3)
    assert held(given, decided.memory) == ("True", "RolloutUnderWay")
    message = next(v.message for v in verdicts(given, None) if v.type.value == "ScalingHeld")
    assert "spec.replicas is 5 by now; the rollout goes on with 3" in message


def test_fewer_are_held_as_well() -> None:
    decided = plan(rolling(spec={"replicas": 1}, memory=BEGUN))
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.replicas) == (Purpose.RESTART, 3)


@pytest.mark.parametrize("phase", [RolloutPhase.COMPLETE, RolloutPhase.ROLLED_BACK, RolloutPhase.FAILED])
def test_when_it_is_over_the_number_changes(phase: RolloutPhase) -> None:
    given = asked_for_more(memory={"phase": phase})
    decided = plan(given)
    assert scales(decided)
    assert decided.memory.replicas is None
    assert held(given, decided.memory) == ("False", "AsWanted")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(asked_for_more({"annotations": {PAUSE: ""}}), Reason.PAUSED, id="paused"),
        pytest.param(asked_for_more(CANARY, pods=LAST_NEW), Reason.CANARY_HOLD, id="canary"),
        pytest.param(asked_for_more(LAG, kafka=observation(lag=101)), Reason.LAG_ABOVE_GATE, id="lag"),
        pytest.param(asked_for_more(LAG, kafka=observation(offsets={})), Reason.LAG_UNKNOWN, id="lag-unknown"),
    ],
)
def test_while_it_stands_still_the_number_changes(given: World, reason: Reason) -> None:
    """For good: what is asked for after that waits again."""
    decided = plan(given)
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason == reason
    assert decided.memory.replicas == ASKED
    assert scales(plan(replace(given, memory=decided.memory)))


HALF = {"pods": LAST_NEW, "sets": {"partition": 2}}
MADE = {"step": Step(2, NOW - 100, made=True)}
ONE_TRIED = (*members(0, 1), member(2, "b"))


@pytest.mark.parametrize(
    ("given", "partition"),
    [
        pytest.param(asked_for_more({"annotations": {PAUSE: ""}}, memory=MADE, **HALF), 5, id="paused"),
        pytest.param(asked_for_more(LAG, kafka=observation(ONE_TRIED, lag=101), memory=MADE, **HALF), 5, id="lag"),
        pytest.param(
            asked_for_more({"annotations": {PAUSE: ""}}, memory={"step": Step(2, NOW - 100)}, **HALF), 2, id="in hand"
        ),
        pytest.param(
            asked_for_more({"annotations": {PAUSE: ""}}, memory={"step": replace(MADE["step"], also=(1,))}, **HALF),
            2,
            id="one of several in hand",
        ),
    ],
)
def test_pods_that_are_added_meanwhile_have_no_version_that_may_be_the_cause(given: World, partition: int) -> None:
    act = plan(replace(given, memory=plan(given).memory)).act
    assert isinstance(act, WriteWorkload)
    assert (act.purpose, act.replicas, act.partition) == (Purpose.SCALE, ASKED, partition)


NOBODY: dict[str, Any] = {"kafka": Unobserved(Reason.KAFKA_UNREACHABLE, "x", NOW), "pods": ()}
ENDING = (pod(0), pod(1), pod(2, terminating=True))
TWO_THERE: dict[str, Any] = {"pods": (pod(0), pod(1)), "kafka": observation(members(0, 1)), "sets": {"partition": 2}}


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        pytest.param(
            asked_for_more({"annotations": {PAUSE: ""}}, pods=ENDING, sets={"partition": 2}), ASKED, id="paused"
        ),
        pytest.param(asked_for_more(**NOBODY), ASKED, id="no pods"),
        pytest.param(rolling(spec={"replicas": 2}, memory=BEGUN, **TWO_THERE), 2, id="never made"),
    ],
)
def test_whatever_else_it_waits_for(given: World, asked: int) -> None:
    """People's way out; where nobody is there; and a pod that cannot be made can be taken back."""
    decided = plan(given)
    assert decided.hold is not None
    assert decided.memory.replicas == asked
    assert decided.memory.ids_given >= asked


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"pods": ENDING, "sets": {"partition": 2}}, id="it is in the group"),
        pytest.param(TWO_THERE | {"kafka": NOBODY["kafka"]}, id="not known who is"),
    ],
)
def test_a_pod_that_may_work_is_not_taken_away(changes: dict[str, Any]) -> None:
    decided = plan(rolling(spec={"replicas": 2}, memory=BEGUN, **changes))
    assert decided.hold is not None
    assert decided.memory.replicas == 3


@pytest.mark.parametrize("comes", [True, False])
def test_nor_one_whose_member_somebody_unknown_may_be(comes: bool) -> None:
    others = (dynamic_member(0), dynamic_member(1))
    now = observation((*others, stranger()) if comes else others)
    dynamic: dict[str, Any] = {"kafka": now, "history": folded(now), "pods": (pod(0), pod(1), fresh_pod(2, 60))}
    spec = {"replicas": 2, "membership": "Dynamic"}
    assert plan(rolling(spec=spec, memory=BEGUN, **dynamic)).memory.replicas == (3 if comes else 2)


def test_none_at_all_waits_for_nothing() -> None:
    decided = plan(rolling(spec={"replicas": 0}, memory=BEGUN))
    assert scales(decided)
    assert decided.memory.replicas == 0


def test_a_retry_begins_with_what_is_asked_for_then() -> None:
    """Even if it is given before anything else was done about the failure."""
    failed = {"phase": RolloutPhase.FAILED, "failed_hash": rolling().memory.target_hash}
    decided = plan(asked_for_more({"annotations": {RETRY: "1"}}, memory=failed))
    assert decided.memory.phase is RolloutPhase.PROGRESSING
    assert decided.memory.replicas == ASKED


@pytest.mark.parametrize(
    "changes",
    [{"pods": (pod(0), pod(1))}, {"kafka": observation(state=GroupState.PREPARING_REBALANCE)}],
    ids=["pod", "group"],
)
def test_while_it_waits_for_something_to_settle_the_number_stays(changes: dict[str, Any]) -> None:
    decided = plan(asked_for_more(**changes))
    assert decided.hold is not None
    assert decided.memory.replicas == 3


def test_a_rollout_begins_with_what_is_asked_for_then() -> None:
    """Also one that takes another's place: who applies a new version and a number means both."""
    overtaken = asked_for_more(memory={"target_hash": "other"}, sets={"template_hash": "other"})
    decided = plan(overtaken)
    assert decided.memory.replicas == ASKED
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.replicas) == (Purpose.TAKE_TEMPLATE, ASKED)


@pytest.mark.parametrize(
    ("asked", "as_written", "begins_with"),
    [(2, True, 3), (5, True, 5), (0, True, 0), (2, False, 2)],
    ids=["fewer", "more", "none at all", "somebody else has scaled the StatefulSet"],
)
def test_a_rollout_does_not_begin_by_taking_pods_away(asked: int, as_written: bool, begins_with: int) -> None:
    """A manifest with a new version brings an old number along, and an autoscaler is about to correct it."""
    begun = {"target_hash": "other", "replicas": None}
    sets = {"template_hash": "other", "as_written": as_written}
    decided = plan(rolling(spec={"replicas": asked}, memory=BEGUN | begun, sets=sets))
    assert decided.memory.replicas == begins_with


def test_nor_after_a_restart_of_the_operator() -> None:
    """It does not know its own write by the generation any more, and does by the revision."""
    begun = {"target_hash": "other", "replicas": None, "revisions": {"payments": NEW}}
    sets = {"template_hash": "other", "as_written": False, "update_revision": NEW}
    assert plan(rolling(spec={"replicas": 2}, memory=BEGUN | begun, sets=sets)).memory.replicas == 3


def test_nor_right_after_a_write_that_its_controller_has_not_read_yet() -> None:
    begun = {"target_hash": "other", "replicas": None}
    sets = {"template_hash": "other", "observed_generation": 1}
    assert plan(rolling(spec={"replicas": 2}, memory=BEGUN | begun, sets=sets)).memory.replicas == 3


def adopted(asked: int, by: str = "") -> World:
    """A StatefulSet of three pods that was somebody else's, before the operator has written anything to it."""
    found = workload(as_written=False, update_revision=OLD, replicas_by=by)
    return world(group=group(replicas=asked), memory=RolloutMemory(), workload=found)


@pytest.mark.parametrize(
    ("asked", "by", "begins_with"),
    [(3, "", 3), (3, "kubectl", 3), (5, "", 5), (2, "", 3), (2, "kubectl", 2)],
    ids=["as it was", "somebody scaled it, and back", "more", "fewer", "somebody scaled it since"],
)
def test_nor_does_the_first_rollout_of_an_adopted_one(asked: int, by: str, begins_with: int) -> None:
    """`adopt` takes over the number that it found, which is the ConsumerGroup's as well."""
    decided = plan(adopted(asked, by))
    assert (decided.memory.phase, decided.memory.replicas) == (RolloutPhase.PROGRESSING, begins_with)
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.replicas) == (Purpose.TAKE_TEMPLATE, begins_with)


def test_fewer_pods_come_at_once_where_one_that_goes_has_no_room() -> None:
    no_room = fresh_pod(2, 60, ready=False, started_at=None, waiting="Unschedulable")
    given = rolling(spec={"replicas": 1}, memory=BEGUN, pods=(pod(0), pod(1), no_room))
    assert plan(given).memory.replicas == 1


def test_the_first_version_of_all_disturbs_nobody() -> None:
    given = world(group=group(replicas=ASKED), workload=workload(partition=3), memory=first_rollout())
    assert plan(given).memory.replicas is None


def first_rollout() -> RolloutMemory:
    return RolloutMemory(phase=RolloutPhase.PROGRESSING)


def test_a_new_operator_goes_on_with_the_same_number() -> None:
    memory = plan(asked_for_more()).memory
    assert read_memory({"rollout": write_memory(memory)}).replicas == 3


# Somebody else writes the StatefulSet's number.

HPA: dict[str, Any] = {
    "replicas": 5,
    "replicas_by": "kube-controller-manager",
    "generation": 7,
    "observed_generation": 7,
}
REST: dict[str, Any] = {"phase": RolloutPhase.COMPLETE, "last_good_revision": NEW}
SOME_NEW = tuple(pod(ordinal, NEW) for ordinal in range(3))


def put_back(ago_s: float, times: int, replicas: int = 3, generation: int = 5, in_vain: int = 0) -> PutBack:
    return PutBack(replicas, generation, NOW - ago_s, times, in_vain)


def scaled_by_others(
    before: PutBack | None = None, spec: dict[str, Any] | None = None, rest: dict[str, Any] = REST, **changes: Any
) -> World:
    return rolling(
        spec=spec or {},
        memory=rest | {"put_back": before},
        sets={"current_revision": NEW, **HPA, **changes.pop("sets", {})},
        **{"pods": SOME_NEW} | changes,
    )


def by_its_template(given: World) -> World:
    """Somebody else wrote it: what stands in it tells that no template was edited."""
    (found,) = given.sets
    return replace(given, sets=(replace(found, as_written=False, template=wanted_template(given).body),))


def is_left_alone(given: World) -> bool:
    decided = plan(given)
    return decided.act is None and decided.hold is not None and decided.hold.reason is Reason.SCALED_BY_OTHERS


def waits_s(given: World) -> float | None:
    """For how long somebody else's number is left alone from now on."""
    decided = plan(given)
    return decided.hold.recheck_s if decided.hold is not None and is_left_alone(given) else None


def writes_against(given: World, unread: int = 0, every_s: int = 15, for_s: int = 1200) -> list[int]:
    """When the operator writes, in seconds, while an autoscaler asks for its number of pods again and again.

    `unread`: how many of the StatefulSet's generations its controller is behind when the operator looks.
    """
    written, number = [], given.sets[0].replicas
    for at in range(0, for_s, every_s):
        (found,) = given.sets
        if found.replicas != number:
            found = replace(found, **HPA | {"generation": found.generation + 1, "replicas": number})
        found = replace(found, observed_generation=found.generation - unread)
        given = replace(given, now=NOW + at, kafka=observation(at=NOW + at), sets=(found,))
        for _ in range(3):
            decided = plan(given)
            given = given.remembering(decided.memory)
            if not isinstance(decided.act, WriteWorkload):
                break
            written.append(at)
            generation = given.sets[0].generation + 1
            found = replace(given.sets[0], generation=generation, observed_generation=generation, replicas_by="")
            found = replace(found, replicas=decided.act.replicas, partition=decided.act.partition)
            given = replace(given, sets=(found,))
    return written


def test_it_is_put_back() -> None:
    decided = plan(scaled_by_others())
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.replicas) == (Purpose.SCALE, 3)
    assert decided.memory.put_back == PutBack(3, 7, NOW, by="kube-controller-manager")
    (note,) = decided.notes
    assert (note.reason, note.warning) == (Reason.SCALED, False)
    assert note.message == (
        "scaled from 5 to 3 pods: StatefulSet payments was scaled to 5 by kube-controller-manager, and the"
        " ConsumerGroup asks for 3"
    )


def test_the_second_time_people_hear_who_it_was() -> None:
    (note,) = plan(scaled_by_others(put_back(15, 1))).notes
    assert (note.reason, note.warning, note.of_act) == (Reason.SCALED_BY_OTHERS, True, True)
    assert "was scaled to 5 by kube-controller-manager, and the ConsumerGroup asks for 3" in note.message


@pytest.mark.parametrize(
    ("before", "times"),
    [
        pytest.param(put_back(15, 1), 2, id="once more"),
        pytest.param(put_back(15, PUT_BACK_AT_ONCE), None, id="for the fourth time"),
        pytest.param(put_back(PUT_BACK_AGAIN_S - 1, PUT_BACK_AT_ONCE + 4), None, id="soon after"),
        pytest.param(put_back(PUT_BACK_AGAIN_S, PUT_BACK_AT_ONCE), PUT_BACK_AT_ONCE + 1, id="after a while"),
        pytest.param(put_back(PUT_BACK_FORGOTTEN_S + 1, 9), 1, id="after a long pause"),
        pytest.param(put_back(15, 9, replicas=2), 1, id="another number was asked for"),
        pytest.param(put_back(-3600, PUT_BACK_AT_ONCE), PUT_BACK_AT_ONCE + 1, id="the clock was put back"),
        pytest.param(put_back(5, 9, generation=7), 9, id="our write was refused"),
        pytest.param(put_back(15, 9, generation=7), None, id="our writes change nothing"),
    ],
)
def test_who_does_it_again_and_again_is_not_fought_all_the_time(before: PutBack, times: int | None) -> None:
    decided = plan(scaled_by_others(before))
    assert scales(decided) is (times is not None)
    if times is not None:
        assert decided.memory.put_back is not None
        assert decided.memory.put_back.times == times
    else:
        assert decided.hold is not None
        assert decided.hold.reason is Reason.SCALED_BY_OTHERS
        assert decided.hold.recheck_s == pytest.approx(before.at + PUT_BACK_AGAIN_S - NOW)


CAME_TO_NOTHING = [
    pytest.param(put_back(5, 1, generation=7), (1, 0), Reason.SCALED, id="refused just now"),
    pytest.param(put_back(15, 1, generation=7), (1, 1), Reason.SCALED, id="the operator died before it wrote"),
    pytest.param(put_back(15, 1, generation=7, in_vain=1), (1, 2), Reason.SCALED_BY_OTHERS, id="twice"),
    pytest.param(put_back(-3600, 1, generation=7, in_vain=1), (1, 2), Reason.SCALED_BY_OTHERS, id="clock put back"),
    pytest.param(put_back(15, 1, in_vain=1), (2, 1), Reason.SCALED_BY_OTHERS, id="somebody wrote it after that"),
]


@pytest.mark.parametrize(("before", "counts", "said"), CAME_TO_NOTHING)
def test_nobody_is_blamed_for_a_write_of_ours_that_came_to_nothing(
    before: PutBack, counts: tuple[int, int], said: Reason
) -> None:
    """Who scales the ConsumerGroup is right, although another's number still stands in the StatefulSet."""
    decided = plan(scaled_by_others(before))
    assert scales(decided)
    assert [note.reason for note in decided.notes] == [said]
    now = decided.memory.put_back
    assert now is not None
    assert (now.times, now.in_vain) == counts
    assert (now.at, now.by) == ((before.at, before.by) if counts == (1, 0) else (NOW, HPA["replicas_by"]))


def test_between_writes_that_change_nothing_there_is_a_pause() -> None:
    """Else they would follow one another as fast as passes do. In a rollout, too."""
    assert waits_s(scaled_by_others(put_back(4, 1, generation=7, in_vain=1))) == pytest.approx(IN_VAIN_AGAIN_S - 4)
    in_a_rollout = REST | {"phase": RolloutPhase.PROGRESSING}
    rolling_out = put_back(4, PUT_BACK_AT_ONCE, generation=7, in_vain=1)
    assert waits_s(scaled_by_others(rolling_out, rest=in_a_rollout)) == pytest.approx(IN_VAIN_AGAIN_S - 4)
    assert scales(plan(scaled_by_others(replace(rolling_out, at=NOW - IN_VAIN_AGAIN_S), rest=in_a_rollout)))


@pytest.mark.parametrize("number", [5, 0])
def test_a_webhook_that_sets_the_number_in_whatever_is_written_is_not_fought_all_the_time(number: int) -> None:
    """Our write changes nothing, so the StatefulSet's generation stays as it is."""
    given, written = scaled_by_others(sets={"replicas": number}), []
    for at in range(120):
        given = replace(given, now=NOW + at, kafka=observation(at=NOW + at))
        decided = plan(given)
        written += [at] if scales(decided) else []
        given = given.remembering(decided.memory)
    assert written == ([*range(11), 20] if number else [*range(11), *range(20, 120, 10)])


AGAIN = put_back(15, PUT_BACK_AT_ONCE)
PROVEN = {"last_good_hash": scaled_by_others().memory.target_hash}
HALF_UPGRADED = Upgrade(Profile.COOPERATIVE, StrategyName.TWO_BOUNCE, (Profile.OWN_CHOICE,), returning=True)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(scaled_by_others(put_back(15, 9, replicas=0), spec={"replicas": 0}), id="to be stopped"),
        pytest.param(scaled_by_others(AGAIN, sets={"replicas": 0}), id="stopped by somebody"),
        pytest.param(scaled_by_others(AGAIN, rest=REST | {"phase": RolloutPhase.PROGRESSING}), id="in a rollout"),
        pytest.param(scaled_by_others(AGAIN, rest=REST | {"phase": RolloutPhase.ROLLING_BACK}), id="on the way back"),
        pytest.param(scaled_by_others(AGAIN, rest=REST | {"phase": RolloutPhase.FAILED}), id="failed"),
        pytest.param(scaled_by_others(AGAIN, rest=REST | PROVEN | {"phase": RolloutPhase.FAILED}), id="aborted"),
        pytest.param(scaled_by_others(AGAIN, rest=REST | {"upgrade": HALF_UPGRADED}), id="between two protocols"),
        pytest.param(scaled_by_others(AGAIN, pods=LAST_NEW), id="outdated"),
        pytest.param(scaled_by_others(AGAIN, sets={"replicas_by": ""}), id="ours"),
    ],
)
def test_only_what_rests_is_left_alone(given: World) -> None:
    assert scales(plan(given))


def test_a_write_that_the_stateful_set_controller_has_not_read_yet_is_left_alone_as_well() -> None:
    """A number changes no template, so there is nothing to wait for, and nothing to be quicker for."""
    assert is_left_alone(by_its_template(scaled_by_others(AGAIN, sets={"observed_generation": 6})))


@pytest.mark.parametrize("unread", [0, 1], ids=["seen after its controller", "seen before its controller"])
def test_twenty_minutes_of_an_autoscaler(unread: int) -> None:
    assert writes_against(by_its_template(scaled_by_others()), unread) == [0, 15, 30, 330, 630, 930]


def test_a_version_that_nobody_has_judged_yet_is_judged_whoever_scales() -> None:
    """It was rolled out while there was no pod: what pods of it do is looked at as soon as the number is put back."""
    unproven = REST | {"last_good_revision": OLD, "last_good_hash": "good"}
    decided = plan(scaled_by_others(AGAIN, rest=unproven))
    assert scales(decided)
    as_asked = scaled_by_others(decided.memory.put_back, rest=unproven, sets={"replicas": 3, "replicas_by": ""})
    assert plan(as_asked).memory.phase is RolloutPhase.PROGRESSING


def test_the_version_that_a_group_went_back_to_is_proven() -> None:
    went_back = {"phase": RolloutPhase.ROLLED_BACK, "last_good_revision": NEW, "last_good_hash": "good"}
    assert is_left_alone(scaled_by_others(AGAIN, rest=went_back))


UNDER_WAY: dict[str, Any] = BEGUN | {"phase": RolloutPhase.PROGRESSING}


def halfway(before: PutBack | None, spec: dict[str, Any], memory: dict[str, Any], **changes: Any) -> World:
    sets = {"current_revision": OLD, "partition": 2, **changes.pop("sets", {})}
    return scaled_by_others(before, spec, UNDER_WAY | memory, **{"pods": LAST_NEW} | changes, sets=sets)


def paused(before: PutBack | None = None, memory: dict[str, Any] | None = None, **changes: Any) -> World:
    return halfway(before, {"annotations": {PAUSE: ""}}, memory or {}, **changes)


def canary_held(
    before: PutBack | None = None, hold: str = "1h", memory: dict[str, Any] | None = None, **changes: Any
) -> World:
    """For ten seconds so far."""
    spec = {"rollout": {"canary": [{"replicas": 1, "hold": hold}]}}
    return halfway(before, spec, {"canary": Canary(0, NOW - 10)} | (memory or {}), **changes)


ONCE_A_MINUTE = [0, 15, 30, *range(90, 1200, 60)]
EVERY_FIVE_MINUTES = [0, 15, 30, 330, 630, 930]


def test_pods_that_are_added_on_the_way_back_have_the_good_version() -> None:
    """Below the partition they would be made with the version that is given up."""
    memory = RolloutMemory(phase=RolloutPhase.ROLLING_BACK, last_good_hash="good")
    given = world(group=group(replicas=5), workload=workload(partition=3, template_hash="good"), memory=memory)
    assert given.workload is not None
    act = scale(given, given.workload, Template("good", {}))
    assert (act.replicas, act.partition) == (5, 3)
    other = replace(given.workload, template_hash="given up")
    assert scale(given, other, Template("good", {})).partition == 5


GOING_BACK = {"phase": RolloutPhase.ROLLING_BACK}
HAS_FAILED = {"phase": RolloutPhase.FAILED}
STANDING = [
    pytest.param(paused(), ONCE_A_MINUTE, id="paused"),
    pytest.param(paused(sets={"replicas": 2}), EVERY_FIVE_MINUTES, id="paused, and fewer"),
    pytest.param(
        paused(memory=GOING_BACK, sets={"update_revision": OLD}), EVERY_FIVE_MINUTES, id="paused on the way back"
    ),
    pytest.param(canary_held(), ONCE_A_MINUTE, id="canary"),
    pytest.param(canary_held(sets={"replicas": 2}), EVERY_FIVE_MINUTES, id="canary, and fewer"),
]


@pytest.mark.parametrize(("given", "expected"), STANDING)
def test_what_stands_still_is_not_fought_for_either(given: World, expected: list[int]) -> None:
    """Pods that are added in a rollout are of the version that is being tried: they are not to stay for long."""
    assert writes_against(given) == expected


def test_pods_of_a_version_that_failed_do_not_stay() -> None:
    failed = halfway(None, {}, HAS_FAILED)
    assert writes_against(failed) == list(range(0, 1200, 15))


def test_why_it_is_put_back_so_often_is_said() -> None:
    why = "It is put back every 60 s, since the pods that it adds have a version that is yet to prove itself"
    assert [why in message_of(given(AGAIN)) for given in (paused, canary_held, scaled_by_others)] == [True, True, False]
    assert message_of(scaled_by_others(AGAIN)).endswith("point autoscalers at it. It is put back every 5 min")


def message_of(given: World) -> str:
    hold = plan(given).hold
    return hold.message if hold is not None else ""


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(canary_held(AGAIN, hold="9s"), id="it is over"),
        pytest.param(canary_held(AGAIN, memory={"canary": Canary(0, NOW - 10, passed=True)}), id="it was promoted"),
        pytest.param(canary_held(AGAIN, memory={"canary": Canary(1, NOW - 10)}), id="its step was taken away"),
        pytest.param(canary_held(AGAIN, memory={"canary": None}), id="it has not begun"),
        pytest.param(canary_held(AGAIN, memory=GOING_BACK | {"canary": Canary(0, NOW)}), id="on the way back"),
        pytest.param(paused(AGAIN, sets={"replicas": 0}), id="stopped by somebody"),
        pytest.param(paused(AGAIN, memory=HAS_FAILED), id="paused after a failure"),
    ],
)
def test_what_does_not_stand_is_put_back_at_once(given: World) -> None:
    assert scales(plan(given))


def test_a_canary_that_fails_is_given_up_whoever_scales() -> None:
    stuck = pod(2, NEW, ready=False, waiting="InvalidImageName")
    given = canary_held(AGAIN, pods=(pod(0), pod(1), stuck), kafka=observation(members(0, 1)))
    assert plan(given).memory.phase is RolloutPhase.FAILED


@pytest.mark.parametrize("given", [paused(AGAIN), canary_held(AGAIN)], ids=["paused", "canary"])
def test_whoever_scales_the_consumer_group_as_well_gets_that(given: World) -> None:
    more = given.group.spec.model_copy(update={"replicas": 4})
    asked = replace(given, group=given.group.model_copy(update={"spec": more}))
    decided = plan(asked)
    assert decided.memory.replicas == 4
    assert scales(plan(replace(asked, memory=decided.memory)))


def test_meanwhile_its_members_are_cared_for() -> None:
    """One of a pod that was scaled away is taken out, whoever scales."""
    listed = observation(members(0, 1, 2, 7))
    given = scaled_by_others(AGAIN, rest=REST | {"ids_given": 8}, kafka=listed)
    assert isinstance(plan(given).act, RemoveMembers)


def test_a_member_whose_pod_is_between_two_lives_stays_where_the_number_stands() -> None:
    """It was evicted, say, and is about to come back: nobody has scaled it away."""
    listed = observation(members(0, 1, 2, 3, 4))
    given = scaled_by_others(AGAIN, rest=REST | {"ids_given": 5}, pods=(*SOME_NEW, pod(3, NEW)), kafka=listed)
    assert is_left_alone(given)


def test_no_rollout_begins_with_an_autoscaler_s_number() -> None:
    given = scaled_by_others(
        AGAIN, rest={"phase": RolloutPhase.COMPLETE, "last_good_revision": OLD, "target_hash": "x"}
    )
    assert plan(given).memory.replicas == 3


def test_a_number_of_our_own_is_changed_without_a_word_of_others() -> None:
    decided = plan(scaled_by_others(sets={"replicas_by": ""}))
    assert scales(decided)
    assert [note.reason for note in decided.notes] == [Reason.SCALED]
    assert decided.memory.put_back is None

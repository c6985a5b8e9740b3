"""When a version has failed, and when its pods are not to blame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout import excuses, failure
from slackwater.core.rollout.failure import find_failure
from slackwater.core.world.handover import Begun, Handover, Held, Over
from slackwater.core.world.history import interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, Member, PartitionOffsets, Unobserved
from slackwater.core.world.pods import NotMade, Pod
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    NEW,
    NOW,
    changed,
    dynamic_member,
    folded,
    fresh_pod,
    group,
    member,
    members,
    observation,
    owned_by,
    pod,
    tp,
    watched,
    workload,
    world,
)

STEP = Step(2, NOW - 400, {"payments-2": "payments-2-a"}, made=True)
MEMORY = RolloutMemory(step=STEP)


def with_new(new: Pod, *, absent_s: float = 0.0, **changes: object) -> World:
    """Pod 2 has the new version; it has been out of the group for so long, or is in it."""
    who = members(0, 1) if absent_s else (*members(0, 1), member(2, "b"))
    looks = [observation(at=NOW - 1000), observation(who, at=NOW - absent_s), observation(who)]
    history = folded(*looks)
    usual = {"pods": (pod(0), pod(1), new), "kafka": looks[-1], "history": history, "memory": MEMORY}
    return world(**(usual | changes))


def stuck(waiting: str, restarts: int = 0, age_s: float = 151) -> Pod:
    return fresh_pod(2, age_s, ready=False, waiting=waiting, restarts=restarts, started_at=None)


OLD_STUCK = replace(stuck("ImagePullBackOff"), revision="payments-old")
RETRIED = replace(MEMORY, retried_at=NOW - 5)
UNOBSERVED = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)
NOT_MADE = (pod(0), pod(1))
SMALL = {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}
LARGE = {"spec": {"containers": [{"resources": {"requests": {"cpu": "64"}}}]}}
QUOTA = "is forbidden: exceeded quota: team, requested: pods=1, used: pods=3, limited: pods=3"
DENIED = "admission webhook policy.example denied the request: images come from our registry"
BROKEN = "Internal error occurred: failed calling webhook: connection refused"


def old_stuck(waiting: str) -> Pod:
    return pod(1, ready=False, waiting=waiting)


def never_made(said: str, *, at: float = NOW - 1, asks: Any = SMALL) -> World:
    """Pod 2 was taken away 400 s ago and is missing since. Before, versions asked for a small pod."""
    missing = {"payments-2": NotMade(said, at)} if said else {}
    memory = RolloutMemory(step=replace(STEP, made=False))
    given = with_new(fresh_pod(2, 400), pods=NOT_MADE, memory=memory, workload=workload(template=asks))
    return replace(given, last_good_template=SMALL, not_made=missing)


def among_others(given: World) -> World:
    """It was let go together with pod 1, which was made."""
    step = replace(STEP, ordinal=1, also=(2,))
    return given.remembering(replace(given.memory, step=step))


def unready(*olds: Pod, new: Pod | None = None, **changes: object) -> World:
    """Pod 2 has the new version and is not Ready; the old ones are as given."""
    new = new or fresh_pod(2, 301, ready=False)
    return changed(with_new(new, pods=(*olds, new)), **changes)


LOST_LATELY = tuple(fresh_pod(ordinal, 1000, ready=False, ready_changed_at=NOW - 302) for ordinal in (0, 1))
"""Of the newest version, and Ready for longer than rejoinTimeout before."""


def crashing(ended_ago_s: float, seen_for_s: float) -> World:
    """Pod 2 ends and ends, the last time so long ago; Kafka has been in sight for so long."""
    given = with_new(replace(stuck("CrashLoopBackOff", 3), ended_at=NOW - ended_ago_s))
    return replace(given, history=replace(given.history, watched_since=NOW - seen_for_s))


def no_node(asks: Any, waiting: str = "Unschedulable", **changes: Any) -> World:
    usual: dict[str, Any] = {"address": ""}
    waits = fresh_pod(2, 400, ready=False, started_at=None, waiting=waiting, **(usual | changes))
    return unready(pod(0), pod(1), new=waits, workload=workload(template=asks), last_good_template=SMALL)


def where_nobody_commits(**changes: Any) -> World:
    """Records have waited for 400 s in all partitions, and nobody has committed anything since."""
    given = with_new(fresh_pod(2, 400, **changes))
    waiting = dict.fromkeys(observation().partitions, NOW - 400)
    return replace(given, history=replace(given.history, unread_since=waiting, commit_moved_after={}))


TABLE = [
    ("it works", with_new(fresh_pod(2, 400)), None),
    ("image that cannot be pulled", with_new(stuck("ImagePullBackOff")), Reason.POD_STUCK),
    ("image that cannot be pulled yet", with_new(stuck("ImagePullBackOff", age_s=150)), None),
    ("a Secret that is yet to be made", with_new(stuck("CreateContainerConfigError", age_s=150)), None),
    ("an image's name that is none", with_new(stuck("InvalidImageName", age_s=1)), Reason.POD_STUCK),
    ("first crashes", with_new(stuck("CrashLoopBackOff", 2)), None),
    ("crash loop", with_new(stuck("CrashLoopBackOff", 3)), Reason.POD_STUCK),
    ("it waits for a node", with_new(stuck("Unschedulable")), None),
    ("an old pod is stuck", with_new(OLD_STUCK), None),
    ("stuck, but to be tried again", with_new(stuck("ImagePullBackOff"), memory=RETRIED), None),
    ("ending", with_new(replace(stuck("CrashLoopBackOff", 9), terminating=True)), None),
    ("not Ready for long", with_new(fresh_pod(2, 301, ready=False)), Reason.REJOIN_TIMEOUT),
    ("not Ready since lately", with_new(fresh_pod(2, 301, ready=False, ready_changed_at=NOW - 300)), None),
    ("Ready, out of the group for long", with_new(fresh_pod(2, 301), absent_s=301), Reason.REJOIN_TIMEOUT),
    ("Ready, out of the group not for long", with_new(fresh_pod(2, 301), absent_s=300), None),
    ("Ready, not known whether in the group", with_new(fresh_pod(2, 10), memory=RolloutMemory()), None),
    ("Kafka cannot be asked", with_new(stuck("ImagePullBackOff"), kafka=UNOBSERVED), None),
    ("the controller is behind", with_new(stuck("ImagePullBackOff"), workload=workload(generation=9)), None),
    ("there is no StatefulSet", with_new(stuck("ImagePullBackOff"), workload=None), None),
    ("it vanished", with_new(fresh_pod(2, 400), pods=NOT_MADE), None),
    ("it was never made, and nobody says why", never_made(""), None),
    ("it was never made: a quota that refuses both versions", never_made(QUOTA), None),
    ("it was never made: it asks for more than the quota has", never_made(QUOTA, asks=LARGE), Reason.REJOIN_TIMEOUT),
    ("it was never made: a policy refuses it", never_made(DENIED), Reason.REJOIN_TIMEOUT),
    ("one of several was never made: a policy refuses it", among_others(never_made(DENIED)), Reason.REJOIN_TIMEOUT),
    ("it was never made: the webhook is away", never_made(BROKEN, asks=LARGE), None),
    ("it was refused before this step", never_made(DENIED, at=NOW - 500), None),
    ("no node has room for what it asks for now", no_node(LARGE), Reason.REJOIN_TIMEOUT),
    ("no node has room, as there was none before", no_node(SMALL), None),
    ("it found its node a moment ago", with_new(fresh_pod(2, 900, ready=False, scheduled_at=NOW - 5)), None),
    ("it starts: its startup probe goes on", with_new(fresh_pod(2, 900, ready=False, starting=True)), None),
    ("another one vanished", with_new(fresh_pod(2, 400), pods=(pod(0), fresh_pod(2, 400))), None),
]


@pytest.mark.parametrize(("given", "expected"), [pytest.param(w, e, id=name) for name, w, e in TABLE])
def test_failure(given: World, expected: Reason | None) -> None:
    found = find_failure(given)
    assert (found.reason if found is not None else None) == expected
    assert found is None or (found.ordinal == 2 and "payments-2" in found.message)


def test_absence_that_was_not_watched_without_a_break_does_not_count() -> None:
    given = with_new(fresh_pod(2, 301), absent_s=301)
    assert find_failure(replace(given, history=interrupted(given.history))) is None


def stalled(for_s: float) -> World:
    """Pod 2 came 1000 s ago to a quiet topic; records arrived so long ago, and it has committed none."""
    who = (*members(0, 1), member(2, "b"))
    quiet = observation(who, at=NOW - 900)
    arrived = {p: PartitionOffsets(100, 110 if p == tp(4) else 100) for p in quiet.partitions}
    looks = [quiet, observation(who, at=NOW - for_s - 1), observation(who, at=NOW - for_s, offsets=arrived)]
    more = {p: replace(offsets, end=111) if p == tp(4) else offsets for p, offsets in arrived.items()}
    looks += [observation(who, at=NOW - for_s / 2, offsets=more), observation(who, offsets=more)]
    memory = RolloutMemory(step=replace(STEP, started_at=NOW - 1001))
    return world(pods=(pod(0), pod(1), fresh_pod(2, 1000)), kafka=looks[-1], history=folded(*looks), memory=memory)


def with_too_many(
    *, for_s: float, away: bool = False, dynamic: bool = False, shares: bool = False, nameless: bool = False
) -> World:
    """Pod 2 runs since 1000 s, and has had a second member for so long. `nameless`: one without an instance id."""
    second = replace(member(2, "c"), instance_id=None if nameless else "payments-2-1", epoch=-2 if away else None)
    own: tuple[Member, ...] = (member(2, "b"), second)
    if dynamic:
        own = tuple(replace(each, instance_id=None) for each in own)
    before = observation((*members(0, 1), own[0]), at=NOW - for_s - 1)
    looks = [before, observation((*members(0, 1), *own), at=NOW - for_s), observation((*members(0, 1), *own))]
    new = fresh_pod(2, 1000)
    old = (pod(0), pod(1, address=new.address) if shares else pod(1))
    asked = group(membership="Dynamic") if dynamic else group()
    return world(pods=(*old, new), kafka=looks[-1], history=folded(*looks), memory=MEMORY, group=asked)


def halted(for_s: float) -> World:
    """Pod 2 took over 1000 s ago, and gets on in one of its partitions. Records come to both."""
    first, other = sorted(owned_by(2))

    def seen(ago_s: float, moving: int, standing: int, end: int, **changes: Any) -> GroupObservation:
        offsets = {first: PartitionOffsets(moving, end), other: PartitionOffsets(standing, end)}
        usual: dict[str, Any] = {"members": (*members(0, 1), member(2, "b"))}
        return observation(at=NOW - ago_s, offsets=offsets, **(usual | changes))

    old: dict[str, Any] = {"members": members(0, 1, 2)}
    before = [seen(1020, 90, 90, 90, **old), seen(1010, 100, 100, 100, **old), seen(990, 100, 100, 100)]
    looks = [*before, seen(for_s, 105, 100, 105), seen(10, 106, 100, 106), seen(0, 107, 100, 107)]
    memory = RolloutMemory(step=replace(STEP, started_at=NOW - 1005))
    history = replace(folded(*looks), waited_s=dict.fromkeys((first, other), (1.0, 1.0, 1.0)))
    return world(pods=(pod(0), pod(1), fresh_pod(2, 1000)), kafka=looks[-1], history=history, memory=memory)


def hung(
    for_s: float,
    *,
    hang: tuple[int, ...] = (1, 2),
    waits: tuple[float, ...] = (1.0, 1.0, 1.0),
    stands: int | None = None,
) -> World:
    """Pods 1 and 2 took over 1000 s ago and got on. Those that hang have committed nothing for so long. Records come to
    all. `stands`: of the old pod 0, the partition in which nothing is committed either."""
    mine = {partition for ordinal in hang for partition in owned_by(ordinal)}
    still = mine if stands is None else mine | {tp(stands)}

    def seen(ago_s: float, committed: int, end: int, **changes: Any) -> GroupObservation:
        usual: dict[str, Any] = {"members": (member(0), member(1, "b"), member(2, "b"))}
        found = observation(at=NOW - ago_s, **(usual | changes))
        offsets = {p: PartitionOffsets(committed if p in still else end, end) for p in found.partitions}
        return replace(found, offsets=offsets)

    before = [seen(1010, 100, 100, members=members(0, 1, 2)), seen(990, 105, 105), seen(for_s + 5, 110, 110)]
    looks = [*before, seen(for_s, 111, 111), seen(for_s - 1, 111, 112), seen(10, 111, 113), seen(0, 111, 114)]
    memory = RolloutMemory(step=replace(STEP, started_at=NOW - 1005))
    history = replace(folded(*looks), waited_s=dict.fromkeys(mine, waits))
    new = (fresh_pod(1, 1000), fresh_pod(2, 1000))
    return world(pods=(pod(0), *new), kafka=looks[-1], history=history, memory=memory)


def test_a_version_that_makes_a_partition_stand_has_failed_after_rejoin_timeout() -> None:
    found = find_failure(halted(for_s=301))
    assert found is not None
    assert (found.reason, len(found.halted)) == (Reason.REJOIN_TIMEOUT, 1)
    assert find_failure(halted(for_s=299)) is None


def test_a_member_that_works_on_nothing_has_failed_after_rejoin_timeout() -> None:
    found = find_failure(stalled(for_s=301))
    assert found is not None
    assert found.reason == Reason.REJOIN_TIMEOUT
    assert "has committed nothing" in found.message


def test_a_member_that_takes_no_instance_id_is_advised_and_the_time_is_the_failures() -> None:
    seen = observation((*members(0, 1), dynamic_member(2)))
    looks = (observation(members(0, 1), at=NOW - 1000), replace(seen, observed_at=NOW - 301), seen)
    found = find_failure(with_new(fresh_pod(2, 400), kafka=seen, history=folded(*looks)))
    assert found is not None
    assert found.message == (
        "pod payments-2 is Ready but has 0 of 1 members in the group, and 1 without an instance id, after 5 min"
        " (rejoinTimeout); its consumer has to take the one that it is given"
    )


def test_the_first_record_after_a_quiet_time_gets_its_time() -> None:
    """A pod that has long been up is not blamed for a record that came a moment ago."""
    assert find_failure(stalled(for_s=5)) is None


def test_the_highest_ordinal_is_blamed_first() -> None:
    both = (pod(0), replace(stuck("ImagePullBackOff"), name="payments-1", ordinal=1), stuck("InvalidImageName"))
    found = find_failure(with_new(fresh_pod(2, 1, NEW), pods=both))
    assert found is not None
    assert found.ordinal == 2


UNKNOWN_WHETHER_IN = with_new(fresh_pod(2, 10), memory=RolloutMemory())
TO_A_THIRD = replace(MEMORY, phase=RolloutPhase.PROGRESSING, target_hash="v3")


def with_orphans(*names: str) -> World:
    return replace(with_new(stuck("CrashLoopBackOff", 3)), orphans=frozenset(names))


def after_a_handover(
    waiting: str = "CrashLoopBackOff", *, ordinal: int = 2, over: bool = False, alone_since: float | None = None
) -> World:
    """Pod 2 ended 30 s ago."""
    begun = Begun(Held())
    handover = Handover(ordinal, "payments", NOW - 60, Over(begun) if over else begun, alone_since=alone_since)
    pod_2 = replace(stuck(waiting, 3), ended_at=NOW - 30)
    return with_new(pod_2, memory=replace(MEMORY, handover=handover))


EXCUSED: dict[str, list[tuple[str, World, bool]]] = {
    "has_another_version": [
        ("the old one", with_new(OLD_STUCK), True),
        ("the new one", with_new(stuck("ImagePullBackOff")), False),
        ("there is no StatefulSet", with_new(fresh_pod(2, 10), workload=None), True),
        ("no template has the new one yet", with_new(stuck("ImagePullBackOff"), memory=TO_A_THIRD), True),
    ],
    "is_ending": [
        ("being deleted", with_new(fresh_pod(2, 10, terminating=True)), True),
        ("not", with_new(fresh_pod(2, 10)), False),
    ],
    "works": [
        ("in the group", with_new(fresh_pod(2, 400)), True),
        ("out of it", with_new(fresh_pod(2, 400), absent_s=301), False),
        ("in it, and stalled for too long", stalled(for_s=301), False),
        ("in it, and stalled for a moment", stalled(for_s=5), True),
        ("in it, and a partition stands for too long", halted(for_s=301), False),
        ("in it, and a partition stands for a moment", halted(for_s=5), True),
        ("in it, and has hung since it got on", hung(for_s=303), False),
    ],
    "may_be_in_the_group": [
        ("not known", UNKNOWN_WHETHER_IN, True),
        (
            "not known, and not Ready",
            with_new(fresh_pod(2, 10, ready=False), memory=RolloutMemory()),
            False,
        ),
        ("known to be out", with_new(fresh_pod(2, 10), absent_s=9), False),
        ("known to be in", with_new(fresh_pod(2, 400)), False),
    ],
    "is_starting": [
        ("its startup probe goes on", with_new(fresh_pod(2, 400, ready=False, starting=True)), True),
        ("it has none, or that has succeeded", with_new(fresh_pod(2, 400, ready=False)), False),
    ],
    "is_yet_to_be_tried": [
        ("it ended when Kafka was out of sight, and was not tried since", crashing(100, seen_for_s=99), True),
        ("it was tried since", crashing(100, seen_for_s=101), False),
        ("by now it should have been", crashing(500, seen_for_s=311), False),
        ("it does not end and end", with_new(fresh_pod(2, 400, ready=False, ended_at=NOW - 1000)), False),
    ],
    "is_fenced_by_an_orphan": [
        ("of its own ordinal", with_orphans("payments-alt-2"), True),
        ("of another", with_orphans("payments-alt-1"), False),
        ("of its own StatefulSet, which takes it back", with_orphans("payments-2"), False),
        ("there is none", with_orphans(), False),
    ],
    "was_ended_by_the_other_pod": [
        ("a handover goes on", after_a_handover(), True),
        ("it ended before it was alone", after_a_handover(over=True, alone_since=NOW - 20), True),
        ("it has ended since", after_a_handover(over=True, alone_since=NOW - 40), False),
        ("of another ordinal", after_a_handover(ordinal=1), False),
        ("no ordinal was handed over", with_new(stuck("CrashLoopBackOff", 3)), False),
        ("it is stuck in something else", after_a_handover("ImagePullBackOff"), False),
    ],
    "found_no_node": [
        ("none for a version before either", no_node(SMALL), True),
        ("none for what it asks for", no_node(LARGE), False),
        ("it has one", with_new(fresh_pod(2, 400, ready=False)), False),
        ("it may not ask for one yet", no_node(SMALL, waiting="SchedulingGated"), True),
        ("no scheduler runs", no_node(SMALL, waiting=""), True),
        ("its node makes it no sandbox", no_node(SMALL, waiting="", scheduled_at=NOW - 399), True),
        ("its containers have begun", no_node(SMALL, waiting="", address="10.0.0.9"), False),
        ("its node cannot mount what it asks for", no_node(SMALL, waiting="FailedMount"), False),
        ("its image cannot be pulled", no_node(SMALL, waiting="ImagePullBackOff"), False),
    ],
    "meets_what_others_meet": [
        ("no pod of the other version is Ready", unready(pod(0, ready=False), pod(1, ready=False)), True),
        ("one is", unready(pod(0), pod(1, ready=False)), False),
        ("those that end do not count", unready(pod(0), pod(1, ready=False, terminating=True)), False),
        ("there is none", unready(fresh_pod(0, 400), fresh_pod(1, 400)), False),
        ("one of them cannot pull its image either", unready(pod(0), old_stuck("A"), new=stuck("A")), True),
        ("one of them has another trouble", unready(pod(0), old_stuck("B"), new=stuck("A")), False),
        ("it is Ready itself", unready(pod(0, ready=False), new=fresh_pod(2, 400)), False),
        ("it is the last, and those before it were Ready for long", unready(*LOST_LATELY), True),
        ("one of them still is", unready(LOST_LATELY[0], fresh_pod(1, 1000)), False),
        ("one of them was for a moment", unready(fresh_pod(1, 1000, ready=False, ready_changed_at=NOW - 700)), False),
        ("one of them ends and ends", unready(replace(LOST_LATELY[0], waiting="CrashLoopBackOff")), False),
    ],
    "gets_on_as_little_as_others": [
        ("others get on, or have nothing to do", with_new(fresh_pod(2, 400)), False),
        ("they commit nothing either", where_nobody_commits(), True),
        ("but it is not in the group", where_nobody_commits(ready=False), False),
    ],
}
FOUND: dict[str, list[tuple[str, World, str]]] = {
    "stuck": [
        ("image", with_new(stuck("ImagePullBackOff")), "payments-2 is stuck in ImagePullBackOff: see its events"),
        (
            "with a message",
            with_new(replace(stuck("ErrImageNeverPull"), waiting_message="no such image")),
            "payments-2 is stuck in ErrImageNeverPull: no such image",
        ),
        ("Ready all the same", with_new(fresh_pod(2, 10, waiting="ImagePullBackOff")), ""),
        ("waits for a node", with_new(stuck("Unschedulable")), ""),
        ("crashed twice", with_new(stuck("CrashLoopBackOff", 2)), ""),
    ],
    "stalled": [
        ("commits nothing", stalled(for_s=301), "has committed nothing there since it came, for more than 5 min"),
        ("works", with_new(fresh_pod(2, 400)), ""),
        ("out of the group", with_new(fresh_pod(2, 400), absent_s=301), ""),
    ],
    "halted": [
        (
            "in a partition",
            halted(for_s=301),
            "payments-2 has committed nothing in orders-5 for more than 5 min, where the one before it got on",
        ),
        ("for a moment", halted(for_s=5), ""),
        ("works", with_new(fresh_pod(2, 400)), ""),
        ("not Ready", changed(halted(for_s=301), pods=(pod(0), pod(1), fresh_pod(2, 1000, ready=False))), ""),
    ],
    "hung": [
        (
            "two that got on do not",
            hung(for_s=303),
            "has committed nothing for more than 5 min since, nor has another one",
        ),
        ("a single one: it may have met a record that takes its time", hung(for_s=303, hang=(2,)), ""),
        ("for a moment", hung(for_s=290), ""),
        ("an old one does not get on either", hung(for_s=303, hang=(0, 1, 2)), ""),
        ("nor does it in one of its partitions", hung(for_s=303, stands=0), ""),
        ("it often takes as long", hung(for_s=303, waits=(1.0, 1.0, 250.0)), ""),
        ("how long it takes is not known", hung(for_s=303, waits=(1.0,)), ""),
        ("works", with_new(fresh_pod(2, 400)), ""),
    ],
    "crowded": [
        (
            "by one",
            with_too_many(for_s=301),
            "and membersPerPod is 1: correct the one or the other, and retry",
        ),
        ("not for long", with_too_many(for_s=300), ""),
        ("one of them has left", with_too_many(for_s=301, away=True), ""),
        (
            "by one without an instance id",
            with_too_many(for_s=301, nameless=True),
            "2 members in the group for more than 5 min, and membersPerPod is 1: 1 without an instance id, which not"
            " every pod of the version before has. Give it one and raise membersPerPod, or give it a group of its own,"
            " and retry",
        ),
        ("not for long, without one", with_too_many(for_s=300, nameless=True), ""),
        ("of which nobody knows whose it is", with_too_many(for_s=301, nameless=True, shares=True), ""),
        ("dynamic ones", with_too_many(for_s=301, dynamic=True), "correct the one or the other, and retry"),
        ("whose they are is not known", with_too_many(for_s=301, dynamic=True, shares=True), ""),
        ("with as many as it should have", with_new(fresh_pod(2, 400)), ""),
    ],
    "not_back_in_time": [
        ("not Ready", with_new(fresh_pod(2, 301, ready=False)), "payments-2 is not Ready after 5 min (rejoinTimeout)"),
        (
            "Ready",
            with_new(fresh_pod(2, 301), absent_s=301),
            "payments-2 is Ready but has not joined the group after 5 min (rejoinTimeout)",
        ),
        ("not yet", with_new(fresh_pod(2, 300, ready=False)), ""),
    ],
}


def pod_2(given: World) -> Pod:
    return next(pod for pod in given.pods if pod.ordinal == 2)


@pytest.mark.parametrize(
    ("excuse", "given", "excused"),
    [pytest.param(excuse, w, e, id=f"{excuse}: {name}") for excuse, rows in EXCUSED.items() for name, w, e in rows],
)
def test_excuse(excuse: str, given: World, excused: bool) -> None:
    assert getattr(excuses, excuse)(given, pod_2(given)) is excused


@pytest.mark.parametrize(
    ("find", "given", "message"),
    [pytest.param(find, w, e, id=f"{find}: {name}") for find, rows in FOUND.items() for name, w, e in rows],
)
def test_find(find: str, given: World, message: str) -> None:
    found = getattr(failure, find)(given, pod_2(given))
    assert (found.message if found is not None else "").endswith(message)
    assert (found is not None) is bool(message)


NEW_PODS = tuple(pod(ordinal, NEW) for ordinal in range(3))
UNREAD = observation(partitions=observation().partitions | {tp(0, "refunds")})


def with_unread(calm_s: float, **changes: object) -> World:
    """All pods have the version, and a topic that nobody reads; nothing has changed for so long."""
    usual = {"kafka": UNREAD, "history": watched(UNREAD, calm_s), "pods": NEW_PODS, "memory": MEMORY}
    return world(**(usual | changes))


FORGOTTEN = [
    ("for longer than stableFor and rejoinTimeout", with_unread(311), True),
    ("for less: somebody is taken out after stableFor", with_unread(310), False),
    ("every topic is read", with_unread(311, kafka=observation(), history=watched(observation(), 311)), False),
    ("an old pod is left", with_unread(311, pods=(pod(0), *NEW_PODS[1:])), False),
    ("the group is not calm", with_unread(311, kafka=replace(UNREAD, state=GroupState.PREPARING_REBALANCE)), False),
    ("a pod is not Ready", with_unread(311, pods=(*NEW_PODS[:2], pod(2, NEW, ready=False))), False),
]


@pytest.mark.parametrize(("given", "is_forgotten"), [row[1:] for row in FORGOTTEN], ids=[row[0] for row in FORGOTTEN])
def test_a_topic_is_forgotten(given: World, is_forgotten: bool) -> None:
    found = find_failure(given)
    assert (found is not None and found.reason is Reason.PARTITIONS_NOT_OWNED) is is_forgotten
    assert found is None or not is_forgotten or "refunds-0" in found.message


def test_every_excuse_and_every_failure_has_its_table() -> None:
    assert [each.__name__ for each in excuses.EXCUSES] == list(EXCUSED)
    assert [each.__name__ for each in failure.FAILURES] == list(FOUND)


def test_a_pod_that_is_stuck_is_called_that_however_long_it_has_been_away() -> None:
    found = find_failure(with_new(stuck("ImagePullBackOff", age_s=900)))
    assert found is not None
    assert found.reason is Reason.POD_STUCK

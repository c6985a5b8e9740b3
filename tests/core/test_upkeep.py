"""What a group in Kafka needs besides rollouts: the order of it, and when nothing may be done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.acts import AlterGroupSettings, Cause, DeletePod, ReleaseMembers, RemoveMembers
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.members.rebalancing import (
    rebalance_for_more_partitions,
    rebalance_for_other_topics,
    rebalance_for_what_was_not_assigned,
    rebalance_for_who_owns_nothing,
)
from slackwater.core.members.scaled_away import LATE_FOR_S
from slackwater.core.members.work import what_is_read
from slackwater.core.plan import plan
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION, note_settings
from slackwater.core.upkeep import (
    note_members,
    restart_the_refused,
    upkeep,
)
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, MemberRef, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import (
    NEW,
    NOW,
    OLD,
    changed,
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

AT_REST = workload(current_revision=NEW)
MEMORY = RolloutMemory(protocol=Profile.CONSUMER, ids_given=6)
SCALED_AWAY = (3, 5)


def modern(*extra: int, at: float = NOW) -> GroupObservation:
    present = [member(ordinal, epoch=7) for ordinal in (0, 1, 2, *extra)]
    return observation(present, at=at, type=GroupType.CONSUMER, settings={})


def scene(kafka: GroupObservation | Unobserved | None = None, *pods: Pod, memory: RolloutMemory = MEMORY) -> World:
    """A KIP-848 group of three that is to have a session of its own; pod 1 died, and two were scaled away."""
    seen = kafka if kafka is not None else modern(*SCALED_AWAY)
    crashed = pod(1, NEW, started_at=NOW - 5, ended_at=NOW - 6)
    looks = [modern(at=NOW - 3600), modern(at=NOW - 3590)]
    made = world(
        group=group(timeouts={"consumer": {"session": "50s"}}, protocol={"target": "Consumer"}),
        kafka=seen,
        history=folded(*looks, *([seen] if isinstance(seen, GroupObservation) else [])),
        workload=AT_REST,
        pods=pods or (pod(0, NEW), crashed, pod(2, NEW)),
    )
    made = replace(made, memory=memory)
    return made.remembering(note_members(made.remembering(memory)).memory)


def test_the_dead_come_first_then_their_successors_then_the_settings() -> None:
    given, done = scene(), []
    for _ in range(3):
        care = upkeep(given, AT_REST)
        assert care is not None
        done.append(care.act)
        members = given.kafka.members if isinstance(given.kafka, GroupObservation) else ()
        if isinstance(care.act, RemoveMembers):
            members = tuple(m for m in members if m.instance_id not in dict(care.act.members))
        if isinstance(care.act, ReleaseMembers):
            freed = dict(care.act.members)
            members = tuple(replace(m, epoch=-2) if m.instance_id in freed else m for m in members)
        given = replace(given, memory=care.memory, kafka=replace(modern(), members=members))
    assert [type(act) for act in done] == [RemoveMembers, ReleaseMembers, AlterGroupSettings]
    assert [ref.instance_id for ref in done[0].members] == ["payments-3", "payments-5"]  # type: ignore[union-attr]
    assert [ref.instance_id for ref in done[1].members] == ["payments-1"]  # type: ignore[union-attr]
    assert done[2] == AlterGroupSettings({SESSION: "50000"})
    settled = replace(given, kafka=replace(modern(), settings={SESSION: "50000"}), memory=given.memory)
    assert upkeep(changed(settled, pods=(pod(0, NEW), pod(1, NEW), pod(2, NEW))), AT_REST) is None


def test_who_was_taken_out_is_remembered_so_that_nobody_who_comes_after_is() -> None:
    care = upkeep(scene(), AT_REST)
    assert care is not None
    assert care.memory.removed == {"payments-3": "payments-3-a", "payments-5": "payments-5-a"}
    again = upkeep(scene(memory=care.memory), AT_REST)
    assert again is not None
    assert isinstance(again.act, RemoveMembers)  # the same ones: the first try failed
    others = [replace(m, member_id=f"{m.member_id}-later") for m in modern(*SCALED_AWAY).members[3:]]
    came = replace(modern(), members=(*modern().members, *others))
    later = upkeep(scene(came, memory=care.memory), AT_REST)
    assert later is not None
    assert not isinstance(later.act, RemoveMembers)


ENDING = (pod(0, NEW), pod(1, NEW), pod(2, NEW), pod(3, NEW, terminating=True))
"""Two pods were scaled away, of which the other has ended."""


def taken_out(given: World) -> list[str]:
    care = upkeep(given, AT_REST)
    return [ref.instance_id for ref in care.act.members] if care and isinstance(care.act, RemoveMembers) else []


def test_who_was_scaled_away_at_once_is_taken_out_at_once() -> None:
    """Each removal rebalances everybody who is left."""
    waiting = scene(None, *ENDING)
    assert taken_out(waiting) == []
    assert waiting.memory.ended_since == NOW
    ended = scene(None, *ENDING[:3], memory=waiting.memory)
    assert taken_out(ended) == ["payments-3", "payments-5"]
    assert ended.memory.ended_since is None


def test_a_pod_that_still_ends_keeps_its_member_and_no_other_for_long() -> None:
    """Its node may be lost."""
    for waited_s, expected in ((0, []), (LATE_FOR_S - 0.1, []), (LATE_FOR_S, ["payments-5"])):
        remembered = replace(MEMORY, ended_since=NOW - waited_s)
        assert taken_out(scene(None, *ENDING, memory=remembered)) == expected


def test_nobody_waits_for_a_pod_whose_member_is_gone() -> None:
    assert taken_out(scene(modern(5), *ENDING)) == ["payments-5"]


def test_nobody_waits_for_a_pod_that_the_statefulset_still_makes() -> None:
    """Its number is somebody else's, or has not been written yet."""
    given = replace(changed(scene(None, *ENDING), workload=replace(AT_REST, replicas=4)), memory=MEMORY)
    assert taken_out(given.remembering(note_members(given).memory)) == ["payments-5"]


def test_nobody_waits_for_a_pod_that_is_wanted() -> None:
    """All pods are stopped for another protocol, or somebody has scaled the StatefulSet."""
    given = replace(scene(None, *ENDING), group=group(replicas=6), memory=MEMORY)
    assert given.remembering(note_members(given).memory).memory.ended_since is None


def test_a_wait_is_as_old_as_its_first_member() -> None:
    """Not as old as one before it; and what cannot be seen ends none."""
    old = replace(MEMORY, ended_since=NOW - 3600)
    assert scene(modern(3), *ENDING, memory=old).memory.ended_since is None
    assert scene(None, *ENDING, memory=old).memory.ended_since == NOW - 3600
    away = scene(Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW), *ENDING, memory=old)
    assert away.memory.ended_since == NOW - 3600


def test_a_pod_that_the_statefulset_does_not_control_yet_keeps_its_member() -> None:
    """Somebody deleted the StatefulSet and left the pods: they run on, and are taken up again in a moment."""
    care = upkeep(replace(scene(), loose=frozenset(SCALED_AWAY)), AT_REST)
    assert care is not None
    assert not isinstance(care.act, RemoveMembers)


@pytest.mark.parametrize(
    "given",
    [
        scene(Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)),
        scene(replace(modern(), settings={SESSION: "50000"}), pod(0, NEW), pod(1, NEW), pod(2, NEW)),
    ],
    ids=["Kafka is away", "all is well"],
)
def test_nothing_is_done(given: World) -> None:
    assert upkeep(given, AT_REST) is None


def test_nothing_is_done_while_the_pods_may_be_others_than_they_seem() -> None:
    """The StatefulSet controller has not read the last change: a pod that seems gone may be about to be made."""
    unread = replace(AT_REST, generation=3)
    assert upkeep(changed(scene(), workload=unread), unread) is None


def test_no_pod_is_restarted_in_the_same_pass_as_its_id_is_released() -> None:
    care = upkeep(scene(modern()), AT_REST)
    assert care is not None
    assert not isinstance(care.act, DeletePod)


def test_no_pod_of_a_paused_group_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may be looking at it."""
    due = Decision(MEMORY, DeletePod("payments-1", "uid-1", 1, Cause.REFUSED))
    monkeypatch.setattr("slackwater.core.upkeep.restart_due", lambda *_: due)
    given, kafka = scene(modern()), modern()
    assert restart_the_refused(given, kafka, AT_REST) == due
    assert restart_the_refused(replace(given, group=group(annotations={PAUSE: ""})), kafka, AT_REST) is None


TWO_TOPICS = observation().partitions | {tp(0, "refunds")}
STEP = Step(0, NOW - 3, {"payments-0": "payments-0-a"})
BETWEEN = pod(0, NEW, created_at=NOW - 2, started_at=None, ready=False)


def with_another_topic(first: Pod = BETWEEN, others: str = NEW, **kafka: Any) -> World:
    """The last pod, of ordinal 0, is being restarted, with a version that reads refunds as well."""
    return world(
        kafka=observation(**({"partitions": TWO_TOPICS} | kafka)),
        pods=(first, pod(1, others), pod(2, others)),
        memory=RolloutMemory(phase=RolloutPhase.PROGRESSING, step=STEP),
    )


def missed(
    phase: RolloutPhase = RolloutPhase.PROGRESSING,
    *,
    done: bool = False,
    calm_s: float = 50.0,
    read_before: str = what_is_read(observation()),
) -> World:
    """The operator was away then: the new process has joined as it was, and nothing rebalances by itself."""
    back = (member(0, "b"), *members(1, 2))
    look = observation(back, partitions=TWO_TOPICS)
    before = replace(look, members=members(1, 2), observed_at=NOW - calm_s - 5)
    history = folded(replace(before, observed_at=NOW - 3600), before, replace(look, observed_at=NOW - calm_s), look)
    step = replace(STEP, started_at=NOW - 70, taken_out={"payments-0": "payments-0-a"} if done else {})
    memory = RolloutMemory(phase=phase, step=step, read_before=read_before)
    pods = (fresh_pod(0, calm_s + 8), pod(1, NEW), pod(2, NEW))
    return world(kafka=look, pods=pods, memory=memory, history=history)


def idle(
    phase: RolloutPhase = RolloutPhase.PROGRESSING, *, calm_s: float = 50.0, outdated: bool = False, **kafka: Any
) -> World:
    """Pod 2 is back for so long, and was given what the one before it had: nothing."""
    back = (*members(0, 1), replace(member(2, "b"), assignment=frozenset()))
    owned = frozenset(partition for each in back for partition in each.assignment)
    look = observation(back, **({"partitions": owned} | kafka))
    before = replace(look, members=back[:2], observed_at=NOW - calm_s - 5)
    history = folded(replace(before, observed_at=NOW - 3600), before, replace(look, observed_at=NOW - calm_s), look)
    step = replace(STEP, ordinal=2, started_at=NOW - calm_s - 20)
    pods = (pod(0), pod(1), replace(fresh_pod(2, calm_s + 8), revision=OLD if outdated else NEW))
    return world(kafka=look, pods=pods, memory=RolloutMemory(phase=phase, step=step), history=history)


GROWN: Any = observation().partitions | {tp(6), tp(7)}


def grown(calm_s: float = 30.0, annotations: dict[str, str] | None = None, **kafka: Any) -> World:
    """The topic has two partitions more than anybody owns, and the group has been calm for so long."""
    look = observation(**({"partitions": GROWN} | kafka))
    history = folded(replace(look, observed_at=NOW - calm_s), look)
    return world(kafka=look, history=history, group=group(annotations))


def of_eight(given: World, known: int) -> World:
    return given.remembering(replace(given.memory, grown={"orders": known}))


def nameless(started_ago_s: float) -> World:
    """Pod 2's consumer came without its instance id, five minutes ago; its container started so long ago."""
    found = grown(calm_s=300.0, members=(member(0), member(1), member(2, instance_id=None)))
    return changed(found, pods=(pod(0), pod(1), pod(2, started_at=NOW - started_ago_s)))


MORE_PARTITIONS = [
    ("one has come without its instance id", nameless(3600), True),
    ("so it had, and its process has ended since", nameless(5), False),
    ("nobody owns them, in a calm group", grown(), True),
    ("since a moment", grown(calm_s=29.0), False),
    ("the group rebalances", grown(state=GroupState.PREPARING_REBALANCE), False),
    ("a KIP-848 group, which needs no help", grown(type=GroupType.CONSUMER), False),
    ("it was done for that size", of_eight(grown(), 8), False),
    ("it was done for a smaller size", of_eight(grown(), 7), True),
    ("a pod is away", changed(grown(), pods=(pod(0), pod(1, ready=False), pod(2))), False),
    ("a pod is missing", changed(grown(), pods=(pod(0), pod(1))), False),
    ("the group is paused", grown(annotations={PAUSE: ""}), False),
    ("all are owned", grown(partitions=observation().partitions), False),
    ("of a topic that nobody reads", grown(partitions=TWO_TOPICS), False),
]


@pytest.mark.parametrize(
    ("given", "done"), [row[1:] for row in MORE_PARTITIONS], ids=[row[0] for row in MORE_PARTITIONS]
)
def test_a_group_rebalances_once_for_partitions_that_nobody_has_seen_come(given: World, done: bool) -> None:
    assert given.seen is not None
    found = rebalance_for_more_partitions(given, given.seen, AT_REST)
    assert (found is not None) is done
    if found is not None:
        assert isinstance(found.act, RemoveMembers)
        assert found.act.members == (MemberRef("payments-0", "payments-0-a"),)
        assert found.memory.grown == {"orders": 8}
        assert "orders" in found.act.why
        again = given.remembering(found.memory)
        assert again.seen is not None
        assert rebalance_for_more_partitions(again, again.seen, AT_REST) is None


def test_a_topic_that_was_made_again_may_grow_again() -> None:
    assert note_members(of_eight(world(), 6)).memory.grown == {"orders": 6}
    assert note_members(of_eight(world(), 7)).memory.grown == {}


OTHER_TOPICS = [
    ("the old pod has ended", with_another_topic(), True),
    ("it has not", with_another_topic(pod(0, NEW, terminating=True)), False),
    ("its new process has joined", with_another_topic(members=(member(0, "b"), *members(1, 2))), False),
    ("others have the old version still", with_another_topic(others=OLD), False),
    ("somebody reads every topic", with_another_topic(partitions=observation().partitions), False),
    ("the group rebalances anyway", with_another_topic(state=GroupState.PREPARING_REBALANCE), False),
    ("a KIP-848 group, which needs no help", with_another_topic(type=GroupType.CONSUMER), False),
]


OWNS_NOTHING = [
    ("in a rollout", idle(), True),
    ("on the way back", idle(RolloutPhase.ROLLING_BACK), True),
    ("at rest", idle(RolloutPhase.COMPLETE), True),
    ("it has failed", idle(RolloutPhase.FAILED), False),
    ("it is to be replaced", idle(outdated=True), False),
    ("since a moment", idle(calm_s=4.0), False),
    ("there are more members than partitions", idle(partitions=frozenset({tp(0), tp(1)})), False),
    ("a KIP-848 group, which needs no help", idle(type=GroupType.CONSUMER), False),
    ("the group rebalances", idle(state=GroupState.PREPARING_REBALANCE), False),
    ("another one is not Ready", changed(idle(), pods=(pod(0), pod(1, ready=False), fresh_pod(2, 58.0))), False),
    ("the group is paused", changed(idle(), group=group(annotations={PAUSE: ""})), False),
]


@pytest.mark.parametrize(
    ("given", "is_taken_out"), [row[1:] for row in OWNS_NOTHING], ids=[row[0] for row in OWNS_NOTHING]
)
def test_who_owns_nothing_is_taken_out_once_so_that_it_gets_its_share(given: World, is_taken_out: bool) -> None:
    assert given.seen is not None
    found = rebalance_for_who_owns_nothing(given, given.seen, AT_REST)
    assert (found is not None) is is_taken_out
    if found is not None:
        assert isinstance(found.act, RemoveMembers)
        assert found.act.members == (MemberRef("payments-2", "payments-2-b"),)
        again = given.remembering(found.memory)  # the operator died before the act
        assert again.seen is not None
        repeated = rebalance_for_who_owns_nothing(again, again.seen, AT_REST)
        assert repeated is not None
        assert repeated.act == found.act
        joined = tuple(replace(each, member_id="another") for each in again.seen.members)
        done = replace(again.seen, members=joined)
        assert rebalance_for_who_owns_nothing(changed(again, kafka=done), done, AT_REST) is None


def short(
    phase: RolloutPhase = RolloutPhase.COMPLETE, *, calm_s: float = 60.0, asks: str = "", **changes: Any
) -> World:
    """A KIP-848 group of three static members in which pod 1 owns nothing, and nobody what it should. `asks`: it does,
    for that topic."""
    epoch, asked = 4, frozenset({asks}) if asks else None
    three = (
        member(0, epoch=epoch),
        member(1, epoch=epoch, assignment=frozenset(), subscribed=asked),
        member(2, epoch=epoch),
    )
    kafka = observation(type=GroupType.CONSUMER, epoch=epoch, members=three, **changes)
    memory = RolloutMemory(phase=phase, step=Step(0, NOW - 600.0))
    pods = (pod(0, NEW), pod(1, NEW), pod(2, NEW))
    return world(kafka=kafka, history=watched(kafka, calm_s), memory=memory, pods=pods, workload=workload(partition=0))


ALL_OWNED = owned_by(0) | owned_by(2)
NOT_ASSIGNED = [
    ("at rest", short(), True),
    ("in a rollout", short(RolloutPhase.PROGRESSING), True),
    ("it has failed", short(RolloutPhase.FAILED), False),
    ("since a moment", short(calm_s=20.0), False),
    ("the group is still about it", short(state=GroupState.RECONCILING), False),
    ("in a classic group", changed(short(), kafka=observation(members=short().members)), False),
    ("a pod is missing", changed(short(), pods=(pod(0, NEW), pod(1, NEW))), False),
    ("paused", changed(short(), group=group(annotations={PAUSE: ""})), False),
    ("everything is owned", short(partitions=ALL_OWNED), False),
    ("everything is owned, and it asks for it, too", short(partitions=ALL_OWNED, asks="orders"), True),
    ("… for another topic", short(partitions=ALL_OWNED, asks="other"), False),
    ("… and there are more members than partitions", short(partitions=frozenset({tp(0), tp(4)}), asks="orders"), False),
    ("nobody asks for it", short(partitions=ALL_OWNED | {tp(0, "other")}), False),
    ("no step is known", short().remembering(RolloutMemory(phase=RolloutPhase.COMPLETE)), False),
]


@pytest.mark.parametrize(
    ("given", "is_taken_out"), [row[1:] for row in NOT_ASSIGNED], ids=[row[0] for row in NOT_ASSIGNED]
)
def test_a_kip_848_group_is_made_to_assign_what_nobody_owns_and_once(given: World, is_taken_out: bool) -> None:
    assert given.seen is not None
    found = rebalance_for_what_was_not_assigned(given, given.seen, AT_REST)
    assert (found is not None) is is_taken_out
    if found is not None:
        assert isinstance(found.act, RemoveMembers)
        assert found.act.members == (MemberRef("payments-1", "payments-1-a"),), "who owns nothing comes first"
        assert "orders-2, orders-3" in found.act.why or "pod payments-1" in found.act.why
        again = given.remembering(found.memory)  # the operator died before the act
        assert again.seen is not None
        repeated = rebalance_for_what_was_not_assigned(again, again.seen, AT_REST)
        assert repeated is not None
        assert repeated.act == found.act
        later = replace(again.seen, epoch=6)  # it has joined again, and keeps its member id
        afterwards = changed(again, kafka=later, history=watched(later))
        assert rebalance_for_what_was_not_assigned(afterwards, later, AT_REST) is None


def test_the_only_kip_848_pod_beside_classic_ones_is_not_taken_out() -> None:
    """The group would be a classic one again."""
    given = changed(short(), pods=(pod(0), pod(1, NEW, protocol=Profile.CONSUMER), pod(2)))
    assert given.seen is not None
    found = rebalance_for_what_was_not_assigned(given, given.seen, AT_REST)
    assert found is not None
    assert isinstance(found.act, RemoveMembers)
    assert found.act.members == (MemberRef("payments-0", "payments-0-a"),)


MISSED = [
    ("its last pod is back, and the group calm", missed(), True),
    ("that was done already", missed(done=True), False),
    ("a pod is missing", changed(missed(), pods=(fresh_pod(0, 58.0), pod(1, NEW))), False),
    ("the group is paused", changed(missed(), group=group(annotations={PAUSE: ""})), False),
    ("since a moment", missed(calm_s=4.0), False),
    ("on the way back, and it is read as before", missed(RolloutPhase.ROLLING_BACK), False),
    ("on the way back, and it is read otherwise", missed(RolloutPhase.ROLLING_BACK, read_before="otherwise"), True),
    ("it has gone back meanwhile", missed(RolloutPhase.ROLLED_BACK, read_before="otherwise"), True),
    ("what was read before is not known", missed(RolloutPhase.ROLLING_BACK, read_before=""), False),
]


@pytest.mark.parametrize(("given", "is_taken_out"), [row[1:] for row in MISSED], ids=[row[0] for row in MISSED])
def test_a_rebalance_that_was_missed_is_made_up_for_once(given: World, is_taken_out: bool) -> None:
    assert given.seen is not None
    found = rebalance_for_other_topics(given, given.seen, AT_REST)
    assert (found is not None) is is_taken_out
    if found is not None:
        assert isinstance(found.act, RemoveMembers)
        assert found.act.members == (MemberRef("payments-0", "payments-0-b"),)
        assert found.memory.step is not None
        assert found.memory.step.taken_out == {"payments-0": "payments-0-b"}
        again = given.remembering(found.memory)  # the operator died before the act
        assert again.seen is not None
        repeated = rebalance_for_other_topics(again, again.seen, AT_REST)
        assert repeated is not None
        assert repeated.act == found.act


@pytest.mark.parametrize(
    ("given", "is_taken_out"), [row[1:] for row in OTHER_TOPICS], ids=[row[0] for row in OTHER_TOPICS]
)
def test_a_group_rebalances_once_its_last_pod_reads_another_topic(given: World, is_taken_out: bool) -> None:
    assert given.seen is not None
    found = rebalance_for_other_topics(given, given.seen, AT_REST)
    assert (found is not None) is is_taken_out
    if found is not None:
        assert isinstance(found.act, RemoveMembers)
        assert found.act.members == (MemberRef("payments-0", "payments-0-a"),)
        assert "refunds" in found.act.why


def settings_scene(has: dict[str, str], made: dict[str, str], **asked: str) -> World:
    """The group at rest: `has` are its own settings in Kafka, `made` those that the operator remembers to have made."""
    spec: dict[str, Any] = {"protocol": {"target": "Consumer"}, "timeouts": {"consumer": asked} if asked else {}}
    kafka = replace(modern(), settings=has)
    well = scene(kafka, pod(0, NEW), pod(1, NEW), pod(2, NEW), memory=replace(MEMORY, group_settings=made))
    return replace(well, group=group(**spec))


def after(given: World, has: dict[str, str]) -> World:
    """The next pass: the memory was written, and Kafka has these settings now, whatever became of the act."""
    decided = upkeep(given, AT_REST)
    assert decided is not None
    return replace(given, memory=decided.memory, kafka=replace(modern(), settings=has))


def test_a_setting_that_could_not_be_taken_back_is_taken_back_by_the_next_pass() -> None:
    """Kafka was away, or the operator died, after the memory was written."""
    has = {SESSION: "50000", HEARTBEAT: "6000"}
    failed = after(settings_scene(has, has, heartbeat="7s"), has)
    again = upkeep(failed, AT_REST)
    assert again is not None
    assert again.act == AlterGroupSettings({SESSION: None, HEARTBEAT: "7000"})


def test_a_setting_that_is_gone_from_kafka_is_forgotten_since_the_next_one_of_that_name_is_somebody_elses() -> None:
    has = {SESSION: "50000"}
    given = settings_scene(has, has)
    gone = after(given, {})
    assert gone.memory.group_settings == has
    forgotten = plan(gone).memory
    assert forgotten.group_settings == {}
    theirs = replace(given, memory=forgotten)
    assert upkeep(theirs, AT_REST) is None
    assert upkeep(replace(theirs, memory=plan(theirs).memory), AT_REST) is None


@pytest.mark.parametrize("has", [{}, None], ids=["not set yet", "not read"])
def test_a_setting_that_is_wanted_or_cannot_be_looked_for_is_not_forgotten(has: dict[str, str] | None) -> None:
    made = {SESSION: "50000"}
    asked = {"session": "50s"} if has is not None else {}
    given = settings_scene({}, made, **asked)
    assert note_settings(replace(given, kafka=replace(modern(), settings=has))).memory.group_settings == made


def test_an_id_is_released_before_the_pod_of_another_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for it meanwhile is refused."""
    due = Decision(MEMORY, DeletePod("payments-2", "uid-2", 2, Cause.REFUSED))
    monkeypatch.setattr("slackwater.core.upkeep.restart_due", lambda *_: due)
    care = upkeep(scene(modern()), AT_REST)
    assert care is not None
    assert isinstance(care.act, ReleaseMembers)


def test_for_new_partitions_one_member_of_a_pod_that_has_several_is_enough() -> None:
    two = [
        member(ordinal, instance_id=f"payments-{ordinal}-{t}", member_id=f"id-{ordinal}-{t}", assignment=its)
        for ordinal, both in enumerate(((tp(0), tp(1)), (tp(2), tp(3)), (tp(4), tp(5))))
        for t, its in enumerate(frozenset({each}) for each in both)
    ]
    given = replace(grown(members=two), group=group(membersPerPod=2))
    assert given.seen is not None
    found = rebalance_for_more_partitions(given, given.seen, AT_REST)
    assert found is not None
    assert isinstance(found.act, RemoveMembers)
    assert found.act.members == (MemberRef("payments-0-0", "id-0-0"),)


def test_of_a_topic_that_is_out_of_sight_it_stays_known_that_it_has_grown() -> None:
    seen = replace(world().memory, grown={"refunds": 4})
    assert note_members(world().remembering(seen)).memory.grown == {"refunds": 4}

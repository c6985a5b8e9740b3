"""Whose process was refused, and who gets another chance because it may have been; what is remembered of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.timestamps import timestamp
from slackwater.core.decision.acts import DeletePod
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.members import refused
from slackwater.core.members.refused import last_chance, restart_due, still_refused
from slackwater.core.plan import plan
from slackwater.core.upkeep import note_members
from slackwater.core.world.history import advance
from slackwater.core.world.memory import (
    Release,
    RolloutMemory,
    RolloutPhase,
    read_memory,
    write_memory,
)
from slackwater.core.world.observation import GroupObservation, GroupType, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.refusal import Refusal
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
    pod,
    workload,
    world,
)
from tests.core.members.scenes import (
    AT_REST,
    AWAY,
    BACK,
    GONE,
    MODERN,
    NEWLY_WATCHED,
    held,
    modern,
    released,
    restarted,
    scene,
)


def looked_at_again(given: World, memory: RolloutMemory, later_s: float) -> World:
    """The same world so many seconds later, with this memory as it comes back from the API server."""
    assert isinstance(given.kafka, GroupObservation)
    kafka = replace(given.kafka, observed_at=NOW + later_s)
    written = read_memory({"rollout": write_memory(memory)})
    later = replace(given, now=NOW + later_s, kafka=kafka, history=advance(given.history, kafka))
    return later.remembering(note_members(later.remembering(written)).memory)


def with_its_successor(given: World, memory: RolloutMemory) -> World:
    """The pod with ordinal 1 was deleted, and another one is made."""
    new = fresh_pod(1, 0, started_at=None, ready=False)
    return replace(given.remembering(memory), all_pods=tuple(new if p.ordinal == 1 else p for p in given.all_pods))


def restarts(pod_: Pod, memory: RolloutMemory, kafka: GroupObservation = AWAY, **changes: Any) -> World:
    return scene(pod_, kafka=kafka, memory=memory, **changes)


def backing_off(ended_s: float, ran_s: float = 2.0, **changes: Any) -> Pod:
    """A pod whose container ended so many seconds ago, and had run for so long."""
    times = {"ended_at": NOW - ended_s, "last_run_started_at": NOW - ended_s - ran_s}
    return pod(1, NEW, **({"started_at": None, "ready": False, "restarts": 1} | times | changes))


ALL_CLASSIC = observation((member(0), member(2)))
"""What is left of a group on its way back from KIP-848 when its last such member was a dead one."""
DEPARTED = folded(modern(at=NOW - 60), modern(at=NOW - 59), replace(GONE, observed_at=NOW - 12))
RESTART: list[tuple[str, World, bool]] = [
    ("nothing was released", restarts(restarted(), held(1, NOW - 3590), kafka=modern()), False),
    ("it may still join", restarts(restarted(ago_s=12), released(10)), False),
    ("it would have joined by now", restarts(restarted(ago_s=12), released(10.1)), True),
    ("it became Ready late", restarts(restarted(ago_s=20, ready_changed_at=NOW - 9), released(19)), False),
    ("it has joined", restarts(restarted(ago_s=30), released(29), kafka=BACK), False),
    ("the id is held still", restarts(restarted(ago_s=30), released(29), kafka=modern()), False),
    (
        "its node's clock is ahead: a watch had seen it run before the release",
        restarts(restarted(ago_s=28, told_running_at=NOW - 34), released(29)),
        True,
    ),
    ("it started after the release", restarts(restarted(ago_s=28), released(29)), False),
    ("it started as the id came free", restarts(restarted(ago_s=29), released(29)), False),
    ("once for each release", restarts(restarted(ago_s=30), released(29, restarted=True)), False),
    (
        "but lately",
        restarts(restarted(ago_s=30), replace(released(29), refused={"payments-1": Refusal(NOW - 29.9)})),
        False,
    ),
    (
        "not so seldom",
        restarts(restarted(ago_s=30), replace(released(29), refused={"payments-1": Refusal(NOW - 30)})),
        True,
    ),
    ("it is ending", restarts(restarted(ago_s=30, terminating=True), released(29)), False),
    (
        "it would come back with another version",
        restarts(replace(restarted(ago_s=30), revision="other"), released(29)),
        False,
    ),
    ("not Ready", restarts(restarted(ago_s=300, ready=False), released(299)), False),
    ("not Ready for too long", restarts(restarted(ago_s=302, ready=False), released(301)), True),
    ("a fast one", restarts(restarted(ago_s=11, took_s=3), released(7)), True),
    ("a fast one that may be slow today", restarts(restarted(ago_s=11, took_s=3), released(10)), False),
    ("not so slow as that", restarts(restarted(ago_s=13, took_s=3), released(12)), True),
    ("a slow one", restarts(restarted(ago_s=42, took_s=20), released(41)), False),
    ("a slow one, in the end", restarts(restarted(ago_s=47, took_s=20), released(46)), True),
    ("backing off after a refusal", restarts(backing_off(3), released(3)), True),
    ("it is said to", restarts(backing_off(3, waiting="CrashLoopBackOff"), released(3)), True),
    ("it waits for something else", restarts(backing_off(3, waiting="ImagePullBackOff"), released(3)), False),
    ("about to start", restarts(backing_off(6.5), released(3)), False),
    ("for as long as a new pod takes", restarts(backing_off(6), released(3)), True),
    ("not so soon, after all", restarts(backing_off(10.5), released(3)), True),
    ("about to start the second time", restarts(backing_off(16.5), released(3)), False),
    ("waiting for minutes", restarts(backing_off(295), released(3)), True),
    ("having started after the release", restarts(backing_off(1, ran_s=1), released(3)), False),
    ("after its first end", restarts(backing_off(3, ran_s=9000), released(3)), False),
    ("the session has ended by itself", restarts(restarted(ago_s=55), held(1, NOW - 59), GONE, history=DEPARTED), True),
    (
        "the session has ended, and the group is classic by that",
        restarts(restarted(ago_s=55, protocol=Profile.CONSUMER), held(1, NOW - 59), ALL_CLASSIC, history=DEPARTED),
        True,
    ),
    (
        "nobody refuses a classic process for that",
        restarts(restarted(ago_s=55, protocol=Profile.EAGER), held(1, NOW - 59), ALL_CLASSIC, history=DEPARTED),
        False,
    ),
    ("its member left, and it lives", restarts(pod(1, NEW), held(1, NOW - 59), GONE, history=DEPARTED), False),
    (
        "its member left, nothing else known",
        restarts(restarted(ago_s=55), RolloutMemory(), GONE, **NEWLY_WATCHED),
        False,
    ),
]


@pytest.mark.parametrize(("given_world", "due"), [row[1:] for row in RESTART], ids=[row[0] for row in RESTART])
def test_whose_process_was_refused(given_world: World, due: bool) -> None:
    found = restart_due(given_world, AT_REST)
    assert (found is not None) == due
    if found is not None:
        assert isinstance(found.act, DeletePod)
        assert found.act.uid == "uid-1"
        assert found.memory.refused["payments-1"].restarted_at == NOW
        done = with_its_successor(given_world, found.memory)
        assert restart_due(replace(done, now=NOW + 5), AT_REST) is None


KILLED_BEFORE_THE_ACT = [
    ("after a release", restarts(restarted(ago_s=30), released(29))),
    ("while its container waits", restarts(backing_off(3), released(3))),
    ("after a session's end", restarts(restarted(ago_s=55), held(1, NOW - 59), GONE, history=DEPARTED)),
]


@pytest.mark.parametrize(
    "given_world", [row[1] for row in KILLED_BEFORE_THE_ACT], ids=[r[0] for r in KILLED_BEFORE_THE_ACT]
)
@pytest.mark.parametrize("later_s", [1, 29, 700, 3600])
def test_a_restart_that_is_remembered_and_was_not_done_is_still_due(given_world: World, later_s: float) -> None:
    """The operator died in between, or the API server did not take it. Nothing of it is counted twice."""
    first = restart_due(given_world, AT_REST)
    assert first is not None
    again = restart_due(looked_at_again(given_world, first.memory, later_s), AT_REST)
    assert again is not None
    assert (again.act, again.memory.refused) == (first.act, first.memory.refused)


NOT_ANY_MORE: list[tuple[str, dict[str, Any]]] = [
    ("its pod is another one", {"uid": "uid-1-new"}),
    ("its pod is ending", {"terminating": True}),
    ("the kubelet has started it again", {"started_at": NOW - 1, "restarts": 2}),
    ("it would come back with another version", {"revision": "other"}),
]


@pytest.mark.parametrize("changes", [row[1] for row in NOT_ANY_MORE], ids=[row[0] for row in NOT_ANY_MORE])
def test_it_is_due_only_to_that_process(changes: dict[str, Any]) -> None:
    given = restarts(restarted(ago_s=30), released(29))
    first = restart_due(given, AT_REST)
    assert first is not None
    pods = tuple(replace(each, **changes) if each.ordinal == 1 else each for each in given.all_pods)
    assert restart_due(replace(looked_at_again(given, first.memory, 5), all_pods=pods), AT_REST) is None


def test_a_process_that_has_joined_after_all_is_not_restarted_when_it_leaves_for_a_while() -> None:
    given = restarts(restarted(ago_s=30), released(29))
    first = restart_due(given, AT_REST)
    assert first is not None
    joined = looked_at_again(changed(given, kafka=BACK), first.memory, 1)
    assert restart_due(joined, AT_REST) is None
    assert restart_due(looked_at_again(given, joined.memory, 2), AT_REST) is None


def test_a_release_that_did_not_take_leaves_it_due() -> None:
    """The dead member is listed once more and released again, before anybody has restarted its successor."""
    given = restarts(restarted(ago_s=30), released(29))
    first = restart_due(given, AT_REST)
    assert first is not None
    listed = looked_at_again(changed(given, kafka=modern()), first.memory, 1)
    again = restart_due(looked_at_again(given, listed.memory, 2), AT_REST)
    assert again is not None
    assert again.act == first.act


def test_what_an_operator_before_this_one_remembered_is_not_done_again() -> None:
    """It did not say which pod it meant: a restart that it did is not repeated."""
    written = {"refused": {"payments-1": {"restartedAt": timestamp(NOW - 60), "unseen": True}}}
    before = read_memory({"rollout": written}).refused
    memory = replace(released(59, restarted=True), refused=before)
    assert restart_due(restarts(restarted(ago_s=60), memory), AT_REST) is None
    told = replace(UNDER_WAY, refused={"payments-2": before["payments-1"]})
    assert last_chance(overdue(crashed(), told), AT_WORK, 2) is None


def said_of(found: Decision) -> tuple[float, int, bool]:
    refusal = found.memory.refused["payments-1"]
    return refusal.restarted_at, refusal.times, refusal.unseen


def test_members_of_similar_names_are_not_mixed_up() -> None:
    memory = released(29)
    memory = replace(memory, released={**memory.released, "payments-10": Release("payments-10-a", NOW - 29)})
    found = restart_due(restarts(restarted(ago_s=30), memory, group=group(replicas=11)), AT_REST)
    assert found is not None
    assert {key: r.restarted for key, r in found.memory.released.items()} == {"payments-1": True, "payments-10": False}


def test_a_last_chance_stays_known_when_a_refusal_is_seen() -> None:
    known = {"payments-1": Refusal(NOW - 60, unseen=True)}
    found = restart_due(restarts(restarted(ago_s=30), replace(released(29), refused=known)), AT_REST)
    assert found is not None
    assert said_of(found) == (NOW, 2, True)


def test_by_when_a_member_was_there_is_remembered_as_long_as_its_release() -> None:
    """It may have to be released again; where nothing was released, forgetting it is what prevents another restart."""
    after_a_release = restart_due(restarts(restarted(ago_s=30), released(29)), AT_REST)
    by_itself = restart_due(restarts(restarted(ago_s=55), held(1, NOW - 59), GONE, history=DEPARTED), AT_REST)
    assert after_a_release is not None
    assert by_itself is not None
    assert "payments-1" in after_a_release.memory.holders
    assert "payments-1" not in by_itself.memory.holders


def test_a_refusal_is_forgotten_after_ten_minutes() -> None:
    refused = {"a": Refusal(NOW - 599), "b": Refusal(NOW - 600)}
    assert still_refused(scene(memory=RolloutMemory(refused=refused))).keys() == {"a"}


def test_a_pod_is_restarted_ever_more_seldom() -> None:
    def due(times: int, ago_s: float) -> bool:
        memory = replace(released(29), refused={"payments-1": Refusal(NOW - ago_s, times)})
        return restart_due(restarts(restarted(ago_s=30), memory), AT_REST) is not None

    assert [due(1, 30), due(2, 59), due(2, 60), due(5, 479), due(5, 480), due(9, 599)] == [
        True,
        False,
        True,
        False,
        True,
        False,
    ]
    found = restart_due(
        restarts(restarted(ago_s=30), replace(released(29), refused={"payments-1": Refusal(NOW - 60, 2)})), AT_REST
    )
    assert found is not None
    assert said_of(found) == (NOW, 3, False)


BEGUN = NOW - 700
STEP = Step(2, NOW - 400, {"payments-2": "payments-2-a"}, made=True)
UNDER_WAY = RolloutMemory(phase=RolloutPhase.PROGRESSING, started_at=BEGUN, step=STEP)
AT_WORK = workload(partition=2)


def crashed(**changes: Any) -> Pod:
    """It ran for two seconds, and what came after it has not joined."""
    runs = {"started_at": NOW - 390, "ended_at": NOW - 391, "last_run_started_at": NOW - 393, "restarts": 1}
    return replace(fresh_pod(2, 395), **({"protocol": Profile.CONSUMER} | runs | changes))


def overdue(new: Pod, memory: RolloutMemory = UNDER_WAY, **changes: Any) -> World:
    """Pod 2 has the new version, and has been out of the group for longer than `rejoinTimeout`."""
    looks = [observation(members(0, 1), at=NOW - ago_s, **MODERN) for ago_s in (1000, 301, 0)]
    usual = {"pods": (pod(0), pod(1), new), "kafka": looks[-1], "history": folded(*looks), "workload": AT_WORK}
    return world(memory=memory, **(usual | changes))


def had_one(restarted_at: float, *, unseen: bool = True) -> RolloutMemory:
    return replace(UNDER_WAY, refused={"payments-2": Refusal(restarted_at, unseen=unseen)})


CHANCE: list[tuple[str, World, bool]] = [
    ("its process was refused, or is slow", overdue(crashed()), True),
    ("it is not Ready", overdue(crashed(ready=False)), True),
    ("it has had its chance", overdue(crashed(), had_one(BEGUN)), False),
    ("it was restarted for a refusal that was seen", overdue(crashed(), had_one(BEGUN, unseen=False)), True),
    ("in an earlier rollout", overdue(crashed(), had_one(BEGUN - 1)), True),
    ("its first process", overdue(crashed(last_run_started_at=None, ended_at=None, restarts=0)), False),
    ("its container waits", overdue(crashed(started_at=None)), False),
    ("it is ending", overdue(crashed(terminating=True)), False),
    ("it is not there", overdue(crashed(), pods=(pod(0), pod(1))), False),
    ("it is a classic one", overdue(crashed(protocol=Profile.EAGER)), False),
    ("it would come back with another version", overdue(crashed(revision="other")), False),
    ("nobody refuses a dynamic member", overdue(crashed(), group=group(membership="Dynamic")), False),
    ("the group is classic by now", overdue(crashed(), kafka=observation(members(0, 1))), True),
    ("it is no group of consumers", overdue(crashed(), kafka=observation(members(0, 1), type=GroupType.OTHER)), False),
    ("one of its members is there", overdue(crashed(), kafka=observation((member(2, "b"),), **MODERN)), False),
    ("Kafka cannot be asked", overdue(crashed(), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW)), False),
]


@pytest.mark.parametrize(("given", "due"), [row[1:] for row in CHANCE], ids=[row[0] for row in CHANCE])
def test_who_gets_another_chance(given: World, due: bool) -> None:
    found = last_chance(given, AT_WORK, 2)
    assert (found is not None) == due
    if found is not None:
        assert isinstance(found.act, DeletePod)
        assert found.act.uid == "uid-2-new"
        assert (found.memory.refused["payments-2"].restarted_at, found.memory.refused["payments-2"].unseen) == (
            NOW,
            True,
        )


def test_it_comes_before_the_version_is_called_failed_and_only_once() -> None:
    given = _with_what_is_wanted(overdue(crashed()))
    first = plan(given)
    assert isinstance(first.act, DeletePod)
    assert first.memory.phase is RolloutPhase.PROGRESSING

    nothing_done = plan(replace(given, memory=first.memory))
    assert (nothing_done.act, nothing_done.memory) == (first.act, first.memory)

    its_successor = replace(crashed(), uid="uid-2-newer")
    done = changed(given, memory=first.memory, pods=(pod(0), pod(1), its_successor))
    second = plan(done)
    assert (second.act, second.memory.phase) == (None, RolloutPhase.FAILED)
    assert second.hold is not None
    assert second.hold.reason is Reason.REJOIN_TIMEOUT


def test_a_last_chance_is_owed_to_its_pod_whichever_of_its_processes_runs() -> None:
    """The kubelet has started it again since: no version fails by that."""
    given = overdue(crashed())
    first = last_chance(given, AT_WORK, 2)
    assert first is not None
    since = changed(given, memory=first.memory, pods=(pod(0), pod(1), crashed(started_at=NOW - 300, restarts=2)))
    again = last_chance(since, AT_WORK, 2)
    assert again is not None
    assert (again.act, again.memory) == (first.act, first.memory)


def test_it_is_remembered_for_as_long_as_the_rollout_takes() -> None:
    long_ago = replace(UNDER_WAY, started_at=NOW - 5000, refused={"payments-2": Refusal(NOW - 4000)})
    assert still_refused(overdue(crashed(), long_ago)).keys() == {"payments-2"}
    assert still_refused(overdue(crashed(), replace(long_ago, phase=RolloutPhase.COMPLETE))) == {}


FAILED = RolloutPhase.FAILED
NAMELESS = observation((*members(0, 1), dynamic_member(2)), **MODERN)
AT_EASE = replace(UNDER_WAY, phase=RolloutPhase.COMPLETE, step=None)
IDLE = crashed(last_run_started_at=None, ready_changed_at=NOW - 310)
HERE = "KafkaConnection main in "
WAS_TRIED = Refusal(NOW - 200, unseen=True)
LATER: list[tuple[str, World, bool]] = [
    ("it has been in no group for long, and may have been refused", overdue(crashed(), AT_EASE), True),
    ("a rollout is under way, which judges its version", overdue(crashed()), False),
    ("it never crashed: it is slow", overdue(crashed(last_run_started_at=None, ready=False), AT_EASE), False),
    (
        "nor did that, Ready lately",
        overdue(crashed(last_run_started_at=None, ready_changed_at=NOW - 290), AT_EASE),
        False,
    ),
    ("it went with its pod", overdue(crashed(last_run_started_at=None, ready_changed_at=NOW - 310), AT_EASE), True),
    (
        "where none of its group is there, in what may be another Kafka",
        overdue(IDLE, AT_EASE, kafka=observation((), **MODERN)),
        False,
    ),
    (
        "none of its group is there, where a pod was seen",
        overdue(IDLE, replace(AT_EASE, seen_in=HERE), kafka=observation((), **MODERN)),
        True,
    ),
    (
        "the name of its brokers leads elsewhere by now",
        overdue(IDLE, replace(AT_EASE, seen_in=HERE), cluster_id="elsewhere"),
        False,
    ),
    (
        "nor does one that crashed go, then",
        overdue(crashed(), replace(AT_EASE, seen_in=HERE), cluster_id="elsewhere"),
        False,
    ),
    (
        "another one had its chance, and is not back",
        overdue(IDLE, replace(AT_EASE, refused={"payments-1": WAS_TRIED}), kafka=observation(members(0), **MODERN)),
        False,
    ),
    (
        "another one that crashed has its time to come back",
        overdue(
            crashed(), replace(AT_EASE, refused={"payments-1": WAS_TRIED}), kafka=observation(members(0), **MODERN)
        ),
        False,
    ),
    ("it has time left", overdue(crashed(started_at=NOW - 290), AT_EASE), False),
    (
        "its startup probe goes on: it may restore its state",
        overdue(crashed(ready=False, starting=True), AT_EASE),
        False,
    ),
    ("a version has failed: people look at its pods", overdue(crashed(), replace(AT_EASE, phase=FAILED)), False),
    ("a version was taken back", overdue(crashed(), replace(AT_EASE, phase=RolloutPhase.ROLLED_BACK)), True),
    ("it works under no instance id", overdue(crashed(), AT_EASE, kafka=NAMELESS), False),
    (
        "another pod was restarted a moment ago",
        overdue(crashed(), replace(AT_EASE, refused={"payments-1": Refusal(NOW - 29)})),
        False,
    ),
    (
        "another pod was restarted a while ago",
        overdue(crashed(), replace(AT_EASE, refused={"payments-1": Refusal(NOW - 31)})),
        True,
    ),
]


@pytest.mark.parametrize(("given", "due"), [row[1:] for row in LATER], ids=[row[0] for row in LATER])
def test_who_gets_a_chance_while_no_rollout_is_under_way(given: World, due: bool) -> None:
    """A process that crashed within seconds of its joining: its death was not proven, and its successor was refused."""
    found = refused.overdue(given, AT_WORK)
    assert (found is not None) == due
    if found is not None:
        again = refused.overdue(replace(given, memory=found.memory), AT_WORK)
        assert again is not None
        assert again.act == found.act, "what was decided and not done is still due"


def test_a_chance_is_given_once_however_long_ago() -> None:
    long_ago = replace(AT_EASE, refused={"payments-2": Refusal(NOW - 4000, unseen=True)})
    assert still_refused(overdue(crashed(), long_ago)).keys() == {"payments-2"}
    assert refused.overdue(overdue(crashed(), long_ago), AT_WORK) is None


def _with_what_is_wanted(given: World) -> World:
    """As if the StatefulSet had what the spec asks for already."""
    known = RolloutMemory(target_hash="another", protocol=Profile.CONSUMER)
    wanted = plan(replace(given, memory=known)).memory.target_hash
    memory = replace(given.memory, target_hash=wanted, protocol=Profile.CONSUMER)
    return changed(given, memory=memory, workload=replace(AT_WORK, template_hash=wanted))

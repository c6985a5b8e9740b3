"""Which members are known to be dead, what is done for their successors, and what never is to the living."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from slackwater.core.decision.acts import DeletePod, ReleaseMembers
from slackwater.core.decision.reasons import Reason
from slackwater.core.members.death import known_holders
from slackwater.core.members.refused import restart_due, still_refused
from slackwater.core.members.release import find_stale, release_due, still_released
from slackwater.core.upkeep import note_members, upkeep
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.memory import Holder, Refusal, Release, RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState, GroupType, Member, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import LONG_AGO, NEW, NOW, changed, folded, group, member, observation, pod, workload, world

MODERN: dict[str, Any] = {"type": GroupType.CONSUMER}
EPOCH = 7
AT_REST = workload(current_revision=NEW)


def modern(*changed: Member, at: float = NOW, **changes: Any) -> GroupObservation:
    """A KIP-848 group of three, some of its members being otherwise."""
    usual = {m.instance_id: m for m in (member(ordinal, epoch=EPOCH) for ordinal in range(3))}
    return observation({**usual, **{m.instance_id: m for m in changed}}.values(), at=at, **(MODERN | changes))


def restarted(ordinal: int = 1, ago_s: float = 4.0, took_s: float | None = None, **changes: Any) -> Pod:
    """A pod whose container ended, and started anew one second later. `took_s`: to join, the time before."""
    started = NOW - ago_s
    ran_since = LONG_AGO + 2 if took_s is None else NOW - 3590 - took_s
    usual = {"started_at": started, "ended_at": started - 1, "last_run_started_at": ran_since, "restarts": 1}
    return pod(ordinal, NEW, **(usual | changes))


def scene(*pods: Pod, kafka: GroupObservation | Unobserved | None = None, **changes: Any) -> World:
    """A KIP-848 group at rest that has been watched for an hour; these pods are otherwise."""
    seen = kafka if kafka is not None else modern()
    well = {each.ordinal: each for each in (pod(0, NEW), pod(1, NEW), pod(2, NEW))}
    history = changes.pop("history", folded(modern(at=NOW - 3600), modern(at=NOW - 3590)))
    if isinstance(seen, GroupObservation):
        history = advance(history, seen)
    made = world(
        pods=tuple({**well, **{each.ordinal: each for each in pods}}.values()),
        kafka=seen,
        history=history,
        workload=AT_REST,
        **changes,
    )
    return made.remembering(note_members(made).memory)


def held(ordinal: int, there_by: float, incarnation: str = "a") -> RolloutMemory:
    """What an operator that was restarted meanwhile remembers."""
    return RolloutMemory(holders={f"payments-{ordinal}": Holder(f"payments-{ordinal}-{incarnation}", there_by)})


NEWLY_WATCHED: dict[str, Any] = {"history": GroupHistory()}
JUST_JOINED = folded(modern(at=NOW - 9), modern(member(1, "b", epoch=EPOCH), at=NOW - 5))
STALE: list[tuple[str, World, list[int]]] = [
    ("nobody", scene(), []),
    ("its container started anew", scene(restarted()), [1]),
    ("its container has ended", scene(pod(1, NEW, started_at=None, ended_at=NOW - 1)), [1]),
    ("its pod was made anew", scene(pod(1, NEW, created_at=NOW - 3, started_at=None)), [1]),
    ("its pod is to be made anew", changed(scene(), pods=(pod(0, NEW), pod(2, NEW))), []),
    ("it has left for a while", scene(restarted(), kafka=modern(member(1, epoch=-2))), []),
    ("its successor has joined", scene(restarted(), kafka=modern(member(1, "b", epoch=EPOCH))), []),
    ("a classic group", scene(restarted(), kafka=observation()), []),
    ("a classic pod in a mixed group", scene(restarted(protocol=Profile.EAGER)), []),
    ("not known since when it was there", scene(restarted(), **NEWLY_WATCHED), []),
    ("that is remembered", scene(restarted(), **NEWLY_WATCHED, memory=held(1, NOW - 60)), [1]),
    ("of an earlier one it is remembered", scene(restarted(), **NEWLY_WATCHED, memory=held(1, NOW - 60, "z")), []),
    ("seen for the first time while it started", scene(restarted(ago_s=4), history=JUST_JOINED), []),
    ("within the clocks' margin", scene(restarted(ago_s=4), **NEWLY_WATCHED, memory=held(1, NOW - 6)), []),
    ("beyond it", scene(restarted(ago_s=4), **NEWLY_WATCHED, memory=held(1, NOW - 6.5)), [1]),
    ("the kubelet's clock is ahead", scene(restarted(ago_s=-3)), []),
    ("all at once", scene(restarted(0), restarted(1), restarted(2)), [0, 1, 2]),
    ("of a pod that is not wanted", scene(restarted(), group=group(replicas=1)), []),
]


@pytest.mark.parametrize(("given_world", "ordinals"), [row[1:] for row in STALE], ids=[row[0] for row in STALE])
def test_who_is_known_to_be_dead(given_world: World, ordinals: list[int]) -> None:
    assert isinstance(given_world.kafka, GroupObservation)
    assert [m.instance_id for m in find_stale(given_world, given_world.kafka)] == [f"payments-{o}" for o in ordinals]


def test_a_member_seen_in_one_look_may_have_come_while_that_was_under_way() -> None:
    """A slow look began before the container started, and was answered after its consumer had joined."""
    slow = modern(member(1, "b", epoch=EPOCH), at=NOW - 30)
    once = scene(restarted(ago_s=25), history=folded(modern(at=NOW - 40), slow), kafka=slow)
    assert find_stale(once, slow) == ()


def test_threads_of_a_dead_process_are_all_released() -> None:
    threads = tuple(member(o, instance_id=f"payments-{o}-{t}", epoch=EPOCH) for o in range(2) for t in range(2))
    looks = [observation(threads, at=at, **MODERN) for at in (NOW - 3600, NOW - 3590, NOW)]
    given_world = scene(restarted(), kafka=looks[-1], history=folded(*looks), group=group(membersPerPod=2))
    due = release_due(given_world)
    assert due is not None
    assert isinstance(due.act, ReleaseMembers)
    assert [ref.instance_id for ref in due.act.members] == ["payments-1-0", "payments-1-1"]


def test_a_release_is_remembered_before_it_is_made_and_repeated_when_it_did_not_take() -> None:
    due = release_due(scene(restarted()))
    assert due is not None
    assert due.memory.released == {"payments-1": Release("payments-1-a", NOW)}

    def after(seconds: float, tries: int) -> World:
        return scene(
            restarted(),
            memory=RolloutMemory(released={"payments-1": Release("payments-1-a", NOW - seconds, tries=tries)}),
        )

    assert release_due(after(1.9, 1)) is None
    again = release_due(after(2, 1))
    assert again is not None
    assert again.memory.released["payments-1"] == Release("payments-1-a", NOW, tries=2)
    assert (release_due(after(15, 4)), release_due(after(16, 4)) is None) == (None, False)


AWAY = modern(member(1, epoch=-2), state=GroupState.RECONCILING)
BACK = modern(member(1, "b", epoch=EPOCH))
GONE = observation((member(0, epoch=EPOCH), member(2, epoch=EPOCH)), **MODERN)


def released(ago_s: float, **changes: Any) -> RolloutMemory:
    return replace(held(1, NOW - 3590), released={"payments-1": Release("payments-1-a", NOW - ago_s, **changes)})


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
    ("it started after the release", restarts(restarted(ago_s=28), released(29)), False),
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
        assert restart_due(replace(given_world, memory=found.memory, now=NOW + 5), AT_REST) is None


def test_members_of_similar_names_are_not_mixed_up() -> None:
    memory = released(29)
    memory = replace(memory, released={**memory.released, "payments-10": Release("payments-10-a", NOW - 29)})
    found = restart_due(restarts(restarted(ago_s=30), memory, group=group(replicas=11)), AT_REST)
    assert found is not None
    assert {key: r.restarted for key, r in found.memory.released.items()} == {"payments-1": True, "payments-10": False}


def test_what_is_history() -> None:
    assert still_released(restarts(restarted(), released(5))).keys() == {"payments-1"}
    assert still_released(restarts(restarted(), released(5), kafka=BACK)) == {}
    assert still_released(restarts(restarted(), released(5), group=group(replicas=1))) == {}
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
    assert found.memory.refused["payments-1"] == Refusal(NOW, 3)


def test_holders_are_remembered_while_they_can_matter() -> None:
    assert known_holders(scene()) == {f"payments-{o}": Holder(f"payments-{o}-a", NOW - 3590) for o in range(3)}
    assert known_holders(scene(kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "", NOW), memory=held(1, 5.0))).keys() == {
        "payments-1"
    }
    assert known_holders(scene(group=group(replicas=1))).keys() == {"payments-0"}
    assert known_holders(scene(kafka=observation(), memory=held(1, 5.0))) == {}
    once = scene(kafka=modern(member(1, "b", epoch=EPOCH)), memory=held(1, 5.0))
    assert known_holders(once)["payments-1"].member_id == "payments-1-a"


# A pod's life, and an operator that watches it: whatever happens when, nobody who lives is taken for dead.

KUBELET_S = st.sampled_from((0.0, 0.4, 1.0, 5.0))
"""How late the API server learns of what happened on the node."""
LOOK_S = st.sampled_from((0.0, 0.2, 1.5, 6.0))
"""How long the brokers take to answer; a member that joins meanwhile is in the answer."""
PAUSE_S = st.sampled_from((0.3, 1.0, 2.5, 15.0, 60.0))
AROUND_S = st.sampled_from((-5.0, -2.5, -0.5, 0.1, 1.0, 3.0, 9.0, 14.0, 30.0))
"""When the operator looks, from something that happened in the pod."""
Run = tuple[float, float | None, float]
"""When a container started, when its consumer joined (if it did), and when it ended."""


@st.composite
def lives(draw: st.DrawFn) -> tuple[list[Run], list[float]]:
    """Runs of one container; and moments to look at it, none close to another."""
    at, runs, moments = 0.0, [], set[float]()
    for _ in range(draw(st.integers(1, 4))):
        started = at + draw(PAUSE_S)
        delay_s = draw(st.none() | PAUSE_S)
        joined = None if delay_s is None else started + delay_s
        at = (joined or started) + draw(PAUSE_S)
        runs.append((started, joined, at))
        moments |= {moment + draw(AROUND_S) for moment in (started, joined or started, at)}
    return runs, sorted(moment for moment in moments if moment >= 0)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(lives(), st.lists(st.tuples(LOOK_S, KUBELET_S, st.sampled_from((False, False, True))), min_size=12, max_size=12))
def test_nobody_who_lives_is_released_or_restarted(
    life: tuple[list[Run], list[float]], looks: list[tuple[float, float, bool]]
) -> None:
    """The operator may be restarted before each look; the dead are listed until their successors have joined."""
    (runs, moments), history, memory, freed = life, GroupHistory(), RolloutMemory(), set[str]()
    now = NOW
    for moment, (look_s, kubelet_s, operator_restarts) in zip(moments, looks, strict=False):
        at = max(now + 0.1, NOW + moment)
        if operator_restarts:
            history = GroupHistory()
        kafka = modern(*_member_at(runs, at + look_s - NOW, freed), at=at)
        history = advance(history, kafka)
        now = at + look_s
        seen = _pod_at(runs, now - kubelet_s - NOW)
        made = world(
            now=now,
            pods=(pod(0, NEW), seen, pod(2, NEW)),
            kafka=kafka,
            history=history,
            memory=memory,
            workload=AT_REST,
        )
        made = made.remembering(note_members(made.remembering(memory)).memory)
        care = upkeep(made, AT_REST)
        act, memory = (None, made.memory) if care is None else (care.act, care.memory)
        living = _living(runs, now - NOW)
        event(type(act).__name__)
        if isinstance(act, ReleaseMembers):
            assert {ref.instance_id for ref in act.members} == {"payments-1"}
            assert living not in {ref.member_id for ref in act.members}
            freed |= {ref.member_id for ref in act.members}
        elif isinstance(act, DeletePod):
            assert (act.name, living) == ("payments-1", None)
        else:
            assert act is None


def _member_at(runs: list[Run], at: float, freed: Collection[str]) -> list[Member]:
    """The one that joined last, alive or not; one whose id was given free is away."""
    joined = [number for number, (_, joined_at, _) in enumerate(runs) if joined_at is not None and joined_at <= at]
    if not joined:
        return []
    last = member(1, f"run{joined[-1]}", epoch=EPOCH)
    return [replace(last, epoch=-2) if last.member_id in freed else last]


def _living(runs: list[Run], at: float) -> str | None:
    alive = [n for n, (_, joined_at, ended) in enumerate(runs) if joined_at is not None and joined_at <= at < ended]
    return f"payments-1-run{alive[-1]}" if alive else None


def _pod_at(runs: list[Run], at: float) -> Pod:
    """As the kubelet tells it: to the second."""
    begun = [run for run in runs if run[0] <= at]
    if not begun:
        return pod(1, NEW, started_at=None, ready=False)
    ended = [run for run in begun if run[2] <= at]
    runs_now = begun[-1] not in ended
    return pod(
        1,
        NEW,
        started_at=NOW + float(int(begun[-1][0])) if runs_now else None,
        ready=runs_now,
        ready_changed_at=NOW + float(int(begun[-1][0])),
        ended_at=NOW + float(int(ended[-1][2])) if ended else None,
        last_run_started_at=NOW + float(int(ended[-1][0])) if ended else None,
        restarts=len(ended),
        waiting="" if runs_now else "CrashLoopBackOff",
    )

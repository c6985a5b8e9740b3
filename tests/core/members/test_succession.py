"""The states of an instance id, how one follows another, and that nobody who lives is ever taken for dead."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from slackwater.core.decision.acts import DeletePod, ReleaseMembers
from slackwater.core.members.refused import restart_due
from slackwater.core.members.succession import (
    LEADS_TO,
    Dead,
    Free,
    Held,
    Left,
    Refused,
    Released,
    Restarted,
    State,
    state_of,
)
from slackwater.core.upkeep import note_members, upkeep
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.memory import Release, RolloutMemory
from slackwater.core.world.observation import GroupObservation, Member
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, changed, folded, fresh_pod, member, observation, pod, world
from tests.core.members.scenes import AT_REST, AWAY, BACK, EPOCH, GONE, held, modern, released, restarted, scene

FIRST, SUCCESSOR = member(1, epoch=EPOCH), member(1, "b", epoch=EPOCH)
LATELY = restarted(ago_s=4)
OVERDUE = restarted(ago_s=30)
"""It started one second before the release of 29 s ago, and should be back by now."""
LEFT = folded(modern(at=NOW - 60), modern(at=NOW - 59), replace(GONE, observed_at=NOW - 12))
SESSION_ENDED: dict[str, Any] = {"kafka": GONE, "history": LEFT}
NOTHING_KNOWN: dict[str, Any] = {"kafka": GONE, "history": GroupHistory()}

STATES: list[tuple[str, World, State]] = [
    ("it works", scene(), Held(FIRST)),
    ("its process has ended", scene(LATELY), Dead(FIRST)),
    ("it was released before, and has it still", scene(LATELY, memory=released(1)), Dead(FIRST, 1, NOW - 1)),
    (
        "another one was released before",
        scene(LATELY).remembering(RolloutMemory(released={"payments-1": Release("payments-1-z", NOW - 1, tries=3)})),
        Dead(FIRST),
    ),
    ("it is joining", scene(kafka=modern(member(1, epoch=0))), Held(member(1, epoch=0))),
    ("its successor has joined", scene(LATELY, kafka=BACK), Held(SUCCESSOR)),
    ("a classic newcomer is not refused", scene(restarted(protocol=Profile.EAGER)), Held(FIRST)),
    ("nor is anybody in a classic group", scene(LATELY, kafka=observation()), Held(member(1))),
    ("it has left for a while", scene(kafka=AWAY), Left("payments-1-a", NOW - 3590)),
    (
        "its session has ended",
        scene(memory=held(1, NOW - 59), **SESSION_ENDED),
        Left("payments-1-a", NOW - 12),
    ),
    ("nobody knows who had it", scene(**NOTHING_KNOWN), Free()),
    (
        "it was released, and its successor may come",
        scene(LATELY, kafka=AWAY, memory=released(3)),
        Released("payments-1-a", NOW - 3),
    ),
    ("its successor asked too early", scene(OVERDUE, kafka=AWAY, memory=released(29)), Refused("payments-1-a")),
    (
        "it asked before the session ended",
        scene(restarted(ago_s=55), memory=held(1, NOW - 59), **SESSION_ENDED),
        Refused("payments-1-a"),
    ),
    (
        "its pod was restarted for that",
        scene(OVERDUE, kafka=AWAY, memory=released(29, restarted=True)),
        Restarted("payments-1-a"),
    ),
    (
        "its pod is not there",
        changed(scene(kafka=AWAY, memory=released(29)), pods=(pod(0), pod(2))),
        Released("payments-1-a", NOW - 29),
    ),
]


@pytest.mark.parametrize(("given_world", "state"), [row[1:] for row in STATES], ids=[row[0] for row in STATES])
def test_what_has_become_of_an_id(given_world: World, state: State) -> None:
    assert state_of(given_world, "payments-1") == state


def asked_late(ago_s: float, look: GroupObservation) -> World:
    """The release was remembered 29 s ago; a look 28 s ago shows it not done, the next one 26 s ago does."""
    looks = folded(
        modern(at=NOW - 3600), modern(at=NOW - 3590), modern(at=NOW - 28), replace(look, observed_at=NOW - 26)
    )
    seen = scene(restarted(ago_s=ago_s), kafka=look, history=looks)
    return replace(seen, memory=released(29))


def test_who_asks_while_the_release_is_under_way_may_be_refused() -> None:
    """It was written down before it was asked for; whoever starts once it was seen done is just slow."""
    assert state_of(asked_late(27, AWAY), "payments-1") == Refused("payments-1-a")
    assert state_of(asked_late(25, AWAY), "payments-1") == Released("payments-1-a", NOW - 26)


def test_where_nobody_looked_for_a_while_it_may_have_been_free_as_long() -> None:
    """Kafka was out of sight: who started meanwhile is slow, as far as is known."""
    looks = folded(
        modern(at=NOW - 3600), modern(at=NOW - 3590), modern(at=NOW - 28), replace(AWAY, observed_at=NOW - 16)
    )
    seen = replace(scene(restarted(ago_s=25), kafka=AWAY, history=looks), memory=released(29))
    assert state_of(seen, "payments-1") == Released("payments-1-a", NOW - 29)


def test_an_operator_that_was_restarted_does_not_know_when_it_was_free() -> None:
    """Then only who started before the release was refused for certain."""
    for seen in (AWAY, GONE):
        unknown = replace(asked_late(27, seen), history=folded(seen))
        assert state_of(unknown, "payments-1") == Released("payments-1-a", NOW - 29)


def test_every_state_is_in_both_tables() -> None:
    assert {type(row[2]) for row in STATES} == set(get_args(State)) == set(LEADS_TO)


UNREMEMBERED = scene(kafka=modern(at=NOW), history=GroupHistory())
RELEASE_DID_NOT_TAKE = scene(LATELY, memory=released(1))
STEPS: list[tuple[str, World, World]] = [
    ("it joins", scene(**NOTHING_KNOWN), scene()),
    ("its process ends", scene(), scene(LATELY)),
    ("it leaves", scene(), scene(kafka=AWAY)),
    ("it leaves, and was seen too briefly", UNREMEMBERED, scene(**NOTHING_KNOWN)),
    ("the operator releases it", scene(LATELY), scene(LATELY, kafka=AWAY, memory=released(1))),
    ("its session ends", scene(LATELY), scene(LATELY, kafka=GONE, memory=held(1, NOW - 59))),
    ("the next one joins the free id", scene(kafka=AWAY), scene(kafka=BACK)),
    (
        "the next one had asked before the session ended",
        scene(restarted(ago_s=14, ready_changed_at=NOW - 9), memory=held(1, NOW - 59), **SESSION_ENDED),
        scene(restarted(ago_s=55), memory=held(1, NOW - 59), **SESSION_ENDED),
    ),
    ("its successor joins", scene(LATELY, kafka=AWAY, memory=released(3)), scene(LATELY, kafka=BACK)),
    (
        "its successor had asked before the release",
        scene(LATELY, kafka=AWAY, memory=released(3)),
        scene(OVERDUE, kafka=AWAY, memory=released(29)),
    ),
    ("the release did not take", scene(LATELY, kafka=AWAY, memory=released(1)), RELEASE_DID_NOT_TAKE),
    ("it joins after all", scene(OVERDUE, kafka=AWAY, memory=released(29)), scene(OVERDUE, kafka=BACK)),
    (
        "its new process joins",
        scene(OVERDUE, kafka=AWAY, memory=released(29, restarted=True)),
        scene(OVERDUE, kafka=BACK),
    ),
]


@pytest.mark.parametrize(("before", "after"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS])
def test_one_state_leads_to_another(before: World, after: World) -> None:
    assert type(state_of(after, "payments-1")) in LEADS_TO[type(state_of(before, "payments-1"))]


@pytest.mark.parametrize(
    ("refused", "then"),
    [
        (scene(OVERDUE, kafka=AWAY, memory=released(29)), Restarted("payments-1-a")),
        (scene(restarted(ago_s=55), memory=held(1, NOW - 59), **SESSION_ENDED), Free()),
    ],
    ids=["after a release", "after a session's end"],
)
def test_a_restart_is_remembered_so_that_it_is_not_repeated(refused: World, then: State) -> None:
    """As long as that process is still there, it has not been restarted, whatever is remembered."""
    due = restart_due(refused, AT_REST)
    assert due is not None
    not_done = refused.remembering(due.memory)
    assert state_of(not_done, "payments-1") == Refused("payments-1-a")
    old = not_done.pod(1)
    assert old is not None
    for now in (replace(old, terminating=True), fresh_pod(1, 0, started_at=None, ready=False)):
        done = replace(not_done, all_pods=tuple(now if each.ordinal == 1 else each for each in refused.all_pods))
        assert state_of(done, "payments-1") == then


def test_every_step_of_the_table_is_shown() -> None:
    kinds = [(type(state_of(before, "payments-1")), type(state_of(after, "payments-1"))) for _, before, after in STEPS]
    by_a_restart = [(Refused, Restarted), (Refused, Free)]
    assert {*kinds, *by_a_restart} == {(state, then) for state, following in LEADS_TO.items() for then in following}


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


@pytest.mark.slow
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
        made = made.remembering(note_members(made).memory)
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

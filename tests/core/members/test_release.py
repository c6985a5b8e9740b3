"""Whose ids are released, once each, and again where it did not take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slackwater.core.decision.acts import ReleaseMembers
from slackwater.core.members.release import find_dead, release_due, still_released
from slackwater.core.world.history import advance
from slackwater.core.world.memory import Release, RolloutMemory
from slackwater.core.world.observation import GroupObservation, GroupState
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import NEW, NOW, changed, folded, group, member, observation, pod
from tests.core.members.scenes import (
    AT_REST,
    AWAY,
    BACK,
    EPOCH,
    GONE,
    MODERN,
    NEWLY_WATCHED,
    held,
    modern,
    released,
    restarted,
    scene,
)

JUST_JOINED = folded(modern(at=NOW - 9), modern(member(1, "b", epoch=EPOCH), at=NOW - 5))
DEAD: list[tuple[str, World, list[int]]] = [
    ("nobody", scene(), []),
    ("its container started again", scene(restarted()), [1]),
    ("its container has ended", scene(pod(1, NEW, started_at=None, ended_at=NOW - 1)), [1]),
    ("its pod was made again", scene(pod(1, NEW, created_at=NOW - 3, started_at=None)), [1]),
    ("its pod is to be made again", changed(scene(), pods=(pod(0, NEW), pod(2, NEW))), []),
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


@pytest.mark.parametrize(("given_world", "ordinals"), [row[1:] for row in DEAD], ids=[row[0] for row in DEAD])
def test_whose_id_is_to_be_released(given_world: World, ordinals: list[int]) -> None:
    assert isinstance(given_world.kafka, GroupObservation)
    found = find_dead(given_world, given_world.kafka)
    assert [dead.member.instance_id for dead in found] == [f"payments-{o}" for o in ordinals]


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


AHEAD_S = 6.0


def releases(told_running_at: float | None, heartbeat_s: int = 5, looks: int = 200) -> list[float]:
    """Seconds from the start of a container on a node whose clock is ahead to each release of its living member's id.

    It joins 2 s after its start. Looks are a second apart; it is away from its release to its next heartbeat.
    """
    history, memory, released_at = folded(modern(at=NOW - 60), modern(at=NOW - 50)), RolloutMemory(), [0.0]
    said = NOW + AHEAD_S
    node = restarted(
        started_at=said,
        ended_at=said - 0.5,
        ready_changed_at=said,
        created_at=NOW - 900,
        told_running_at=told_running_at,
    )
    for second in range(1, looks):
        away = 0 < second - released_at[-1] < heartbeat_s and len(released_at) > 1
        it = member(1, "b" if second >= 2 else "a", epoch=-2 if away else EPOCH)
        kafka = modern(it, at=NOW + second, state=GroupState.RECONCILING if away else GroupState.STABLE)
        history = advance(history, kafka)
        seen = scene(node, now=NOW + second + 0.3, kafka=kafka, history=history, memory=memory)
        due = release_due(seen)
        memory = due.memory if due is not None else seen.memory
        released_at += [second] if due is not None else []
    return released_at[1:]


def test_a_living_member_s_id_is_not_released_because_its_node_s_clock_is_ahead() -> None:
    assert releases(told_running_at=NOW + 0.5) == []


def test_a_member_that_is_back_after_its_release_lives() -> None:
    """Without a watch's word the node's clock is believed, once."""
    assert releases(told_running_at=None) == [4]
    assert releases(told_running_at=None, heartbeat_s=2) == [4]


def test_one_that_is_back_before_the_next_look_is_released_again() -> None:
    assert releases(told_running_at=None, heartbeat_s=1)[:3] == [4, 6, 10]


LEFT = modern(member(1, epoch=-2), at=NOW - 3, state=GroupState.RECONCILING)


@pytest.mark.parametrize("look", [LEFT, replace(GONE, observed_at=NOW - 3)], ids=["away", "gone"])
def test_a_release_is_history_once_the_same_member_is_back(look: GroupObservation) -> None:
    back = folded(modern(at=NOW - 60), modern(at=NOW - 50), look)
    assert still_released(scene(restarted(), history=back, memory=released(5))) == {}
    assert still_released(scene(restarted(), history=back, memory=released(2))).keys() == {"payments-1"}
    assert still_released(scene(restarted(), memory=released(5))).keys() == {"payments-1"}


def test_a_release_matters_while_its_member_is_away() -> None:
    away = folded(modern(at=NOW - 60), modern(at=NOW - 50), LEFT)
    assert still_released(scene(restarted(), kafka=AWAY, history=away, memory=released(5))).keys() == {"payments-1"}


def test_a_release_is_history_once_another_member_has_the_id() -> None:
    assert still_released(scene(restarted(), kafka=AWAY, memory=released(5))).keys() == {"payments-1"}
    assert still_released(scene(restarted(), kafka=BACK, memory=released(5))) == {}
    fewer = scene(restarted(), kafka=AWAY, memory=released(5), group=group(replicas=1))
    assert still_released(fewer).keys() == {"payments-1"}, "its pod is there as long as the StatefulSet has it"
    assert still_released(replace(fewer, sets=(replace(AT_REST, replicas=1),))) == {}

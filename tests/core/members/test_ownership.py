"""A table of whose a member is; by what the operator gave, not by what an id looks like."""

from __future__ import annotations

import pytest

from slackwater.core.members.ownership import (
    find_left_behind,
    find_strangers,
    given_ordinal,
    ids_given,
    name_in_words,
    never_ran,
    strangers_in_words,
)
from slackwater.core.world.claims import Claim
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import Member
from slackwater.core.world.world import World
from tests.core.factories import dynamic_member, group, member, members, observation, pod, stranger, workload, world

SIX_GIVEN = RolloutMemory(ids_given=6)
THREE_PODS = (pod(0), pod(1), pod(2))
REMOVED = RolloutMemory(ids_given=6, removed={"payments-4": "payments-4-a"})
GIVEN: list[tuple[str, World, Member, int | None]] = [
    ("a wanted one", world(), member(2), 2),
    ("one that was scaled away", world(memory=SIX_GIVEN), member(5), 5),
    ("never given", world(memory=SIX_GIVEN), member(6), None),
    ("never given, and nothing is remembered", world(), member(3), None),
    ("of a pod that is there", world(pods=(*THREE_PODS, pod(7))), member(7), 7),
    ("of a pod that the StatefulSet makes", world(workload=workload(replicas=9)), member(8), 8),
    ("of a thread", world(), member(1, instance_id="payments-1-2"), 1),
    ("of a namesake", world(), member(1, instance_id="payments-1-canary"), None),
    ("of another group", world(), member(1, instance_id="refunds-1"), None),
    ("dynamic", world(), dynamic_member(1), None),
    ("the one that was taken out", world(memory=REMOVED), member(4), 4),
    ("one that came after it", world(memory=REMOVED), member(4, "b"), None),
    ("one that came with a new pod", world(memory=REMOVED, pods=(*THREE_PODS, pod(4))), member(4, "b"), 4),
]


@pytest.mark.parametrize(("given", "who", "ordinal"), [row[1:] for row in GIVEN], ids=[row[0] for row in GIVEN])
def test_whose_id_it_is(given: World, who: Member, ordinal: int | None) -> None:
    assert given_ordinal(given, who) == ordinal


def test_ids_once_given_stay_given() -> None:
    assert ids_given(world()) == 3
    assert ids_given(world(memory=SIX_GIVEN)) == 6
    assert ids_given(world(pods=(*THREE_PODS, pod(4)))) == 5


def test_none_is_given_before_anything_is_begun() -> None:
    """Who is called as ours would be had the group before us."""
    held_at_birth = world(workload=None, pods=(), memory=RolloutMemory(), kafka=observation(members(0)))
    assert ids_given(held_at_birth) == 0
    assert find_strangers(held_at_birth, observation(members(0))) == tuple(members(0))


def scaled_by(whom: str, replicas: int = 5) -> World:
    """Three pods are asked for; the StatefulSet makes pods up to another number. Pod 4 is not there at the moment."""
    made = workload(replicas=replicas, replicas_by=whom)
    pods = (*THREE_PODS[:replicas], *(pod(3) for _ in range(replicas - 4)))
    return world(memory=SIX_GIVEN, workload=made, pods=pods, kafka=observation(members(0, 1, 2, 4)))


LEFT_BEHIND: list[tuple[str, World, list[int]]] = [
    ("nobody", world(), []),
    ("of pods scaled away", world(memory=SIX_GIVEN, kafka=observation(members(0, 1, 2, 3, 5))), [3, 5]),
    (
        "of pods about to go",
        world(pods=(*THREE_PODS, pod(3, terminating=True)), kafka=observation(members(0, 1, 2, 3))),
        [3],
    ),
    ("with an id never given", world(kafka=observation(members(0, 1, 2, 9))), []),
    ("taken out, and somebody came", world(memory=REMOVED, kafka=observation((member(4, "b"),))), []),
    ("of a pod between two lives that somebody else asked for", scaled_by("kube-controller-manager"), []),
    ("of a pod that we made, and are about to take away", scaled_by(""), [4]),
    ("of one that somebody else took away", scaled_by("kubectl", 2), [2, 4]),
    ("wanted again, not made yet", world(group=group(replicas=6), kafka=observation(members(0, 1, 2, 4))), [4]),
]


@pytest.mark.parametrize(("given", "ordinals"), [row[1:] for row in LEFT_BEHIND], ids=[row[0] for row in LEFT_BEHIND])
def test_who_was_left_behind(given: World, ordinals: list[int]) -> None:
    found = find_left_behind(given)
    assert [given_ordinal(given, who) for who in found] == ordinals


def test_who_is_strange() -> None:
    foreign = [stranger(), member(9), member(4, "b")]
    seen = observation((*members(0, 1, 2), *foreign))
    assert list(find_strangers(world(memory=REMOVED, kafka=seen), seen)) == foreign


def test_a_stranger_is_named_so_that_it_can_be_found() -> None:
    assert name_in_words(stranger()) == "console at 10.9.9.9"
    assert name_in_words(member(9)) == "consumer (instance id payments-9) at 10.0.0.9"


NOTED, BEGUN = RolloutMemory(target_hash="a", never_ran=True), RolloutMemory(target_hash="a")
WAITS = pod(0, ready=False, started_at=None, waiting="ImagePullBackOff")


@pytest.mark.parametrize(
    ("given", "never"),
    [
        (world(memory=RolloutMemory(), workload=None, pods=()), True),
        (world(memory=NOTED, pods=(WAITS,)), True),
        (world(memory=NOTED, workload=None, pods=()), True),
        (world(memory=NOTED, pods=(WAITS, pod(1))), False),
        (world(memory=NOTED, pods=(pod(0, ready=False, started_at=None, ended_at=5.0),)), False),
        (world(memory=NOTED, pods=(pod(0, ready=False, started_at=None, restarts=1),)), False),
        (world(memory=NOTED, pods=(), loose=frozenset({0})), False),
        (world(memory=BEGUN, pods=(WAITS,)), False),
        (world(memory=RolloutMemory(), pods=()), False),
    ],
    ids=[
        "nothing was begun",
        "its pods wait for their image",
        "it has no pods yet",
        "one runs",
        "one ended",
        "one crashes",
        "one of its name is somebody's",
        "it began before that was noted",
        "the status was lost",
    ],
)
def test_whether_a_pod_has_ever_run(given: World, never: bool) -> None:
    assert never_ran(given) is never


@pytest.mark.parametrize(
    ("claims", "who"),
    [
        ((), ""),
        ((Claim("shop", "a", certain=False),), ""),
        ((Claim("shop", "a"), Claim("x", "b")), " (ConsumerGroups shop/a, x/b have the same groupId)"),
    ],
)
def test_strangers_are_named_with_the_consumer_group_that_runs_them(claims: tuple[Claim, ...], who: str) -> None:
    strange = stranger(instance_id="a-0")
    assert strangers_in_words(world(claims=claims), (strange,)) == f"{name_in_words(strange)}{who}"

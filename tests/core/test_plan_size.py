"""A decision for a big group costs what the group's size says, not its square. Counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from types import FrameType
from typing import Any

import pytest

from benchmarks.big_groups import Size, world_of
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.plan import plan
from slackwater.core.world.observation import GroupObservation, Member
from slackwater.core.world.world import World

PODS = 16
SCENES = [
    pytest.param(
        Size(PODS, 2, *scene),
        id=", ".join(name for name, on in zip(("rolling", "KIP-848", "crashed"), scene, strict=True) if on),
    )
    for scene in product((False, True), repeat=3)
]


class Counted(tuple[Member, ...]):
    """Members that count how often somebody goes through all of them."""

    scans = 0

    def __iter__(self) -> Iterator[Member]:
        type(self).scans += 1
        return super().__iter__()

    def __contains__(self, member: object) -> bool:
        type(self).scans += 1
        return super().__contains__(member)


def executed(world: World) -> int:
    """How many of the interpreter's instructions a decision takes."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plan(world)
    finally:
        sys.settrace(before)
    return count


def scans(world: World) -> int:
    """How often a decision goes through all members."""
    assert isinstance(world.kafka, GroupObservation)
    Counted.scans = 0
    plan(replace(world, kafka=replace(world.kafka, members=Counted(world.kafka.members))))
    return Counted.scans


@pytest.mark.parametrize("size", SCENES)
def test_each_further_pod_takes_as_much_as_the_one_before(size: Size) -> None:
    """What does not depend on the pods falls out of the differences; a square would make the second one bigger."""
    few, more, many = (executed(world_of(replace(size, pods=pods))) for pods in (PODS, 2 * PODS, 4 * PODS))
    assert 0 < many - more <= 1.02 * 2 * (more - few)


@pytest.mark.parametrize("size", SCENES)
def test_members_are_gone_through_as_often_for_many_pods_as_for_few(size: Size) -> None:
    few, many = (scans(world_of(replace(size, pods=pods))) for pods in (PODS, 4 * PODS))
    assert 0 < few == many


def test_all_gates_are_asked_in_these_rollouts() -> None:
    """Else nothing would be counted."""
    for modern in (False, True):
        act = plan(world_of(Size(PODS, 2, rolling=True, modern=modern))).act
        assert isinstance(act, WriteWorkload)
        assert act.purpose is Purpose.RESTART
        assert plan(world_of(Size(PODS, 2, modern=modern))).act is None

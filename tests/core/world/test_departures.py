"""Who has left lately is remembered, however many of a group; what a broker makes up has an end."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest

from slackwater.core.world.departures import BYTES_EACH, LATELY_KEPT, LATELY_S, LONGEST_KEPT
from slackwater.core.world.history import GroupHistory, advance
from slackwater.core.world.observation import Member
from tests.core.factories import NOW, dynamic_member, folded, member, observation

LARGE = 2_000
"""Members that one group has at most, unless whoever runs the operator raises it."""
LONGEST_NAME = "n" * 48
WIDE = "\U0001f600"


def others(look: int, number: int, static: bool, text: str = "") -> tuple[Member, ...]:
    names = [f"{look}-{each}-{text}" for each in range(number)]
    return tuple(
        Member(f"m-{name}", name if static else None, "c" if static else name, f"/{look}.{n}", frozenset())
        for n, name in enumerate(names)
    )


def after_looks(looks: int, number: int, static: bool, text: str = "") -> GroupHistory:
    return folded(*(observation(others(look, number, static, text), at=NOW + 2 * look) for look in range(looks)))


def bytes_of(gone: Mapping[str, object]) -> int:
    return sum(map(sys.getsizeof, gone))


@pytest.mark.parametrize("static", [False, True])
def test_of_made_up_members_so_many_are_remembered(static: bool) -> None:
    """The work of each look goes with these."""
    history = after_looks(8, 900, static)
    gone = history.departures if static else history.left
    assert len(gone) == LATELY_KEPT
    assert any(name.startswith("6-") for name in gone)
    assert not any(name.startswith("0-") for name in gone), "the newest are"


@pytest.mark.parametrize("wide", ["", WIDE])
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("length", [LONGEST_KEPT - 20, 32_000])
def test_of_long_names_so_many_bytes_are_remembered(length: int, static: bool, wide: str) -> None:
    history = after_looks(30, 120, static, "x" * length + wide)
    assert bytes_of(history.departures) + bytes_of(history.left) <= LATELY_KEPT * BYTES_EACH


def test_a_long_client_id_is_remembered_by_its_beginning() -> None:
    """That is what it may have of a pod's name."""
    long = dynamic_member(0, client_id="payments-0-" + "x" * 1_000)
    left = folded(observation((long,), at=10), observation((), at=11)).left
    assert set(left) == {long.address, long.client_id[:LONGEST_KEPT]}


def test_all_members_of_a_large_static_group_that_leave_within_an_hour_are_remembered() -> None:
    many = tuple(member(n, instance_id=f"{LONGEST_NAME}-{n}", member_id=f"m-{n}") for n in range(LARGE))
    looks = [observation(many[10 * n :], at=NOW + 15 * n) for n in range(LARGE // 10 + 1)]
    history = folded(*looks)
    assert len(history.departures) == LARGE
    back = advance(history, observation(many, at=NOW + LATELY_S))
    assert back.departures == {}
    assert all(sighting.absent_at is not None for sighting in back.members.values())


def test_all_members_of_a_large_dynamic_group_that_leave_and_come_again_within_an_hour_are_remembered() -> None:
    def run(of: int) -> tuple[Member, ...]:
        names = [f"{LONGEST_NAME}-{n}" for n in range(LARGE)]
        return tuple(
            Member(
                f"m{of}-{name}", None, f"{name}-StreamThread-1-consumer", f"/10.{of}.{n % 256}.{n // 256}", frozenset()
            )
            for n, name in enumerate(names)
        )

    history = folded(observation(run(0), at=NOW), observation((), at=NOW + 60), observation(run(1), at=NOW + 600))
    assert len(history.left) == 2 * LARGE
    again = advance(history, observation((), at=NOW + 1_200))
    latest = {place for each in run(1) for place in (each.address, each.client_id)}
    assert latest <= set(again.left), "of those that went again, both places are known"
    assert all(len(again.left[each.client_id]) == 2 for each in run(1))


def test_a_group_that_may_be_larger_has_more_of_them_remembered() -> None:
    many = others(0, LATELY_KEPT + 1_000, static=True)
    history = folded(observation(many, at=NOW), observation((), at=NOW + 10), observation((), at=NOW + 20))
    assert len(history.departures) == len(many)

"""Whose a member is that was seen about when a process ended."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.telemetry.lives import Life
from tests.core.factories import NOW

OLD_ONES, NEW_ONES = frozenset({"a"}), frozenset({"b"})
LIFE = Life("payments-2", 2, "payments-2", "payments-2", "uid", NOW - 99, 0, "v1", NOW, NEW_ONES, frozenset())


def test_a_member_that_came_after_the_end_is_its_successors_by_more_than_the_kubelet_rounds() -> None:
    replaced = replace(LIFE, joined_at=NOW, before=OLD_ONES)
    assert replaced.members_at(NOW - 1.0) == NEW_ONES
    assert replaced.members_at(NOW - 1.1) == OLD_ONES
    assert replace(replaced, before=frozenset()).members_at(NOW - 9.0) == NEW_ONES

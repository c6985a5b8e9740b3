"""When an old pod is let go before its replacement joins, and when that is better not tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.handover.foresight import JOINS_KEPT, LEAD_S, joins_of, let_go_at, with_start
from slackwater.core.world.handover import Begun, Handover, Held, Replacement
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.world import World
from tests.core.factories import NOW, group, pod, world

VERSION, TO = "a version", "payments-alt"
NEW = pod(0, uid="new", created_at=NOW - 5, started_at=NOW - 4, restarts=0, ready=False, workload=TO)
IN_HAND = Handover(
    0, TO, NOW - 6, Begun(Held({"payments-0": "payments-0-a"})), Replacement(VERSION, NOW - 3.5, (5.0, 9.0, 4.0))
)
REPLACEMENT = IN_HAND.replacement


def with_replacement(**changes: Any) -> Handover:
    return replace(IN_HAND, replacement=replace(REPLACEMENT, **changes))


def seen(timing: str = "Predictive", **changes: Any) -> World:
    return world(**{"group": group(rollout={"strategy": "WarmHandover", "handover": timing}), "now": NOW} | changes)


def test_it_is_let_go_shortly_before_the_median() -> None:
    assert let_go_at(seen(), IN_HAND, NEW) == NOW - 3.5 + 5.0 - LEAD_S


@pytest.mark.parametrize(
    ("at", "handover", "new"),
    [
        (seen("Overlapping"), IN_HAND, NEW),
        (seen(), with_replacement(joined_after_s=()), NEW),
        (seen(), with_replacement(running_since=None), NEW),
        (seen(), IN_HAND, None),
        (seen(), IN_HAND, replace(NEW, terminating=True)),
        (seen(), IN_HAND, replace(NEW, started_at=None)),
        (seen(), IN_HAND, replace(NEW, restarts=1)),
        (seen(now=NOW + 2), IN_HAND, NEW),
    ],
    ids=["not asked for", "first of its version", "start unseen", "no pod", "ending", "ended", "again", "late"],
)
def test_where_nothing_can_be_told_it_stays(at: World, handover: Handover, new: Any) -> None:
    assert let_go_at(at, handover, new) is None


@pytest.mark.parametrize(("seen_after_s", "running_since"), [(1.0, NOW - 3.0), (2.5, NOW - 1.5), (3.5, None)])
def test_a_start_is_when_it_was_seen_if_somebody_looked(seen_after_s: float, running_since: float | None) -> None:
    at = seen(now=NOW - 4 + seen_after_s)
    assert with_start(at, with_replacement(running_since=None), NEW).replacement.running_since == running_since


def test_a_start_that_a_watch_told_of_was_then_and_not_when_the_pass_came() -> None:
    at, unseen = seen(now=NOW - 1), with_replacement(running_since=None)
    assert with_start(at, unseen, replace(NEW, told_running_at=NOW - 3.7)).replacement.running_since == NOW - 3.7


def test_the_first_look_counts() -> None:
    assert with_start(seen(now=NOW - 1), IN_HAND, NEW) == IN_HAND


def proven(since: float, absent_at: float | None) -> World:
    """The replacement has been seen to be a member since then, and not to be one before that."""
    members = {"payments-0": MemberSighting("payments-0-b", since, absent_at)}
    history = replace(GroupHistory(), members=members)
    return seen(pods=(replace(NEW, ready=True),), history=history)


def test_what_one_took_is_learned_from_its_last_looks() -> None:
    """It joined between two of them: halfway is as likely too early as too late."""
    known = IN_HAND
    assert joins_of(proven(NOW, NOW - 0.2), known, VERSION) == pytest.approx((5.0, 9.0, 4.0, 3.4))
    assert joins_of(proven(NOW, NOW - 2.0), known, VERSION) == REPLACEMENT.joined_after_s  # nobody looked just then
    assert joins_of(proven(NOW, None), known, VERSION) == REPLACEMENT.joined_after_s
    assert joins_of(proven(NOW, NOW - 0.2), with_replacement(running_since=None), VERSION) == REPLACEMENT.joined_after_s


def test_another_version_is_not_judged_by_it_and_only_the_last_ones_count() -> None:
    known = with_replacement(joined_after_s=(1.0, 2.0, 3.0, 4.0, 5.0))
    assert joins_of(proven(NOW, NOW - 0.2), known, "another") == ()
    assert joins_of(proven(NOW, NOW - 0.2), known, VERSION) == pytest.approx((2.0, 3.0, 4.0, 5.0, 3.4))
    assert len(joins_of(proven(NOW, NOW - 0.2), known, VERSION)) == JOINS_KEPT

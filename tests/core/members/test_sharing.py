"""Who has a group in Kafka that several ConsumerGroups ask for: who began there first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.members.sharing import (
    MADE_AGAIN_WITHIN_S,
    again_s,
    is_waited_for_s,
    note_claim,
    note_that_it_is_gone,
    who_has_the_group,
)
from slackwater.core.world.claimed import Claimed, Outranked
from slackwater.core.world.claims import Claim
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.world import World
from tests.core.factories import NAME, NOW, group, workload, world

HERE: Final = "cluster-1"
BEGUN: Final = Claimed(HERE, NOW - 100)
THEIRS: Final = Claim("shop", "b")


def ours(claimed: Claimed | None = BEGUN, **changes: Any) -> World:
    return world(memory=RolloutMemory(claimed=claimed), **({"cluster_id": HERE} | changes))


def new(**changes: Any) -> World:
    """Nothing was ever made for it."""
    return ours(None, workload=None, pods=(), **changes)


TABLE: list[tuple[str, World, Claim, bool]] = [
    ("began before", ours(), replace(THEIRS, since=NOW - 101), True),
    ("began later", ours(), replace(THEIRS, since=NOW - 99), False),
    ("began at once, named before", ours(), Claim("a-namespace", NAME, since=BEGUN.at), True),
    ("began at once, named later", ours(), Claim("shop", "z", since=BEGUN.at), False),
    ("is older, and never began", ours(), replace(THEIRS, older=True), False),
    (
        "is older, and never began, before we know where we are",
        ours(cluster_id=None),
        replace(THEIRS, older=True),
        False,
    ),
    ("began before, as is known before the brokers answer", ours(cluster_id=None), replace(THEIRS, since=1.0), True),
    ("began where this one has moved to", ours(cluster_id="cluster-2"), replace(THEIRS, since=NOW - 1), True),
    ("is older, where this one has moved to", ours(cluster_id="cluster-2"), replace(THEIRS, older=True), False),
    ("has begun, and this one never", new(), replace(THEIRS, since=NOW - 1), True),
    ("is older, and both are new", new(), replace(THEIRS, older=True), True),
    ("is younger, and both are new", new(), THEIRS, False),
    ("is older, perhaps elsewhere", new(), replace(THEIRS, older=True, certain=False), False),
    ("is older, and this one ran under a slackwater before", ours(None), replace(THEIRS, older=True), False),
    ("began before, and may not", ours(), replace(THEIRS, since=NOW - 101, allowed=False), False),
    ("is older, and may not", new(), replace(THEIRS, older=True, allowed=False), False),
]


@pytest.mark.parametrize(("given", "claim", "theirs"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_who_comes_first(given: World, claim: Claim, theirs: bool) -> None:
    expected = "ConsumerGroup " + str(claim) + " has the same groupId" if theirs else ""
    assert who_has_the_group(replace(given, claims=(claim,))) == expected


NONE: Final[dict[str, Any]] = {"group": group(replicas=0)}
NOTED: list[tuple[str, World, Claimed | None]] = [
    ("it is about to begin", new(), Claimed(HERE, NOW)),
    ("it ran under a slackwater before", ours(None), Claimed(HERE, NOW)),
    ("it is known", ours(), BEGUN),
    ("it was stopped", ours(**NONE, workload=workload(replicas=0)), BEGUN),
    ("it has moved to another cluster", ours(cluster_id="cluster-2"), Claimed("cluster-2", NOW)),
    ("it is asked for no pod", new(**NONE), None),
    ("no broker has said where it is", new(cluster_id=None), None),
    ("no broker says it at the moment", ours(cluster_id=None), BEGUN),
    ("brokers have no id", new(cluster_id=""), Claimed("", NOW)),
]


@pytest.mark.parametrize(("given", "claimed"), [row[1:] for row in NOTED], ids=[row[0] for row in NOTED])
def test_since_when_it_has_the_group(given: World, claimed: Claimed | None) -> None:
    assert note_claim(given).claimed == claimed


def test_the_first_one_is_waited_for_when_it_is_gone() -> None:
    out = new().remembering(RolloutMemory(outranked=Outranked()))
    assert is_waited_for_s(out) == MADE_AGAIN_WITHIN_S
    gone = out.remembering(note_that_it_is_gone(out))
    later = replace(gone, now=NOW + 100)
    assert later.remembering(note_that_it_is_gone(later)).memory == gone.memory, "since it was first missed"
    assert is_waited_for_s(later) == MADE_AGAIN_WITHIN_S - 100
    at_last = replace(gone, now=NOW + MADE_AGAIN_WITHIN_S)
    assert is_waited_for_s(at_last) == 0.0
    assert note_claim(at_last) == RolloutMemory(claimed=Claimed(HERE, at_last.now))


def test_one_that_was_never_out_waits_for_nobody() -> None:
    assert is_waited_for_s(new()) == 0.0


@pytest.mark.parametrize(("many", "expected"), [(1, 30.0), (20, 30.0), (100, 150.0), (5_000, 600.0)])
def test_one_of_very_many_that_are_held_looks_more_seldom(many: int, expected: float) -> None:
    claims = tuple(Claim("evil", f"reports-{number}") for number in range(many))
    assert again_s(world(claims=claims)) == expected

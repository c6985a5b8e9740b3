"""Telemetry of a group of thousands of members, as its brokers may make other ones up at each look: how often each of
them is gone through, which takes the event loop's time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from slackwater.core.decision.decision import Decision
from slackwater.core.telemetry.rebalances import Rebalances, follow_rebalances
from slackwater.core.telemetry.restarts import Restarts, follow_restarts
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.observation import Member
from tests.core.factories import NOW, group, member, observation, stranger, watched, world
from tests.core.telemetry.stories import AT_REST

CROWD = 100


def sight(crowd: tuple[Member, ...], at: float = NOW) -> Sight:
    kafka = observation(crowd, at)
    seen = world(now=at, group=group(replicas=CROWD), kafka=kafka, history=watched(kafka), memory=AT_REST, pods=())
    return Sight(seen, Decision(AT_REST))


class Counted(tuple[Member, ...]):
    """How often it was gone through."""

    __slots__ = ()
    times = 0

    def __iter__(self) -> Iterator[Member]:
        Counted.times += 1
        return super().__iter__()


def test_members_are_not_compared_with_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2,000 strangers a second went in each look, in two places."""
    compared, equal = list[None](), Member.__eq__

    def counted(one: Member, other: object) -> Any:
        compared.append(None)
        return equal(one, other)

    crowd = tuple(stranger(member_id=f"m-{number}") for number in range(CROWD))
    monkeypatch.setattr(Member, "__eq__", counted)
    track, _ = follow_rebalances(Rebalances(), sight(crowd), ())
    assert track.calm is not None
    assert all(standing.strange for standing in track.calm.members.values())
    assert len(compared) < CROWD


def test_for_who_is_away_members_are_not_gone_through_one_by_one() -> None:
    """All of them stand in the group, and no pod runs; then others have their partitions."""
    crowd = tuple(member(number) for number in range(CROWD))
    restarts, _ = follow_restarts(Restarts(), sight(crowd))
    assert len(restarts.away) == CROWD
    others = tuple(
        stranger(member_id=f"m-{number}", assignment=each.assignment) for number, each in enumerate(crowd[: CROWD // 2])
    )
    after = sight((*crowd[CROWD // 2 :], *others), NOW + 5)
    kafka = after.world.seen
    assert kafka is not None
    object.__setattr__(kafka, "members", Counted(kafka.members))
    Counted.times = 0
    restarts, _ = follow_restarts(restarts, after)
    assert Counted.times < CROWD // 4
    assert sum(episode.evicted is True for episode in restarts.away) == CROWD // 2

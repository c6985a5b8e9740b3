"""What one group, and one namespace, may have of what all share: of the buffer, of the sink, and of who reads it."""

from __future__ import annotations

from collections import Counter

import pytest

from slackwater.adapters.telemetry.buffer import Buffer
from slackwater.adapters.telemetry.recorder import LARGEST, Dropped, Recorder
from slackwater.adapters.telemetry.shares import A_SECOND, AT_ONCE, LONGEST, Shares
from slackwater.adapters.telemetry.sinks import Line
from slackwater.core.telemetry.tracker import Tracker, follow
from tests.adapters.telemetry.events import FakeSink, event, ids
from tests.core.factories import NOW, member, observation, watched, world
from tests.core.telemetry.stories import AT_REST, sight_of


def line(size: int = 1_000, key: str = "evil/payments") -> Line:
    return Line(key, b"x" * size)


class Clock:
    now = 50.0

    def __call__(self) -> float:
        return self.now


def taken(shares: Shares, key: str = "evil/payments", size: int = 100_000) -> int:
    """How many of these it takes."""
    return next(number for number in range(10_000) if not shares.take(line(size, key)))


def test_a_group_tells_so_much_at_once_and_then_so_much_a_second() -> None:
    clock = Clock()
    shares = Shares(clock)
    assert taken(shares) == AT_ONCE // 100_000
    assert taken(shares, "good/payments") == AT_ONCE // 100_000
    clock.now += 60
    assert taken(shares) == pytest.approx(60 * A_SECOND // 100_000, abs=1)


def test_an_event_that_is_longer_than_any_of_ours_is_left_out() -> None:
    shares = Shares(Clock())
    assert shares.take(line(LONGEST))
    assert not shares.take(line(LONGEST + 1))
    assert shares.take(line())


def test_of_groups_that_tell_of_nothing_any_more_nothing_is_kept() -> None:
    clock = Clock()
    shares = Shares(clock)
    for number in range(5_000):
        clock.now += 1
        shares.take(line(key=f"evil/{number}"))
    assert len(shares._used) < 1_100


def test_a_group_whose_members_are_others_at_each_look_does_not_fill_the_buffer() -> None:
    """2,000 members with the longest instance ids there are: a megabyte for each look, two looks a second."""
    recorder, tracker = Recorder(FakeSink()), Tracker()
    for look in range(10):
        names = (f"{'x' * 238}-{number}-{look % 2}" for number in range(2_000))
        crowd = [member(0, instance_id=name, member_id=name, assignment=frozenset()) for name in names]
        kafka = observation(crowd, at=NOW + look)
        seen = world(now=NOW + look, kafka=kafka, history=watched(kafka), memory=AT_REST)
        tracker, events = follow(tracker, sight_of(seen))
        recorder.record(events)
    assert recorder.dropped[Dropped.TOO_MUCH] == 9
    assert recorder._waiting._size < 10_000


def test_one_of_2_000_members_that_are_ours_is_written() -> None:
    recorder = Recorder(FakeSink())
    instance_ids = [f"{'x' * 48}-{number}-{number % 10}" for number in range(2_000)]
    tracker = Tracker()
    for at, ids_there in enumerate(((), instance_ids)):
        crowd = [member(0, instance_id=each, member_id=each, assignment=frozenset()) for each in ids_there]
        kafka = observation(crowd, at=NOW + at)
        tracker, events = follow(tracker, sight_of(world(now=NOW + at, kafka=kafka, history=watched(kafka))))
        recorder.record(events)
    assert recorder.recorded["rebalance"] == 1
    assert recorder.dropped.total() == 0


def names_in(buffer: Buffer) -> list[str]:
    return [each.key for each in buffer.next(10_000)]


@pytest.mark.parametrize("limits", [(10, 10**9), (10**9, 10_000)], ids=["by number", "by size"])
def test_whoever_has_most_makes_room_for_the_others(limits: tuple[int, int]) -> None:
    buffer = Buffer(*limits)
    left_out = Counter({key: sum(buffer.add(line(key=key)) for _ in range(20)) for key in ("evil/a", "good/b")})
    assert left_out == {"evil/a": 10, "good/b": 20}
    assert Counter(names_in(buffer)) == {"evil/a": 5, "good/b": 5}
    assert (len(buffer), buffer._size, buffer._sizes) == (0, 0, {})


def test_it_is_the_newest_that_is_left_out_and_each_group_stays_in_order() -> None:
    buffer = Buffer(4, LARGEST)
    for number in range(4):
        buffer.add(Line("evil/a", str(number).encode()))
    for number in range(2):
        buffer.add(Line("good/b", str(number).encode()))
    assert [each.text for each in buffer.next(4)] == [b"0", b"0", b"1", b"1"]


def test_namespaces_are_written_in_turn() -> None:
    """Who has just one thing to say does not wait behind who says much."""
    buffer = Buffer(1_000, LARGEST)
    for key in ["evil/a"] * 900 + ["good/b", "fair/c"]:
        buffer.add(line(key=key))
    assert {each.key for each in buffer.next(3)} == {"evil/a", "good/b", "fair/c"}
    assert len(buffer) == 899


def test_what_is_longer_than_all_the_room_is_left_out_alone() -> None:
    buffer = Buffer(10, 5_000)
    buffer.add(line(key="good/b"))
    assert buffer.add(line(5_001)) == 1
    assert names_in(buffer) == ["good/b"]


async def test_what_has_waited_is_written_when_the_sink_is_back() -> None:
    sink = FakeSink()
    recorder = Recorder(sink, capacity=6)
    recorder.record(event(number) for number in range(9))
    await recorder.close(within_s=10)
    assert ids(sink.taken) == [f"event-{number}" for number in range(6)]
    assert recorder.dropped[Dropped.BUFFER_FULL] == recorder.dropped.total() == 3

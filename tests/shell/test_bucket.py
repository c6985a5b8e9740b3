"""Token buckets."""

from __future__ import annotations

from slackwater.shell.bucket import Bucket


def test_so_much_at_once_then_so_much_in_a_time() -> None:
    bucket = Bucket(2, 10.0, at=100.0)
    assert [bucket.take(100.0) for _ in range(3)] == [True, True, False]
    assert bucket.in_s(104.0) == 6.0
    assert [bucket.take(110.0), bucket.take(110.0)] == [True, False]


def test_it_never_holds_more_than_at_first() -> None:
    bucket = Bucket(2, 10.0, at=0.0)
    assert bucket.lacks(1e6) == 0
    assert [bucket.take(1e6) for _ in range(3)] == [True, True, False]
    assert bucket.lacks(1e6) == 2


def test_a_clock_that_is_set_back_fills_nothing() -> None:
    bucket = Bucket(1, 10.0, at=100.0)
    assert bucket.take(100.0)
    assert not bucket.take(50.0)
    assert bucket.in_s(50.0) == 10.0

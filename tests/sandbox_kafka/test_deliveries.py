"""What is measured of the consumers' deliveries."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from sandbox.workload.deliveries import Delivery, Measurement, measure, parse

SECOND = 1000


def _steady(partition: int, start_ms: int, end_ms: int, *, first_offset: int = 0) -> list[Delivery]:
    """Ten deliveries a second from `start_ms` until before `end_ms`."""
    times = range(start_ms, end_ms, 100)
    return [Delivery(partition, offset, at, "a-0", "a-0") for offset, at in enumerate(times, start=first_offset)]


def test_a_steady_partition_is_never_idle() -> None:
    rows = _steady(0, 0, 10 * SECOND)
    assert measure(rows, 1, 0, 10 * SECOND) == Measurement(100, 0.0, 0.1, 0, 0)


def test_a_gap_counts_whole_once_it_is_above_half_a_second() -> None:
    rows = _steady(0, 0, 2000) + _steady(0, 4000, 6000, first_offset=20)
    assert measure(rows, 1, 0, 6000) == Measurement(40, 2.1, 2.1, 0, 0)


def test_a_gap_of_half_a_second_is_no_gap() -> None:
    rows = [Delivery(0, 0, 500, "a-0", "a-0"), Delivery(0, 1, 1000, "a-0", "a-0")]
    assert measure(rows, 1, 0, 1500).idle_partition_seconds == 0.0


def test_a_partition_that_nobody_serves_is_idle_for_the_whole_span() -> None:
    rows = _steady(0, 0, 5 * SECOND)
    assert measure(rows, 3, 0, 5 * SECOND).idle_partition_seconds == 10.0
    assert measure(rows, 3, 0, 5 * SECOND).worst_gap_seconds == 5.0


def test_every_delivery_after_a_messages_first_is_a_duplicate() -> None:
    rows = [Delivery(0, 7, at, pod, "a-0") for at, pod in ((100, "old"), (200, "new"), (300, "new"))]
    assert measure(rows, 1, 0, 400).duplicates == 2


def test_offsets_are_missing_only_between_the_first_and_the_last() -> None:
    rows = [Delivery(0, offset, 100, "a-0", "a-0") for offset in (3, 4, 8)]
    assert measure(rows, 1, 0, 400).missing == 3


def test_what_happened_before_or_after_does_not_count() -> None:
    rows = _steady(0, 0, 3000)
    assert measure(rows, 1, 1000, 1999).deliveries == 10


def test_a_batch_holds_many_deliveries() -> None:
    batch = b'{"pod":"a-0-xyz","i":"a-0","p":[[3,17,1700000000123],[4,18,1700000000124]]}'
    assert parse(batch) == [
        Delivery(3, 17, 1700000000123, pod="a-0-xyz", instance="a-0"),
        Delivery(4, 18, 1700000000124, pod="a-0-xyz", instance="a-0"),
    ]


@given(
    st.lists(
        st.builds(
            Delivery,
            partition=st.integers(0, 3),
            offset=st.integers(0, 50),
            at_ms=st.integers(0, 20_000),
            pod=st.just("a-0"),
            instance=st.just("a-0"),
        ),
        max_size=60,
    ),
    st.randoms(use_true_random=False),
)
def test_no_partition_is_idle_longer_than_the_span_and_order_does_not_matter(
    rows: list[Delivery], random: Random
) -> None:
    measured = measure(rows, 4, 5_000, 15_000)
    assert 0 <= measured.worst_gap_seconds <= 10
    assert 0 <= measured.idle_partition_seconds <= 4 * 10
    random.shuffle(rows)
    assert measure(rows, 4, 5_000, 15_000) == measured

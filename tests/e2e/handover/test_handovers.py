"""What the handover tests measure with, held against deliveries made up for it."""

from __future__ import annotations

import pytest

from sandbox.workload.deliveries import Delivery
from tests.e2e.handover.handovers import longest_change_of_hands_s

ENDED = 60.0
OLD, NEW = "orders-0", "orders-alt-0"


def read(pod: str, *seconds: float, partition: int = 0) -> list[Delivery]:
    return [Delivery(partition, int(at * 10), int(at * 1000), pod=pod, instance="orders-0") for at in seconds]


@pytest.mark.parametrize(
    ("rows", "longest_s"),
    [
        ([*read(OLD, 1.0, 2.0), *read(NEW, 2.5, 59.0)], 0.5),
        ([*read(OLD, 1.0, 9.0), *read(NEW, 9.5, 59.0)], 0.5),
        ([*read(OLD, 1.0, 2.0), *read(NEW, 6.0, 59.0)], 4.0),
        ([*read(NEW, 6.0, 59.0), *read(OLD, 2.0, 1.0)], 4.0),
        ([*read(OLD, 1.0), *read(NEW, 1.5), *read(OLD, 1.0, partition=1), *read(NEW, 3.0, partition=1)], 2.0),
        ([*read(OLD, 1.0, 2.0)], 58.0),
        ([*read(NEW, 1.0, 2.0)], 0.0),
        ([], 0.0),
    ],
    ids=[
        "at once",
        "a pause of one that goes on",
        "late",
        "late, and read in another order",
        "one of two partitions",
        "nobody took it over",
        "one that is still there rests",
        "nothing was read",
    ],
)
def test_the_longest_change_of_hands(rows: list[Delivery], longest_s: float) -> None:
    assert longest_change_of_hands_s(rows, {NEW}, ENDED) == pytest.approx(longest_s)

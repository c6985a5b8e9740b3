"""When partitions were idle, by the consumers' own records of what they were given. Pure.

The measure is the demo's (`sandbox.workload.deliveries`): a partition is idle between two deliveries wherever that is
more than half a second. Here each stretch is kept, so that those of many groups can be laid over each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from demo.cascade.modes import PARTITIONS
from demo.cascade.spans import Span
from sandbox.workload.deliveries import IDLE_ABOVE_MS, Delivery


def idle(rows: Iterable[Delivery], start_ms: int, end_ms: int, partitions: int = PARTITIONS) -> list[Span]:
    """Every stretch of one group. Both ends count as deliveries: a partition that nobody serves is idle throughout."""
    served: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows:
        if start_ms <= row.at_ms <= end_ms:
            served[row.partition].append(row.at_ms)
    return [
        Span(earlier / 1000, later / 1000)
        for partition in range(partitions)
        for earlier, later in pairwise([start_ms, *sorted(served[partition]), end_ms])
        if later - earlier > IDLE_ABOVE_MS
    ]

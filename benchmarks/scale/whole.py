"""The whole operator but for kopf, in a process of its own, over recorded answers: what it keeps, and what it costs to
start and to rest. Lists come page by page, as text, and are read as the API server's are.

`python -m benchmarks.scale.whole GROUPS PODS SECONDS` writes its figures as JSON to standard output.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import structlog

from benchmarks.scale.around import record, recorded_connections
from benchmarks.scale.recorded import KINDS, NAME, Recorded
from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.cluster.lists import LISTED_AT_ONCE, read_aside
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION
from slackwater.api.annotations import GROUP_LABEL
from slackwater.core.pace import AT_REST_AGAIN_S
from slackwater.ports import Kind
from slackwater.shell.garbage import keep_for_good
from slackwater.shell.heartbeat import beat
from slackwater.shell.operator import Operator
from slackwater.shell.settings import Settings

Json = dict[str, Any]

_MIB: Final = 1024 * 1024
_LONGEST_START_S: Final = 1_800.0
_QUIET_LOOKS: Final = 4


@dataclass(frozen=True, slots=True)
class Whole:
    groups: int
    pods: int
    """Of each."""
    cold_cpu_seconds: float
    """From the first list until each group has had its looks and passes, and none waits."""
    cold_seconds: float
    rss_mib: float
    """At rest, of what came with the groups: without the program itself."""
    program_mib: float
    peak_mib: float
    kib_a_group: float
    """Of that, with all that belongs to it."""
    rest_cpu_percent: float
    """Of one core, with all groups at rest."""
    rest_writes: int
    longest_stall_seconds: float
    """Of the event loop until then, in CPU time of its thread: whatever else runs on the machine is not in it."""
    rest_stall_seconds: float
    """The same, at rest."""
    metrics_cpu_seconds: float
    """One exposition."""
    metrics_stall_seconds: float
    """How long the event loop stood still at most meanwhile."""
    metrics_mib: float


class RecordedApi:
    """The API server of so many groups at rest. It is written to by nobody."""

    def __init__(self, recorded: Recorded, groups: int) -> None:
        self._recorded, self._groups = recorded, groups
        self.requests: Counter[tuple[str, str]] = Counter()
        self.kept: Callable[[Kind, Mapping[str, Any]], Mapping[str, Any]] = lambda _, obj: obj
        self.before_write: Callable[[], float] = lambda: 15.0
        self.unanswered_writes = 0
        self.writes = 0

    async def list_all(
        self, kind: Kind, namespace: str | None, label_selector: str = ""
    ) -> tuple[tuple[Mapping[str, Any], ...], int]:
        self.requests["GET", kind.plural] += 1
        if label_selector.startswith(f"{GROUP_LABEL}="):
            number = int(label_selector.rpartition("-")[2])
            return tuple(self.kept(kind, obj) for obj in self._recorded.objects(kind, number)), self._groups + 1
        if kind is KAFKA_CONNECTION:
            return (self.kept(kind, self._recorded.connection),), self._groups + 1
        items: list[Mapping[str, Any]] = []
        for first in range(0, self._groups if kind in KINDS else 0, LISTED_AT_ONCE):
            page = range(first, min(first + LISTED_AT_ONCE, self._groups))
            texts = ",".join(text for number in page for text in self._recorded.text_of(kind, number))
            found = await read_aside(f'{{"items":[{texts}]}}'.encode(), lambda obj: self.kept(kind, obj))
            items += found["items"]
        return tuple(items), self._groups + 1

    async def read(self, kind: Kind, namespace: str, name: str) -> Mapping[str, Any] | None:
        self.requests["GET", kind.plural] += 1
        if kind is KAFKA_CONNECTION:
            return self._recorded.connection
        is_one = name[: len(NAME) - 6] == NAME[:-6] and kind in KINDS
        return next(self._recorded.objects(kind, int(name.rpartition("-")[2])), None) if is_one else None

    async def events_of(self, namespace: str, uid: str, reason: str) -> tuple[Json, ...]:
        return ()

    async def apply(self, *_: object, **__: object) -> Json:
        return self._written()

    apply_status = set_finalizers = create = delete = annotate = apply

    def _written(self) -> Json:
        self.writes += 1
        raise ClusterRefused("the benchmark's groups are at rest: nobody writes")


class _Stalls:
    def __init__(self) -> None:
        self.longest_s = 0.0

    def stood_still(self, for_s: float) -> None:
        self.longest_s = max(self.longest_s, for_s)

    def taken(self) -> float:
        longest_s, self.longest_s = self.longest_s, 0.0
        return round(longest_s, 3)


async def measure(groups: int, pods: int, rest_s: float) -> Whole:
    recorded = await record(pods)
    api: Any = RecordedApi(recorded, groups)
    settings = Settings.model_validate({"most_per_namespace": 10_000_000})
    operator, stalls = Operator(api, settings), _Stalls()
    recorded_connections(operator.connections, pods)
    program_mib, began, began_cpu = _rss_mib(), time.monotonic(), time.process_time()
    tasks = [asyncio.create_task(beat(stalls.stood_still, time.thread_time))]
    await operator.relist()
    await operator.fleets.begin()
    keep_for_good()
    operator.ready.set()
    passes = Counter[str]()
    _count(operator, passes)
    tasks += [asyncio.create_task(operator.work()) for _ in range(settings.workers)]
    await _until_caught_up(operator, groups, passes)
    cold_cpu_s, cold_s, cold_stall_s = time.process_time() - began_cpu, time.monotonic() - began, stalls.taken()
    api.writes, rest_cpu, rest_began = 0, time.process_time(), time.monotonic()
    await asyncio.sleep(rest_s)
    rest_percent = 100 * (time.process_time() - rest_cpu) / (time.monotonic() - rest_began)
    rest_stall_s, cpu, rss_mib = stalls.taken(), time.process_time(), _rss_mib()
    operator.metrics.take_stock()
    text = await asyncio.to_thread(operator.metrics.text)
    metrics_cpu_s = time.process_time() - cpu
    await asyncio.sleep(0.2)
    whole = Whole(
        groups=groups,
        pods=pods,
        cold_cpu_seconds=round(cold_cpu_s, 2),
        cold_seconds=round(cold_s, 1),
        rss_mib=round(rss_mib - program_mib, 1),
        program_mib=round(program_mib, 1),
        peak_mib=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        kib_a_group=round((rss_mib - program_mib) * 1024 / groups, 1),
        rest_cpu_percent=round(rest_percent, 1),
        rest_writes=api.writes,
        longest_stall_seconds=cold_stall_s,
        rest_stall_seconds=rest_stall_s,
        metrics_cpu_seconds=round(metrics_cpu_s, 2),
        metrics_stall_seconds=stalls.taken(),
        metrics_mib=round(len(text) / _MIB, 2),
    )
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await operator.connections.close()
    return whole


def _count(operator: Operator, passes: Counter[str]) -> None:
    """Passes by result, as the operator counts them for its own metrics."""
    passed = operator.metrics.passed

    def counted(result: str, took_s: float) -> None:
        passes[result] += 1
        passed(result, took_s)

    operator.metrics.passed = counted  # type: ignore[method-assign]


async def _until_caught_up(operator: Operator, groups: int, passes: Counter[str]) -> None:
    """As many passes as groups, and for two seconds no more wait than come due by themselves: groups at rest have a
    pass a minute each."""
    quiet, at_rest = 0, groups / AT_REST_AGAIN_S
    async with asyncio.timeout(_LONGEST_START_S):
        while quiet < _QUIET_LOOKS:
            await asyncio.sleep(0.5)
            caught_up = passes.total() >= groups and len(operator.queue) <= at_rest
            quiet = quiet + 1 if caught_up else 0


def _rss_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / _MIB


def main(arguments: list[str]) -> int:
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    groups, pods, rest_s = map(int, arguments)
    sys.stdout.write(json.dumps(asdict(asyncio.run(measure(groups, pods, rest_s)))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Many groups at once, end to end: a real operator process, API server and broker; from applied to observed."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import percentiles
from benchmarks.ground import Ground
from slackwater.adapters.cluster.api import KubernetesApi
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.waiting import wait_for

GROUPS: Final = 500
AT_REST_S: Final = 60.0
_AT_A_TIME: Final = 32
_SILENCE_S: Final = 20.0
_OBSERVED_WITHIN_S: Final = 300.0
_WRITTEN: Final = re.compile(
    r'^slackwater_kubernetes_requests_total\{(?=.*verb="(?:PATCH|POST|DELETE)").*\} (\S+)$', re.MULTILINE
)


class Watcher:
    """When each generation of each group was seen by the operator. Moments are monotonic seconds."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._ended = threading.Event()
        self._seen: dict[tuple[str, int], float] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)

    @contextmanager
    def watching(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._thread.join(10)

    def delays(self, applied: dict[tuple[str, int], float]) -> list[float] | None:
        """Seconds from applied to observed; None while some are not observed yet."""
        if any(key not in self._seen for key in applied):
            return None
        return [max(0.0, self._seen[key] - at) for key, at in applied.items()]

    def _run(self) -> None:
        api, namespace = self._ground.cluster.api, self._ground.cluster.namespace
        version = ""
        while not self._ended.is_set():
            if not version:
                listed, version = api.list_all("cg", namespace)
                for obj in listed:
                    self._take_in(obj)
            for event in api.watch("cg", namespace, version, 1):
                if event.get("type") not in ("ADDED", "MODIFIED", "BOOKMARK"):
                    version = ""  # an error, or a deletion at the end: the list says what it left out
                    break
                self._take_in(event["object"])
                version = event["object"]["metadata"]["resourceVersion"]

    def _take_in(self, obj: Json) -> None:
        observed = (obj.get("status") or {}).get("observedGeneration")
        if observed is not None:
            self._seen.setdefault((obj["metadata"]["name"], observed), time.monotonic())


async def apply_all(groups: list[Json]) -> dict[tuple[str, int], float]:
    """Apply them as quickly as the API server takes them. Returns when each name and generation was taken."""
    api = await KubernetesApi.connect()
    slots = asyncio.Semaphore(_AT_A_TIME)

    async def apply(group: Json) -> tuple[tuple[str, int], float]:
        async with slots:
            taken: dict[str, Any] = await api.apply(group)
        return (taken["metadata"]["name"], taken["metadata"]["generation"]), time.monotonic()

    try:
        return dict(await asyncio.gather(*(apply(group) for group in groups)))
    finally:
        await api.close()


def measure_observed(ground: Ground, watcher: Watcher, stable_for_s: int) -> tuple[float, float]:
    """Apply all groups at once, with a spec that they do not have yet; the 50th and 99th percentile."""
    groups = [ground.group(f"group-{number}", 0, stable_for_s) for number in range(GROUPS)]
    applied = asyncio.run(apply_all(groups))
    delays = wait_for("every group to be observed", lambda: watcher.delays(applied), _OBSERVED_WITHIN_S)
    return percentiles(delays)


def wait_at_rest(ground: Ground) -> None:
    """Until every group is complete, and the operator has not written for a while."""

    def are_complete() -> bool:
        statuses = [group.get("status") or {} for group in ground.groups()]
        return all((status.get("rollout") or {}).get("phase") == "Complete" for status in statuses)

    wait_for("every group to be complete", are_complete, _OBSERVED_WITHIN_S)
    last = {"count": -1, "since": 0.0}

    def is_silent() -> bool:
        if (count := writes(ground)) != last["count"]:
            last.update(count=count, since=time.monotonic())
        return time.monotonic() - last["since"] > _SILENCE_S

    wait_for("the operator to fall silent", is_silent, 180.0)


def writes_at_rest(ground: Ground) -> int:
    before, end = writes(ground), time.monotonic() + AT_REST_S
    wait_for("a minute at rest", lambda: time.monotonic() >= end, AT_REST_S + 30.0)
    return writes(ground) - before


def writes(ground: Ground) -> int:
    """Requests that change something, by the operator's own count."""
    return int(sum(float(count) for count in _WRITTEN.findall(ground.operator.metrics())))


def rss_mib(ground: Ground) -> float:
    process = ground.operator.process
    assert process is not None
    status = Path(f"/proc/{process.pid}/status").read_text()
    kib = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return round(int(kib) / 1024, 1)

"""The reconcile benchmark: first single passes in this process, then a fleet end to end."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks import fleet, noop
from benchmarks.figures import Figures
from benchmarks.ground import prepared

PORT = 18120


def measure(kubeconfig: Path, bootstrap_servers: str, folder: Path) -> Figures:
    """Takes about five minutes. Raises NotANoop, or AssertionError when something does not come about in time."""
    with prepared(kubeconfig, bootstrap_servers, folder, PORT) as ground:
        noop.bring_to_rest(ground)
        noop_per_second = asyncio.run(noop.passes_per_cpu_second(ground))
    with prepared(kubeconfig, bootstrap_servers, folder, PORT) as ground:
        watcher = fleet.Watcher(ground)
        with watcher.watching():
            ground.operator.start()
            ground.operator.wait_ready()
            created = fleet.measure_observed(ground, watcher, stable_for_s=1)
            fleet.wait_at_rest(ground)
            observed = fleet.measure_observed(ground, watcher, stable_for_s=2)
            fleet.wait_at_rest(ground)
            at_rest = fleet.writes_at_rest(ground)
            return Figures(
                noop_per_second=round(noop_per_second, 1),
                groups=fleet.GROUPS,
                observed_p50_seconds=observed[0],
                observed_p99_seconds=observed[1],
                created_p50_seconds=created[0],
                created_p99_seconds=created[1],
                rss_mib=fleet.rss_mib(ground),
                writes_at_rest=at_rest,
            )

"""`python -m benchmarks [plan|turns|scale|reconcile|recommend|pipeline …]`: measure, show; figures go to build/bench.

`python -m benchmarks scale --groups 10000`: what follows the name of one that has options is its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from benchmarks import figures, plan, turns
from sandbox.layout import Layout, read_state
from slackwater.api.errors import SlackwaterError

BUILD: Final = Path(__file__).resolve().parents[1] / "build" / "bench"


def main(names: list[str]) -> int:
    """Run those that are named, or all. The result is the exit code."""
    if names[:1] == ["scale"]:
        return scale_benchmark(names[1:])
    if unknown := [name for name in names if name not in BENCHMARKS]:
        sys.stderr.write(f"There is no benchmark {unknown[0]}: choose from {', '.join(BENCHMARKS)}\n")
        return 2
    return max(BENCHMARKS[name]() for name in names or BENCHMARKS)


def plan_benchmark() -> int:
    """One decision for a big group. Some seconds, nothing but Python."""
    found = plan.measure()
    path = BUILD / "plan.json"
    plan.write(found, path)
    sys.stdout.write(f"{plan.table(found)}\nThe figures are in {path}.\n")
    return 0


def turns_benchmark() -> int:
    """Who is next, of ten thousand groups. Some seconds, nothing but Python."""
    found = turns.measure()
    path = BUILD / "turns.json"
    turns.write(found, path)
    sys.stdout.write(f"{turns.table(found)}\nThe figures are in {path}.\n")
    return 0


def scale_benchmark(options: Sequence[str] = ()) -> int:
    """One replica beside thousands of groups. Some minutes, nothing but Python."""
    from benchmarks.scale import command  # noqa: PLC0415 - the others need none of the operator's shell

    return command.run(options, BUILD / "scale.json")


def reconcile_benchmark() -> int:
    """The operator, against the sandbox."""
    state = read_state(Layout.from_environment())
    if "kubeconfig" not in state or "bootstrap_servers" not in state:
        sys.stderr.write("The operator's benchmark needs the sandbox, which is not up: make sandbox-up\n")
        return 1
    kubeconfig, bootstrap_servers = Path(str(state["kubeconfig"])), str(state["bootstrap_servers"])
    os.environ["KUBECONFIG"] = str(kubeconfig)
    from benchmarks import reconcile  # noqa: PLC0415 - the Kubernetes client reads KUBECONFIG when it is imported

    sys.stdout.write("Measuring for about five minutes. Anything else that runs here makes the figures worse.\n")
    try:
        found = reconcile.measure(kubeconfig, bootstrap_servers, BUILD)
    except (SlackwaterError, AssertionError) as error:
        sys.stderr.write(f"The benchmark could not be finished: {error}\n")
        return 1
    path = BUILD / "reconcile.json"
    figures.write(found, path)
    sys.stdout.write(f"{figures.table(found)}\nThe figures are in {path}.\n")
    return 0


def recommend_benchmark() -> int:
    """Recommended timeouts, against simulated truth."""
    # One thread: the figures are to be those of one core. numpy reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from benchmarks import recommend  # noqa: PLC0415 - see above; and the operator's benchmark needs no numpy

    return recommend.main([])


def pipeline_benchmark() -> int:
    """The recommend job for a big fleet, beside DuckDB. It has options of its own: `python -m benchmarks.pipeline`."""
    from benchmarks import pipeline  # noqa: PLC0415 - the operator's benchmark needs neither Spark nor DuckDB

    return pipeline.main([])


BENCHMARKS: Final[dict[str, Callable[[], int]]] = {
    "plan": plan_benchmark,
    "turns": turns_benchmark,
    "scale": scale_benchmark,
    "reconcile": reconcile_benchmark,
    "recommend": recommend_benchmark,
    "pipeline": pipeline_benchmark,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

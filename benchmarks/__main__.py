"""`python -m benchmarks`: measure, show, and keep the figures in build/bench/reconcile.json."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks import figures
from sandbox.layout import Layout, read_state
from slackwater.api.errors import SlackwaterError

BUILD = Path(__file__).resolve().parents[1] / "build" / "bench"


def main() -> int:
    """The result is the exit code."""
    state = read_state(Layout.from_environment())
    if "kubeconfig" not in state or "bootstrap_servers" not in state:
        sys.stderr.write("The benchmarks need the sandbox, which is not up: make sandbox-up\n")
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


if __name__ == "__main__":
    sys.exit(main())

"""A cluster by kind, where Docker is there. Untested: it could not be tried where this was written.

Pods reach the brokers through the machine: Docker gives what leaves its networks the machine's address on the
sandbox's bridge.
"""

from __future__ import annotations

from pathlib import Path

from sandbox.commands import run
from sandbox.console import step
from sandbox.layout import Layout

CLUSTER = "slackwater-sandbox"
CREATE_DEADLINE_S = 600


def start(layout: Layout) -> None:
    """Create the cluster, or use the one that an earlier `up` created. Raises CommandFailed."""
    if CLUSTER in run(["kind", "get", "clusters"]).stdout.split():
        run(["kind", "export", "kubeconfig", "--name", CLUSTER, "--kubeconfig", layout.kubeconfig])
        return
    with step("Creating a cluster with kind", "Docker is there; the first time it pulls the node's image"):
        argv: list[str | Path] = [
            "kind",
            "create",
            "cluster",
            "--name",
            CLUSTER,
            "--kubeconfig",
            layout.kubeconfig,
            "--wait",
            "120s",
        ]
        run(argv, deadline_s=CREATE_DEADLINE_S)


def import_image(archive: Path) -> None:
    """Load a docker archive into the cluster's node. Raises CommandFailed."""
    run(["kind", "load", "image-archive", archive, "--name", CLUSTER], deadline_s=CREATE_DEADLINE_S)


def stop() -> None:
    """Delete the cluster; one that is not there is fine."""
    run(["kind", "delete", "cluster", "--name", CLUSTER], deadline_s=CREATE_DEADLINE_S)

"""A pod's packets to and from the brokers, dropped without a word, and let through again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.stage import processes
from tests.e2e.stage.cluster import Json


@contextmanager
def black_hole(pod: Json, *addresses: str) -> Iterator[None]:
    """For the pod, these addresses have vanished; the kubelet still reaches it. Skips where pods run elsewhere."""
    rules = [(chain, way, address) for address in addresses for chain, way in (("OUTPUT", "-d"), ("INPUT", "-s"))]
    # Held open: the consumer may end meanwhile, and its pod's network outlives it.
    with Path(f"/proc/{processes.consumer_of(pod)}/ns/net").open() as held:
        netns = f"--net=/proc/{os.getpid()}/fd/{held.fileno()}"
        for chain, way, address in rules:
            _iptables(netns, "-A", chain, way, address)
        try:
            yield
        finally:
            for chain, way, address in rules:
                _iptables(netns, "-D", chain, way, address)


def addresses_of(bootstrap_servers: str) -> list[str]:
    return [server.rpartition(":")[0] for server in bootstrap_servers.split(",")]


def _iptables(netns: str, what: str, chain: str, way: str, address: str) -> None:
    command = ["nsenter", netns, "iptables", "-w", what, chain, way, address, "-j", "DROP"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"

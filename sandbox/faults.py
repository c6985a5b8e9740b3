"""Cut a namespace of the sandbox off, slow it down, and heal it: faults of the network, for tests.

To slow one down, its connection to the bridge is led through a process that holds each frame back (`slow_link`):

    broker's eth0 ─── port-0-11   slow_link   relay-0-11 ─── slow-0-11 on the bridge
"""

from __future__ import annotations

import sys
from pathlib import Path

from sandbox import network, processes
from sandbox.commands import run
from sandbox.layout import BRIDGE, NODE_NETNS, Layout

ROOT = Path(__file__).parents[1]


def cut(netns: str) -> None:
    """Let no packet in or out of the namespace: to the others it looks as if its machine had vanished."""
    network.ip("link", "set", network.port_of(netns), "down", netns=NODE_NETNS)


def impair(layout: Layout, netns: str, *, delay_ms: float = 0, loss_percent: float = 0) -> None:
    """Delay every packet of the namespace by `delay_ms` in each direction, and lose `loss_percent` of them at random.

    It replaces an earlier impairment. Raises StartFailed when the process that does it does not start.
    """
    heal(layout, netns)
    port = network.port_of(netns)
    slow, relay = _names(port)
    network.ip("link", "add", slow, "type", "veth", "peer", "name", relay, netns=NODE_NETNS)
    network.ip("link", "set", port, "nomaster", netns=NODE_NETNS)
    for interface in (port, relay):
        _keep_silent(interface)
    network.ip("link", "set", relay, "up", netns=NODE_NETNS)
    argv = [sys.executable, "-m", "sandbox.slow_link", port, relay, str(delay_ms), str(loss_percent)]
    name = _process(netns)
    processes.log_file(layout, name).unlink(missing_ok=True)
    processes.start(layout, name, argv, env={"PYTHONPATH": str(ROOT)}, netns=NODE_NETNS)
    processes.wait_until(
        layout,
        f"{netns} is slowed down",
        lambda: "ready" in processes.log_tail(layout, name),
        deadline_s=10,
        process=name,
    )
    network.ip("link", "set", slow, "master", BRIDGE, "up", netns=NODE_NETNS)


def heal(layout: Layout, netns: str) -> None:
    """Undo `cut` and `impair`; nothing to undo is fine."""
    port = network.port_of(netns)
    processes.stop(layout, _process(netns))
    run(["ip", "-n", NODE_NETNS, "link", "delete", _names(port)[0]], check=False)
    network.ip("link", "set", port, "master", BRIDGE, "up", netns=NODE_NETNS)


def _names(port: str) -> tuple[str, str]:
    return port.replace("port-", "slow-"), port.replace("port-", "relay-")


def _process(netns: str) -> str:
    return f"slow-link-{netns}"


def _keep_silent(interface: str) -> None:
    """Let the node not answer on an interface that only carries frames for others."""
    network.write_node_settings(
        {f"net/ipv4/conf/{interface}/arp_ignore": "8", f"net/ipv6/conf/{interface}/disable_ipv6": "1"}
    )

"""The sandbox's own network: a bridge in a network namespace of its own, with the node, the pods and the brokers on it.

    this machine                 namespace slackwater-node                        namespaces slackwater-…
    ┌────────────────────┐      ┌───────────────────────────────────────┐       ┌────────────────────┐
    │ slackwater-host    ├──────┤ slackwater0, a bridge: 10.203.0.1     ├───────┤ eth0 10.203.0.11   │ a broker
    │ 10.203.0.2         │      │ API server, kubelet, kube-proxy       │       └────────────────────┘
    └────────────────────┘      │                                       ├───────  eth0 10.203.1.…      a pod
                                └───────────────────────────────────────┘
The bridge stands in a namespace, not on the machine, so that kube-proxy's hundred iptables rules and the forwarding
switch never touch the machine's own, and go with the namespace (docs/adr/0003). The machine itself only gets one
interface and one route, and reaches pods, brokers and services directly. Nothing in here has a way out of the machine.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from sandbox.commands import run
from sandbox.errors import NotUp, SandboxError
from sandbox.layout import BRIDGE, GATEWAY, HOST, NETWORK, NODE_NETNS, SERVICES

NETNS_PREFIX = "slackwater-"
NETNS_FOLDER = Path("/run/netns")
HOST_LINK = "slackwater-host"  # 15 characters: the longest name that Linux allows
BRIDGE_HARDWARE_ADDRESS = "02:53:4c:41:43:4b"  # any locally administered one

# Written in the node's namespace only. Pods reach each other through the bridge without iptables (the last one), so
# the kernel needs no br_netfilter; kube-proxy masquerades instead, for services whose pods sit on the same bridge.
NODE_SYSCTLS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv4/conf/default/send_redirects": "0",
    "net/bridge/bridge-nf-call-iptables": "0",
}


def create() -> None:
    """Make the node's namespace, its bridge, and this machine's interface on it.

    Raises SandboxError when this machine uses the addresses already.
    """
    refuse_taken_addresses()
    _make_netns(NODE_NETNS)
    # br_netfilter's switch exists only where that module is loaded; without it there is nothing to switch off.
    write_node_settings(NODE_SYSCTLS)
    # Left to itself a bridge takes its lowest port's hardware address, and changes it when a pod comes: everyone's
    # neighbour tables would then be wrong for half a minute.
    ip("link", "add", BRIDGE, "address", BRIDGE_HARDWARE_ADDRESS, "type", "bridge", netns=NODE_NETNS)
    ip("address", "add", f"{GATEWAY}/{NETWORK.prefixlen}", "dev", BRIDGE, netns=NODE_NETNS)
    ip("link", "set", BRIDGE, "up", netns=NODE_NETNS)
    ip("link", "add", HOST_LINK, "type", "veth", "peer", "name", "to-host", "netns", NODE_NETNS)
    ip("link", "set", "to-host", "master", BRIDGE, "up", netns=NODE_NETNS)
    ip("address", "add", f"{HOST}/{NETWORK.prefixlen}", "dev", HOST_LINK)
    ip("link", "set", HOST_LINK, "up")
    ip("route", "add", str(SERVICES), "via", str(GATEWAY))


def exists() -> bool:
    """Whether the bridge is there."""
    return BRIDGE in _links(NODE_NETNS)


def add_netns(name: str, address: IPv4Address) -> None:
    """Make the network namespace `name` (`slackwater-…`) and connect its eth0, with `address`, to the bridge."""
    if not name.startswith(NETNS_PREFIX):
        raise ValueError(f"a namespace of the sandbox starts with {NETNS_PREFIX!r}, so that `down` finds it: {name!r}")
    if not exists():
        raise NotUp("The sandbox's network is not up.", todo="Start it: sandbox up")
    _make_netns(name)
    port = _port(address)
    ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name, netns=NODE_NETNS)
    ip("link", "set", port, "master", BRIDGE, "up", netns=NODE_NETNS)
    ip("address", "add", f"{address}/{NETWORK.prefixlen}", "dev", "eth0", netns=name)
    ip("link", "set", "eth0", "up", netns=name)
    ip("route", "add", "default", "via", str(GATEWAY), netns=name)


def remove_netns(name: str) -> None:
    """Remove the namespace and its connection. One that is not there is fine. End its processes first."""
    if name not in netns_names():
        return
    # The kernel takes a namespace apart when its last process is gone, and not at once: the interface must go now.
    run(["ip", "-n", name, "link", "delete", "eth0"], check=False)
    ip("netns", "delete", name)


def netns_names() -> tuple[str, ...]:
    """All of the sandbox's namespaces."""
    if not NETNS_FOLDER.is_dir():
        return ()
    return tuple(sorted(entry.name for entry in NETNS_FOLDER.iterdir() if entry.name.startswith(NETNS_PREFIX)))


def delete_everything() -> None:
    """Remove all that this module ever makes, whatever is there of it."""
    run(["ip", "link", "delete", HOST_LINK], check=False)
    for name in netns_names():
        if name != NODE_NETNS:
            remove_netns(name)
    if NODE_NETNS in netns_names():
        run(["ip", "-n", NODE_NETNS, "link", "delete", BRIDGE], check=False)
        ip("netns", "delete", NODE_NETNS)


def leftovers() -> list[str]:
    """What is still there of all that this module makes, in words."""
    found = [f"network namespace {name}" for name in netns_names()]
    return found + [f"network interface {link}" for link in _links(None) if link in (HOST_LINK, BRIDGE)]


def port_of(name: str) -> str:
    """The bridge's end of the namespace's connection, an interface in the node's namespace."""
    links = json.loads(ip("-json", "-4", "address", "show", "dev", "eth0", netns=name))
    return _port(IPv4Address(links[0]["addr_info"][0]["local"]))


def write_node_settings(settings: Mapping[str, str]) -> None:
    """Write kernel settings of the node's namespace; those that this kernel does not have are left out."""
    for key, value in settings.items():
        write = f"! test -e /proc/sys/{key} || echo {value} > /proc/sys/{key}"
        run(["nsenter", f"--net={NETNS_FOLDER / NODE_NETNS}", "sh", "-c", write])


def ip(*words: str, netns: str | None = None) -> str:
    """Run `ip`, in a namespace if given, and return its output. Raises CommandFailed."""
    return run(["ip", *(["-n", netns] if netns else []), *words]).stdout


def refuse_taken_addresses() -> None:
    """Raise SandboxError when this machine already routes a network that overlaps ours."""
    routes = json.loads(run(["ip", "-json", "-4", "route", "show", "table", "all"]).stdout)
    for route in routes:
        if route["dst"] == "default" or route.get("dev") == HOST_LINK:
            continue
        taken = ipaddress.ip_network(route["dst"], strict=False)
        for ours in (NETWORK, SERVICES):
            if isinstance(taken, IPv4Network) and taken.overlaps(ours):
                raise SandboxError(
                    f"This machine already uses {taken} ({route.get('dev', '')}); the sandbox needs {ours}.",
                    todo="Take that interface down while the sandbox runs, or run the sandbox on another machine.",
                )


def _make_netns(name: str) -> None:
    ip("netns", "add", name)
    ip("link", "set", "lo", "up", netns=name)


def _port(address: IPv4Address) -> str:
    """The name of the bridge's end of the connection to `address`, short enough for Linux."""
    third, fourth = address.packed[2:]
    return f"port-{third}-{fourth}"


def _links(netns: str | None) -> set[str]:
    prefix = ["-n", netns] if netns else []
    done = run(["ip", *prefix, "-json", "link", "show"], check=False)
    return {link["ifname"] for link in json.loads(done.stdout or "[]") if "ifname" in link}

"""The real thing, as root: up, used, crashed, up again, down without a trace.

These tests start and stop the one sandbox that a machine can have, and leave it as they found it: up or down.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from sandbox import cleanup, cluster, control_plane, faults, machine, network, node, processes, procfs
from sandbox.control_groups import pod_groups
from sandbox.layout import API_SERVICE, BROKER_PORT, CACHE_VARIABLE, RUN_VARIABLE, Layout, broker_address, read_state
from tests.e2e.stage.waiting import BUSY

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.alone,
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0, reason="the sandbox's own cluster needs root"),
]

COMMAND = Path(__file__).parents[2] / "bin" / "sandbox"
BROKER = "slackwater-kafka-1"

PODS = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: idle}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: idle}}
  template:
    metadata: {labels: {app: idle}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: idle, image: "slackwater.dev/pause:1", imagePullPolicy: IfNotPresent}]
---
apiVersion: v1
kind: Service
metadata: {name: idle}
spec: {selector: {app: idle}, ports: [{port: 80}]}
"""


def sandbox(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the command and require that it succeeds."""
    environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=600, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done


def kubectl(*words: str, text: str | None = None) -> str:
    layout = Layout.from_environment()
    program = shutil.which("kubectl")
    assert program is not None
    done = subprocess.run(
        [program, *words],
        env={**os.environ, "KUBECONFIG": str(layout.kubeconfig)},
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def start_pods() -> None:
    kubectl("apply", "-f", "-", text=PODS)
    kubectl("rollout", "status", "statefulset/idle", "--timeout=60s")


def accepts(address: object, port: int) -> bool:
    try:
        socket.create_connection((str(address), port), timeout=1).close()
    except OSError:
        return False
    return True


def seconds_to_connect(address: object) -> float:
    started = time.monotonic()
    socket.create_connection((str(address), BROKER_PORT), timeout=5).close()
    return time.monotonic() - started


@dataclass(frozen=True)
class Machine:
    """What of the machine a sandbox might change."""

    links: frozenset[str]
    routes: str
    iptables: str
    mounts: frozenset[str]
    sysctls: tuple[str, ...]
    namespaces: frozenset[str]
    cgroups: frozenset[str]
    hard_coded: tuple[bool, ...]


def look_at_machine() -> Machine:
    def output(*argv: str) -> str:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout

    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    sysctls = [machine.SYSCTLS / name for name in machine.CHANGED_SYSCTLS]
    netns = network.NETNS_FOLDER
    return Machine(
        links=frozenset(link["ifname"] for link in json.loads(output("ip", "-json", "link"))),
        routes=output("ip", "-4", "route", "show", "table", "main"),
        iptables="\n".join(line for line in output("iptables-save").splitlines() if not line.startswith(("#", ":"))),
        mounts=frozenset(line.split()[4] for line in mounts),
        sysctls=tuple(path.read_text() for path in sysctls if path.exists()),
        namespaces=frozenset(entry.name for entry in netns.iterdir()) if netns.is_dir() else frozenset(),
        cgroups=frozenset(str(path) for path in Path("/sys/fs/cgroup").glob("*/k8s.io")),
        hard_coded=tuple(folder.exists() for folder in node.HARD_CODED.values()),
    )


@pytest.fixture(scope="module")
def layout() -> Iterator[Layout]:
    """The machine's one sandbox, up with one broker; afterwards it is as it was before."""
    if CACHE_VARIABLE in os.environ or RUN_VARIABLE in os.environ:
        pytest.skip("these tests need the sandbox's usual folders")
    found = Layout.from_environment()
    was_up = bool(read_state(found))
    sandbox("up", "--no-images")
    yield found
    sandbox("up", "--no-images") if was_up else sandbox("down")


def test_pods_run_and_are_reached_by_address(layout: Layout) -> None:
    start_pods()

    addresses = kubectl("get", "pods", "-l", "app=idle", "-o", "jsonpath={.items[*].status.podIP}").split()

    assert len(addresses) == 2
    assert all(address.startswith("10.203.") for address in addresses)
    assert accepts(API_SERVICE, 443), "services are reached from this machine, too"


@pytest.mark.usefixtures("layout")
def test_pods_weigh_more_than_one_thread_of_what_runs_beside_them() -> None:
    """All of them together; else they starve whenever tests keep every processor busy."""
    weights = [folder / name for folder in pod_groups() for name in ("cpu.shares", "cpu.weight")]
    found = {path.name: int(path.read_text()) for path in weights if path.exists()}
    assert found in ({"cpu.shares": 16384}, {"cpu.weight": 1600})


def test_a_second_up_changes_nothing_and_takes_seconds(layout: Layout) -> None:
    before = {name: processes.find(layout, name) for name in processes.names(layout)}
    started = time.monotonic()

    sandbox("up", "--no-images")

    assert time.monotonic() - started < 10 * BUSY
    assert {name: processes.find(layout, name) for name in processes.names(layout)} == before


@pytest.mark.parametrize(
    "user",
    [
        "system:kube-scheduler",
        "system:kube-controller-manager",
        "system:kube-proxy",
        "system:node:slackwater",
        "kube-apiserver-kubelet-client",
    ],
)
@pytest.mark.usefixtures("layout")
def test_no_component_is_cluster_admin(user: str) -> None:
    program = shutil.which("kubectl")
    assert program is not None
    done = subprocess.run(
        [program, "auth", "can-i", "*", "*", "--all-namespaces", f"--as={user}"],
        env={**os.environ, "KUBECONFIG": str(Layout.from_environment().kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip() == "no"


def test_the_audit_log_tells_who_wrote_what(layout: Layout) -> None:
    kubectl("create", "configmap", "written-by-me")
    kubectl("delete", "configmap", "written-by-me")

    events = [json.loads(line) for line in layout.audit_log.read_text().splitlines()]
    mine = [event for event in events if event.get("objectRef", {}).get("name") == "written-by-me"]

    assert {(event["user"]["username"], event["verb"]) for event in mine} >= {("sandbox-admin", "delete")}


@pytest.fixture
def address(layout: Layout) -> Iterator[IPv4Address]:
    """The address of broker 1, whose network is whole again after the test."""
    yield broker_address(1)
    faults.heal(layout, BROKER)


def test_a_broker_can_be_cut_off_and_comes_back(layout: Layout, address: IPv4Address) -> None:
    assert accepts(address, BROKER_PORT)

    faults.cut(BROKER)
    assert not accepts(address, BROKER_PORT)

    faults.heal(layout, BROKER)
    processes.wait_until(layout, "the broker is reached again", lambda: accepts(address, BROKER_PORT), 10 * BUSY)


def test_a_broker_can_be_slowed_down(layout: Layout, address: IPv4Address) -> None:
    faults.impair(layout, BROKER, delay_ms=100)
    taken_s: list[float] = []

    def are_as_slow_as_asked_for() -> bool:
        """100 ms there, 100 ms back; a packet that is lost on the way costs a second more."""
        taken_s.append(seconds_to_connect(address))
        return taken_s[-1] < 0.5

    processes.wait_until(layout, "connections take 200 ms", are_as_slow_as_asked_for, 10 * BUSY)
    assert min(taken_s) >= 0.2

    faults.heal(layout, BROKER)
    processes.wait_until(layout, "it is quick again", lambda: seconds_to_connect(address) < 0.1, 10 * BUSY)


def test_a_killed_broker_comes_back(layout: Layout) -> None:
    sandbox("broker", "kill", "1")
    assert not accepts(broker_address(1), BROKER_PORT)

    sandbox("broker", "start", "1")

    assert accepts(broker_address(1), BROKER_PORT)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_the_api_server_can_go_and_comes_back(layout: Layout, how: str) -> None:
    start_pods()

    sandbox("apiserver", how)
    assert not control_plane.is_ready(layout)
    sandbox("apiserver", "start")

    assert "idle-0" in kubectl("get", "pods")


def test_a_paused_node_stands_still_until_it_is_resumed(layout: Layout) -> None:
    start_pods()
    first = processes.find(layout, node.NODE)
    assert first is not None

    sandbox("node", "pause")
    below = procfs.descendants(first.pid)
    assert len(below) > 5
    assert {procfs.state(pid) for pid in below} <= {"T", "Z"}

    sandbox("node", "resume")
    assert "T" not in {procfs.state(pid) for pid in procfs.descendants(first.pid)}
    kubectl("wait", "node/slackwater", "--for=condition=Ready", "--timeout=60s")


@pytest.mark.long
def test_up_after_everything_was_killed_starts_afresh(layout: Layout) -> None:
    start_pods()
    for name in processes.names(layout):
        process = processes.find(layout, name)
        if process is not None:
            os.kill(process.pid, signal.SIGKILL)

    sandbox("up", "--no-images")

    assert cluster.is_up(layout)
    assert kubectl("get", "pods", "--all-namespaces", "-o", "name") == ""
    start_pods()


def test_up_after_one_part_died_starts_afresh(layout: Layout) -> None:
    process = processes.find(layout, "containerd")
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)

    sandbox("up", "--no-images")

    assert cluster.is_up(layout)
    start_pods()


@pytest.mark.long
def test_up_after_the_run_folder_was_lost_starts_afresh(layout: Layout) -> None:
    start_pods()
    first = processes.find(layout, node.NODE)
    assert first is not None
    pods = procfs.descendants(first.pid)
    shutil.rmtree(layout.run, ignore_errors=True)

    sandbox("up", "--no-images")

    assert cluster.is_up(layout)
    assert [pid for pid in pods if procfs.started_ticks(pid) is not None] == []
    start_pods()


def test_down_leaves_nothing_and_puts_the_machine_back(layout: Layout) -> None:
    sandbox("down")
    before = look_at_machine()
    sandbox("up", "--no-images")
    start_pods()
    pids = [process.pid for name in processes.names(layout) if (process := processes.find(layout, name))]

    sandbox("down")

    assert look_at_machine() == before
    assert cleanup.leftovers(layout) == []
    assert not layout.run.exists()
    assert [pid for pid in pids if procfs.started_ticks(pid) is not None] == []

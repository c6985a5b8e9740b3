"""StatefulSets that run are adopted while each write of the command meets each fault: typed again, it goes on.

The writes are the command's, by way of the proxy: the operator is only shown what came of them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.cli.command import COMMAND
from tests.conftest import ROOT
from tests.e2e.sieve.adopting import admin_kubeconfig, group_for, service, stateful_set, wait_whole
from tests.e2e.sieve.arena import group_of
from tests.e2e.sieve.faults import FAULTS, Fault, Met, Strikes
from tests.e2e.sieve.proxy import Proxy, Upstream, kubeconfig_by
from tests.e2e.sieve.table import keep
from tests.e2e.stage.groups import REPLICAS
from tests.e2e.stage.progress import incarnations, is_ready
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(3),
    pytest.mark.timeout(600),
]

ALL: Final = (Fault.NONE, *FAULTS)
MOST_TRIES: Final = 40
"""Each of the command's writes ends it once, at most."""


@dataclass
class Adoption:
    stage: Stage
    tries: dict[Fault, int] = field(default_factory=dict)
    met: dict[Fault, list[Met]] = field(default_factory=dict)
    said: dict[Fault, str] = field(default_factory=dict)


@dataclass
class Typed:
    """The command under way."""

    process: subprocess.Popen[str] | None = None

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def adopted(stage: Stage) -> Iterator[Adoption]:
    folder = ROOT / "build" / "e2e" / "sieve_adoption"
    folder.mkdir(parents=True, exist_ok=True)
    admin = admin_kubeconfig(stage.cluster, folder)
    stage.cluster.apply(*(each for fault in ALL for each in (service(fault), stateful_set(stage, fault))))
    for fault in ALL:
        stage.cluster.kubectl("rollout", "status", "statefulset", group_of(fault), "--timeout=120s")
    stage.cluster.apply(*(group_for(stage, fault) for fault in ALL))
    done = Adoption(stage)
    try:
        for fault in ALL:
            stage.cluster.wait_condition(group_of(fault), "RolloutGated", "True", "ForeignStatefulSet")
            wait_whole(stage, fault)
            _adopt(done, fault, admin, folder)
        keep("adoption", done.met)
        yield done
    finally:
        stage.cluster.kubectl("delete", "cg", "--all", "--timeout=120s")
        stage.cluster.kubectl("delete", "sts", "--all")
        groups = [stage.group_id(group_of(fault)) for fault in ALL]
        wait_for("the members to be gone", lambda: not any(stage.kafka.look(each).members for each in groups))


def _adopt(done: Adoption, fault: Fault, admin: Path, folder: Path) -> None:
    typed, strikes = Typed(), Strikes()
    strikes.arm(group_of(fault), fault)
    with Proxy(Upstream.of(admin), strikes, typed.kill).serving() as proxy:
        kubeconfig = kubeconfig_by(proxy, admin, folder / "by-the-proxy")
        words = [str(COMMAND), "adopt", group_of(fault), "-n", done.stage.cluster.namespace]
        for count in range(1, MOST_TRIES):
            typed.process = subprocess.Popen(
                words,
                env={**os.environ, "KUBECONFIG": str(kubeconfig)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            out, _ = typed.process.communicate(timeout=240)
            done.said[fault] = done.said.get(fault, "") + out
            done.tries[fault] = count
            assert fault is not Fault.NONE or typed.process.returncode == 0, out
            if typed.process.returncode == 0 or "nothing to adopt" in out:
                break
        else:
            raise AssertionError(f"{fault}: it never adopts: {done.said[fault]}")
    done.met[fault] = strikes.of(group_of(fault))


@pytest.mark.parametrize("fault", ALL)
def test_no_pod_is_restarted_and_no_member_moves(adopted: Adoption, fault: Fault) -> None:
    name, stage = group_of(fault), adopted.stage
    stage.cluster.wait_condition(name, "Ready", "True")
    stage.cluster.wait_condition(name, "RolloutGated", "True", "Paused")
    stage.look_again(name)
    made = incarnations(stage.recorder.records("pods"), name)
    assert {pod: len(uids) for pod, uids in made.items()} == {f"{name}-{n}": 1 for n in range(REPLICAS)}
    assert not [r for r in stage.recorder.records("pods") if r.name in made and r.deleted]
    pods = stage.cluster.pods(name)
    assert len(pods) == REPLICAS
    assert all(is_ready(pod) for pod in pods)
    wait_whole(stage, fault)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_write_met_the_fault(adopted: Adoption, fault: Fault) -> None:
    undisturbed = {(m.write.row, m.write.name, m.write.says) for m in adopted.met[Fault.NONE]}
    assert undisturbed <= {(m.write.row, m.write.name, m.write.says) for m in adopted.met[fault]}


def test_without_a_fault_it_is_typed_once_and_409_or_429_end_nothing(adopted: Adoption) -> None:
    assert {fault: adopted.tries[fault] for fault in (Fault.NONE, Fault.CONFLICT, Fault.THROTTLED)} == {
        Fault.NONE: 1,
        Fault.CONFLICT: 1,
        Fault.THROTTLED: 1,
    }

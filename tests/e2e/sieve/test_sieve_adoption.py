"""StatefulSets that run are adopted while each write of the command meets each fault: typed again, it goes on.

The writes are the command's, by way of the proxy: the operator is only shown what came of them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from tests.cli.command import COMMAND
from tests.conftest import ROOT
from tests.e2e.sieve.faults import FAULTS, Fault, Met, Strikes
from tests.e2e.sieve.proxy import Proxy, Upstream, kubeconfig_by
from tests.e2e.sieve.table import keep
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, consumer_group, with_env
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
    admin = _admin(stage.cluster, folder)
    stage.cluster.apply(*(each for fault in ALL for each in (_service(fault), _stateful_set(stage, fault))))
    for fault in ALL:
        stage.cluster.kubectl("rollout", "status", "statefulset", _name(fault), "--timeout=120s")
    stage.cluster.apply(*(_group(stage, fault) for fault in ALL))
    done = Adoption(stage)
    try:
        for fault in ALL:
            stage.cluster.wait_condition(_name(fault), "RolloutGated", "True", "ForeignStatefulSet")
            _wait_whole(stage, fault)
            _adopt(done, fault, admin, folder)
        keep("adoption", done.met)
        yield done
    finally:
        stage.cluster.kubectl("delete", "cg", "--all", "--timeout=120s")
        stage.cluster.kubectl("delete", "sts", "--all")
        groups = [stage.group_id(_name(fault)) for fault in ALL]
        wait_for("the members to be gone", lambda: not any(stage.kafka.look(each).members for each in groups))


def _adopt(done: Adoption, fault: Fault, admin: Path, folder: Path) -> None:
    typed, strikes = Typed(), Strikes()
    strikes.arm(_name(fault), fault)
    with Proxy(Upstream.of(admin), strikes, typed.kill).serving() as proxy:
        kubeconfig = kubeconfig_by(proxy, admin, folder / "by-the-proxy")
        words = [str(COMMAND), "adopt", _name(fault), "-n", done.stage.cluster.namespace]
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
    done.met[fault] = strikes.of(_name(fault))


@pytest.mark.parametrize("fault", ALL)
def test_no_pod_is_restarted_and_no_member_moves(adopted: Adoption, fault: Fault) -> None:
    name, stage = _name(fault), adopted.stage
    stage.cluster.wait_condition(name, "Ready", "True")
    stage.cluster.wait_condition(name, "RolloutGated", "True", "Paused")
    stage.look_again(name)
    made = incarnations(stage.recorder.records("pods"), name)
    assert {pod: len(uids) for pod, uids in made.items()} == {f"{name}-{n}": 1 for n in range(REPLICAS)}
    assert not [r for r in stage.recorder.records("pods") if r.name in made and r.deleted]
    pods = stage.cluster.pods(name)
    assert len(pods) == REPLICAS
    assert all(is_ready(pod) for pod in pods)
    _wait_whole(stage, fault)


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


def _name(fault: Fault) -> str:
    return f"with-{fault}"


def _wait_whole(stage: Stage, fault: Fault) -> None:
    wanted = {f"{_name(fault)}-{ordinal}" for ordinal in range(REPLICAS)}

    def look() -> bool:
        seen = stage.kafka.look(stage.group_id(_name(fault)))
        return seen.state == "STABLE" and set(seen.members) == wanted and seen.owned == PARTITIONS

    wait_for("a whole group", look, 90.0)


def _service(fault: Fault) -> Json:
    spec = {"clusterIP": "None", "selector": {"app": _name(fault)}, "ports": [{"port": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": _name(fault)}, "spec": spec}


def _stateful_set(stage: Stage, fault: Fault) -> Json:
    """As a team would write it."""
    name, pod_name = _name(fault), {"fieldRef": {"fieldPath": "metadata.name"}}
    template = with_env(
        consumer_group(stage.cluster, name, stage.topic),
        KAFKA_BOOTSTRAP_SERVERS=stage.kafka.bootstrap_servers,
        KAFKA_GROUP_ID=stage.group_id(name),
        KAFKA_GROUP_INSTANCE_ID=pod_name,
    )["spec"]["template"]
    spec = {
        "replicas": REPLICAS,
        "serviceName": name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": name}},
        "template": {**template, "metadata": {"labels": {"app": name}}},
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}


def _group(stage: Stage, fault: Fault) -> Json:
    """With the label by which the StatefulSet selects its pods."""
    group = stage.group(_name(fault))
    template = {**group["spec"]["template"], "metadata": {"labels": {"app": _name(fault)}}}
    return {**group, "spec": {**group["spec"], "template": template}}


def _admin(cluster: Cluster, folder: Path) -> Path:
    """A kubeconfig whose user shows a token: a certificate would not get through the proxy."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    account = {"kind": "ServiceAccount", "name": "adopter", "namespace": cluster.namespace}
    rbac = "rbac.authorization.k8s.io/v1"
    cluster.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "adopter"}},
        {
            "apiVersion": rbac,
            "kind": "RoleBinding",
            "metadata": {"name": "adopter"},
            "roleRef": role,
            "subjects": [account],
        },
    )
    token = cluster.kubectl("create", "token", "adopter", "--duration=1h").strip()
    content = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    content["users"] = [{"name": content["users"][0]["name"], "user": {"token": token}}]
    path = folder / "admin"
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    return path

"""Two operators on one Lease, as processes of this machine: which of them leads, and what each of them wrote."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.faults.fault_stage import FaultStage
from tests.e2e.stage.audit import Write, all_writes
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.operator import OperatorProcess
from tests.e2e.stage.rights import RELEASE, operator_kubeconfig
from tests.e2e.stage.waiting import wait_for

LEASE: Final = "slackwater-leader"
LEASE_S: Final = 3
LOST: Final = "no longer holds Lease"
_LEADING: Final = "slackwater_leading 1.0"
_WRITES: Final = re.compile(
    r'^slackwater_kubernetes_requests_total\{resource="(\w+)",verb="(\w+)"\} (\S+)$', re.MULTILINE
)


@dataclass(frozen=True)
class Replicas:
    stage: FaultStage
    both: tuple[OperatorProcess, OperatorProcess]

    def wait_leader(self) -> OperatorProcess:
        return wait_for("a leader", self._leader, 60.0, lambda: [each.log_tail() for each in self.both])

    def other(self, replica: OperatorProcess) -> OperatorProcess:
        return next(each for each in self.both if each is not replica)

    def wait_leads(self, replica: OperatorProcess) -> None:
        wait_for("that replica to lead", lambda: _leads_in_the_end(replica), 60.0, replica.log_tail)

    def wait_writes(self, replica: OperatorProcess, count: int) -> None:
        """Until it has sent so many more."""
        goal = _writes_of(replica) + count
        wait_for("a write of the leader", lambda: _writes_of(replica) >= goal, 60.0, replica.log_tail)

    def assert_only_the_holder_wrote(self, since: float) -> list[Write]:
        """By the audit log, each write is of who was the last to take or renew the Lease. Returns them.

        Who that was at `since`, what came before says: the Lease is renewed once a second.
        """
        holder, told = "", []
        for write in all_writes(self.stage.cluster.namespace, since - LEASE_S):
            if write.resource == "leases":
                holder = write.token if write.code < 300 and write.name == LEASE else holder
            elif write.at >= since:
                assert write.token == holder, f"{write} of one that does not hold the Lease"
                told.append(write)
        return told

    def _leader(self) -> OperatorProcess | None:
        return next((each for each in self.both if _leads_in_the_end(each)), None)


def _leads_in_the_end(replica: OperatorProcess) -> bool:
    """One that lost the Lease, as it does where the API server is silent for two seconds, has ended: it starts again,
    as a kubelet would have it."""
    if replica.process is not None and replica.process.poll() == 1 and LOST in replica.log_tail():
        replica.start()
    return leads(replica)


def leads(replica: OperatorProcess) -> bool:
    return _LEADING in _metrics(replica)


def _writes_of(replica: OperatorProcess) -> int:
    """How many it has sent, Events left out: nothing depends on them."""
    found = _WRITES.findall(_metrics(replica))
    return sum(int(float(count)) for kind, verb, count in found if verb != "GET" and kind != "events")


def token_id(replica: OperatorProcess) -> str:
    """As the audit log names it."""
    token = json.loads(replica.kubeconfig.read_text())["users"][0]["user"]["token"].split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    return str(claims["jti"])


@contextmanager
def replicas(stage: FaultStage, port: int) -> Iterator[Replicas]:
    """The stage's own operator and a second one, each with a token of its own; both run."""
    _grant_lease(stage.cluster)
    first = stage.operator
    folder = first.log.parent / "second"
    folder.mkdir()
    second = OperatorProcess(
        operator_kubeconfig(stage.cluster, folder), folder / "operator.log", dict(first.environment), port
    )
    for name, replica in (("first", first), ("second", second)):
        replica.environment["SLACKWATER_LEASE"] = f"{stage.cluster.namespace}/{LEASE}"
        replica.environment["SLACKWATER_LEASE_S"] = str(LEASE_S)
        replica.environment["SLACKWATER_IDENTITY"] = name
    try:
        for replica in (first, second):
            replica.start()
            replica.wait_ready()
        yield Replicas(stage, (first, second))
    finally:
        second.kill()


def _grant_lease(cluster: Cluster) -> None:
    """All that leader election needs. What is created has no name yet by which the right to do so could be limited."""
    role: dict[str, Any] = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": LEASE}}
    group = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"]}
    rules = [{**group, "verbs": ["create"]}, {**group, "verbs": ["get", "patch"], "resourceNames": [LEASE]}]
    account = {"kind": "ServiceAccount", "name": RELEASE, "namespace": cluster.namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": LEASE}
    cluster.apply(
        {**role, "kind": "Role", "rules": rules},
        {**role, "kind": "RoleBinding", "roleRef": reference, "subjects": [account]},
    )


def _metrics(replica: OperatorProcess) -> str:
    """Empty while it does not answer: it starts, or was killed."""
    try:
        return replica.metrics()
    except OSError:
        return ""

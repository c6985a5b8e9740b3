"""The operator uses every right that the chart grants it, and asks for no other, by the API server's audit log.

Two replicas of the installed operator go through all that they ever do with Kubernetes, in two of a list of namespaces.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest

from sandbox import kafka as brokers
from sandbox.layout import Layout
from slackwater.api.annotations import GROUP_LABEL
from tests.chart.helm import CHART, helm
from tests.e2e.rights.used_rights import OF_ADMISSION, Right, forbidden, granted, used
from tests.e2e.stage.audit_log import Event, events_of
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, connection, consumer_group, with_env, with_image
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.rights import RELEASE
from tests.e2e.stage.stage import remove_groups
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(480)]

NAME: Final = "orders"
LOGIN: Final = "kafka-login"
REPLICAS: Final = 2
ROLLOUT: Final = {"stableFor": "1s", "rejoinTimeout": "2m", "onFailure": "Rollback"}
IMPATIENT: Final = {**ROLLOUT, "rejoinTimeout": "40s"}


@dataclass(frozen=True, slots=True)
class Recorded:
    requests: list[Event]
    """What the operators asked of the API server from their installation to the deletion of the last group."""
    granted: set[Right]


@pytest.fixture(scope="module")
def recorded(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Recorded]:
    name, began = f"e2e-rights-{uuid4().hex[:6]}", time.time()
    plain, secured = Cluster(kubeconfig, name), Cluster(kubeconfig, f"{name}-secured")
    kafka = Kafka(bootstrap_servers)
    with ExitStack() as stack:
        for cluster in (plain, secured):
            cluster.kubectl("create", "namespace", cluster.namespace)
            stack.callback(cluster.kubectl, "delete", "namespace", cluster.namespace, "--wait=false")
        kafka.make_topic(name, PARTITIONS)
        stack.callback(kafka.remove_topics_of, name)
        stack.callback(kafka.remove_groups, name)
        stack.enter_context(kafka.load(name, 5.0))
        stack.callback(helm, "uninstall", RELEASE, f"--namespace={name}", kubeconfig=kubeconfig)
        for cluster in (plain, secured):
            stack.callback(remove_groups, cluster)
        with forbidden_named(name, began):
            install(plain, secured)
            plain.apply(connection(bootstrap_servers))
            secured.apply(login(), secured_connection(bootstrap_servers), secured_group(secured, name))
            play(plain, name)
            secured.wait_complete(NAME)
            for cluster in (plain, secured):
                remove_groups(cluster)
        yield Recorded(events_of(f"{name}:{RELEASE}", began), granted(RELEASE, name, kubeconfig))


@contextmanager
def forbidden_named(namespace: str, began: float) -> Iterator[None]:
    """What waits in vain mostly waits for what was forbidden."""
    try:
        yield
    except AssertionError as error:
        refused = sorted(set(forbidden(events_of(f"{namespace}:{RELEASE}", began))))
        raise AssertionError(f"{error}; forbidden to the operator: {refused}") from error


def test_no_request_was_forbidden(recorded: Recorded) -> None:
    assert forbidden(recorded.requests) == []


def test_no_right_was_used_that_the_chart_does_not_grant(recorded: Recorded) -> None:
    """Such as one that everybody has whom the API server knows: a cluster may take that away."""
    assert sorted(map(str, used(recorded.requests) - recorded.granted)) == []


def test_every_right_that_the_chart_grants_was_used(recorded: Recorded) -> None:
    assert sorted(map(str, recorded.granted - used(recorded.requests) - {OF_ADMISSION})) == []


def install(plain: Cluster, secured: Cluster) -> None:
    values = {
        "watchNamespaces": f"{{{plain.namespace},{secured.namespace}}}",
        "secretNames": f"{{{LOGIN}}}",
        "image.tag": "dev",
        "leaseSeconds": "3",
        "crds.install": "false",
    }
    settings = (f"--namespace={plain.namespace}", *(f"--set={name}={value}" for name, value in values.items()))
    helm("install", RELEASE, str(CHART), *settings, "--wait", "--timeout=90s", kubeconfig=plain.kubeconfig)


def play(cluster: Cluster, topic: str) -> None:
    """A group is made, scaled, kept from that and from a pod's name, rolled out in place, rolled back, and handed
    over."""
    group = consumer_group(cluster, NAME, topic, ROLLOUT, replicas=REPLICAS)
    complete(cluster, group)
    order_all(cluster)
    complete(cluster, {**group, "spec": {**group["spec"], "replicas": REPLICAS + 1}})
    scale_into_a_quota(cluster, group)
    take_a_name(cluster, f"{NAME}-1")
    complete(cluster, with_env(group, VERSION="2"))
    bad = with_image(group, "slackwater/consumer:no-such-tag")
    cluster.apply({**bad, "spec": {**bad["spec"], "rollout": IMPATIENT}})  # its pod is stuck, and is deleted
    cluster.wait_phase(NAME, "RolledBack")
    gated = {**group["spec"], "readinessGate": True, "disruptionBudget": {"enabled": False}}
    complete(cluster, with_env({**group, "spec": gated}, VERSION="2"))
    cluster.wait_condition(NAME, "Ready", "True")
    assert all(is_gated(pod) for pod in cluster.pods(NAME)), "a pod became Ready without its readiness gate"
    assert not cluster.kubectl("get", "pdb", NAME, "--ignore-not-found"), "the budget is there that people turned off"
    warm = {**group, "spec": {**group["spec"], "rollout": {**ROLLOUT, "strategy": "WarmHandover"}}}
    complete(cluster, with_env(warm, VERSION="3"))
    assert cluster.get("sts", f"{NAME}-alt") is not None, "nothing was handed over"


def order_all(cluster: Cluster) -> None:
    """A campaign restarts the groups of a fleet."""

    def is_over() -> bool:
        return bool((cluster.get("fleetcampaign", "again") or {}).get("status", {}).get("phase") == "Succeeded")

    budget = {"name": "all", "max": 1}
    cluster.apply(of_fleets("ConsumerFleet", "platform", selector={}, budgets=[budget]))
    cluster.apply(of_fleets("FleetCampaign", "again", fleetRef={"name": "platform"}, action={"restart": {}}))
    wait_for("the campaign", is_over, 120.0)


def of_fleets(kind: str, name: str, **spec: Any) -> Json:
    return {"apiVersion": "slackwater.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def is_gated(pod: Json) -> bool:
    conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
    return conditions.get("slackwater.dev/rejoined") == "True"


def scale_into_a_quota(cluster: Cluster, group: Json) -> None:
    """The StatefulSet's Events are read for why its pod is missing."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "full"}}
    cluster.apply({**quota, "spec": {"hard": {"pods": REPLICAS}}})
    cluster.apply({**group, "spec": {**group["spec"], "replicas": REPLICAS + 2}})

    def says_why() -> bool:
        return "exceeded quota: full" in cluster.condition(NAME, "Ready").get("message", "")

    wait_for("the condition to repeat what Kubernetes said", says_why, 90.0)
    cluster.kubectl("delete", "resourcequota", "full")
    complete(cluster, group)


def take_a_name(cluster: Cluster, pod: str) -> None:
    """Of a StatefulSet's pod that lost its labels there is no Event: the pod is read by its name."""
    cluster.kubectl("label", "pod", pod, f"{GROUP_LABEL}-")

    def says_why() -> bool:
        return "there is a pod of that name" in cluster.condition(NAME, "Ready").get("message", "")

    wait_for("the condition to say that the name is taken", says_why, 90.0, lambda: cluster.summary(NAME))
    cluster.kubectl("delete", "pod", pod)
    cluster.wait_condition(NAME, "Ready", "True")


def complete(cluster: Cluster, group: Json) -> None:
    cluster.apply(group)
    cluster.wait_complete(NAME)


def login() -> Json:
    known = brokers.credentials(Layout.from_environment())
    data = {"username": known.user, "password": known.password}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": LOGIN}, "stringData": data}


def secured_connection(bootstrap_servers: str) -> Json:
    servers = bootstrap_servers.replace(str(brokers.PLAINTEXT_PORT), str(brokers.SASL_PLAINTEXT_PORT))
    login_in_the_clear = {"type": "ScramSha512", "secretRef": {"name": LOGIN}, "allowUnencrypted": True}
    return connection(servers, authentication=login_in_the_clear)


def secured_group(cluster: Cluster, topic: str) -> Json:
    """What its consumers need to log in is their template's business."""
    return with_env(
        consumer_group(cluster, NAME, topic, ROLLOUT, replicas=1),
        KAFKA_SECURITY_PROTOCOL="SASL_PLAINTEXT",
        KAFKA_SASL_MECHANISM="SCRAM-SHA-512",
        KAFKA_SASL_USERNAME={"secretKeyRef": {"name": LOGIN, "key": "username"}},
        KAFKA_SASL_PASSWORD={"secretKeyRef": {"name": LOGIN, "key": "password"}},
    )

"""Adoption: its steps against a StatefulSet controller in a few lines, broken off anywhere; and what it refuses."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, HORIZONTAL_POD_AUTOSCALER, POD, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import Snapshot, to_world
from slackwater.adapters.cluster.translation import REVISION_LABEL, to_workload
from slackwater.api.annotations import GROUP_LABEL, PAUSE, PROTOCOL
from slackwater.cli.adopting import command
from slackwater.cli.adopting.at_rest import check_alone, check_at_rest
from slackwater.cli.adopting.refusals import (
    check_adoptable,
    check_members,
    check_unchanged,
    check_unscaled,
    remarks,
)
from slackwater.cli.adopting.steps import ADOPTING, Change, Standing, Wait, next_step, take_fields_over
from slackwater.cli.errors import CannotBeAdopted
from slackwater.cli.reaching.choice import Place
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.profile import Profile
from tests.api.manifests import consumer_group
from tests.api.refusals import CLAIM
from tests.core.factories import members, observation, stranger, workload
from tests.shell.fakes import FakeApi

Json = dict[str, Any]
NAME, REPLICAS = "payments", 3


def merged(obj: Any, change: Any) -> Any:
    """RFC 7386."""
    if not isinstance(change, dict):
        return change
    result = dict(obj) if isinstance(obj, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


class Cluster:
    """One StatefulSet with its pods and its controller: a revision is named after the labels of its template."""

    def __init__(self, **spec: Any) -> None:
        group = consumer_group(NAME, replicas=REPLICAS)
        group["metadata"] |= {"namespace": "shop", "uid": "uid-of-group", "resourceVersion": "1", "generation": 1}
        template: Json = {"metadata": {"labels": {"app": NAME}}, "spec": {"containers": [{"name": "consumer"}]}}
        self.group: Json = group
        self.workload: Json = {
            "metadata": {
                "name": NAME,
                "namespace": "shop",
                "uid": "uid-of-set",
                "resourceVersion": "1",
                "generation": 1,
            },
            "spec": {
                "replicas": REPLICAS,
                "selector": {"matchLabels": {"app": NAME}},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "template": template,
                **spec,
            },
            "status": {},
        }
        self.made = 0
        self.pods: list[Json] = []
        self.current = self.revision
        self.reconcile()

    @property
    def revision(self) -> str:
        return "+".join(sorted(self.workload["spec"]["template"]["metadata"]["labels"]))

    @property
    def standing(self) -> Standing:
        return Standing(deepcopy(self.group), deepcopy(self.workload), deepcopy(self.pods))

    def write(self, change: Change) -> None:
        name = change.obj["metadata"]["name"]
        if change.obj is not None and change.kind.name == "ConsumerGroup":
            self.group = merged(self.group, change.body)
        elif change.kind.name == "Pod":
            self.pods = [merged(p, change.body) if p["metadata"]["name"] == name else p for p in self.pods]
        else:
            before = self.workload["spec"]
            self.workload = merged(self.workload, change.body)
            self.workload["metadata"]["generation"] += before != self.workload["spec"]

    def evict(self, ordinal: int) -> None:
        self.pods = [pod for pod in self.pods if not pod["metadata"]["name"].endswith(f"-{ordinal}")]

    def reconcile(self) -> None:
        """As the real one: with OnDelete a lost pod comes back new; with a partition, below it, as it was."""
        spec, update = self.workload["spec"], self.workload["spec"]["updateStrategy"]
        partition = (update.get("rollingUpdate") or {}).get("partition", 0)
        rolling = update["type"] == "RollingUpdate"
        if rolling:
            self.pods = [
                p
                for p in self.pods
                if _ordinal(p) < partition or p["metadata"]["labels"][REVISION_LABEL] == self.revision
            ]
        for ordinal in range(REPLICAS):
            if all(_ordinal(pod) != ordinal for pod in self.pods):
                self._make(ordinal, self.current if rolling and ordinal < partition else self.revision)
        updated = sum(p["metadata"]["labels"][REVISION_LABEL] == self.revision for p in self.pods)
        if rolling and updated == REPLICAS:
            self.current = self.revision
        self.workload["status"] = {
            "observedGeneration": self.workload["metadata"]["generation"],
            "updateRevision": self.revision,
            "currentRevision": self.current,
            "updatedReplicas": updated,
            "readyReplicas": REPLICAS,
        }
        assert spec["replicas"] == REPLICAS

    def _make(self, ordinal: int, revision: str) -> None:
        self.made += 1
        labels = dict.fromkeys(revision.split("+"), NAME) | {REVISION_LABEL: revision}
        owner = {"uid": "uid-of-set", "controller": True, "kind": "StatefulSet", "name": NAME}
        metadata = {
            "name": f"{NAME}-{ordinal}",
            "uid": f"uid-{self.made}",
            "labels": labels,
            "ownerReferences": [owner],
            "creationTimestamp": "2026-01-01T00:00:00Z",
        }
        self.pods.append({"metadata": metadata, "status": {"podIP": f"10.0.0.{ordinal + 1}"}})


def _ordinal(pod: Json) -> int:
    return int(pod["metadata"]["name"].rpartition("-")[2])


def adopt(cluster: Cluster, steps: int = 100) -> int:
    """At most so many steps; returns how many there were."""
    for done in range(steps):
        step = next_step(cluster.standing)
        if step is None:
            return done
        if isinstance(step, Wait):
            cluster.reconcile()
        else:
            cluster.write(step)
    return steps


def test_it_ends_with_an_owner_and_with_every_pod_that_there_was() -> None:
    cluster = Cluster()
    adopt(cluster)
    assert cluster.current == cluster.revision  # so that a pod that ends comes back with the label
    assert cluster.workload["spec"]["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}
    cluster.reconcile()
    metadata = cluster.workload["metadata"]
    assert [(each["kind"], each["controller"]) for each in metadata["ownerReferences"]] == [("ConsumerGroup", True)]
    assert metadata["labels"] == {GROUP_LABEL: NAME}
    assert metadata.get("annotations", {}) == {}
    assert PAUSE in cluster.group["metadata"]["annotations"]
    assert cluster.made == REPLICAS
    assert next_step(cluster.standing) is None


STEPS = adopt(Cluster())


@pytest.mark.parametrize("step", range(STEPS + 1))
@pytest.mark.parametrize("lost", range(REPLICAS))
def test_a_pod_lost_at_any_step_costs_no_other_and_is_seen(step: int, lost: int) -> None:
    """Broken off there, begun again, with the controller quick or slow: the pod comes back with the group's label."""
    cluster = Cluster()
    adopt(cluster, step)
    cluster.evict(lost)
    cluster.reconcile()
    assert adopt(cluster) < 100
    cluster.reconcile()
    assert cluster.made == REPLICAS + 1
    assert all(pod["metadata"]["labels"][GROUP_LABEL] == NAME for pod in cluster.pods)
    assert {pod["metadata"]["labels"][REVISION_LABEL] for pod in cluster.pods} == {cluster.revision}
    cluster.evict(lost)
    cluster.reconcile()
    assert all(GROUP_LABEL in pod["metadata"]["labels"] for pod in cluster.pods)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            {"volumeClaimTemplates": [CLAIM]},
            "has other volumeClaimTemplates (state) than the ConsumerGroup asks for (none)",
        ),
        ({"ordinals": {"start": 1}}, "do not start with 0"),
        ({"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, "by matchExpressions"),
    ],
)
def test_what_a_group_cannot_have_is_refused(spec: Json, words: str) -> None:
    with pytest.raises(CannotBeAdopted) as refused:
        check_adoptable(Cluster(**spec).standing)
    assert words in str(refused.value)


def test_volumes_come_along_where_the_group_asks_for_the_same() -> None:
    """Whatever the API server has filled in."""
    cluster = Cluster(volumeClaimTemplates=[{**CLAIM, "status": {"phase": "Pending"}}])
    cluster.group["spec"]["volumeClaimTemplates"] = [CLAIM]
    check_adoptable(cluster.standing)
    cluster.group["spec"]["volumeClaimTemplates"] = [CLAIM, {**CLAIM, "metadata": {"name": "cache"}}]
    with pytest.raises(CannotBeAdopted, match=r"\(state\) than the ConsumerGroup asks for \(state, cache\)"):
        check_adoptable(cluster.standing)


def test_a_template_that_the_selector_does_not_select_is_refused() -> None:
    cluster = Cluster(selector={"matchLabels": {"app": NAME, "tier": "back"}})
    with pytest.raises(CannotBeAdopted, match=r"add tier: back to spec.template.metadata.labels"):
        check_adoptable(cluster.standing)


def autoscaler(kind: str = "StatefulSet", name: str = NAME, version: str = "apps/v1", **metadata: Any) -> Json:
    target = {"kind": kind, "name": name, "apiVersion": version}
    return {"metadata": {"name": "by-cpu", "namespace": "shop"} | metadata, "spec": {"scaleTargetRef": target}}


def scaled(manager: str) -> Cluster:
    """By whom the API server remembers for ever."""
    cluster = Cluster()
    entry = {"manager": manager, "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    cluster.workload["metadata"]["managedFields"] = [entry]
    return cluster


HPA_CONTROLLER = "kube-controller-manager"


@pytest.mark.parametrize("cluster", [Cluster(), scaled(HPA_CONTROLLER)], ids=["not yet", "has scaled it"])
def test_an_autoscaler_is_not_fought_with(cluster: Cluster) -> None:
    with pytest.raises(CannotBeAdopted, match=r"^HorizontalPodAutoscaler by-cpu scales StatefulSet payments, and"):
        check_unscaled(cluster.standing, [autoscaler(name="orders"), autoscaler()])


def test_an_autoscaler_that_somebody_made_is_named_with_its_maker() -> None:
    """KEDA puts back what one changes in its own."""
    owner = {"kind": "ScaledObject", "name": "by-lag", "controller": True}
    with pytest.raises(CannotBeAdopted, match=r"by-cpu, which is ScaledObject by-lag's, scales .*have it scale Cons"):
        check_unscaled(Cluster().standing, [autoscaler(ownerReferences=[owner])])


@pytest.mark.parametrize(
    "other",
    [
        autoscaler(name="orders"),
        autoscaler("ConsumerGroup", version="slackwater.dev/v1alpha1"),
        autoscaler("Deployment"),
        autoscaler(version="apps.kruise.io/v1beta1"),
    ],
    ids=["another set", "the group already", "a Deployment", "another kind of StatefulSet"],
)
def test_an_autoscaler_that_was_moved_refuses_nothing(other: Json) -> None:
    """Nor does what it did before."""
    standing = scaled(HPA_CONTROLLER).standing
    check_adoptable(standing)
    check_unscaled(standing, [other])
    assert list(remarks(standing, [other])) == []


@pytest.mark.parametrize(
    ("manager", "scalers", "said"),
    [
        ("kubectl", [], ""),
        (HPA_CONTROLLER, [], ""),
        ("keda", [], "by itself, as keda has done: it would"),
        ("kubectl", None, "by itself, for you may not list the HorizontalPodAutoscalers here: it would"),
        (HPA_CONTROLLER, None, f"by itself, as {HPA_CONTROLLER} has done, for you may not list the Horiz"),
    ],
)
def test_who_scaled_it_once_is_a_remark(manager: str, scalers: list[Json] | None, said: str) -> None:
    """It may be gone; and what may not be listed refuses nothing."""
    standing = scaled(manager).standing
    check_adoptable(standing)
    check_unscaled(standing, scalers)
    (remark,) = list(remarks(standing, scalers)) or [""]
    assert said in remark
    assert bool(remark) is bool(said)


def served(cluster: Cluster) -> Any:
    """A `FakeApi` that has these objects, where a `KubernetesApi` is wanted."""
    api = FakeApi()
    api.add(CONSUMER_GROUP, cluster.group)
    api.add(STATEFUL_SET, cluster.workload)
    for pod in cluster.pods:
        api.add(POD, {**pod, "metadata": {**pod["metadata"], "namespace": "shop"}})
    return api


async def test_autoscalers_are_looked_for_in_the_groups_namespace() -> None:
    api = served(scaled(HPA_CONTROLLER))
    api.add(HORIZONTAL_POD_AUTOSCALER, autoscaler(namespace="bank"))
    assert (await command.foresee(api, Place("shop", NAME))).remarks == ()
    api.add(HORIZONTAL_POD_AUTOSCALER, autoscaler())
    with pytest.raises(CannotBeAdopted, match="HorizontalPodAutoscaler by-cpu scales StatefulSet payments"):
        await command.foresee(api, Place("shop", NAME))


async def test_who_may_not_list_autoscalers_is_told_what_to_look_at() -> None:
    api = served(Cluster())
    api.forbidden = {HORIZONTAL_POD_AUTOSCALER.name}
    (remark,) = (await command.foresee(api, Place("shop", NAME))).remarks
    assert remark.startswith("See that nothing scales StatefulSet payments by itself, for you may not list")


def test_pods_of_another_protocol_are_refused() -> None:
    cluster = Cluster()
    cluster.workload["spec"]["template"]["metadata"]["annotations"] = {PROTOCOL: Profile.CONSUMER.value}
    with pytest.raises(CannotBeAdopted, match=r"set spec\.protocol\.target"):
        check_adoptable(cluster.standing)
    cluster.group["spec"]["protocol"] = {"target": "Consumer"}
    check_adoptable(cluster.standing)


def test_the_consumer_must_be_called_alike() -> None:
    cluster = Cluster()
    cluster.workload["spec"]["template"]["spec"]["containers"] = [{"name": "worker"}]
    with pytest.raises(CannotBeAdopted, match="have no container consumer, but worker"):
        check_adoptable(cluster.standing)


def test_tools_that_would_put_it_back_are_named() -> None:
    cluster = Cluster()
    assert list(remarks(cluster.standing, [])) == []
    cluster.workload["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "shop"}
    assert "argocd.argoproj.io/tracking-id" in next(remarks(cluster.standing, []))


def test_what_the_api_server_adds_to_a_strategy_is_not_taken_back() -> None:
    """Where MaxUnavailableStatefulSet is on."""
    cluster = Cluster()
    adopt(cluster, STEPS - 1)
    cluster.workload["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 1
    assert adopt(cluster) == 1


def test_somebody_elses_is_refused() -> None:
    cluster = Cluster()
    owner = {"kind": "Rollout", "name": "pay", "uid": "x", "controller": True}
    cluster.workload["metadata"]["ownerReferences"] = [owner]
    with pytest.raises(CannotBeAdopted, match="belongs to Rollout pay"):
        check_adoptable(cluster.standing)


def test_another_number_of_pods_is_refused() -> None:
    cluster = Cluster()
    cluster.group["spec"]["replicas"] = 5
    with pytest.raises(CannotBeAdopted, match="has 3 replicas, and the ConsumerGroup asks for 5"):
        check_adoptable(cluster.standing)


@pytest.mark.parametrize("status", [{"readyReplicas": 2}, {"updateRevision": "newer"}, {"observedGeneration": 0}])
def test_a_rollout_is_waited_for(status: Json) -> None:
    cluster = Cluster()
    check_at_rest(cluster.standing)
    cluster.workload["status"] |= status
    with pytest.raises(CannotBeAdopted, match="let that end"):
        check_at_rest(cluster.standing)


@pytest.mark.parametrize(
    ("update", "kept"),
    [
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, "payments-0, payments-1"),
        ({"type": "OnDelete"}, "payments-0, payments-1, payments-2"),
    ],
    ids=["partition", "OnDelete"],
)
def test_a_rollout_that_cannot_end_by_itself_is_not_waited_for(update: Json, kept: str) -> None:
    """Its ConsumerGroup was deleted in the middle of it; "let that end" was the advice."""
    cluster = Cluster()
    cluster.workload["spec"]["updateStrategy"] = update
    cluster.workload["status"]["updateRevision"] = "newer"
    with pytest.raises(CannotBeAdopted) as refused:
        check_at_rest(cluster.standing)
    assert f"{kept} are of an earlier revision" in str(refused.value)
    assert '-n shop --type=merge -p \'{"spec":{"updateStrategy":{"type":"RollingUpdate"' in str(refused.value)


def test_a_second_statefulset_of_a_handover_is_named() -> None:
    cluster = Cluster()
    check_alone(cluster.standing, [workload(name=NAME)])
    with pytest.raises(CannotBeAdopted) as refused:
        check_alone(cluster.standing, [workload(name=NAME), workload(name=f"{NAME}-alt")])
    assert "Delete payments-alt; when its pods have ended, kubectl patch statefulset payments" in str(refused.value)
    assert '{"spec":{"replicas":3,"ordinals":{"start":0}}}' in str(refused.value)


def revision(image: str, **labels: str) -> Json:
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"image": image}]}, "$patch": "replace"}
    return {"data": {"spec": {"template": template}}}


def test_a_pod_is_only_said_to_be_of_a_revision_that_it_is_of() -> None:
    standing = Cluster().standing
    workload = deepcopy(dict(standing.workload))
    workload["metadata"]["annotations"] = {ADOPTING: "app"}
    workload["status"]["updateRevision"] = "new"
    begun = replace(standing, workload=workload)
    before = revision("a:1", app=NAME)
    check_unchanged(begun, revision("a:1", app=NAME, **{GROUP_LABEL: NAME}), before)
    for newest in (revision("a:2", app=NAME, **{GROUP_LABEL: NAME}), revision("a:1", app="else"), None):
        with pytest.raises(CannotBeAdopted, match="was changed while it was being adopted"):
            check_unchanged(begun, newest, before)
    workload["metadata"]["annotations"] = {ADOPTING: "older"}
    with pytest.raises(CannotBeAdopted, match=r"\(payments-0, payments-1, payments-2\)"):
        check_unchanged(begun, before, before)


def seen(kafka: KafkaView, **spec: Any) -> str | None:
    cluster = Cluster()
    cluster.group["spec"] |= spec
    snapshot = Snapshot(cluster.group, None, (cluster.workload,), cluster.pods)
    return check_members(to_world(snapshot, kafka, GroupHistory(), 1_800_000_000.0))


def test_members_are_compared_with_the_pods() -> None:
    assert seen(observation()) is None
    with pytest.raises(CannotBeAdopted, match=r"not each pod has a member in group payments \(payments-2 not\)"):
        seen(observation(members(0, 1)))
    with pytest.raises(CannotBeAdopted, match=r"are not its pods' static ones.*set spec.membership"):
        seen(observation((*members(0, 1), stranger())))
    at_pods = [replace(stranger(), member_id=f"m{n}", host=f"/10.0.0.{n}") for n in (1, 2, 3)]
    assert seen(observation(tuple(at_pods)), membership="Dynamic") is None
    with pytest.raises(CannotBeAdopted, match="in none of its pods"):
        seen(observation((stranger(),)), membership="Dynamic")


def test_members_that_cannot_be_seen_are_said_not_to_be_compared() -> None:
    unseen = Unobserved(Reason.KAFKA_UNREACHABLE, "broker:9092 does not answer", 0.0)
    assert "broker:9092 does not answer" in (seen(unseen) or "")


def test_fields_of_the_spec_get_one_manager_and_all_others_keep_theirs() -> None:
    def managed(manager: str, fields: Json, **more: Any) -> Json:
        return {"manager": manager, "operation": "Update", "fieldsV1": fields, **more}

    labels: Json = {"f:metadata": {"f:labels": {"f:team": {}}}}
    helm = managed("helm", {**labels, "f:spec": {"f:template": {"f:spec": {"f:volumes": {}}}, "f:replicas": {}}})
    kubectl = managed("kubectl-edit", {"f:spec": {"f:template": {"f:spec": {"f:hostNetwork": {}}}}})
    status = managed("kube-controller-manager", {"f:status": {"f:replicas": {}}}, subresource="status")
    *kept, ours = take_fields_over([helm, status, kubectl])
    assert kept == [managed("helm", labels), status]
    assert (ours["manager"], ours["operation"]) == ("slackwater", "Apply")
    assert ours["fieldsV1"] == {
        "f:spec": {"f:template": {"f:spec": {"f:volumes": {}, "f:hostNetwork": {}}}, "f:replicas": {}}
    }


def test_nobody_is_said_to_have_scaled_it_who_did_so_before() -> None:
    """`kubectl scale` leaves an entry of its own. The number is the group's now: who changes it there is right."""
    template = {"manager": "helm", "operation": "Update", "fieldsV1": {"f:spec": {"f:template": {}}}}
    scale = {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    managed = take_fields_over([template, {**scale, "subresource": "scale"}])
    assert [entry["manager"] for entry in managed] == ["slackwater"]
    metadata = {"name": "payments", "uid": "s", "resourceVersion": "1", "managedFields": managed}
    assert to_workload({"metadata": metadata, "spec": {"template": {}}}).replicas_by == ""

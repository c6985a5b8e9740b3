"""Giving back: only where one StatefulSet of one version stays, and nothing but the ConsumerGroup is deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, POD, STATEFUL_SET
from slackwater.adapters.cluster.translation import REVISION_LABEL
from slackwater.cli.errors import CannotBeReleased, NotTakenUp
from slackwater.cli.giving.release import release
from slackwater.cli.reaching.choice import Place
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from tests.api.manifests import consumer_group
from tests.shell.fakes import FakeApi

Json = dict[str, Any]
PLACE = Place("shop", "payments")
OWNER = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerGroup", "name": "payments", "controller": True}
PATIENCE_S = 5.0


class Cluster(FakeApi):
    """Its operator lets go at once where it `lets_go`; `meanwhile` happens before the next deletion."""

    lets_go = True
    meanwhile: Any = None

    async def read(self, kind: Any, namespace: str, name: str) -> Any:
        if kind.name == "APIResourceList":
            return {}
        return await super().read(kind, namespace, name)

    async def delete(self, kind: Any, namespace: str, name: str, uid: str, **how: Any) -> None:
        assert kind is CONSUMER_GROUP, "nothing else may be deleted"
        assert how.pop("orphan"), "the pods would go with it"
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        there = self.objects[kind.name, namespace, name]["metadata"]
        if (there["uid"], there["resourceVersion"]) != (uid, how["resource_version"]):
            raise Conflict("it has changed")
        self._ask("delete", kind)
        if self.lets_go:
            del self.objects[kind.name, namespace, name]

    def group(self, **memory: Any) -> Json:
        """It is as that memory has it."""
        status = {"observedGeneration": 1, "rollout": write_memory(RolloutMemory(**memory))}
        key = (CONSUMER_GROUP.name, *PLACE)
        return self._store(CONSUMER_GROUP, {**self.objects[key], "status": status})


@pytest.fixture
def cluster() -> Cluster:
    api = Cluster()
    manifest = consumer_group("payments")
    manifest["metadata"] |= {"namespace": "shop", "uid": "u", "generation": 1, "resourceVersion": "1"}
    api.add(CONSUMER_GROUP, manifest)
    api.group(phase=RolloutPhase.COMPLETE, target_hash="a")
    add_set(api, "payments")
    return api


def add_pods(api: Cluster, *revisions: str) -> None:
    """Of StatefulSet payments, made of these, beside one of somebody else."""
    owners = {"payments": "uid-of-payments", "payments-alt": "uid-of-another"}
    for name, uid in owners.items():
        for ordinal, revision in enumerate(revisions if name == "payments" else ["other"]):
            labels = {"slackwater.dev/group": "payments", REVISION_LABEL: revision}
            pod = f"{name}-{ordinal}"
            metadata = {"name": pod, "namespace": "shop", "uid": pod, "resourceVersion": "1", "labels": labels}
            api.add(POD, {"metadata": {**metadata, "ownerReferences": [{**OWNER, "uid": uid}]}})


def add_set(api: Cluster, name: str) -> Json:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-of-{name}", "generation": 1, "resourceVersion": "1"}
    owned = {**metadata, "ownerReferences": [{**OWNER, "uid": "u"}], "labels": {"slackwater.dev/group": "payments"}}
    return api.add(STATEFUL_SET, {"metadata": owned, "spec": {"replicas": 3, "template": {}}, "status": {}})


async def given_back(cluster: Any, timeout_s: float = PATIENCE_S) -> str:
    return await release(cluster, PLACE, timeout_s)


async def test_the_group_goes_and_the_stateful_set_stays(cluster: Cluster) -> None:
    said = await given_back(cluster)
    assert said == (
        "payments: StatefulSet payments with its 3 pods is yours again, and runs on;"
        " it updates no pod until you lower its partition"
    )
    assert cluster.writes() == ["delete ConsumerGroup"]
    assert [name for name, *_ in cluster.objects] == ["StatefulSet"]


@pytest.mark.parametrize("phase", [phase for phase in RolloutPhase if phase.under_way], ids=str)
async def test_not_in_the_middle_of_a_rollout(cluster: Cluster, phase: RolloutPhase) -> None:
    cluster.group(phase=phase, target_hash="a")
    with pytest.raises(CannotBeReleased, match=r"rollout of ConsumerGroup payments is under way.* with abort"):
        await given_back(cluster)
    assert cluster.writes() == []


@pytest.mark.parametrize("phase", [RolloutPhase.FAILED, RolloutPhase.COMPLETE], ids=str)
@pytest.mark.parametrize("revisions", [("v1", "v1", "v2"), ("v1", "v1", "v1")], ids=["two of three", "all"])
async def test_not_with_pods_of_another_version(
    cluster: Cluster, phase: RolloutPhase, revisions: tuple[str, ...]
) -> None:
    """A rollout that has failed stands still in the middle; the StatefulSet would make the one as well as the other."""
    cluster.group(phase=phase, target_hash="b", failed_hash="b" if phase is RolloutPhase.FAILED else "")
    cluster.objects[STATEFUL_SET.name, "shop", "payments"]["status"] = {"updateRevision": "v2"}
    add_pods(cluster, *revisions)
    with pytest.raises(CannotBeReleased, match=r"pods of two versions would stay \(payments-0, .*abort payments"):
        await given_back(cluster)
    assert cluster.writes() == []


@pytest.mark.parametrize("phase", [RolloutPhase.FAILED, RolloutPhase.ROLLED_BACK, RolloutPhase.NONE], ids=str)
async def test_whose_pods_are_all_of_one_version_goes(cluster: Cluster, phase: RolloutPhase) -> None:
    cluster.group(phase=phase, target_hash="b")
    cluster.objects[STATEFUL_SET.name, "shop", "payments"]["status"] = {"updateRevision": "v2"}
    add_pods(cluster, "v2", "v2", "v2")
    assert "is yours again" in await given_back(cluster)


def _with_two_sets(api: Cluster) -> None:
    add_set(api, "payments-alt")


def _handed_over(api: Cluster) -> None:
    del api.objects[STATEFUL_SET.name, "shop", "payments"]
    add_set(api, "payments-alt")


def _without_a_set(api: Cluster) -> None:
    del api.objects[STATEFUL_SET.name, "shop", "payments"]


def _never_adopted(api: Cluster) -> None:
    add_set(api, "payments")["metadata"]["ownerReferences"] = []


def _with_our_gate(api: Cluster) -> None:
    gates = [{"conditionType": "example.com/warm"}, {"conditionType": "slackwater.dev/rejoined"}]
    api.objects[STATEFUL_SET.name, "shop", "payments"]["spec"]["template"] = {"spec": {"readinessGates": gates}}


def _edited(api: Cluster) -> None:
    api.changed_by_somebody(CONSUMER_GROUP, PLACE, generation=2)  # type: ignore[arg-type]  # it has both parts


def _being_deleted(api: Cluster) -> None:
    api.changed_by_somebody(CONSUMER_GROUP, PLACE, deletionTimestamp="2026-11-30T00:00:00Z")  # type: ignore[arg-type]


REFUSED: Mapping[str, tuple[Any, str]] = {
    "two StatefulSets": (_with_two_sets, "pods of two versions would stay"),
    "the other name": (_handed_over, r"called payments-alt after a warm handover.*slackwater restart payments -n shop"),
    "none": (_without_a_set, "no StatefulSet that could stay: kubectl delete cg payments -n shop removes it"),
    "somebody's": (_never_adopted, "no StatefulSet that could stay"),
    "our readiness gate": (_with_our_gate, r"only the operator opens.*set spec\.readinessGate to false, and release"),
    "an edit that nobody has seen": (_edited, "the operator has yet to look at the last change"),
    "a deletion": (_being_deleted, "is being deleted already"),
}


@pytest.mark.parametrize(("happens", "words"), REFUSED.values(), ids=REFUSED)
async def test_not_where_something_else_would_stay(cluster: Cluster, happens: Any, words: str) -> None:
    happens(cluster)
    with pytest.raises(CannotBeReleased, match=words):
        await given_back(cluster)
    assert cluster.writes() == []


async def test_a_rollout_that_begins_as_it_is_asked_for_is_not_overlooked(cluster: Cluster) -> None:
    cluster.meanwhile = lambda: cluster.group(phase=RolloutPhase.PROGRESSING, target_hash="b")
    with pytest.raises(CannotBeReleased, match="under way"):
        await given_back(cluster)
    assert cluster.writes() == []


async def test_another_status_is_looked_at_and_then_it_goes(cluster: Cluster) -> None:
    cluster.meanwhile = lambda: cluster.group(phase=RolloutPhase.COMPLETE, target_hash="b")
    assert "is yours again" in await given_back(cluster)


async def test_it_is_said_when_the_operator_does_not_let_go(cluster: Cluster) -> None:
    cluster.lets_go = False
    with pytest.raises(NotTakenUp, match=r"has not let go of it within 0.1 s: see that it runs; StatefulSet and pods"):
        await given_back(cluster, 0.1)
    assert "will be nobody's as soon as the operator lets" in await given_back(cluster, 0.0)


async def test_it_is_said_when_somebody_deletes_the_stateful_set_too(cluster: Cluster) -> None:
    cluster.meanwhile = lambda: cluster.objects.pop((STATEFUL_SET.name, "shop", "payments"))
    with pytest.raises(Conflict, match="somebody has deleted its StatefulSet, too"):
        await given_back(cluster)

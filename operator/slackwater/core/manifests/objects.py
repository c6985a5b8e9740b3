"""What the operator makes for a ConsumerGroup: StatefulSet, headless Service, PodDisruptionBudget, as plain objects.

Applied by server-side apply, so they hold exactly the fields that the operator owns, and nothing that Kubernetes adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slackwater.api.annotations import API_VERSION, GROUP_LABEL
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.manifests.claims import KEPT, claims_asked_for, retention
from slackwater.core.world.workload import UpdateStrategy

Json = dict[str, Any]


def selector(group: ConsumerGroup) -> dict[str, str]:
    return {GROUP_LABEL: group.name}


def stateful_set(group: ConsumerGroup, act: WriteWorkload, fixed: Mapping[str, Any] | None = None) -> Json:
    """`partition`: pods with a lower ordinal stay as they are (F26); it means nothing under `OnDelete`.

    `fixed`: of the StatefulSet that is there (see `Workload`).
    """
    update: Json = {"type": act.strategy.value}
    if act.strategy is UpdateStrategy.ROLLING_UPDATE:
        update["rollingUpdate"] = {"partition": act.partition}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {**_metadata(group), "name": act.name or group.name},
        "spec": {
            "replicas": act.replicas,
            "ordinals": {"start": act.start},
            "serviceName": group.name,
            # Scaling need not wait for each pod in turn: members join together and cost one rebalance, not one each.
            "podManagementPolicy": "Parallel",
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": selector(group)},
            "updateStrategy": update,
            "template": with_service_account(act.template),
            **_with_claims(group, act, fixed or {}),
        },
    }


def _with_claims(group: ConsumerGroup, act: WriteWorkload, fixed: Mapping[str, Any]) -> Json:
    """What is fixed, with the volume claims that a StatefulSet is made with, and what becomes of them."""
    claims = fixed.get("volumeClaimTemplates", ()) if act.resource_version else claims_asked_for(group)
    if not claims:
        return {**fixed}
    policy = KEPT if act.purpose is Purpose.KEEP_CLAIMS else retention(group, act.start + act.replicas)
    return {"volumeClaimTemplates": claims, **fixed, "persistentVolumeClaimRetentionPolicy": policy}


def with_service_account(template: Mapping[str, Any]) -> Json:
    """Under both of its names, empty where there is none: the API server copies the one to the other, older one, and
    from there back. Where the older one is not ours, the account stays when nobody asks for it any more."""
    spec = template["spec"]
    name = spec.get("serviceAccountName") or spec.get("serviceAccount") or ""
    return {**template, "spec": {**spec, "serviceAccountName": name, "serviceAccount": name}}


def headless_service(group: ConsumerGroup) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(group),
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector(group)},
    }


def disruption_budget(group: ConsumerGroup) -> Json:
    """As a rule one consumer at a time may be evicted, as by a node drain; and any that is not Ready anyway."""
    asked = group.spec.disruption_budget
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(group),
        "spec": {
            "maxUnavailable": asked.max_unavailable,
            "selector": {"matchLabels": selector(group)},
            "unhealthyPodEvictionPolicy": asked.unhealthy_pod_eviction_policy.value,
        },
    }


def _metadata(group: ConsumerGroup) -> Json:
    return {
        "name": group.name,
        "namespace": group.namespace,
        "labels": {**selector(group), "app.kubernetes.io/managed-by": "slackwater"},
        "ownerReferences": [owner_reference(group.name, group.metadata.uid)],
    }


def owner_reference(name: str, uid: str) -> Json:
    """To the ConsumerGroup."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ConsumerGroup",
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }

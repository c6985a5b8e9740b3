"""What the operator makes for a ConsumerGroup: StatefulSet, headless Service, PodDisruptionBudget, as plain objects.

Applied by server-side apply, so they hold exactly the fields that the operator owns, and nothing that Kubernetes adds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from slackwater.api.annotations import API_VERSION, GROUP_LABEL, PROTOCOL, RESTART, RESTARTED_AT, TEMPLATE_HASH
from slackwater.api.resources import ConsumerGroup
from slackwater.core.acts import WriteWorkload
from slackwater.core.broker import Bounds
from slackwater.core.client_settings import settings
from slackwater.core.protocol.profile import Profile
from slackwater.core.world import UpdateStrategy

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """A pod template as it stands in the StatefulSet, and its digest."""

    hash: str
    body: Mapping[str, Any]


def render_template(
    group: ConsumerGroup, bootstrap_servers: str, profile: Profile, session_bounds: Bounds | None = None
) -> Template:
    """The user's template with the client settings, our label, and the digest of it all (F7: the set goes together).

    `session_bounds`: what the brokers allow classic sessions to be, where that is known to bind.
    """
    body: Json = deepcopy(group.spec.template.to_manifest())
    metadata = body["metadata"] = body.get("metadata") or {}
    metadata["labels"] = {**(metadata.get("labels") or {}), **selector(group)}
    if token := group.metadata.annotations.get(RESTART):
        metadata["annotations"] = {**(metadata.get("annotations") or {}), RESTARTED_AT: token}
    # A Service called kafka would put KAFKA_PORT and more into every pod: variables that look like client settings.
    body["spec"].setdefault("enableServiceLinks", False)
    container = next(c for c in body["spec"]["containers"] if c["name"] == group.spec.consumer_container.name)
    ours = settings(group, bootstrap_servers, profile, session_bounds)
    names = {variable["name"] for variable in ours}  # a profile of the user's own may name what the template has, too
    container["env"] = [*(e for e in container.get("env", ()) if e["name"] not in names), *ours]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), PROTOCOL: profile.value}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_HASH: digest}
    return Template(digest, body)


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
            "template": act.template,
            **(fixed or {}),
        },
    }


def headless_service(group: ConsumerGroup) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(group),
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector(group)},
    }


def disruption_budget(group: ConsumerGroup) -> Json:
    """At most one consumer at a time may be evicted, by a node drain for example."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(group),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector(group)}},
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

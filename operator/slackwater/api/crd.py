"""The CustomResourceDefinitions, generated from the models: `python -m slackwater.api.crd crds/`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel

from slackwater.api.annotations import GROUP, VERSION
from slackwater.api.consumer_fleet_status import ConsumerFleetStatus
from slackwater.api.consumer_group_status import ConsumerGroupStatus, KafkaConnectionStatus
from slackwater.api.fleet_campaign_status import FleetCampaignStatus
from slackwater.api.resources import (
    ClusterKafkaConnection,
    ConsumerFleet,
    ConsumerGroup,
    FleetCampaign,
    KafkaConnection,
)
from slackwater.api.structural import Schema, structural_schema

Column = tuple[str, str, str, int]
"""Name, type, JSON path, priority (0 always, 1 with -o wide)."""

HEADER: Final = "# Generated from operator/slackwater/api: change the models, then run `make crds`.\n"


@dataclass(frozen=True, slots=True)
class Resource:
    """What a CRD says besides its schema."""

    model: type[BaseModel]
    status: type[BaseModel]
    plural: str
    short_name: str
    columns: tuple[Column, ...]
    scalable: bool = False
    namespaced: bool = True

    @property
    def kind(self) -> str:
        return self.model.__name__

    @property
    def file_name(self) -> str:
        return f"{GROUP}_{self.plural}.yaml"


CONSUMER_GROUPS: Final = Resource(
    model=ConsumerGroup,
    status=ConsumerGroupStatus,
    plural="consumergroups",
    short_name="cg",
    scalable=True,
    columns=(
        ("Desired", "integer", ".spec.replicas", 0),
        ("Ready", "integer", ".status.readyReplicas", 0),
        ("Updated", "integer", ".status.updatedReplicas", 0),
        ("Members", "integer", ".status.group.members", 0),
        ("State", "string", ".status.group.state", 0),
        ("Protocol", "string", ".status.protocol.current", 0),
        ("Lag", "integer", ".status.group.lag", 0),
        ("Phase", "string", ".status.phase", 0),
        ("Age", "date", ".metadata.creationTimestamp", 0),
        ("Group", "string", ".spec.groupId", 1),
        ("Connection", "string", ".spec.connectionRef.name", 1),
        ("Strategy", "string", ".status.protocol.strategy", 1),
        ("Step", "string", ".status.protocol.step", 1),
        ("Message", "string", '.status.conditions[?(@.type=="Ready")].message', 1),
    ),
)
KAFKA_CONNECTIONS: Final = Resource(
    model=KafkaConnection,
    status=KafkaConnectionStatus,
    plural="kafkaconnections",
    short_name="kc",
    columns=(
        ("Bootstrap", "string", ".spec.bootstrapServers", 0),
        ("Auth", "string", ".spec.authentication.type", 0),
        ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status', 0),
        ("Age", "date", ".metadata.creationTimestamp", 0),
        ("Message", "string", '.status.conditions[?(@.type=="Ready")].message', 1),
    ),
)
CLUSTER_KAFKA_CONNECTIONS: Final = Resource(
    model=ClusterKafkaConnection,
    status=KafkaConnectionStatus,
    plural="clusterkafkaconnections",
    short_name="ckc",
    columns=KAFKA_CONNECTIONS.columns,
    namespaced=False,
)
CONSUMER_FLEETS: Final = Resource(
    model=ConsumerFleet,
    status=ConsumerFleetStatus,
    plural="consumerfleets",
    short_name="fleet",
    columns=(
        ("Groups", "integer", ".status.groups.selected", 0),
        ("Waiting", "integer", ".status.groups.waiting", 0),
        ("Moving", "integer", ".status.groups.moving", 0),
        ("Failed", "integer", ".status.groups.failed", 0),
        ("Open", "string", '.status.conditions[?(@.type=="Open")].status', 0),
        ("Next", "string", ".status.next", 0),
        ("Age", "date", ".metadata.creationTimestamp", 0),
        ("Accepted", "string", '.status.conditions[?(@.type=="Accepted")].status', 1),
        ("Halted", "string", '.status.conditions[?(@.type=="Halted")].status', 1),
        ("Message", "string", '.status.conditions[?(@.type=="Open")].message', 1),
    ),
)
FLEET_CAMPAIGNS: Final = Resource(
    model=FleetCampaign,
    status=FleetCampaignStatus,
    plural="fleetcampaigns",
    short_name="campaign",
    columns=(
        ("Fleet", "string", ".spec.fleetRef.name", 0),
        ("Phase", "string", ".status.phase", 0),
        ("Wave", "string", ".status.wave", 0),
        ("Started", "date", ".status.startedAt", 0),
        ("Age", "date", ".metadata.creationTimestamp", 0),
        ("Accepted", "string", '.status.conditions[?(@.type=="Accepted")].status', 1),
        ("Overdue", "string", '.status.conditions[?(@.type=="Overdue")].status', 1),
        ("ETA", "string", ".status.eta.p50", 1),
        ("Message", "string", '.status.conditions[?(@.type=="Progressing")].message', 1),
    ),
)
RESOURCES: Final = (CONSUMER_GROUPS, KAFKA_CONNECTIONS, CLUSTER_KAFKA_CONNECTIONS, CONSUMER_FLEETS, FLEET_CAMPAIGNS)


def custom_resource_definition(resource: Resource) -> dict[str, Any]:
    """The CRD of `resource`, as the API server takes it."""
    kind = resource.kind
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": resource.plural,
                "singular": kind.lower(),
                "shortNames": [resource.short_name],
                "categories": ["slackwater"],
            },
            "versions": [_version(resource)],
        },
    }


def _version(resource: Resource) -> dict[str, Any]:
    columns: list[dict[str, Any]] = []
    for name, kind, path, priority in resource.columns:
        column: dict[str, Any] = {"name": name, "type": kind, "jsonPath": path}
        columns.append(column | ({"priority": priority} if priority else {}))
    subresources: dict[str, Any] = {"status": {}}
    if resource.scalable:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "subresources": subresources,
        "schema": {"openAPIV3Schema": _object_schema(resource)},
    }


def _object_schema(resource: Resource) -> Schema:
    """The schema of the whole object; its frame belongs to Kubernetes, which wants it bare."""
    schema = structural_schema(resource.model)
    schema["properties"] |= {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "status": structural_schema(resource.status, reported=True),
    }
    schema["required"] = ["spec"]
    return schema


class _Dumper(yaml.SafeDumper):
    """YAML in which no schema is an alias of another."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def as_yaml(resource: Resource) -> str:
    """The text of the checked-in file."""
    definition = custom_resource_definition(resource)
    return HEADER + yaml.dump(definition, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


def main(directory: Path) -> None:
    """Write one file for each resource into `directory`."""
    for resource in RESOURCES:
        (directory / resource.file_name).write_text(as_yaml(resource), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

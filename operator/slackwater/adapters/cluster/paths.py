"""The kinds of objects that are read and written: where each stands in the Kubernetes API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.api.annotations import API_VERSION
from slackwater.api.resources import ConsumerGroup
from slackwater.ports import Kind

CONSUMER_GROUP: Final = Kind(API_VERSION, "ConsumerGroup", "consumergroups")
KAFKA_CONNECTION: Final = Kind(API_VERSION, "KafkaConnection", "kafkaconnections")
CLUSTER_KAFKA_CONNECTION: Final = Kind(API_VERSION, "ClusterKafkaConnection", "clusterkafkaconnections")
CONSUMER_FLEET: Final = Kind(API_VERSION, "ConsumerFleet", "consumerfleets")
FLEET_CAMPAIGN: Final = Kind(API_VERSION, "FleetCampaign", "fleetcampaigns")
STATEFUL_SET: Final = Kind("apps/v1", "StatefulSet", "statefulsets")
CONTROLLER_REVISION: Final = Kind("apps/v1", "ControllerRevision", "controllerrevisions")
POD: Final = Kind("v1", "Pod", "pods")
SERVICE: Final = Kind("v1", "Service", "services")
SECRET: Final = Kind("v1", "Secret", "secrets")
NAMESPACE: Final = Kind("v1", "Namespace", "namespaces")
EVENT: Final = Kind("v1", "Event", "events")
LEASE: Final = Kind("coordination.k8s.io/v1", "Lease", "leases")
POD_DISRUPTION_BUDGET: Final = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
HORIZONTAL_POD_AUTOSCALER: Final = Kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
DEPLOYMENT: Final = Kind("apps/v1", "Deployment", "deployments")
CUSTOM_RESOURCE_DEFINITION: Final = Kind(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions"
)
OWN_ACCESS_REVIEW: Final = Kind("authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews")
ACCESS_REVIEW: Final = Kind("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews")
TOKEN_REVIEW: Final = Kind("authentication.k8s.io/v1", "TokenReview", "tokenreviews")
REVIEWS: Final = frozenset({OWN_ACCESS_REVIEW, ACCESS_REVIEW, TOKEN_REVIEW})
"""Questions that are put as objects: to make one changes nothing."""

APPLIED: Final = {
    kind.name: kind for kind in (STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET, CONSUMER_GROUP, KAFKA_CONNECTION, LEASE)
}


def connection_place(namespace: str, reference: Mapping[str, Any]) -> tuple[Kind, str, str]:
    """Kind, namespace and name of the connection that a ConsumerGroup of this namespace refers to.

    `reference`: its connectionRef as the API server has it. No namespace holds a ClusterKafkaConnection.
    """
    name = str(reference.get("name", ""))
    if reference.get("kind") == CLUSTER_KAFKA_CONNECTION.name:
        return CLUSTER_KAFKA_CONNECTION, "", name
    return KAFKA_CONNECTION, namespace, name


def place_of_connection(group: ConsumerGroup) -> tuple[Kind, str, str]:
    """The same, of a ConsumerGroup that was parsed."""
    reference = group.spec.connection_ref
    return connection_place(group.namespace, {"kind": reference.kind, "name": reference.name})

"""Where objects stand in the Kubernetes API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from slackwater.api.annotations import API_VERSION


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object; those that no namespace holds are read with the namespace ""."""

    api_version: str
    name: str
    plural: str

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """Without a namespace: all namespaces. Without a name: the collection."""
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        parts = [root, *(("namespaces", namespace) if namespace else ()), self.plural, name, subresource]
        return "/".join(part for part in parts if part)


CONSUMER_GROUP: Final = Kind(API_VERSION, "ConsumerGroup", "consumergroups")
KAFKA_CONNECTION: Final = Kind(API_VERSION, "KafkaConnection", "kafkaconnections")
STATEFUL_SET: Final = Kind("apps/v1", "StatefulSet", "statefulsets")
CONTROLLER_REVISION: Final = Kind("apps/v1", "ControllerRevision", "controllerrevisions")
POD: Final = Kind("v1", "Pod", "pods")
SERVICE: Final = Kind("v1", "Service", "services")
SECRET: Final = Kind("v1", "Secret", "secrets")
NAMESPACE: Final = Kind("v1", "Namespace", "namespaces")
EVENT: Final = Kind("v1", "Event", "events")
LEASE: Final = Kind("coordination.k8s.io/v1", "Lease", "leases")
POD_DISRUPTION_BUDGET: Final = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
DEPLOYMENT: Final = Kind("apps/v1", "Deployment", "deployments")
CUSTOM_RESOURCE_DEFINITION: Final = Kind(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions"
)
OWN_ACCESS_REVIEW: Final = Kind("authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews")
ACCESS_REVIEW: Final = Kind("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews")

APPLIED: Final = {
    kind.name: kind for kind in (STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET, CONSUMER_GROUP, KAFKA_CONNECTION, LEASE)
}

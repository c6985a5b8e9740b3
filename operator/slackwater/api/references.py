"""References to objects in the same namespace.

Nothing is read across namespaces, but for a ClusterKafkaConnection and its Secrets, which are in the operator's own.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from slackwater.api.model import ApiModel
from slackwater.api.text import Text

ObjectName = Annotated[
    str,
    Text(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        "write the name of an object: lower-case letters, digits, - and ., beginning and ending with a letter or digit",
        max_length=253,
    ),
]
SecretKey = Annotated[str, Text(r"[-._a-zA-Z0-9]+", "write a key of the Secret: letters, digits, -, _ and .", 253)]


class SecretRef(ApiModel):
    name: ObjectName
    """Name of a Secret in this namespace; of a ClusterKafkaConnection, in the operator's namespace."""


class ConnectionKind(StrEnum):
    KAFKA_CONNECTION = "KafkaConnection"
    CLUSTER_KAFKA_CONNECTION = "ClusterKafkaConnection"


class ConnectionRef(ApiModel):
    name: ObjectName
    """Name of a KafkaConnection in this namespace, or of a ClusterKafkaConnection."""
    kind: ConnectionKind = ConnectionKind.KAFKA_CONNECTION
    """KafkaConnection, or ClusterKafkaConnection: one that several namespaces share."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class CaSecretRef(ApiModel):
    name: ObjectName
    """Name of a Secret in this namespace; of a ClusterKafkaConnection, in the operator's namespace."""
    key: SecretKey = "ca.crt"
    """The Secret's key that holds the certificate authority, in PEM."""

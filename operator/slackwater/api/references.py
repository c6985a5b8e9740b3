"""References to objects in the same namespace. Nothing is ever read across namespaces."""

from __future__ import annotations

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


class ObjectRef(ApiModel):
    name: ObjectName
    """Name of an object in this namespace."""


class CaSecretRef(ApiModel):
    name: ObjectName
    """Name of a Secret in this namespace."""
    key: SecretKey = "ca.crt"
    """The Secret's key that holds the certificate authority, in PEM."""

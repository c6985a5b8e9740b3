"""What an answer of the API server that is no success means: a fault that passes, or a refusal."""

from __future__ import annotations

import json
from typing import Final

from slackwater.adapters.cluster.errors import (
    ClusterFailed,
    ClusterRefused,
    ClusterUnreachable,
    Conflict,
    Forbidden,
    NotLetIn,
    WebhookFailed,
)

_ANONYMOUS: Final = 'User "system:anonymous"'
"""Whoever showed no credentials, as when a log-in plugin of the kubeconfig fails: the package goes on without."""

_NO_FAULT_OF_THE_SERVER: Final = ("failed to create typed patch object", "field not declared in schema")
"""What a server-side apply of a field that there is not, such as a misspelt one, is answered with, and 500."""

_NO_WEBHOOK: Final = "failed calling webhook"
"""With 500 as well; nothing was written."""


def refusal(what: str, status: int, text: bytes | bytearray) -> ClusterFailed:
    """`what` was asked, with method and path; `text` is the answer's body."""
    try:
        reason = json.loads(text).get("message") or text.decode(errors="replace")
    except ValueError:
        reason = text.decode(errors="replace")
    message = f"the Kubernetes API refused {what}: {reason} ({status})"
    if status == 401 or _ANONYMOUS in reason:
        return NotLetIn(message)
    if status == 403:
        return Forbidden(message)
    if status == 409:
        return Conflict(message)
    if _NO_WEBHOOK in reason:
        return WebhookFailed(message)
    if status == 410:  # a list that was begun too long ago
        return ClusterUnreachable(message)
    if (status == 429 or status >= 500) and not any(words in reason for words in _NO_FAULT_OF_THE_SERVER):
        return ClusterUnreachable(message)
    return ClusterRefused(message)

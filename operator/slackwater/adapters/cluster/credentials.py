"""Whose credentials count, for every client of the Kubernetes API that there is here."""

from __future__ import annotations

import os
from typing import Final

_IN_A_POD: Final = "KUBERNETES_SERVICE_HOST"


def is_from_a_pod(context: str | None = None) -> bool:
    """Whether the pod's own service account counts, and no kubeconfig: as kubectl has it, not where somebody names a
    context, or a kubeconfig by KUBECONFIG."""
    return context is None and not os.environ.get("KUBECONFIG") and _IN_A_POD in os.environ

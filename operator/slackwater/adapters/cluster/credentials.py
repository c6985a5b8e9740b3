"""Whose credentials count, for every client of the Kubernetes API that there is here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_IN_A_POD: Final = "KUBERNETES_SERVICE_HOST"


def is_from_a_pod(context: str | None = None) -> bool:
    """Whether the pod's own service account counts, and no kubeconfig: as kubectl has it, not where somebody names a
    context, or a kubeconfig by KUBECONFIG."""
    return context is None and not os.environ.get("KUBECONFIG") and _IN_A_POD in os.environ


def kubeconfig_files() -> str:
    """As KUBECONFIG names them now: the package looks at it once for all, and takes an empty one for a file."""
    return os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")

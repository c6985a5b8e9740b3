"""The tests against a real cluster play on the end-to-end tests' stage."""

import pytest

from tests.e2e.conftest import crds, stage

__all__ = ["crds", "outside_of_pods", "stage"]


@pytest.fixture
def outside_of_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a kubeconfig counts, and no pod's own service account."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

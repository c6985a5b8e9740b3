"""Edits of objects by one pool of connections: hundreds of histories would start thousands of kubectls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from kubernetes import client, config

_GONE: Final = (404, 409)
_ROOTS: Final = {
    "consumergroups": "/apis/slackwater.dev/v1alpha1",
    "kafkaconnections": "/apis/slackwater.dev/v1alpha1",
    "statefulsets": "/apis/apps/v1",
    "pods": "/api/v1",
}


class Writer:
    """Writes in one namespace, as the kubeconfig's user."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        configuration = client.Configuration()
        config.load_kube_config(str(kubeconfig), client_configuration=configuration)
        self._client = client.ApiClient(configuration)
        self._namespace = namespace

    def create(self, kind: str, obj: dict[str, Any]) -> bool:
        """False while one of that name is there."""
        return self._send("POST", self._path(kind), obj, "application/json", allowed=(409,))

    def patch(self, kind: str, name: str, change: dict[str, Any]) -> bool:
        """False when there is none."""
        return self._send("PATCH", self._path(kind, name), change, "application/merge-patch+json", allowed=_GONE)

    def delete(self, kind: str, name: str, policy: str = "Background", **options: Any) -> bool:
        return self._send("DELETE", self._path(kind, name), {"propagationPolicy": policy, **options}, allowed=_GONE)

    def evict(self, pod: str) -> bool:
        """False when the PodDisruptionBudget does not allow it."""
        metadata = {"name": pod, "namespace": self._namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        return self._send("POST", f"{self._path('pods', pod)}/eviction", body, allowed=(*_GONE, 429))

    def _path(self, kind: str, name: str = "") -> str:
        return f"{_ROOTS[kind]}/namespaces/{self._namespace}/{kind}" + (f"/{name}" if name else "")

    def _send(
        self, method: str, path: str, body: Any, kind: str = "application/json", allowed: tuple[int, ...] = ()
    ) -> bool:
        headers = {"Accept": "application/json", "Content-Type": kind}
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, None)
        url = f"{self._client.configuration.host}{path}"
        answer = self._client.rest_client.pool_manager.request(
            method, url, body=json.dumps(body), headers=headers, timeout=30.0
        )
        assert answer.status < 300 or answer.status in allowed, f"{method} {path}: {answer.status} {answer.data!r}"
        return bool(answer.status < 300)

"""The Kubernetes API as the tests read it: one pool of connections, where kubectl would start a process for each look.

What a person does (apply, scale, annotate) the tests do with kubectl; see `cluster`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import urllib3
from kubernetes import client, config

Json = dict[str, Any]

_REQUEST_S: Final = 60.0
_CORE: Final = "/api/v1"
_APPS: Final = "/apis/apps/v1"
_OURS: Final = "/apis/slackwater.dev/v1alpha1"
_ROOTS: Final = {
    "consumergroups": _OURS,
    "kafkaconnections": _OURS,
    "consumerfleets": _OURS,
    "fleetcampaigns": _OURS,
    "deployments": _APPS,
    "statefulsets": _APPS,
    "pods": _CORE,
    "events": _CORE,
    "configmaps": _CORE,
    "secrets": _CORE,
}
_PLURALS: Final = {"cg": "consumergroups", "sts": "statefulsets"}


class Api:
    """Reads of one API server, as the kubeconfig's user. Safe to share between threads."""

    def __init__(self, kubeconfig: Path) -> None:
        configuration = client.Configuration()
        config.load_kube_config(str(kubeconfig), client_configuration=configuration)
        self._client = client.ApiClient(configuration)

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        """The object, or None when there is none. `kind` in kubectl's words: `cg`, `statefulset`, `pods` …"""
        return self._read(f"{_path(kind, namespace)}/{name}")

    def list_all(self, kind: str, namespace: str, label_selector: str = "") -> tuple[list[Json], str]:
        """The objects, and the resource version from which a watch goes on."""
        found = self._read(_path(kind, namespace), {"labelSelector": label_selector} if label_selector else {})
        assert found is not None, f"the API server knows no {kind}"
        return found["items"], found["metadata"]["resourceVersion"]

    def watch(self, kind: str, namespace: str, resource_version: str, lasting_s: int) -> Iterator[Json]:
        """Watch events from there on. The server ends it after `lasting_s`, and says shortly before how far it came:
        a watch that goes on from the last object's version instead may find that version forgotten."""
        query = {"watch": "1", "resourceVersion": resource_version, "allowWatchBookmarks": "true"}
        answer = self._send(_path(kind, namespace), {**query, "timeoutSeconds": str(lasting_s)}, lasting_s + _REQUEST_S)
        try:
            yield from (json.loads(line) for line in _lines(answer))
        finally:
            answer.close()

    def follow_log(self, namespace: str, pod: str, lasting_s: int) -> Iterator[str]:
        """The lines of a pod's log, from its beginning to the end of its container."""
        answer = self._send(f"{_path('pods', namespace)}/{pod}/log", {"follow": "true"}, lasting_s)
        assert answer.status == 200, f"the log of {pod}: {answer.status} {answer.data.decode()}"
        try:
            yield from (line.decode(errors="replace") for line in _lines(answer))
        finally:
            answer.close()

    def _read(self, path: str, query: Mapping[str, str] | None = None) -> Json | None:
        answer = self._send(path, query or {}, _REQUEST_S)
        if answer.status == 404:
            return None
        assert answer.status == 200, f"GET {path}: {answer.status} {answer.data.decode()}"
        found: Json = json.loads(answer.data)
        return found

    def _send(self, path: str, query: Mapping[str, str], read_s: float) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": "application/json"}
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, "GET", None)
        url = f"{self._client.configuration.host}{path}" + (f"?{urlencode(query)}" if query else "")
        answer = self._client.call_api("GET", url, headers, _request_timeout=(_REQUEST_S, read_s))
        response: urllib3.BaseHTTPResponse = answer.response
        return response


def _path(kind: str, namespace: str) -> str:
    plural = _PLURALS.get(kind, kind if kind.endswith("s") else f"{kind}s")
    return f"{_ROOTS[plural]}/namespaces/{namespace}/{plural}"


def _lines(answer: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in answer.stream(None):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line)

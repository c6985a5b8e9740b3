"""What tenants write, as large as an API server takes it, read by the operator's own client."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest

from slackwater.adapters.cluster import api as module
from slackwater.adapters.cluster.api import EVENTS_AT_ONCE, KubernetesApi
from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.lists import LONG
from slackwater.adapters.cluster.paths import POD
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.own_api_server import own_api_server
from tests.e2e.tenants.neighbours import put

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(1), pytest.mark.timeout(400)]

EVENTS: Final = EVENTS_AT_ONCE + 2
PODS: Final = 12
LABELS: Final = {f"a{number}": "" for number in range(40_000)}


def event(number: int) -> Json:
    about = {"apiVersion": "v1", "kind": "Pod", "name": "payments-0", "namespace": "evil", "uid": "u"}
    said = {"reason": "FailedMount", "message": f"no volume {number}", "type": "Warning"}
    metadata = {"name": f"payments-0.{number}", "namespace": "evil", "labels": LABELS}
    seen = {"lastTimestamp": "2026-01-01T00:00:00Z", "count": 1, "source": {"component": "kubelet"}}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about, **said, **seen}


def pod(number: int) -> Json:
    """Of 400 kB; JSON writes six characters for each of these."""
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "<" * 66_000}]}
    metadata = {"name": f"payments-{number}", "labels": {"slackwater.dev/group": "payments"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


async def read(kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any, Any, int]:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    api = await KubernetesApi.connect()
    api.kept = lean
    try:
        events = await api.events_of("evil", "u", "FailedMount")
        one = await asyncio.gather(*(api.read(POD, "evil", f"payments-{number}") for number in range(PODS)))
        before = api.requests["GET", POD.plural]
        monkeypatch.setattr(module, "LONGEST_LIST", 6 * LONG)
        pods, _ = await api.list_all(POD, "evil", "slackwater.dev/group=payments")
        return events, one, pods, api.requests["GET", POD.plural] - before
    finally:
        await api.close()


def test_it_is_read_whole_and_kept_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_api_server(tmp_path) as server:
        evil = Cluster(server.kubeconfig, "evil")
        evil.kubectl("create", "namespace", evil.namespace)
        put(evil, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        for number in range(EVENTS):
            evil.kubectl("create", "--validate=false", "-f", "-", stdin=json.dumps(event(number)))
        put(evil, *(pod(number) for number in range(PODS)))
        events, one, pods, requests = asyncio.run(read(server.kubeconfig, monkeypatch))
    assert {each["message"] for each in events} == {f"no volume {number}" for number in range(EVENTS)}
    assert sorted(each["metadata"]["name"] for each in pods) == sorted(f"payments-{number}" for number in range(PODS))
    assert [each["metadata"]["name"] for each in one] == [f"payments-{number}" for number in range(PODS)]
    assert len(json.dumps([*events, *one, *pods])) < 30_000
    assert requests > 2, "pages had to be smaller"

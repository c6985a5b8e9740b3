"""Over real sockets, and by the operator's own client where it asks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from benchmarks.scale.cluster import Cluster
from benchmarks.scale.recorded import NAMESPACE, name_of
from benchmarks.scale.served import Served, discovered, place_in
from benchmarks.scale.sides import kubeconfig_of
from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, EVENT, SERVICE
from slackwater.adapters.cluster.paths import NAMESPACE as NAMESPACES
from slackwater.api.annotations import FINALIZER, GROUP_LABEL

MADE = 60
"""More than a page has."""


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
async def client(cluster: Cluster) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(Served(cluster).app())) as found:
        yield found


@pytest.fixture
async def api(
    client: TestClient[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[KubernetesApi]:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(kubeconfig_of(str(client.make_url("")).rstrip("/"))))
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    found = await KubernetesApi.connect()
    yield found
    await found.close()


def service() -> dict[str, Any]:
    metadata = {"name": name_of(0), "namespace": NAMESPACE, "labels": {GROUP_LABEL: name_of(0)}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"clusterIP": "None"}}


async def test_the_operators_client_lists_all_pages(client: TestClient[Any, Any], api: KubernetesApi) -> None:
    await client.post("/bench/groups", params={"number": MADE, "pods": 0})
    found, version = await api.list_all(CONSUMER_GROUP, None)
    assert [each["metadata"]["name"] for each in found] == [name_of(number) for number in range(MADE)]
    assert version > MADE


async def test_the_operators_client_applies_and_reads_and_is_counted(cluster: Cluster, api: KubernetesApi) -> None:
    written = await api.apply(service())
    assert await api.read(SERVICE, NAMESPACE, name_of(0)) == written
    assert await api.read(SERVICE, NAMESPACE, "nobody") is None
    assert cluster.requests == {("PATCH", "services"): 1, ("GET", "services"): 2}


async def test_the_operators_client_hears_that_an_object_has_changed(
    client: TestClient[Any, Any], cluster: Cluster, api: KubernetesApi
) -> None:
    await client.post("/bench/groups", params={"number": 1, "pods": 0})
    obj = cluster.get(CONSUMER_GROUP, (NAMESPACE, name_of(0)))
    assert obj is not None
    written = await api.set_finalizers(CONSUMER_GROUP, obj, [FINALIZER])
    assert written is not None
    assert written["metadata"]["finalizers"] == [FINALIZER]
    with pytest.raises(Conflict):
        await api.set_finalizers(CONSUMER_GROUP, obj, [])


async def test_lists_are_of_what_a_selector_selects(client: TestClient[Any, Any], api: KubernetesApi) -> None:
    await api.apply(service())
    assert len((await api.list_all(SERVICE, NAMESPACE, GROUP_LABEL))[0]) == 1
    assert len((await api.list_all(SERVICE, NAMESPACE, f"{GROUP_LABEL}=another"))[0]) == 0
    assert len((await api.list_all(SERVICE, "elsewhere", GROUP_LABEL))[0]) == 0


async def test_a_watch_brings_what_comes_after_a_list_and_no_more(
    client: TestClient[Any, Any], api: KubernetesApi
) -> None:
    await api.apply(service())
    _, version = await api.list_all(SERVICE, None)
    query = {"watch": "true", "resourceVersion": str(version), "labelSelector": GROUP_LABEL}
    async with client.get("/api/v1/services", params=query) as watch:
        changed = service()
        changed["spec"]["clusterIP"] = ""
        await api.apply(changed)
        event = json.loads(await watch.content.readline())
    assert (event["type"], event["object"]["spec"]) == ("MODIFIED", {"clusterIP": ""})


async def test_what_became_of_groups_is_said(client: TestClient[Any, Any], cluster: Cluster) -> None:
    await client.post("/bench/groups", params={"number": 2, "pods": 0})
    await client.post("/bench/change", params={"stable_for": 3})
    seen = await (await client.get("/bench/seen")).json()
    assert seen["counts"] == {"ConsumerGroup": 2, "KafkaConnection": 1}
    assert {group["observed_at"] for group in seen["groups"].values()} == {None}
    objects = await (await client.get("/bench/objects", params={"plural": "consumergroups"})).json()
    assert {each["spec"]["rollout"]["stableFor"] for each in objects} == {"3s"}


async def test_what_is_not_served_is_not_found(client: TestClient[Any, Any]) -> None:
    answer = await client.get("/apis/example.com/v1/widgets")
    assert (answer.status, (await answer.json())["reason"]) == (404, "NotFound")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (CONSUMER_GROUP.path(), (CONSUMER_GROUP, "", "", "")),
        (CONSUMER_GROUP.path("a"), (CONSUMER_GROUP, "a", "", "")),
        (CONSUMER_GROUP.path("a", "b", "status"), (CONSUMER_GROUP, "a", "b", "status")),
        (EVENT.path("a"), (EVENT, "a", "", "")),
        (NAMESPACES.path("", "a"), (NAMESPACES, "", "a", "")),
    ],
)
def test_a_path_is_a_kind_and_a_place(path: str, place: tuple[object, ...]) -> None:
    assert place_in(path.strip("/").split("/")) == place


def test_each_kind_is_discovered_with_its_status() -> None:
    found = discovered(["apis", "slackwater.dev", "v1alpha1"])
    assert found is not None
    assert {"consumergroups", "consumergroups/status"} <= {each["name"] for each in found["resources"]}
    groups = discovered(["apis"])
    assert groups is not None
    assert "slackwater.dev" in {group["name"] for group in groups["groups"]}

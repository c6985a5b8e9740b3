"""What kopf tells becomes the store's and the queue's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import kopf
import pytest

from benchmarks.scale.around import record
from benchmarks.scale.recorded import KINDS
from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, KAFKA_CONNECTION, POD
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.kept import CutSpec
from slackwater.ports import Kind
from slackwater.shell import handlers
from slackwater.shell.handlers import API_AGAIN_S, REFUSED_AGAIN_S, configured, registered
from slackwater.shell.queue import WorkQueue
from slackwater.shell.store import LABELLED, WATCHED, Key, Store
from tests.shell.fakes import KEY, connection_object, group_object


class Stage:
    def __init__(self) -> None:
        self.store, self.queue = Store(), WorkQueue[Key]()
        self.listed = self.ended = 0
        self.pods: list[Mapping[str, Any]] = []
        self.registry = registered(
            WATCHED, self.store, self.queue, self._note_listed, self.pods.append, self._note_ended
        )

    def _note_listed(self) -> None:
        self.listed += 1

    async def _note_ended(self) -> None:
        self.ended += 1

    async def tell(self, kind: Kind, change: str | None, obj: dict[str, Any]) -> None:
        handlers: Any = self.registry._watching.get_all_handlers()
        handler = next(h for h in handlers if h.id == kind.plural)
        await handler.fn(event={"type": change, "object": {k: v for k, v in obj.items() if k != "kind"}})


async def test_the_last_that_is_told_of_a_pod_reaches_who_wants_to_know_how_it_ended() -> None:
    stage = Stage()
    await stage.tell(CONSUMER_GROUP, "ADDED", group_object(1))
    labels = {GROUP_LABEL: KEY.name}
    named = {"namespace": "default", "name": "payments-0", "uid": "uid-0", "resourceVersion": "1", "labels": labels}
    pod = {"metadata": named}
    await stage.tell(POD, "ADDED", pod)
    await stage.tell(POD, "DELETED", {**pod, "status": {"phase": "Succeeded"}})
    assert [told.get("status") for told in stage.pods] == [None, {"phase": "Succeeded"}]


async def test_changes_reach_the_store_and_the_queue() -> None:
    stage = Stage()
    await stage.tell(CONSUMER_GROUP, "ADDED", group_object(1))
    assert await stage.queue.take() == KEY
    stage.queue.done(KEY)
    await stage.tell(CONSUMER_GROUP, "MODIFIED", group_object(1))
    assert len(stage.queue) == 0  # nothing new
    await stage.tell(KAFKA_CONNECTION, "ADDED", connection_object(2))
    assert len(stage.queue) == 1
    await stage.tell(CONSUMER_GROUP, "DELETED", group_object(3))
    assert stage.store.get(CONSUMER_GROUP, KEY) is None
    assert stage.listed == 0


async def test_of_many_fleets_at_once_one_is_taken_in_at_a_time() -> None:
    """A schedule that somebody means so costs a twentieth of a second: all else has its turn between two of them."""
    stage, turns = Stage(), list[int]()
    told: Any = stage.store.put

    def put(kind: Kind, obj: Mapping[str, Any]) -> Any:
        turns.append(turn)
        return told(kind, obj)

    stage.store.put = put  # type: ignore[method-assign]
    named = [{"namespace": "evil", "name": f"fleet-{n}", "uid": f"uid-{n}", "resourceVersion": "1"} for n in range(9)]
    events = [asyncio.create_task(stage.tell(CONSUMER_FLEET, "ADDED", {"metadata": each})) for each in named]
    turn = 0
    while not all(event.done() for event in events):
        turn += 1
        await asyncio.sleep(0)
    assert len(turns) == len(set(turns)) == len(named)


async def test_kopf_keeps_no_more_of_an_object_than_we() -> None:
    """It has what it saw last of each for some seconds, and of a changed one what came before as well."""
    stage = Stage()
    large = group_object(1)
    large["spec"]["template"]["unknown"] = [{} for _ in range(30_000)]
    large["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    event: Any = {"type": "MODIFIED", "object": large}
    watching: Any = stage.registry._watching.get_all_handlers()
    await next(h for h in watching if h.id == CONSUMER_GROUP.plural).fn(event=event)
    assert len(json.dumps(event)) < 2_000
    kept = stage.store.get(CONSUMER_GROUP, KEY)
    assert kept is not None
    assert isinstance(kept["spec"], CutSpec)


async def test_what_kopf_lists_is_taken_in_and_listed_again() -> None:
    stage = Stage()
    await stage.tell(CONSUMER_GROUP, None, group_object(1))
    known = stage.store.get(CONSUMER_GROUP, KEY)
    assert known is not None
    assert known["kind"] == "ConsumerGroup"
    assert stage.listed == 1


async def test_what_kopf_lists_was_made_lean_before_and_is_taken_in_all_the_same() -> None:
    """By `lean_watch`. A StatefulSet's template is text by then, which is no JSON of its own."""
    stage, recorded = Stage(), await record(1)
    for number, kind in enumerate(KINDS, start=1):
        (obj,) = recorded.objects(kind, 0)
        event: Any = {"type": None, "object": lean(kind, obj)}
        watching: Any = stage.registry._watching.get_all_handlers()
        await next(h for h in watching if h.id == kind.plural).fn(event=event)
        assert stage.store.get(kind, Key(obj["metadata"]["namespace"], obj["metadata"]["name"])) == lean(kind, obj)
        assert stage.listed == number


def test_every_kind_is_watched_and_objects_of_others_are_left_on_the_server() -> None:
    stage = Stage()
    watching: Any = stage.registry._watching.get_all_handlers()
    assert {handler.id for handler in watching} == {kind.plural for kind in WATCHED}
    selectors: Any = configured(of_some_namespaces=False).watching.label_selectors
    assert {selector.any_name for selector in selectors} == {kind.plural for kind in LABELLED}
    assert set(selectors.values()) == {GROUP_LABEL}


def test_kopf_writes_nothing_and_is_never_deaf_for_long() -> None:
    settings = configured(of_some_namespaces=False)
    assert settings.posting.enabled is False
    assert settings.peering.standalone is True
    assert isinstance(settings.watching.server_timeout, int)  # the API server refuses 290.0
    assert settings.networking.error_backoffs == API_AGAIN_S
    assert max(API_AGAIN_S) == pytest.approx(3.0)


def test_kopf_copies_no_object_for_diffs_that_nobody_asks_for() -> None:
    class Uncopied(dict[str, Any]):
        def __deepcopy__(self, _: object) -> dict[str, Any]:
            raise AssertionError("copied")

    storage = configured(of_some_namespaces=False).persistence.diffbase_storage
    raw: Any = {**group_object(1), "spec": Uncopied()}
    body = kopf.Body(raw)
    with pytest.raises(AssertionError, match="copied"):
        kopf.DiffBaseStorage.build(storage, body=body)  # as it would be
    assert storage.build(body=body) == {}
    assert storage.fetch(body=body) is None
    patch = kopf.Patch()
    storage.store(body=body, patch=patch, essence=storage.build(body=body))
    assert dict(patch) == {}


@pytest.mark.parametrize(("named", "server"), [("", "https://10.0.0.1:443"), ("config", "https://elsewhere")])
async def test_kopf_watches_the_cluster_that_we_ask(
    named: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pod, the service account's; where somebody names a kubeconfig, the one in that."""
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "it", "user": "me"}}],
        "clusters": [{"name": "it", "cluster": {"server": "https://elsewhere"}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    }
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.delenv("KUBERNETES_SERVICE_PORT", raising=False)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / named) if named else "")
    in_a_pod = kopf.ConnectionInfo(server="https://kubernetes.default.svc", token="t")
    monkeypatch.setattr(kopf, "login_with_service_account", lambda **_: in_a_pod)
    monkeypatch.setattr(handlers, "lean_session", lambda found: found)
    registry: Any = Stage().registry
    (login,) = (each for each in registry._activities.get_all_handlers() if "login" in each.id)
    assert (await login.fn(settings=kopf.OperatorSettings())).server == server


def test_where_one_of_some_namespaces_is_refused_the_others_are_watched_on() -> None:
    again: Any = configured(of_some_namespaces=True).networking.error_backoffs
    for _ in range(2):  # each request begins as the first one
        pauses = list(islice(again, 1000))
        assert tuple(pauses[: len(API_AGAIN_S)]) == API_AGAIN_S
        assert set(pauses[len(API_AGAIN_S) :]) == {REFUSED_AGAIN_S}


async def test_how_a_pod_of_no_group_ended_nobody_wants_to_know() -> None:
    """Whoever may label pods would fill the operator's memory with ends."""
    stage = Stage()
    pod = {"metadata": {"namespace": "default", "name": "p-0", "uid": "uid-0", "resourceVersion": "1"}}
    await stage.tell(POD, "DELETED", {"metadata": {**pod["metadata"], "labels": {GROUP_LABEL: KEY.name}}})
    assert stage.pods == []

"""Observers by KafkaConnection: opened, shared, renewed and closed as objects change."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION, SECRET
from slackwater.adapters.kafka.observer import NotWatched
from slackwater.api.parsing import parse_consumer_group
from slackwater.core.history import GroupHistory
from slackwater.core.observation import KafkaView, Unobserved
from slackwater.core.reasons import Reason
from slackwater.shell import connections as module
from slackwater.shell.connections import SECRETS_AGAIN_S, Connections
from slackwater.shell.settings import Settings
from slackwater.shell.store import Key
from tests.core.factories import observation
from tests.shell.fakes import CONNECTION, KEY, FakeApi, connection_object, group_object

OTHER = Key("default", "refunds")
WITH_SECRET: Any = {"authentication": {"type": "Plain", "secretRef": {"name": "login"}}}


@dataclass
class FakeObserver:
    watched: dict[str, str] = field(default_factory=dict)
    views: dict[str, KafkaView] = field(default_factory=dict)
    is_closed: bool = False

    def start(self) -> None: ...

    async def wait_failed(self) -> None: ...

    async def close(self) -> None:
        self.is_closed = True

    def watch(self, key: str, group_id: str, topics: Any, settings: bool = False) -> None:
        self.watched[key] = group_id

    def unwatch(self, key: str) -> None:
        del self.watched[key]

    def set_motion(self, key: str, in_motion: bool) -> None: ...

    async def observe_now(self, key: str) -> None:
        raise NotWatched(key)

    def latest(self, key: str) -> tuple[KafkaView, GroupHistory] | None:
        return (self.views[key], GroupHistory()) if key in self.views else None


class Stage:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.observers: list[FakeObserver] = []
        self.settings: list[Any] = []
        self.changed: list[Key] = []
        self.broken = 0
        self.api = FakeApi()
        monkeypatch.setattr(module, "KafkaWire", self.settings.append)
        monkeypatch.setattr(module, "KafkaGroupReader", lambda wire: Counter[str]())
        monkeypatch.setattr(module, "Observer", self._observer)
        api: Any = self.api
        self.connections = Connections(api, Settings.model_validate({}), self.changed.append, self._note_broken)

    def _observer(self, *_: Any, **__: Any) -> FakeObserver:
        self.observers.append(FakeObserver())
        return self.observers[-1]

    def _note_broken(self) -> None:
        self.broken += 1

    async def use(self, key: Key = KEY, now: float = 0.0, generation: int = 1, **spec: Any) -> None:
        obj = connection_object(generation=generation)
        obj["spec"] |= spec
        group = parse_consumer_group(group_object(name=key.name))
        await self.connections.use(key, group, obj, now)

    def add_secret(self, password: str) -> None:
        data = {"username": base64.b64encode(b"me").decode(), "password": base64.b64encode(password.encode()).decode()}
        self.api.add(SECRET, {"metadata": {"namespace": "default", "name": "login"}, "data": data})

    def reason(self, key: Key = KEY) -> str:
        view, _ = self.connections.view(key, 0.0)
        assert isinstance(view, Unobserved)
        return view.reason


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


async def test_groups_of_a_connection_share_an_observer_until_the_last_has_gone(stage: Stage) -> None:
    await stage.use(KEY)
    await stage.use(OTHER)
    (observer,) = stage.observers
    assert set(observer.watched) == {str(KEY), str(OTHER)}
    await stage.connections.forget(KEY)
    assert not observer.is_closed
    await stage.connections.forget(OTHER)
    assert observer.is_closed
    await stage.connections.forget(OTHER)  # safe to repeat


async def test_another_spec_opens_it_anew_and_every_group_is_told(stage: Stage) -> None:
    await stage.use(KEY)
    await stage.use(OTHER)
    await stage.use(KEY, generation=2)
    old, new = stage.observers
    assert old.is_closed
    assert sorted(stage.changed) == [KEY, OTHER]
    assert set(new.watched) == {str(KEY)}  # the other one comes when its turn is
    assert stage.connections.awaits_first_look(KEY)


async def test_the_same_spec_opens_nothing_and_reads_nothing(stage: Stage) -> None:
    stage.add_secret("old")
    await stage.use(**WITH_SECRET)
    stage.api.requests.clear()
    await stage.use(now=SECRETS_AGAIN_S * 10, **WITH_SECRET)
    assert len(stage.observers) == 1
    assert not stage.api.requests


async def test_a_missing_secret_is_said_and_looked_for_again(stage: Stage) -> None:
    await stage.use(**WITH_SECRET)
    assert stage.reason() == Reason.CONNECTION_INVALID
    assert not stage.connections.awaits_first_look(KEY)
    stage.add_secret("right")
    await stage.use(**WITH_SECRET)
    assert stage.connections.awaits_first_look(KEY)
    assert "right" in str(stage.settings[0])


async def test_a_corrected_secret_is_taken_up_where_kafka_refused_the_old_one(stage: Stage) -> None:
    stage.add_secret("wrong")
    await stage.use(**WITH_SECRET)
    stage.observers[0].views[str(KEY)] = Unobserved(Reason.NOT_AUTHORIZED, "refused", 0.0)
    stage.add_secret("right")
    await stage.use(now=SECRETS_AGAIN_S - 1, **WITH_SECRET)
    assert len(stage.observers) == 1
    await stage.use(now=SECRETS_AGAIN_S, **WITH_SECRET)
    assert len(stage.observers) == 2


async def test_what_works_is_kept_while_the_api_server_cannot_be_asked_for_its_secret(stage: Stage) -> None:
    stage.add_secret("right")
    await stage.use(**WITH_SECRET)

    async def away(*_: Any) -> None:
        raise ClusterUnreachable("no answer")

    stage.api.read = away  # type: ignore[method-assign, assignment]
    await stage.use(generation=2, **WITH_SECRET)
    assert stage.reason() == Reason.CONNECTION_INVALID
    assert not stage.observers[0].is_closed


async def test_a_group_that_moves_to_another_connection_leaves_the_first(stage: Stage) -> None:
    await stage.use(KEY)
    obj = connection_object()
    obj["metadata"]["name"] = "second"
    group = parse_consumer_group(group_object(connectionRef={"name": "second"}))
    await stage.connections.use(KEY, group, obj, 0.0)
    assert stage.observers[0].is_closed
    assert set(stage.observers[1].watched) == {str(KEY)}


async def test_a_look_at_a_group_that_was_forgotten_meanwhile_is_no_error(stage: Stage) -> None:
    await stage.use(KEY)
    await stage.connections.look_now(KEY)
    await stage.connections.look_now(OTHER)


async def test_the_views_of_a_connection_come_in_one_order(stage: Stage) -> None:
    for key in (OTHER, KEY):
        await stage.use(key)
        stage.observers[0].views[str(key)] = observation(group_id=key.name)
    views = stage.connections.views(CONNECTION, 0.0)
    assert [view.group_id for view in views if not isinstance(view, Unobserved)] == ["payments", "refunds"]
    assert stage.connections.views(Key("default", "nobody-s"), 0.0) == []
    assert stage.api.objects.get((KAFKA_CONNECTION.name, *CONNECTION)) is None

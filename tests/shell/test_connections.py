"""Observers by KafkaConnection: opened, shared, renewed and closed as objects change."""

from __future__ import annotations

import asyncio
import base64
import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable, Forbidden
from slackwater.adapters.cluster.paths import KAFKA_CONNECTION, SECRET
from slackwater.adapters.kafka.security import client_settings
from slackwater.adapters.kafka.unseen import Unseen
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import Connection
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.profile import Profile
from slackwater.ports import GroupAdmin, KafkaCluster, Secrets
from slackwater.shell import connections as module
from slackwater.shell.connections import Connections
from slackwater.shell.open_connection import CERTIFICATES_AGAIN_S, SECRETS_AGAIN_S
from slackwater.shell.opening import MOST_OPEN, OPENED_AGAIN_S, OPENED_AT_ONCE
from slackwater.shell.store import Key
from tests.core.factories import observation
from tests.shell.fakes import CONNECTION, KEY, FakeApi, connection_object, group_object

OTHER = Key("default", "refunds")
WITH_SECRET: Any = {"tls": {}, "authentication": {"type": "Plain", "secretRef": {"name": "login"}}}


async def away(*_: Any) -> None:
    raise ClusterUnreachable("no answer")


async def refused(*_: Any) -> None:
    raise Forbidden("secrets is forbidden")


@dataclass
class FakeKafka:
    watched: dict[str, str] = field(default_factory=dict)
    unwatched: list[str] = field(default_factory=list)
    with_settings: dict[str, bool] = field(default_factory=dict)
    views: dict[str, KafkaView] = field(default_factory=dict)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    ends: asyncio.Future[None] = field(default_factory=asyncio.Future)
    on_close: Callable[[], object] = lambda: None
    may_end: asyncio.Event | None = None
    """Its network's thread ends only then."""
    requests: Counter[str] = field(default_factory=lambda: Counter(Metadata=1))
    broker: BrokerFacts | None = None
    cluster_id: str | None = None
    certificates: Sequence[Validity] = ()

    def start(self) -> None: ...

    async def wait_failed(self) -> None:
        await self.ends

    async def close(self) -> None:
        self.closed.set()
        self.on_close()
        if self.may_end is not None:
            await self.may_end.wait()

    @property
    def is_closed(self) -> bool:
        return self.closed.is_set()

    def watch(self, key: str, group_id: str, topics: Any, settings: bool = False) -> None:
        self.watched[key], self.with_settings[key] = group_id, settings

    def unwatch(self, key: str) -> None:
        self.watched.pop(key, None)
        self.unwatched.append(key)

    def set_motion(self, key: str, in_motion: bool) -> None: ...

    async def look_now(self, key: str) -> None: ...

    def look_soon(self, key: str) -> None: ...

    def refresh_broker(self) -> None: ...

    def admin(self, before_write: Callable[[], object]) -> GroupAdmin:
        raise AssertionError("nothing is changed here")

    @property
    def unseen(self) -> Unseen:
        found = Unseen()
        for key, view in self.views.items():
            found.keep(key, view)
        return found

    @property
    def unseen_for(self) -> Collection[Reason]:
        return self.unseen.reasons

    def first_unseen(self) -> Unobserved | None:
        return self.unseen.first_of_the_connection()

    def latest(self, key: str) -> tuple[KafkaView, GroupHistory] | None:
        return (self.views[key], GroupHistory()) if key in self.views else None


class Stage:
    def __init__(self) -> None:
        self.observers: list[FakeKafka] = []
        self.secrets: list[Secrets] = []
        self.changed: list[Key] = []
        self.tried = 0
        self.api = FakeApi()
        self.connections = Connections(self.api, self._open, self.changed.append)

    def _open(self, connection: Connection, secrets: Secrets, on_change: Callable[[str], None]) -> KafkaCluster:
        self.tried += 1
        client_settings(
            f"{connection.kind} {connection.metadata.name}", connection.spec, secrets
        )  # says what is missing
        self.secrets.append(secrets)
        self.observers.append(FakeKafka())
        return self.observers[-1]

    async def use(
        self, key: Key = KEY, now: float = 0.0, generation: int = 1, connection: str = CONNECTION.name, **spec: Any
    ) -> None:
        obj = connection_object(generation=generation)
        obj["metadata"]["name"] = connection
        obj["spec"] |= spec
        group = parse_consumer_group(group_object(name=key.name, connectionRef={"name": connection}))
        await self.connections.use(key, group, RolloutMemory(), obj, now)

    def add_secret(self, password: str) -> None:
        data = {"username": base64.b64encode(b"me").decode(), "password": base64.b64encode(password.encode()).decode()}
        self.api.add(SECRET, {"metadata": {"namespace": "default", "name": "login"}, "data": data})

    def reason(self, key: Key = KEY) -> str:
        view, _ = self.connections.view(key, 0.0)
        assert isinstance(view, Unobserved)
        return view.reason


@pytest.fixture
def stage() -> Stage:
    return Stage()


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


async def test_a_cluster_connection_is_one_for_all_namespaces_and_has_its_secrets_with_the_operator(
    stage: Stage,
) -> None:
    secret = {"username": base64.b64encode(b"me").decode(), "password": base64.b64encode(b"x").decode()}
    stage.api.add(SECRET, {"metadata": {"namespace": "operators", "name": "login"}, "data": secret})
    stage.connections.own_namespace = "operators"
    obj = connection_object() | {"kind": "ClusterKafkaConnection"}
    del obj["metadata"]["namespace"]
    obj["spec"] |= WITH_SECRET | {"tenants": [{"namespaces": ["shop", "ops"]}]}
    for namespace in ("shop", "ops"):
        reference = {"name": CONNECTION.name, "kind": "ClusterKafkaConnection"}
        group = group_object(name="payments", connectionRef=reference)
        group["metadata"]["namespace"] = namespace
        key = Key(namespace, "payments")
        await stage.connections.use(key, parse_consumer_group(group), RolloutMemory(), obj, 0.0)
    (observer,) = stage.observers
    assert set(observer.watched) == {"shop/payments", "ops/payments"}
    assert stage.secrets == [{"login": {"username": b"me", "password": b"x"}}]
    assert len(stage.observers[0].watched) == 2


async def test_of_one_namespace_so_many_are_open_and_no_more(stage: Stage) -> None:
    for number in range(MOST_OPEN):
        await stage.use(Key("default", f"g{number}"), connection=f"c{number}")
    await stage.use(KEY, connection="one-more")
    assert len(stage.observers) == MOST_OPEN
    assert stage.reason(KEY) == Reason.CONNECTION_INVALID
    await stage.use(Key("default", "g0"), connection="c0", generation=2)
    assert len(stage.observers) == MOST_OPEN + 1, "one that is open is renewed"
    await stage.connections.forget(Key("default", "g1"))
    await stage.use(KEY, connection="one-more")
    assert len(stage.observers) == MOST_OPEN + 2
    assert stage.reason(KEY) == Reason.OBSERVATION_INCOMPLETE


async def test_those_of_a_namespace_are_opened_at_a_pace_however_often_they_change(stage: Stage) -> None:
    """Each takes up to a tenth of a second, of everybody's."""
    for generation in range(1, OPENED_AT_ONCE + 10):
        await stage.use(generation=generation)
    assert len(stage.observers) == OPENED_AT_ONCE
    assert stage.reason() == Reason.OBSERVATION_INCOMPLETE
    assert math.isfinite(stage.connections.again_s(KEY))
    assert not stage.observers[-1].is_closed
    await stage.use(generation=500, now=OPENED_AGAIN_S)
    assert len(stage.observers) == OPENED_AT_ONCE + 1
    assert stage.connections.awaits_first_look(KEY)


async def test_another_spec_opens_it_again_and_every_group_is_told(stage: Stage) -> None:
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
    assert stage.secrets[0]["login"]["password"] == b"right"


async def test_what_makes_no_client_is_tried_once_for_all_its_groups(stage: Stage) -> None:
    """A bundle of authorities takes a tenth of a second to read, and a namespace may have hundreds of groups."""
    said = set()
    for now, key in enumerate((KEY, OTHER, KEY)):
        await stage.use(key, now=float(now), **WITH_SECRET)
        view, _ = stage.connections.view(key, 0.0)
        assert isinstance(view, Unobserved)
        said.add((view.reason, view.message, view.since))
    assert stage.tried == len(said) == 1
    stage.add_secret("")
    await stage.use(**WITH_SECRET)
    await stage.use(generation=2, **WITH_SECRET)
    assert stage.tried == 3
    view, _ = stage.connections.view(KEY, 0.0)
    assert isinstance(view, Unobserved)
    assert "has no key password" in view.message
    stage.add_secret("right")
    await stage.use(generation=2, **WITH_SECRET)
    assert stage.connections.awaits_first_look(KEY)


async def test_what_is_wrong_counts_from_when_it_came_to_be(stage: Stage) -> None:
    """A deadline asks for how long; each pass looks again."""
    for now in (10.0, 20.0, 30.0):
        await stage.use(now=now, **WITH_SECRET)
    view, _ = stage.connections.view(KEY, 30.0)
    assert isinstance(view, Unobserved)
    assert view.since == 10.0


async def test_a_corrected_secret_is_taken_up_where_kafka_refused_the_old_one(stage: Stage) -> None:
    stage.add_secret("wrong")
    await stage.use(**WITH_SECRET)
    stage.observers[0].views[str(KEY)] = Unobserved(Reason.NOT_AUTHORIZED, "refused", 0.0)
    stage.add_secret("right")
    await stage.use(now=SECRETS_AGAIN_S - 1, **WITH_SECRET)
    assert len(stage.observers) == 1
    await stage.use(now=SECRETS_AGAIN_S, **WITH_SECRET)
    assert len(stage.observers) == 2


async def test_to_know_whether_a_secret_is_wanted_goes_through_no_groups(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten thousand groups of one connection it would take all of the processor, and more."""
    keys = [Key("default", f"g{number}") for number in range(20)]
    for key in keys:
        await stage.use(key)
    asked: list[str] = []
    monkeypatch.setattr(stage.observers[0], "latest", asked.append)
    for key in keys:
        await stage.use(key, now=100.0)
    assert asked == []


async def test_a_certificate_that_ends_soon_is_looked_for_again_before_brokers_refuse_it(stage: Stage) -> None:
    stage.add_secret("as it was")
    await stage.use(**WITH_SECRET)
    stage.observers[0].certificates = [Validity("tls.crt of Secret login", 0.0, CERTIFICATES_AGAIN_S * 5)]
    await stage.use(now=CERTIFICATES_AGAIN_S * 2, **WITH_SECRET)  # it is good for a while
    stage.add_secret("renewed")
    assert len(stage.observers) == 1
    late = CERTIFICATES_AGAIN_S * 4
    assert stage.connections.certificates(CONNECTION, late) is None  # a renewed one may be there, unread
    await stage.use(now=late, **WITH_SECRET)
    assert len(stage.observers) == 2
    assert stage.secrets[-1]["login"]["password"] == b"renewed"


async def test_what_works_is_kept_while_the_api_server_cannot_be_asked_for_its_secret(stage: Stage) -> None:
    stage.add_secret("right")
    await stage.use(**WITH_SECRET)

    stage.api.read = away  # type: ignore[method-assign, assignment]
    await stage.use(generation=2, **WITH_SECRET)
    assert stage.reason() == Reason.OBSERVATION_INCOMPLETE  # of the spec as it is now
    assert not stage.observers[0].is_closed


async def test_an_api_server_that_is_away_for_a_moment_makes_no_connection_invalid(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.add_secret("right")
    with monkeypatch.context() as patch:
        patch.setattr(stage.api, "read", away)
        for now in (10.0, 11.0):
            await stage.use(now=now, **WITH_SECRET)
    view, _ = stage.connections.view(KEY, 11.0)
    assert view == Unobserved(Reason.OBSERVATION_INCOMPLETE, "no answer", 10.0)
    assert stage.connections.again_s(KEY) <= 1.0
    await stage.use(now=12.0, **WITH_SECRET)
    assert stage.connections.awaits_first_look(KEY)
    assert stage.connections.again_s(KEY) == math.inf


async def test_what_was_found_wrong_stays_so_while_the_api_server_is_away(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.use(now=10.0, **WITH_SECRET)
    known = stage.connections.view(KEY, 10.0)
    monkeypatch.setattr(stage.api, "read", away)
    await stage.use(now=20.0, **WITH_SECRET)
    assert stage.connections.view(KEY, 20.0) == known


async def test_a_client_of_today_s_spec_is_believed_while_its_secret_cannot_be_read_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.add_secret("right")
    await stage.use(OTHER, **WITH_SECRET)
    await stage.use(**WITH_SECRET)
    views = stage.observers[0].views
    views |= {str(KEY): observation(), str(OTHER): Unobserved(Reason.NOT_AUTHORIZED, "refused", 0.0)}
    monkeypatch.setattr(stage.api, "read", away)
    await stage.use(now=SECRETS_AGAIN_S, **WITH_SECRET)
    assert stage.connections.view(KEY, 0.0)[0] == views[str(KEY)]


@pytest.mark.parametrize("kafka", ["still refuses", "lets us in again"])
async def test_a_secret_that_could_not_be_read_once_is_believed_when_it_can(
    kafka: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One group's refusal has it read again and again, for all groups of the connection."""
    stage.add_secret("right")
    await stage.use(OTHER, **WITH_SECRET)
    await stage.use(**WITH_SECRET)
    views = stage.observers[0].views
    views |= {str(KEY): observation(), str(OTHER): Unobserved(Reason.NOT_AUTHORIZED, "refused", 0.0)}
    with monkeypatch.context() as patch:
        patch.setattr(stage.api, "read", refused)
        await stage.use(now=SECRETS_AGAIN_S, **WITH_SECRET)
    assert stage.reason() == Reason.CONNECTION_INVALID
    if kafka == "lets us in again":
        views[str(OTHER)] = observation(group_id="refunds")
    await stage.use(now=SECRETS_AGAIN_S * 2, **WITH_SECRET)
    assert stage.connections.view(KEY, 0.0)[0] == views[str(KEY)]
    assert len(stage.observers) == 1


async def test_an_observer_that_ended_is_opened_again_and_no_other(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OBSERVED_AGAIN_S", 0)
    await stage.use(KEY)
    await stage.use(OTHER)
    (ended,) = stage.observers
    ended.ends.set_exception(TypeError("a mistake"))
    async with asyncio.timeout(60):
        await ended.closed.wait()
    assert sorted(stage.changed) == [KEY, OTHER]
    assert stage.reason() == Reason.OBSERVATION_INCOMPLETE
    await stage.use(KEY)
    assert set(stage.observers[1].watched) == {str(KEY)}


async def test_a_group_that_moves_to_another_connection_leaves_the_first(stage: Stage) -> None:
    await stage.use(KEY)
    await stage.use(KEY, connection="second")
    assert stage.observers[0].is_closed
    assert set(stage.observers[1].watched) == {str(KEY)}


async def test_a_look_at_a_group_that_was_forgotten_meanwhile_is_no_error(stage: Stage) -> None:
    await stage.use(KEY)
    await stage.connections.look_now(KEY)
    await stage.connections.look_now(OTHER)


@pytest.mark.parametrize(
    ("target", "has", "read"),
    [
        ({"target": "Consumer"}, Profile.CONSUMER, True),
        ({}, Profile.CONSUMER, True),
        ({"target": "Eager"}, Profile.CONSUMER, True),
        ({"target": "Consumer"}, Profile.EAGER, True),
        ({"target": "Eager"}, Profile.EAGER, False),
        ({}, Profile.OWN_CHOICE, False),
    ],
    ids=["KIP-848", "its target was removed", "to be taken back", "to be taken there", "classic", "own choice"],
)
async def test_the_settings_of_a_group_are_read_while_its_protocol_keeps_them_in_kafka(
    target: dict[str, str], has: Profile, read: bool, stage: Stage
) -> None:
    group = parse_consumer_group(group_object(protocol=target))
    await stage.connections.use(KEY, group, RolloutMemory(protocol=has), connection_object(), 0.0)
    assert stage.observers[0].with_settings == {str(KEY): read}


async def test_of_those_that_a_connection_does_not_show_the_same_one_is_told_of_each_time(stage: Stage) -> None:
    for key in (KEY, OTHER):
        await stage.use(key)
    views = stage.observers[0].views
    views |= {str(KEY): observation(), str(OTHER): Unobserved(Reason.TOPIC_MISSING, "its own fault", 0.0)}
    assert stage.connections.worst_view(CONNECTION) is None
    views |= {str(key): Unobserved(Reason.KAFKA_UNREACHABLE, key.name, 0.0) for key in (OTHER, KEY)}
    assert stage.connections.worst_view(CONNECTION) == views[str(KEY)]
    assert stage.connections.worst_view(Key("default", "nobody-s")) is None
    assert stage.api.objects.get((KAFKA_CONNECTION.name, *CONNECTION)) is None


async def test_the_count_of_requests_never_goes_down(stage: Stage) -> None:
    """Each connection has sent one: a counter that falls is taken for the operator's restart."""
    counts = []

    def count() -> None:
        counts.append(stage.connections.requests().get("Metadata", 0))

    await stage.use(generation=1)
    stage.observers[0].on_close = count
    count()
    await stage.use(generation=2)
    count()
    await stage.connections.forget(KEY)
    count()
    await stage.use(generation=2)
    await stage.connections.close()
    count()
    assert counts == [1, 1, 2, 2, 3]


async def test_one_that_others_close_meanwhile_is_not_closed_again_at_the_end(stage: Stage) -> None:
    """As one whose observer has just failed."""
    other = Key("default", "refunds")
    await stage.use(connection="main")
    await stage.use(other, connection="other")
    ends = asyncio.Event()
    stage.observers[0].may_end = ends
    closing = asyncio.ensure_future(stage.connections.close())
    await stage.observers[0].closed.wait()
    await stage.connections.forget(other)
    ends.set()
    await closing
    assert stage.observers[1].is_closed


@pytest.mark.parametrize("set_back_s", [0.0, 7_200.0])
async def test_a_secret_is_read_again_though_the_clock_was_set_back(stage: Stage, set_back_s: float) -> None:
    """A node that boots two hours ahead is put right by NTP."""
    stage.add_secret("wrong")
    await stage.use(now=100_000.0, **WITH_SECRET)
    (observer,) = stage.observers
    observer.views[str(KEY)] = Unobserved(Reason.CONNECTION_INVALID, "refused the credentials", 100_000.0)
    stage.add_secret("right")
    await stage.use(now=100_000.0 - set_back_s + SECRETS_AGAIN_S, **WITH_SECRET)
    assert len(stage.secrets) == 2

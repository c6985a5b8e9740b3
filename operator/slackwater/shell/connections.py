"""One observer for each KafkaConnection that a ConsumerGroup uses; opened, renewed and closed as objects change."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.adapters.cluster.secrets import read_secrets
from slackwater.adapters.kafka.security import secret_names
from slackwater.api.errors import InvalidSpec, SlackwaterError
from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.resources import Connection, ConsumerGroup
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity
from slackwater.core.timeouts.group_settings import kept_in_kafka
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.ports import Cluster, GroupAdmin, KafkaCluster, OpensKafka, Secrets
from slackwater.shell.open_connection import Open, hash_of, wants_secrets_again
from slackwater.shell.opening import NotYet, Opening
from slackwater.shell.store import Key, connection_key

SECRETS_SOON_S: Final = 1.0
"""After an API server that did not answer."""
OBSERVED_AGAIN_S: Final = 10.0

_log = structlog.get_logger(__name__)


class Connections:
    """Observers by KafkaConnection. `on_change(group)` is called when something about a group changed.

    A connection is opened, renewed or closed by one group at a time. All others go on: reading a Secret and ending a
    client may take a minute, and whoever waited for it would keep a worker from the groups of other connections.
    """

    def __init__(
        self, api: Cluster, open_kafka: OpensKafka, on_change: Callable[[Key], None], own_namespace: str = ""
    ) -> None:
        self._api = api
        self.own_namespace = own_namespace
        """Where the Secrets of ClusterKafkaConnections are; empty: none of these is used."""
        self._open_kafka = open_kafka
        self._on_change = on_change
        self._open: dict[Key, Open] = {}
        self._broken: dict[Key, Unobserved] = {}
        self._unusable: dict[Key, tuple[tuple[int, str, int], str]] = {}
        """What made no client, and why: to try may take a tenth of a second, and each of a thousand groups would."""
        self._used_by: dict[Key, Key] = {}
        self._users: dict[Key, set[Key]] = {}
        """The reverse."""
        self._opening = Opening()
        self._requests_of_closed: Counter[str] = Counter()
        self._in_hand: dict[Key, set[Key]] = {}
        """Connection that is just being opened, renewed or closed → the groups that came meanwhile."""
        self._watchers: set[asyncio.Task[None]] = set()

    async def use(
        self, group_key: Key, group: ConsumerGroup, memory: RolloutMemory, connection: Mapping[str, Any], now: float
    ) -> None:
        """Have the group observed by this connection. What is wrong with the connection shows in `view`.

        While the connection is in the hand of another group this returns at once: `awaits_first_look`.
        """
        _, key = connection_key(group)
        if self._used_by.get(group_key, key) != key:
            await self.forget(group_key)
        self._used_by[group_key] = key
        self._users.setdefault(key, set()).add(group_key)
        if key in self._in_hand:
            self._in_hand[key].add(group_key)
            return
        with self._taken_in_hand(key):
            opened = await self._ensure(key, connection, now)
            if opened is not None:
                settings = kept_in_kafka(group, memory)
                opened.kafka.watch(str(group_key), group.group_id, group.spec.topics, settings=settings)
                opened.groups.add(group_key)

    async def forget(self, group_key: Key) -> None:
        """The group is gone; a connection that nobody uses any more is closed."""
        key = self._used_by.pop(group_key, None)
        if key is None:
            return
        users = self._users[key]
        users.discard(group_key)
        opened = self._open.get(key)
        if opened is not None:  # even where a connection that was renewed has not begun to watch it: it has its place
            opened.kafka.unwatch(str(group_key))
            opened.groups.discard(group_key)
        if users:
            return
        del self._users[key]
        self._broken.pop(key, None)
        self._unusable.pop(key, None)
        if opened is not None:  # in nobody's hand: whoever opens or renews it uses it
            with self._taken_in_hand(key):
                await self._close(key)

    def view(self, group_key: Key, now: float) -> tuple[KafkaView, GroupHistory]:
        """The newest that is known of a group, without asking anybody."""
        key = self._used_by.get(group_key)
        if key is not None and key in self._broken:
            return self._broken[key], GroupHistory()
        opened = self._open.get(key) if key is not None else None
        known = opened.kafka.latest(str(group_key)) if opened is not None else None
        not_yet = Unobserved(Reason.OBSERVATION_INCOMPLETE, "the group has not been looked at yet", now)
        return known or (not_yet, GroupHistory())

    def again_s(self, group_key: Key) -> float:
        """In how many seconds to use the connection again, where what is in its way passes by itself; else infinite."""
        broken = self._broken.get(self._used_by.get(group_key, group_key))
        return SECRETS_SOON_S if broken is not None and broken.reason.passes else math.inf

    def broker(self, group_key: Key) -> BrokerFacts | None:
        """What the brokers behind a group can do and allow; None while that is not known."""
        opened = self._open.get(self._used_by.get(group_key, group_key))
        return None if opened is None else opened.kafka.broker

    def cluster_id(self, group_key: Key) -> str | None:
        """Of the Kafka cluster that a group is in; None while no broker of its connection, as it is now, has told."""
        key = self._used_by.get(group_key, group_key)
        opened = self._open.get(key) if key not in self._broken else None
        return None if opened is None else opened.kafka.cluster_id

    def certificates(self, connection: Key, now: float) -> Sequence[Validity] | None:
        """Of a connection that is open; None where it is not, and while a renewed one may be in a Secret unread."""
        opened = self._open.get(connection)
        if opened is None or connection in self._in_hand:
            return None
        known = opened.kafka.certificates
        unread = any(opened.secrets_read_at < each.told_from <= now for each in known)
        return None if unread else known

    def refresh_broker(self, group_key: Key) -> None:
        """Ask the brokers behind a group again soon, because somebody may have changed them."""
        opened = self._open.get(self._used_by.get(group_key, group_key))
        if opened is not None:
            opened.kafka.refresh_broker()

    def worst_view(self, connection: Key) -> Unobserved | None:
        """Why a group of it cannot be seen, where the connection itself is to blame: of several the same each time."""
        if connection in self._broken:
            return self._broken[connection]
        opened = self._open.get(connection)
        return None if opened is None else opened.kafka.first_unseen()

    def awaits_first_look(self, group_key: Key) -> bool:
        """Whether the first observation of the group is under way, or its connection is in the hand of another one;
        `on_change` is called when that is over."""
        key = self._used_by.get(group_key)
        if key is not None and group_key in self._in_hand.get(key, ()):
            return True
        opened = self._open.get(key) if key is not None and key not in self._broken else None
        return opened is not None and opened.kafka.latest(str(group_key)) is None

    async def look_now(self, group_key: Key) -> None:
        """Wait for an observation that begins after this call."""
        opened = self._open.get(self._used_by.get(group_key, group_key))
        if opened is not None:
            await opened.kafka.look_now(str(group_key))

    def look_soon(self, group_key: Key) -> None:
        """Have it observed again; `on_change` is called when that is done, for a group in motion."""
        opened = self._open.get(self._used_by.get(group_key, group_key))
        if opened is not None and group_key in opened.groups:
            opened.kafka.look_soon(str(group_key))

    def set_motion(self, group_key: Key, in_motion: bool) -> None:
        opened = self._open.get(self._used_by.get(group_key, group_key))
        if opened is not None and group_key in opened.groups:
            opened.kafka.set_motion(str(group_key), in_motion)

    def admin(self, group_key: Key) -> GroupAdmin | None:
        """To change the group in Kafka, by whom may write to Kubernetes as well; None while there is no usable
        connection."""
        opened = self._open.get(self._used_by.get(group_key, group_key))
        return None if opened is None else opened.kafka.admin(self._api.before_write)

    def requests(self) -> dict[str, int]:
        """Kafka requests sent so far, by API; those of connections that are closed count on."""
        total = self._requests_of_closed.copy()
        for opened in list(self._open.values()):  # for whoever asks in another thread
            total.update(dict(opened.kafka.requests))
        return total

    async def close(self) -> None:
        while self._open:  # one may be made again, or closed by others, while another is closed
            await self._close(next(iter(self._open)))

    @contextmanager
    def _taken_in_hand(self, key: Key) -> Iterator[None]:
        """For whom opens, renews or closes a connection that is in nobody's hand."""
        waiting = self._in_hand[key] = set[Key]()
        try:
            yield
        finally:
            del self._in_hand[key]
            for group in waiting:
                self._on_change(group)

    async def _ensure(self, key: Key, obj: Mapping[str, Any], now: float) -> Open | None:
        generation, uid = obj["metadata"].get("generation", 0), obj["metadata"]["uid"]
        opened = self._open.get(key)
        current = opened is not None and (opened.generation, opened.uid) == (generation, uid)
        if current and opened is not None and not wants_secrets_again(opened, now):
            self._broken.pop(key, None)  # its Secret may have been unreadable meanwhile
            return opened
        try:
            connection = parse_kafka_connection(obj)
            secrets = await read_secrets(self._api, key.namespace or self.own_namespace, secret_names(connection.spec))
            if current and opened is not None and secrets == opened.secrets:
                opened.secrets_read_at = now
                self._broken.pop(key, None)
                return opened
            if opened is None:
                self._opening.refuse_too_many(key.namespace, self._open)
            kafka = self._client(key, (generation, uid, hash_of(secrets)), connection, secrets, now)
        except (ClusterUnreachable, NotYet) as error:
            # What is known of today's spec stands, bad or good, until the API server says otherwise.
            if not current:
                self._broken.setdefault(key, Unobserved(Reason.OBSERVATION_INCOMPLETE, str(error), now))
            return opened
        except SlackwaterError as error:
            before = self._broken.get(key)
            since = now if before is None else before.since
            self._broken[key] = Unobserved(Reason.CONNECTION_INVALID, str(error), since)
            return opened  # what still works goes on working, but is not believed: `view` says what is wrong
        self._broken.pop(key, None)
        return await self._renew(key, Open(generation, uid, secrets, now, kafka))

    def _client(
        self, key: Key, version: tuple[int, str, int], connection: Connection, secrets: Secrets, now: float
    ) -> KafkaCluster:
        """Raises SlackwaterError, in the words of the first try."""
        known = self._unusable.get(key)
        if known is not None and known[0] == version:
            raise SlackwaterError(known[1])
        self._opening.take_turn(key.namespace, now)
        self._unusable.pop(key, None)
        try:
            return self._open_kafka(connection, secrets, self._changed)
        except InvalidSpec as error:
            self._unusable[key] = (version, str(error))
            raise

    async def _renew(self, key: Key, opened: Open) -> Open:
        before = self._open.get(key)
        groups = set(before.groups) if before is not None else set()
        if before is not None:
            await self._close(key)
        opened.kafka.start()
        watcher = asyncio.create_task(self._watch(key, opened.kafka), name=f"watch-observer-{key}")
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)
        self._open[key] = opened
        for group in groups:
            self._on_change(group)  # each comes back to be watched here
        return opened

    def _changed(self, group: str) -> None:
        self._on_change(Key(*group.split("/")))

    async def _watch(self, key: Key, kafka: KafkaCluster) -> None:
        """An observer that ended by itself is a bug, which one connection brings to light: it must not stop all others.

        What was known grows old, so that nobody acts on it, and after a while the connection is opened again.
        """
        try:
            await kafka.wait_failed()
        except Exception:  # noqa: BLE001 - see above
            _log.exception("observer_ended", connection=str(key), again_s=OBSERVED_AGAIN_S)
            while True:
                await asyncio.sleep(OBSERVED_AGAIN_S)
                if key not in self._in_hand:
                    return await self._reopen(key, kafka)

    async def _reopen(self, key: Key, ended: KafkaCluster) -> None:
        opened = self._open.get(key)
        if opened is None or opened.kafka is not ended:
            return
        with self._taken_in_hand(key):
            await self._close(key)
        for group in opened.groups:
            self._on_change(group)  # each comes back, the first one opens it

    async def _close(self, key: Key) -> None:
        opened = self._open.pop(key)
        self._requests_of_closed.update(opened.kafka.requests)
        await opened.kafka.close()

"""One Kafka cluster as the operator uses it: the connection, the observer of its groups, and who changes them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from slackwater.adapters.kafka.broker_reader import BrokerReader
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.observer import NotWatched, Observer, ObserverStopped
from slackwater.adapters.kafka.reading_pace import pace_of
from slackwater.adapters.kafka.security import client_settings
from slackwater.adapters.kafka.share import Share
from slackwater.adapters.kafka.sizes import USUAL, Limits
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.api.resources import ClusterKafkaConnection, Connection
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.ports import Secrets

LOOK_S: Final = 120.0
"""A worker waits for a look no longer. Three requests after each other take 15 s, and those in parts twice 30 s."""


class ConnectedKafka:
    """The `KafkaCluster` of a KafkaConnection. Nothing is sent before `start`."""

    def __init__(self, wire: KafkaWire, observer: Observer, certificates: Sequence[Validity] = ()) -> None:
        self.certificates = certificates
        self._wire = wire
        self._observer = observer

    @property
    def broker(self) -> BrokerFacts | None:
        return self._observer.broker

    @property
    def cluster_id(self) -> str | None:
        return self._wire.cluster_id

    @property
    def requests(self) -> Mapping[str, int]:
        return self._wire.requests

    @property
    def unseen_for(self) -> Collection[Reason]:
        return self._observer.unseen.reasons

    def first_unseen(self) -> Unobserved | None:
        return self._observer.unseen.first_of_the_connection()

    def start(self) -> None:
        self._observer.start()

    def watch(self, key: str, group_id: str, topics: Iterable[str], settings: bool = False) -> None:
        self._observer.watch(key, group_id, topics, settings)

    def unwatch(self, key: str) -> None:
        self._observer.unwatch(key)

    def latest(self, key: str) -> tuple[KafkaView, GroupHistory] | None:
        return self._observer.latest(key)

    async def look_now(self, key: str) -> None:
        try:
            async with asyncio.timeout(LOOK_S):
                await self._observer.observe_now(key)
        except (NotWatched, ObserverStopped, TimeoutError):
            return  # forgotten, or renewed, or as slow as nothing should be: the view is then too old for any act

    def look_soon(self, key: str) -> None:
        self._observer.look_soon(key)

    def set_motion(self, key: str, in_motion: bool) -> None:
        self._observer.set_motion(key, in_motion)

    def refresh_broker(self) -> None:
        self._observer.refresh_broker()

    def admin(self, before_write: Callable[[], object]) -> KafkaGroupAdmin:
        return KafkaGroupAdmin(self._wire, before_write=before_write)

    async def wait_failed(self) -> None:
        await self._observer.wait_failed()

    async def close(self) -> None:
        await self._observer.close()


def connected(  # noqa: PLR0913 - the operator's own settings go before the connection's
    connection: Connection,
    secrets: Secrets,
    on_change: Callable[[str], None],
    *,
    moving_interval_s: float | None = None,
    rest_interval_s: float | None = None,
    token_hosts: Collection[str] = (),
    limits: Limits = USUAL,
) -> ConnectedKafka:
    """Put together as the KafkaConnection says, intervals too where they are None. Raises InvalidSpec."""
    spec = connection.spec
    settings = client_settings(f"{connection.kind} {connection.metadata.name}", spec, secrets, token_hosts)
    # Who writes a ClusterKafkaConnection administers the cluster: each has a pace of its own.
    shared = isinstance(connection, ClusterKafkaConnection)
    namespace = "" if shared else connection.metadata.namespace
    pace = pace_of(namespace or f"/{connection.metadata.name}")
    share = Share(f"{namespace}/{connection.metadata.name}", limits.per_namespace)
    wire = KafkaWire(settings.kafka_python, pace=pace, limits=limits)
    observer = Observer(
        KafkaGroupReader(wire, limits=limits, share=share),
        on_change,
        brokers=BrokerReader(wire),
        share=share,
        moving_interval_s=moving_interval_s or spec.observe.moving_interval_ms / 1000,
        rest_interval_s=rest_interval_s or spec.observe.rest_interval_ms / 1000,
    )
    return ConnectedKafka(wire, observer, settings.certificates)

"""Looking at one group in Kafka from where the command runs, through its KafkaConnection and the Secrets it names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterFailed, Forbidden
from slackwater.adapters.cluster.secrets import read_secrets
from slackwater.adapters.cluster.snapshot import Snapshot, is_hidden, to_world
from slackwater.adapters.kafka.broker_reader import BrokerReader
from slackwater.adapters.kafka.errors import KafkaFailed
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.security import ClientSettings, client_settings, secret_names
from slackwater.adapters.kafka.watch import Watch
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.api.conditions import ConditionType
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_kafka_connection
from slackwater.api.resources import ClusterKafkaConnection, ConsumerGroup
from slackwater.cli.looking.vouched import NotVouchedFor, check_vouched, has_logged_in
from slackwater.cli.words.readiness import condition_of
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.seen import turn_shown
from slackwater.core.timeouts.group_settings import kept_in_kafka
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.world import World

Json = Mapping[str, Any]

LOOK_INTERVAL_S: Final = 1.0
"""As often as the operator looks at a group in motion."""
_BROKERS_INTERVAL_S: Final = 30.0
"""What brokers can do and allow seldom changes; who waits for such a change does not want to wait long."""


class Lookout:
    """Keeps the newest view of a group and its history. What is wrong with Kafka shows in `view`, never raises."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api
        self._aim: tuple[object, ...] | None = None
        self._watch: Watch | None = None
        self._reader: KafkaGroupReader | None = None
        self._brokers: BrokerReader | None = None
        self._broker: BrokerFacts | None = None
        self._asked_brokers_at = -_BROKERS_INTERVAL_S
        self._blind = Unobserved(Reason.OBSERVATION_INCOMPLETE, "the group has not been looked at yet", time.time())

    @property
    def view(self) -> KafkaView:
        return self._blind if self._watch is None or self._watch.view is None else self._watch.view

    @property
    def history(self) -> GroupHistory:
        return GroupHistory() if self._watch is None else self._watch.history

    def world(self, snapshot: Snapshot, group: ConsumerGroup | None = None) -> World:
        """Both halves put together as of now. `group`: in place of the snapshot's. Raises InvalidSpec."""
        world = to_world(snapshot, self.view, self.history, time.time(), group)
        gated = condition_of(world.group.status, ConditionType.ROLLOUT_GATED)
        return replace(world, broker=self._broker, turn=turn_shown(world.memory, gated))

    async def aim(self, group: ConsumerGroup, connection: Json | None, memory: RolloutMemory | None = None) -> None:
        """Look at this group through this connection from now on. The same again changes nothing.

        `memory`: what the group's status remembers, where there is one.
        """
        through = None if connection is None else (connection["spec"], has_logged_in(connection))
        aim = (group.group_id, group.spec.topics, through)
        own_settings = kept_in_kafka(group, memory or RolloutMemory())
        if aim == self._aim:
            if self._watch is not None:
                self._watch.settings = own_settings
            return
        await self.close()
        self._aim = aim
        if connection is None:
            missing = f"there is no {group.spec.connection_ref}: apply one"
            self._blind = self._refused(Reason.CONNECTION_MISSING, missing)
            return
        try:
            settings = await self._settings(group, connection)
        except InvalidSpec as error:
            self._blind = self._refused(Reason.CONNECTION_INVALID, str(error))
        except ClusterFailed as error:
            self._blind = self._refused(Reason.NOT_AUTHORIZED, f"its credentials cannot be read from here: {error}")
        except NotVouchedFor as error:
            self._blind = self._refused(Reason.NOT_AUTHORIZED, str(error))
        else:
            wire = KafkaWire(settings.kafka_python)
            self._reader, self._brokers = KafkaGroupReader(wire), BrokerReader(wire)
            self._watch = Watch(group.group_id, frozenset(group.spec.topics), own_settings)

    async def _settings(self, group: ConsumerGroup, connection: Json) -> ClientSettings:
        """Raises InvalidSpec, ClusterFailed and NotVouchedFor."""
        reference = group.spec.connection_ref
        if is_hidden(connection):
            raise Forbidden(f"you may not read {reference}")
        parsed = parse_kafka_connection(connection)
        names = secret_names(parsed.spec)
        if names and isinstance(parsed, ClusterKafkaConnection):
            raise Forbidden(f"the Secrets of {reference} are in the operator's namespace")
        if names:
            check_vouched(connection)
        secrets = await read_secrets(self._api, group.namespace, names)
        return client_settings(f"{parsed.kind} {parsed.metadata.name}", parsed.spec, secrets)

    async def look(self) -> None:
        """One look, folded into the history; takes as long as Kafka takes, 10 s at most."""
        watch, reader = self._watch, self._reader
        if watch is not None and reader is not None:
            settings_of = (watch.group_id,) if watch.settings else ()
            views, _ = await asyncio.gather(
                reader.observe({watch.group_id: watch.asked}, settings_of), self._ask_brokers()
            )
            watch.fold(views[watch.group_id])

    async def close(self) -> None:
        """End the connections; views and history are forgotten."""
        reader, self._reader, self._watch = self._reader, None, None
        self._brokers = self._broker = None
        self._asked_brokers_at = -_BROKERS_INTERVAL_S
        if reader is not None:
            await reader.close()

    async def _ask_brokers(self) -> None:
        """Now and then. What they said stays when they cannot be asked; why not, the group's own view says."""
        now = time.monotonic()
        if self._brokers is None or now - self._asked_brokers_at < _BROKERS_INTERVAL_S:
            return
        self._asked_brokers_at = now  # whatever comes of it: a broker that is silent is not to hold up every look
        with suppress(KafkaFailed):
            self._broker = await self._brokers.read()

    @staticmethod
    def _refused(reason: Reason, message: str) -> Unobserved:
        return Unobserved(reason, message, time.time())

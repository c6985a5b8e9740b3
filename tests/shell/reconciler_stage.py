"""A reconciler over a cluster in memory."""

from __future__ import annotations

import time
from typing import Any

from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
)
from slackwater.core.fleet.times import Scope
from slackwater.core.pace import AT_ONCE
from slackwater.shell.advice import AdviceBook
from slackwater.shell.campaigns import Campaigns
from slackwater.shell.fleets import Fleets
from slackwater.shell.metrics import Metrics
from slackwater.shell.reconciler import Reconciler
from slackwater.shell.store import Key, Store
from slackwater.shell.telemetry import Telemetry
from tests.shell.fakes import KEY, FakeApi, FakeConnections, connection_object, group_object


class Stage:
    """A reconciler over a cluster in memory, with one ConsumerGroup in it."""

    def __init__(self, **group: Any) -> None:
        self.api, self.store, self.connections = FakeApi(), Store(), FakeConnections()
        self.see(self.api.add(CONSUMER_GROUP, group_object(**group)))
        self.store.put(KAFKA_CONNECTION, self.api.add(KAFKA_CONNECTION, connection_object()))
        api: Any = self.api
        connections: Any = self.connections
        self.advice = AdviceBook(lambda key: None)
        self.metrics, telemetry = Metrics(), Telemetry(None, time.time)
        self.later_s = 0.0
        """How far its clock is ahead of ours."""
        self.woken: list[Key] = []
        self.fleets = Fleets(self.store, self.woken.append, Scope(), self.now)
        self.campaigns = Campaigns(self.store, self.fleets, self.now)
        witnesses = (self.metrics, telemetry, self.fleets, self.campaigns)
        self.reconciler = Reconciler(api, self.store, connections, self.advice, self.now, witnesses, self.fleets)
        self.fleets.begin()

    def now(self) -> float:
        return time.time() + self.later_s

    def see(self, obj: dict[str, Any]) -> None:
        """What a watch brings."""
        self.store.put(CONSUMER_GROUP, obj)

    def scale(self, replicas: int) -> None:
        """As people do it."""
        known = self.api.objects["ConsumerGroup", *KEY]
        self.api.objects["ConsumerGroup", *KEY] = {**known, "spec": {**known["spec"], "replicas": replicas}}
        self.see(self.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))

    async def run(self) -> float | None:
        return await self.reconciler.reconcile(KEY)

    async def run_to_rest(self) -> float | None:
        for _ in range(10):
            if (again_s := await self.run()) != AT_ONCE:
                return again_s
        raise AssertionError(f"it never comes to rest: {self.api.asked}")

    def condition(self, kind: str) -> dict[str, Any]:
        status = self.api.objects["ConsumerGroup", *KEY]["status"]
        return next(c for c in status["conditions"] if c["type"] == kind)

    def metrics_text(self) -> str:
        return self.metrics.text().decode()

    def reasons(self) -> list[str]:
        return [event["reason"] for event in self.api.events]

    def acts(self) -> list[str]:
        return [line for line in self.metrics_text().splitlines() if line.startswith("slackwater_acts_total")]

    def ask_nothing_more(self) -> None:
        self.api.asked.clear()
        self.api.requests.clear()

"""Metrics of the operator, with the names that dashboards know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from slackwater.core.acts import Act, kind_of
from slackwater.core.observation import GroupObservation, GroupState
from slackwater.core.plan import Plan
from slackwater.core.reasons import Reason
from slackwater.core.world import World
from slackwater.shell.store import Key

_GROUP = ("namespace", "group")


class _Requests(Protocol):
    def __call__(self) -> Iterable[tuple[tuple[str, ...], int]]: ...


class Metrics:
    """One registry. Cardinality: a handful of series for each ConsumerGroup, none for each partition or pod."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._lag = Gauge(
            "kafka_consumergroup_lag", "Records behind, over all partitions.", _GROUP, registry=self.registry
        )
        self._members = Gauge("kafka_consumergroup_members", "Members of the group.", _GROUP, registry=self.registry)
        self._state = Gauge(
            "kafka_consumergroup_state",
            "1 for the state that the group is in.",
            (*_GROUP, "state"),
            registry=self.registry,
        )
        self._held = Gauge("slackwater_rollout_held", "1 while a rollout waits.", _GROUP, registry=self.registry)
        self._acts = Counter(
            "slackwater_acts", "What was done to the cluster, by kind.", ("act",), registry=self.registry
        )
        self._fenced = Counter(
            "slackwater_handovers_fenced",
            "Handovers in which the replaced process came back and fenced its replacement, or may have.",
            _GROUP,
            registry=self.registry,
        )
        self.leading = Gauge(
            "slackwater_leading", "1 while this replica may act, 0 while it stands by.", registry=self.registry
        )
        self.leading.set(1)
        self.passes = Counter("slackwater_reconciles", "Passes, by result.", ("result",), registry=self.registry)
        self.seconds = Histogram("slackwater_reconcile_seconds", "How long a pass takes.", registry=self.registry)
        self._states: dict[tuple[str, str], str] = {}

    def count_requests(self, name: str, help_text: str, labels: tuple[str, ...], read: _Requests) -> None:
        """Publish counts that somebody else keeps."""
        self.registry.register(_Reader(name, help_text, labels, read))

    def show(self, world: World, decided: Plan) -> None:
        labels = (world.group.namespace, world.group.name)
        self._held.labels(*labels).set(decided.hold is not None)
        if fenced := sum(note.reason == Reason.FENCED_EACH_OTHER for note in decided.notes):
            self._fenced.labels(*labels).inc(fenced)
        if not isinstance(world.kafka, GroupObservation):
            return
        self._members.labels(*labels).set(len(world.kafka.members))
        if world.kafka.lag is not None:
            self._lag.labels(*labels).set(world.kafka.lag)
        self._show_state(labels, world.kafka.state)

    def _show_state(self, labels: tuple[str, str], state: GroupState) -> None:
        before = self._states.get(labels)
        if before is not None and before != state:
            self._state.remove(*labels, before)
        self._state.labels(*labels, state.value).set(1)
        self._states[labels] = state.value

    def acted(self, act: Act) -> None:
        self._acts.labels(kind_of(act)).inc()

    def forget(self, key: Key) -> None:
        """The group is gone; so are its series."""
        labels = (key.namespace, key.name)
        state = self._states.pop(labels, None)
        for metric in (self._lag, self._members, self._held, self._fenced):
            metric.remove_by_labels({"namespace": key.namespace, "group": key.name})
        if state is not None:
            self._state.remove(*labels, state)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class _Reader(Collector):
    def __init__(self, name: str, help_text: str, labels: tuple[str, ...], read: _Requests) -> None:
        self._name, self._help, self._labels, self._read = name, help_text, labels, read

    def collect(self) -> Iterable[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._help, labels=self._labels)
        for labels, count in self._read():
            family.add_metric(labels, count)
        yield family

"""Metrics of the operator, as `docs/metrics.md` lists them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Container, Iterable
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from slackwater import __version__
from slackwater.core.decision.acts import Act, kind_of
from slackwater.core.decision.decision import Decision
from slackwater.core.world.world import World
from slackwater.shell.group_metrics import GroupMetrics
from slackwater.shell.shown_groups import ALL
from slackwater.shell.store import Key
from slackwater.shell.witnesses import Witness


class _Requests(Protocol):
    def __call__(self) -> Iterable[tuple[tuple[str, ...], int]]: ...


class Metrics(Witness):
    """One registry, and beside it the series of groups: a few dozen for each, none for each partition or pod.

    `per_group`: which groups have series of their own (`shown_groups`).
    """

    def __init__(self, per_group: str = ALL) -> None:
        self.registry = CollectorRegistry()
        self._stocks: list[_Stock] = []
        self.groups = GroupMetrics(per_group)
        self.registry.register(self.groups.totals)
        self._acts = Counter(
            "slackwater_acts",
            "What was done to the cluster and to groups in Kafka, by kind.",
            ("act",),
            registry=self.registry,
        )
        self._passes = Counter("slackwater_reconciles", "Passes, by result.", ("result",), registry=self.registry)
        self._seconds = Histogram(
            "slackwater_reconcile_duration_seconds", "How long a pass takes, failed ones too.", registry=self.registry
        )
        for result in ("ok", "failed"):
            self._passes.labels(result)  # a rate needs the 0 that it grows from
        self.leading = Gauge(
            "slackwater_leading", "1 while this replica may act, 0 while it stands by.", registry=self.registry
        )
        self.leading.set(1)
        _say_the_version(self.registry)
        self._longest_stall_s = 0.0
        self._stalls = Histogram(
            "slackwater_event_loop_stall_seconds",
            "How much later than asked a turn of the event loop came, at each of twenty beats a second.",
            buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
            registry=self.registry,
        )
        self._longest_stall = Gauge(
            "slackwater_event_loop_longest_stall_seconds",
            "The longest of these since the process began.",
            registry=self.registry,
        )
        self._refused = Gauge(
            "slackwater_namespace_refused",
            "1 for a namespace of watchNamespaces that the operator may not read, 0 for the others.",
            ("namespace",),
            registry=self.registry,
        )

    def count_requests(self, name: str, help_text: str, labels: tuple[str, ...], read: _Requests) -> None:
        """Publish counts that somebody else keeps."""
        self.registry.register(_Reader(name, help_text, labels, read))

    def count_at_once(self, collector: Collector) -> None:
        """Publish what somebody else keeps that changes as a whole: the event loop reads it (`take_stock`)."""
        self._stocks.append(stock := _Stock(collector))
        self.registry.register(stock)

    def count_groups(self, read: Callable[[], int]) -> None:
        """`read`: how many ConsumerGroups there are to take care of."""
        groups = Gauge("slackwater_groups", "ConsumerGroups that this operator takes care of.", registry=self.registry)
        groups.set_function(read)

    def stood_still(self, for_s: float) -> None:
        """The event loop, in seconds."""
        self._stalls.observe(for_s)
        self._longest_stall_s = max(self._longest_stall_s, for_s)
        self._longest_stall.set(self._longest_stall_s)

    def listed(self, namespaces: Iterable[str], refused: Container[str]) -> None:
        """Each namespace that the operator was told to look after, and whether it may not be read."""
        for namespace in namespaces:
            self._refused.labels(namespace).set(namespace in refused)

    def decided(self, key: Key, world: World, decision: Decision) -> None:
        self.groups.decided(key, world, decision)

    def acted(self, key: Key, act: Act) -> None:
        self._acts.labels(kind_of(act)).inc()

    def forget(self, key: Key) -> None:
        self.groups.forget(key)

    def passed(self, result: str, took_s: float) -> None:
        """`result`: ok or failed."""
        self._passes.labels(result).inc()
        self._seconds.observe(took_s)

    def take_stock(self) -> None:
        """In the event loop, before each `text`."""
        for stock in self._stocks:
            stock.take()

    def text(self) -> bytes:
        """In any thread: of ten thousand groups it takes half a second."""
        return b"".join((*self.groups.text(), generate_latest(self.registry)))

    def families(self) -> Iterable[Metric]:
        """All that there may be."""
        return (*self.groups.families(), *self.registry.collect())


def _say_the_version(registry: CollectorRegistry) -> None:
    text = "1, with the versions of Slackwater and of Python."
    build = Gauge("slackwater_build_info", text, ("version", "python"), registry=registry)
    build.labels(__version__, platform.python_version()).set(1)


class _Stock(Collector):
    """What another one collects, all of it in one turn of the event loop: a thread would meet changes halfway."""

    def __init__(self, of: Collector) -> None:
        self._of = of
        self.take()

    def take(self) -> None:
        self._taken = tuple(self._of.collect())

    def collect(self) -> Iterable[Metric]:
        return self._taken


class _Reader(Collector):
    def __init__(self, name: str, help_text: str, labels: tuple[str, ...], read: _Requests) -> None:
        self._name, self._help, self._labels, self._read = name, help_text, labels, read

    def collect(self) -> Iterable[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._help, labels=self._labels)
        for labels, count in list(self._read()):
            family.add_metric(labels, count)
        yield family

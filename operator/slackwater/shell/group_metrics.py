"""What Prometheus is told of each group: gauges of how it is, counters of what happened to it since this process began.

One collector over all groups, so that the series of a group which is gone go with it. Labels are the group's namespace
and name, and at most one more with few values: never a partition, a pod or a member.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.metrics.figures import figures_of
from slackwater.core.metrics.idle_time import follow_idle_time
from slackwater.core.metrics.lag_time import follow_log_ends, group_lag_s
from slackwater.core.metrics.step_results import step_result
from slackwater.core.telemetry.rebalances import follow_rebalances
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.world import World
from slackwater.shell.group_series import COUNTERS, GAUGES, GROUP_LABELS, REBALANCE_BUCKETS_S, Family, GroupRecord
from slackwater.shell.store import Key

_Plain = GaugeMetricFamily | CounterMetricFamily

_log = structlog.get_logger(__name__)


class GroupMetrics(Collector):
    def __init__(self) -> None:
        self._groups: dict[Key, GroupRecord] = {}

    def decided(self, key: Key, world: World, decided: Decision) -> None:
        """Once the decision is remembered, before it is carried out."""
        try:
            self._take_in(key, world, decided)
        except Exception:  # noqa: BLE001 - a bug in telling what happens must not stop what happens
            self.forget(key)
            _log.exception("metrics_failed", group=str(key))

    def _take_in(self, key: Key, world: World, decided: Decision) -> None:
        figures = figures_of(world, decided)
        known = self._groups.get(key)
        group = known or self._groups.setdefault(key, GroupRecord(figures))
        if figures.held and (known is None or figures.held != group.figures.held):
            group.holds[figures.held] += 1
        group.figures = figures
        group.lag_s = None
        if isinstance(world.kafka, GroupObservation):
            group.log_ends = follow_log_ends(group.log_ends, world.kafka)
            group.lag_s = group_lag_s(group.log_ends, world.kafka)
        group.idle = follow_idle_time(group.idle, world)
        group.fenced += sum(note.reason is Reason.FENCED_EACH_OTHER for note in decided.notes)
        if result := step_result(world.memory, decided.memory):
            group.steps[result] += 1
        _count_rebalances(group, Sight(world, decided))

    def forget(self, key: Key) -> None:
        """The group is gone; so are its series."""
        self._groups.pop(key, None)

    def collect(self) -> Iterator[Metric]:
        """In any thread: groups come and go meanwhile."""
        for gauge in GAUGES:
            yield self._filled(GaugeMetricFamily(gauge.name, gauge.text, labels=gauge.labels), gauge)
        for counter in COUNTERS:
            yield self._filled(CounterMetricFamily(counter.name, counter.text, labels=counter.labels), counter)
        durations = HistogramMetricFamily(
            "slackwater_group_rebalance_duration_seconds",
            "From the first look that saw a rebalance to the first that saw the group calm again.",
            labels=GROUP_LABELS,
        )
        for key, group in list(self._groups.items()):
            bounds = (*map(str, REBALANCE_BUCKETS_S), "+Inf")
            buckets = list(zip(bounds, accumulate(group.durations_s), strict=True))
            durations.add_metric((key.namespace, key.name), buckets, group.duration_sum_s)
        yield durations

    def _filled(self, family: _Plain, wanted: Family) -> _Plain:
        for key, group in list(self._groups.items()):
            for values, number in wanted.read(group):
                if number is not None:
                    family.add_metric((key.namespace, key.name, *values), number)
        return family


def _count_rebalances(group: GroupRecord, sight: Sight) -> None:
    group.track, events = follow_rebalances(group.track, sight, ())
    for body in (event.rebalance for event in events):
        group.rebalances += 1
        if body.started_at is None:
            continue  # it fell between two looks: nobody knows how long it took
        took_s = body.ended_at - body.started_at
        group.duration_sum_s += took_s
        group.durations_s[sum(bound < took_s for bound in REBALANCE_BUCKETS_S)] += 1

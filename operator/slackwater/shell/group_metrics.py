"""What Prometheus is told of each group: gauges of how it is, counters of what happened to it since this process began.

One keeper of all groups, so that the series of a group which is gone go with it. Labels are the group's namespace and
name, and at most one more with few values: never a partition, a pod or a member. Where not all groups have series of
their own, the others are in the totals alone, and nothing else is kept of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.metrics.figures import Figures, figures_of
from slackwater.core.metrics.idle_time import follow_idle_time
from slackwater.core.metrics.lag_time import follow_log_ends, group_lag_s
from slackwater.core.metrics.step_results import step_result
from slackwater.core.telemetry.rebalances import follow_rebalances
from slackwater.core.telemetry.sight import Sight
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.world import World
from slackwater.shell.exposition import DURATIONS, DURATIONS_TEXT, text_of
from slackwater.shell.group_series import COUNTERS, GAUGES, REBALANCE_BUCKETS_S, GroupRecord
from slackwater.shell.group_totals import GroupTotals
from slackwater.shell.shown_groups import ALL, has_series
from slackwater.shell.store import Key

_log = structlog.get_logger(__name__)


class GroupMetrics:
    """`shown`: which groups have series of their own (`shown_groups`)."""

    def __init__(self, shown: str = ALL) -> None:
        self.totals = GroupTotals()
        self._shown = shown
        self._groups: dict[Key, GroupRecord] = {}

    def decided(self, key: Key, world: World, decided: Decision) -> None:
        """Once the decision is remembered, before it is carried out."""
        try:
            figures = figures_of(world, decided)
            self.totals.take_in(key, figures)
            if has_series(self._shown, world.group.metadata.labels):
                self._take_in(key, figures, world, decided)
            else:
                self._groups.pop(key, None)
        except Exception:  # noqa: BLE001 - a bug in telling what happens must not stop what happens
            self.forget(key)
            _log.exception("metrics_failed", group=str(key))

    def _take_in(self, key: Key, figures: Figures, world: World, decided: Decision) -> None:
        known = self._groups.get(key)
        group = known or self._groups.setdefault(key, GroupRecord(figures))
        if figures.held and (known is None or figures.held != group.figures.held):
            group.holds[figures.held] += 1
        group.figures, group.phase = figures, decided.memory.phase
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
        self.totals.forget(key)

    def text(self) -> Iterator[bytes]:
        """All series of groups of their own, as Prometheus reads them. In any thread: groups come and go meanwhile."""
        return text_of(list(self._groups.items()))

    @staticmethod
    def families() -> Iterator[Metric]:
        """What there may be of each group, without samples."""
        yield from (GaugeMetricFamily(each.name, each.text, labels=each.labels) for each in GAUGES)
        yield from (CounterMetricFamily(each.name, each.text, labels=each.labels) for each in COUNTERS)
        yield HistogramMetricFamily(DURATIONS, DURATIONS_TEXT)


def _count_rebalances(group: GroupRecord, sight: Sight) -> None:
    group.track, events = follow_rebalances(group.track, sight, ())
    for body in (event.rebalance for event in events):
        group.rebalances += 1
        if body.started_at is None:
            continue  # it fell between two looks: nobody knows how long it took
        took_s = body.ended_at - body.started_at
        group.duration_sum_s += took_s
        group.durations_s[sum(bound < took_s for bound in REBALANCE_BUCKETS_S)] += 1

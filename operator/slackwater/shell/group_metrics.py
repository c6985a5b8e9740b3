"""What Prometheus is told of each group: gauges of how it is, counters of what happened to it since this process began.

One collector over all groups, so that the series of a group which is gone go with it. Labels are the group's namespace
and name, and at most one more with few values: never a partition, a pod or a member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from slackwater.core.group_figures import Figures, figures_of
from slackwater.core.idle_time import IdleTime, follow_idle_time
from slackwater.core.lag_time import LogEnds, follow_log_ends, group_lag_s
from slackwater.core.observation import GroupObservation, GroupState
from slackwater.core.plan import Plan
from slackwater.core.reasons import Reason
from slackwater.core.rollout_steps import StepResult, step_result
from slackwater.core.telemetry.rebalances import Rebalances, follow_rebalances
from slackwater.core.telemetry.sight import Sight
from slackwater.core.tuning.settings import Setting, Values
from slackwater.core.world import World
from slackwater.shell.store import Key

_REBALANCE_BUCKETS_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)

_log = structlog.get_logger(__name__)

_Samples = Iterable[tuple[tuple[str, ...], float | None]]
"""Values of the label besides the group's own, and a number; None: it is not known, and so not told."""


@dataclass(slots=True)
class _Group:
    figures: Figures
    lag_s: float | None = None
    log_ends: LogEnds = field(default_factory=LogEnds)
    idle: IdleTime = field(default_factory=IdleTime)
    track: Rebalances = field(default_factory=Rebalances)
    rebalances: int = 0
    durations_s: list[float] = field(default_factory=lambda: [0.0] * (len(_REBALANCE_BUCKETS_S) + 1))
    """How many of each bucket, the last without a bound."""
    duration_sum_s: float = 0.0
    holds: Counter[str] = field(default_factory=Counter)
    steps: Counter[StepResult] = field(default_factory=Counter)
    fenced: int = 0


class GroupMetrics(Collector):
    def __init__(self) -> None:
        self._groups: dict[Key, _Group] = {}

    def saw(self, key: Key, world: World, decided: Plan) -> None:
        """Once the decision is remembered, before it is carried out: else what cannot be carried out would not show."""
        try:
            self._take_in(key, world, decided)
        except Exception:  # noqa: BLE001 - a bug in telling what happens must not stop what happens
            self.forget(key)
            _log.exception("metrics_failed", group=str(key))

    def _take_in(self, key: Key, world: World, decided: Plan) -> None:
        figures = figures_of(world, decided)
        known = self._groups.get(key)
        group = known or self._groups.setdefault(key, _Group(figures))
        if figures.held and (known is None or figures.held != group.figures.held):
            group.holds[figures.held] += 1
        group.figures = figures
        group.lag_s = None
        if isinstance(world.kafka, GroupObservation):
            group.log_ends = follow_log_ends(group.log_ends, world.kafka)
            group.lag_s = group_lag_s(group.log_ends, world.kafka)
        group.idle = follow_idle_time(group.idle, world)
        group.fenced += sum(note.reason == Reason.FENCED_EACH_OTHER for note in decided.notes)
        if result := step_result(world.memory, decided.memory):
            group.steps[result] += 1
        _count_rebalances(group, Sight(world, decided))

    def forget(self, key: Key) -> None:
        """The group is gone; so are its series."""
        self._groups.pop(key, None)

    def collect(self) -> Iterator[Metric]:
        for gauge in _GAUGES:
            yield self._filled(GaugeMetricFamily(gauge.name, gauge.text, labels=gauge.labels), gauge)
        for counter in _COUNTERS:
            yield self._filled(CounterMetricFamily(counter.name, counter.text, labels=counter.labels), counter)
        durations = HistogramMetricFamily(
            "slackwater_group_rebalance_duration_seconds",
            "From the first look that saw a rebalance to the first that saw the group calm again.",
            labels=_GROUP_LABELS,
        )
        for key, group in self._groups.items():
            bounds = (*map(str, _REBALANCE_BUCKETS_S), "+Inf")
            buckets = list(zip(bounds, accumulate(group.durations_s), strict=True))
            durations.add_metric((key.namespace, key.name), buckets, group.duration_sum_s)
        yield durations

    def _filled(self, family: Metric, wanted: _Family) -> Metric:
        for key, group in self._groups.items():
            for values, number in wanted.read(group):
                if number is not None:
                    family.add_metric((key.namespace, key.name, *values), number)  # type: ignore[attr-defined]
        return family


def _count_rebalances(group: _Group, sight: Sight) -> None:
    group.track, events = follow_rebalances(group.track, sight, ())
    for body in (event.rebalance for event in events):
        group.rebalances += 1
        if body.started_at is None:
            continue  # it fell between two looks: nobody knows how long it took
        took_s = body.ended_at - body.started_at
        group.duration_sum_s += took_s
        group.durations_s[sum(bound < took_s for bound in _REBALANCE_BUCKETS_S)] += 1


_GROUP_LABELS: Final = ("namespace", "group")


@dataclass(frozen=True, slots=True)
class _Family:
    name: str
    text: str
    read: Callable[[_Group], _Samples]
    label: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return (*_GROUP_LABELS, self.label) if self.label else _GROUP_LABELS


def _one(read: Callable[[_Group], float | None]) -> Callable[[_Group], _Samples]:
    return lambda group: (((), read(group)),)


def _timeouts(values: Values) -> _Samples:
    return (((s.value,), value / 1000) for s, value in values.items() if s is not Setting.MAX_POLL_RECORDS)


_GAUGES: Final = (
    _Family("slackwater_group_members", "Members of the group.", _one(lambda g: g.figures.members)),
    _Family(
        "slackwater_group_members_expected",
        "Members that the ConsumerGroup asks for.",
        _one(lambda g: g.figures.expected_members),
    ),
    _Family(
        "slackwater_group_state",
        "1 for the state that the group is in, 0 for the others.",
        lambda g: (((state.value,), float(state is g.figures.state)) for state in GroupState),
        "state",
    ),
    _Family("slackwater_group_degraded", "1 while the condition Degraded is True.", _one(lambda g: g.figures.degraded)),
    _Family("slackwater_group_lag", "Records behind, over all partitions.", _one(lambda g: g.figures.lag)),
    _Family(
        "slackwater_group_lag_seconds",
        "How long ago the end of the log was at what is committed now, of the partition furthest behind.",
        _one(lambda g: g.lag_s),
    ),
    _Family(
        "slackwater_gate_held",
        "1 for the reason for which work waits.",
        lambda g: (((g.figures.held,), 1.0),) if g.figures.held else (),
        "reason",
    ),
    _Family(
        "slackwater_upgrade_step",
        "The step of a protocol upgrade that is in hand, from 1; 0 when there is no upgrade.",
        _one(lambda g: g.figures.upgrade.step if g.figures.upgrade else 0),
    ),
    _Family(
        "slackwater_upgrade_steps",
        "How many steps that upgrade has; 0 when there is no upgrade.",
        _one(lambda g: len(g.figures.upgrade.path) if g.figures.upgrade else 0),
    ),
    _Family(
        "slackwater_upgrade_start_timestamp_seconds",
        "When that upgrade began; only while there is one.",
        _one(lambda g: g.figures.upgrade.started_at if g.figures.upgrade else None),
    ),
    _Family(
        "slackwater_actual_timeout_seconds",
        "What the members are given.",
        lambda g: _timeouts(g.figures.actual),
        "setting",
    ),
    _Family(
        "slackwater_recommended_timeout_seconds",
        "What is recommended for them.",
        lambda g: _timeouts(g.figures.recommended),
        "setting",
    ),
    _Family(
        "slackwater_actual_max_poll_records",
        "Records of one poll at the most, as the members are given it.",
        _one(lambda g: g.figures.actual.get(Setting.MAX_POLL_RECORDS)),
    ),
    _Family(
        "slackwater_recommended_max_poll_records",
        "Records of one poll at the most, as recommended.",
        _one(lambda g: g.figures.recommended.get(Setting.MAX_POLL_RECORDS)),
    ),
)

_COUNTERS: Final = (
    _Family("slackwater_group_rebalances_total", "Rebalances that were seen.", _one(lambda g: g.rebalances)),
    _Family(
        "slackwater_group_partition_idle_seconds_total",
        "Partition-seconds in which nobody read.",
        _one(lambda g: g.idle.partition_s),
    ),
    _Family(
        "slackwater_gate_holds_total",
        "How often work began to wait, by reason.",
        lambda g: (((reason,), float(count)) for reason, count in g.holds.items()),
        "reason",
    ),
    _Family(
        "slackwater_rollout_steps_total",
        "Restarted or replaced pods of rollouts, by how that ended.",
        lambda g: (((result.value,), float(g.steps[result])) for result in StepResult),
        "result",
    ),
    _Family(
        "slackwater_handovers_fenced_total",
        "Handovers in which the replaced process came back and fenced its replacement, or may have.",
        _one(lambda g: g.fenced),
    ),
)

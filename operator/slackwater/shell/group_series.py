"""The series of one group: what is kept of it from pass to pass, and what each series reads of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from slackwater.core.metrics.figures import Figures
from slackwater.core.metrics.idle_time import IdleTime
from slackwater.core.metrics.lag_time import LogEnds
from slackwater.core.metrics.step_results import StepResult
from slackwater.core.telemetry.rebalances import Rebalances
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import GroupState
from slackwater.core.world.settings import Setting, Values

REBALANCE_BUCKETS_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)

Samples = Iterable[tuple[tuple[str, ...], float | None]]
"""Values of the label besides the group's own, and a number; None: it is not known, and so not told."""


@dataclass(slots=True)
class GroupRecord:
    figures: Figures
    phase: RolloutPhase = RolloutPhase.NONE
    lag_s: float | None = None
    log_ends: LogEnds = field(default_factory=LogEnds)
    idle: IdleTime = field(default_factory=IdleTime)
    track: Rebalances = field(default_factory=Rebalances)
    rebalances: int = 0
    durations_s: list[float] = field(default_factory=lambda: [0.0] * (len(REBALANCE_BUCKETS_S) + 1))
    """How many of each bucket, the last without a bound."""
    duration_sum_s: float = 0.0
    holds: Counter[str] = field(default_factory=Counter)
    steps: Counter[StepResult] = field(default_factory=Counter)
    fenced: int = 0


GROUP_LABELS: Final = ("namespace", "group")


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    text: str
    read: Callable[[GroupRecord], Samples]
    label: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        return (*GROUP_LABELS, self.label) if self.label else GROUP_LABELS


def _one(read: Callable[[GroupRecord], float | None]) -> Callable[[GroupRecord], Samples]:
    return lambda group: (((), read(group)),)


def _timeouts(values: Values) -> Samples:
    return (((s.value,), value / 1000) for s, value in values.items() if s is not Setting.MAX_POLL_RECORDS)


GAUGES: Final = (
    Family("slackwater_group_members", "Members of the group.", _one(lambda g: g.figures.members)),
    Family(
        "slackwater_group_members_expected",
        "Members that the ConsumerGroup asks for.",
        _one(lambda g: g.figures.expected_members),
    ),
    Family(
        "slackwater_group_state",
        "1 for the state that the group is in, 0 for the others.",
        lambda g: (((state.value,), float(state is g.figures.state)) for state in GroupState),
        "state",
    ),
    Family("slackwater_group_degraded", "1 while the condition Degraded is True.", _one(lambda g: g.figures.degraded)),
    Family("slackwater_group_lag", "Records behind, over all partitions.", _one(lambda g: g.figures.lag)),
    Family(
        "slackwater_group_lag_seconds",
        "How long ago the end of the log was at what is committed now, of the partition furthest behind.",
        _one(lambda g: g.lag_s),
    ),
    Family(
        "slackwater_gate_held",
        "1 for the reason for which work waits.",
        lambda g: (((g.figures.held,), 1.0),) if g.figures.held else (),
        "reason",
    ),
    Family(
        "slackwater_rollout_phase",
        "1 for the phase of the rollout, as in status.rollout.",
        lambda g: (((g.phase.value,), 1.0),),
        "phase",
    ),
    Family(
        "slackwater_upgrade_step",
        "The step of a protocol upgrade that is in hand, from 1; 0 when there is no upgrade.",
        _one(lambda g: g.figures.upgrade.step if g.figures.upgrade else 0),
    ),
    Family(
        "slackwater_upgrade_steps",
        "How many steps that upgrade has; 0 when there is no upgrade.",
        _one(lambda g: len(g.figures.upgrade.path) if g.figures.upgrade else 0),
    ),
    Family(
        "slackwater_upgrade_start_timestamp_seconds",
        "When that upgrade began; only while there is one.",
        _one(lambda g: g.figures.upgrade.started_at if g.figures.upgrade else None),
    ),
    Family(
        "slackwater_actual_timeout_seconds",
        "What the members are given.",
        lambda g: _timeouts(g.figures.actual),
        "setting",
    ),
    Family(
        "slackwater_recommended_timeout_seconds",
        "What is recommended for them.",
        lambda g: _timeouts(g.figures.recommended),
        "setting",
    ),
    Family(
        "slackwater_actual_max_poll_records",
        "Records of one poll at the most, as the members are given it.",
        _one(lambda g: g.figures.actual.get(Setting.MAX_POLL_RECORDS)),
    ),
    Family(
        "slackwater_recommended_max_poll_records",
        "Records of one poll at the most, as recommended.",
        _one(lambda g: g.figures.recommended.get(Setting.MAX_POLL_RECORDS)),
    ),
)

COUNTERS: Final = (
    Family("slackwater_group_rebalances_total", "Rebalances that were seen.", _one(lambda g: g.rebalances)),
    Family(
        "slackwater_group_partition_idle_seconds_total",
        "Partition-seconds in which nobody read.",
        _one(lambda g: g.idle.partition_s),
    ),
    Family(
        "slackwater_gate_holds_total",
        "How often work began to wait, by reason.",
        lambda g: (((reason,), float(count)) for reason, count in list(g.holds.items())),
        "reason",
    ),
    Family(
        "slackwater_rollout_steps_total",
        "Restarted or replaced pods of rollouts, by how that ended.",
        lambda g: (((result.value,), float(g.steps[result])) for result in StepResult),
        "result",
    ),
    Family(
        "slackwater_handovers_fenced_total",
        "Handovers in which the replaced process came back and fenced its replacement, or may have.",
        _one(lambda g: g.fenced),
    ),
)

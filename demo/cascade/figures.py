"""A run in figures, whether it was as it should be, and what several runs of a mode were. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from types import MappingProxyType
from typing import Final

from demo.cascade.cast import Cast
from demo.cascade.idle import idle
from demo.cascade.modes import GROUPS, PARTITIONS, Mode, Promise
from demo.cascade.motion import Sight, moving, with_bad_pods
from demo.cascade.spans import Span, peak, within
from sandbox.workload import deliveries
from sandbox.workload.deliveries import Delivery

_TO_THE_END_S: Final = 0.001
"""A partition is idle to the end of a run where its idle time ends so near to it: both are whole milliseconds."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What brokers, records and pods say of a run. Moments are unix seconds; groups go by their Kubernetes names."""

    mode: Mode
    cast: Cast
    started_s: float
    until_s: float
    sights: Sequence[Sight]
    """Of the groups' pods from the first version on."""
    deliveries: Mapping[str, Sequence[Delivery]]
    """Group or bystander → what its consumers were given."""
    rebalances: Mapping[str, int]
    expiries: Mapping[str, int]
    written: Mapping[str, Sequence[Delivery]] = field(default_factory=dict)
    """Topic → what the producers wrote, as if it had been delivered at once."""
    coordinators_after: Mapping[str, int] = field(default_factory=dict)
    trouble: str = ""
    """Why the run did not come to its end, if so."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run. The first seven are what the modes are compared by."""

    groups_with_bad_pods: int
    peak_idle_partitions: int
    idle_partition_seconds: float
    bystander_rebalances: int
    bystander_expiries: int
    peak_groups_in_motion: int
    seconds: float
    """From the new templates applied until no group moved and no partition was idle any more."""
    peak_in_motion_of_a_coordinator: int
    rebalances: int
    """Of the groups that were deployed."""
    expiries: int
    bystander_worst_gap_seconds: float
    load_gap_seconds: float
    """The longest time in which a producer wrote nothing into a partition: no consumer can be blamed for it."""
    coordinators_moved: int
    """Groups and bystanders that another broker coordinated at the end."""
    problem: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem


def _worst(values: Collection[float]) -> float:
    return max(values)


OF_RUNS: Final[Mapping[str, tuple[str, Callable[[Collection[float]], float]]]] = MappingProxyType(
    {
        "groups_with_bad_pods": ("worst", _worst),
        "peak_idle_partitions": ("worst", _worst),
        "idle_partition_seconds": ("median", median),
        "bystander_rebalances": ("worst", _worst),
        "bystander_expiries": ("worst", _worst),
        "peak_groups_in_motion": ("worst", _worst),
        "seconds": ("median", median),
    }
)
"""What a mode's figure is of those of its runs: what must not happen by its worst, what it costs by its median."""


def measure(seen: Observed) -> Run:
    """Between the apply and the end."""
    names = {actor.name for actor in seen.cast.groups}
    sights = [each for each in seen.sights if each.group in names]
    motion = {
        group: within(spans, seen.started_s, seen.until_s) for group, spans in moving(sights, seen.until_s).items()
    }
    idle_spans = [span for name in sorted(names) for span in _idle(seen, name)]
    bystanders = [actor.name for actor in seen.cast.bystanders]
    ends = [span.end_s for span in (*_flat(motion.values()), *(s for s in idle_spans if not _to_the_end(seen, s)))]
    run = Run(
        groups_with_bad_pods=len(with_bad_pods(sights)),
        peak_idle_partitions=peak(idle_spans),
        idle_partition_seconds=round(sum(span.end_s - span.start_s for span in idle_spans), 1),
        bystander_rebalances=sum(seen.rebalances.get(name, 0) for name in bystanders),
        bystander_expiries=sum(seen.expiries.get(name, 0) for name in bystanders),
        peak_groups_in_motion=_peak_groups(motion.values()),
        seconds=round(max(ends, default=seen.started_s) - seen.started_s, 1),
        peak_in_motion_of_a_coordinator=_peak_of_a_coordinator(seen.cast, motion),
        rebalances=sum(seen.rebalances.get(name, 0) for name in names),
        expiries=sum(seen.expiries.get(name, 0) for name in names),
        bystander_worst_gap_seconds=round(max(_worst_gap(seen, seen.deliveries[name]) for name in bystanders), 1),
        load_gap_seconds=round(max((_worst_gap(seen, rows) for rows in seen.written.values()), default=0.0), 1),
        coordinators_moved=sum(
            seen.coordinators_after.get(actor.name, actor.coordinator) != actor.coordinator
            for actor in seen.cast.actors
        ),
    )
    return replace(run, problem=judge(seen, run, idle_spans))


def judge(seen: Observed, run: Run, idle_spans: Iterable[Span]) -> str:
    """What is wrong with a run, as a sentence; empty when it is as it should be.

    Of every mode: it came to its end, and every partition is served there; after good templates every pod has the new
    one, after bad ones every pod is back on the old one. Of a mode with a fleet also: no more groups moved at once, or
    got a bad pod, or had idle partitions than its budget lets, and no bystander had a rebalance or lost a member.
    """
    if seen.trouble:
        return seen.trouble
    if unserved := sum(_to_the_end(seen, span) for span in idle_spans):
        return f"{unserved} of {GROUPS * PARTITIONS} partitions were not served at the end."
    if seen.mode.bad_image and not run.groups_with_bad_pods:
        return "No group got the bad image."
    return _broken(seen.mode.promise, run) if seen.mode.promise is not None else ""


def of_runs(runs: Sequence[Run]) -> dict[str, float]:
    """A mode's figures, each by `OF_RUNS`. ValueError when there is no run."""
    if not runs:
        raise ValueError("no run has figures")
    return {name: round(of(_values(runs, name)), 1) for name, (_, of) in OF_RUNS.items()}


def _values(runs: Iterable[Run], name: str) -> list[float]:
    return [getattr(run, name) for run in runs]


def _broken(promise: Promise, run: Run) -> str:
    bounds = (
        (run.peak_groups_in_motion, promise.groups, "groups moved at once"),
        (run.peak_in_motion_of_a_coordinator, promise.per_coordinator, "groups of one coordinator moved at once"),
        (run.groups_with_bad_pods, promise.groups, "groups got a bad pod"),
        (run.peak_idle_partitions, promise.idle_partitions, "partitions were idle at once"),
        (run.bystander_rebalances, 0, "rebalances were a bystander's"),
        (run.bystander_expiries, 0, "members of bystanders lost their session"),
    )
    found = (f"{count} {what}; {most} may be." for count, most, what in bounds if most is not None and count > most)
    return next(found, "")


def _idle(seen: Observed, name: str) -> list[Span]:
    return idle(seen.deliveries[name], int(seen.started_s * 1000), int(seen.until_s * 1000))


def _worst_gap(seen: Observed, rows: Iterable[Delivery]) -> float:
    found = deliveries.measure(rows, PARTITIONS, int(seen.started_s * 1000), int(seen.until_s * 1000))
    return found.worst_gap_seconds


def _to_the_end(seen: Observed, span: Span) -> bool:
    return span.end_s >= int(seen.until_s * 1000) / 1000 - _TO_THE_END_S


def _flat(spans: Iterable[Sequence[Span]]) -> list[Span]:
    return [span for each in spans for span in each]


def _peak_groups(motion: Iterable[Sequence[Span]]) -> int:
    """A group moves once at a time, so its own spans never overlap."""
    return peak(_flat(motion))


def _peak_of_a_coordinator(cast: Cast, motion: Mapping[str, Sequence[Span]]) -> int:
    brokers = {actor.coordinator for actor in cast.groups}
    of_each = ([motion.get(a.name, ()) for a in cast.groups if a.coordinator == broker] for broker in brokers)
    return max(map(_peak_groups, of_each), default=0)

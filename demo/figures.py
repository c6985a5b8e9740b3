"""What a mode cost, and whether it did what it should."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

from demo.modes import FIRST, MESSAGES_PER_PARTITION_S, PARTITIONS, REPLICAS, SECOND, Mode, Upgrade, Warm
from demo.rollout import Played
from sandbox.workload import deliveries, generations, group_records, owners

_RECORDED_AFTER_S = 1.0
"""A delivery or a generation that happened stands in its topic by then."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One row of the table."""

    rebalances: int
    idle_partition_seconds: float
    worst_gap_seconds: float
    duplicates: int
    seconds: float
    """From the change applied until the group was served again; for a bad end, until the demo stopped watching."""
    partition_moves: int = 0
    """How many times a partition went to another member."""
    rebalances_by_step: tuple[int, ...] = ()
    """Of an upgrade."""


@dataclass(frozen=True, slots=True)
class Result:
    """A mode's row. Without `figures` it was not played to its end; `problem` then says why, as it does when it ended
    otherwise than it should."""

    mode: Mode
    figures: Figures | None
    problem: str = ""

    @property
    def ok(self) -> bool:
        return self.figures is not None and not self.problem


def measure(played: Played, bootstrap_servers: str) -> Figures:
    """Read deliveries and generations back from the brokers, and count between the marks."""
    wait_s = played.measured_until_s + _RECORDED_AFTER_S - time.time()
    if wait_s > 0:
        time.sleep(wait_s)
    mode, start_ms, end_ms = played.mode, int(played.started_s * 1000), int(played.measured_until_s * 1000)
    rows = deliveries.read({"bootstrap.servers": bootstrap_servers}, mode.deliveries_topic, start_ms)
    told = deliveries.measure(rows, PARTITIONS, start_ms, end_ms)
    records = group_records.read({"bootstrap_servers": bootstrap_servers}, mode.workload)
    history, name = generations.generations(records), mode.workload
    return Figures(
        rebalances=generations.count_rebalances(history, name, start_ms, end_ms),
        partition_moves=owners.count_moves(owners.assignments(records, name), start_ms, end_ms),
        idle_partition_seconds=round(told.idle_partition_seconds, 1),
        worst_gap_seconds=round(told.worst_gap_seconds, 1),
        duplicates=told.duplicates,
        seconds=round(played.ended_s - played.started_s, 1),
        rebalances_by_step=tuple(
            generations.count_rebalances(history, name, begin_ms, until_ms)
            for begin_ms, until_ms in pairwise([*(int(at_s * 1000) for at_s in played.steps_s), end_ms])
        ),
    )


def judge(played: Played, figures: Figures) -> str:
    """What is wrong with the end that the mode came to, as a sentence; empty when it is as it should be.

    Good versions: every pod has the new one, and every partition is served. By Slackwater also: no rebalance, each pod
    replaced once, and by handovers no more idle or delivered twice than they may cost. The bad version in a plain
    StatefulSet: Kubernetes calls the rollout complete, and nothing is served any more. By Slackwater: one pod got it
    and was put back, the others were not touched, and all is served.
    An upgrade: every pod was replaced once in each step, and each step cost exactly the rebalances that it has to.
    """
    if played.progress.failed:
        return f"The rollout failed: {played.progress.failed}."
    if played.mode.upgrade is not None:
        return _judge_upgraded(played, figures, played.mode.upgrade)
    if played.mode.ends_unserved:
        return _judge_unserved(played)
    if played.mode.bad_version:
        return _judge_rolled_back(played)
    return _judge_rolled_out(played, figures)


def _judge_unserved(played: Played) -> str:
    if _count(played, SECOND) < REPLICAS:
        return f"Only {_count(played, SECOND)} of {REPLICAS} pods got the bad version."
    if played.last.served:
        return f"{played.last.served} of {PARTITIONS} partitions were still served by a version that never joins."
    return ""


def _judge_rolled_back(played: Played) -> str:
    if not played.progress.rolled_back:
        return f"The rollout was not rolled back; its last word: {played.last.phase}."
    untouched = {pod.uid for pod in played.pods_before} & {pod.uid for pod in played.last.pods}
    if len(untouched) != REPLICAS - 1:
        return f"{REPLICAS - len(untouched)} pods were touched by the bad version; it must stop at the first."
    if _count(played, FIRST) < REPLICAS:
        return f"Only {_count(played, FIRST)} of {REPLICAS} pods are back on the first version."
    return ""


def _judge_rolled_out(played: Played, figures: Figures) -> str:
    if played.progress.rolled_back:
        return f"The rollout was rolled back: {played.last.phase}."
    if _count(played, SECOND) < REPLICAS:
        return f"Only {_count(played, SECOND)} of {REPLICAS} pods have the new version."
    if not played.mode.runs_on_operator:
        return ""
    if len(played.pods_seen) != 2 * REPLICAS:
        return f"{len(played.pods_seen) - REPLICAS} pods were made for {REPLICAS} restarts."
    if figures.rebalances:
        return f"There were {figures.rebalances} rebalances; there should be none."
    return _judge_warm(figures, played.mode.warm) if played.mode.warm is not None else ""


def _judge_warm(figures: Figures, warm: Warm) -> str:
    most_idle_s = PARTITIONS * warm.most_idle_s
    if figures.idle_partition_seconds > most_idle_s:
        return f"{figures.idle_partition_seconds} partition-seconds were idle; {most_idle_s:g} may be."
    if figures.idle_partition_seconds and figures.worst_gap_seconds > warm.most_idle_s:
        return f"A partition was idle for {figures.worst_gap_seconds} s; {warm.most_idle_s:g} s may be."
    most = int(PARTITIONS * MESSAGES_PER_PARTITION_S * warm.most_repeated_s)
    if figures.duplicates > most:
        return f"{figures.duplicates} records were delivered twice; {most} may be."
    return ""


def _judge_upgraded(played: Played, figures: Figures, upgrade: Upgrade) -> str:
    replicas, steps = played.mode.replicas, len(upgrade.rebalances)
    if played.progress.rolled_back:
        return f"The upgrade was rolled back: {played.last.phase}."
    changed = sum(pod.profile == upgrade.target and pod.ready for pod in played.last.pods)
    if changed < replicas:
        return f"Only {changed} of {replicas} pods are made for {upgrade.target}."
    if len(played.pods_seen) != replicas * (steps + 1):
        return f"{len(played.pods_seen) - replicas} pods were made for {replicas * steps} restarts."
    if figures.rebalances_by_step != upgrade.rebalances:
        return f"There were {figures.rebalances_by_step} rebalances in its steps; there should be {upgrade.rebalances}."
    if figures.partition_moves and not upgrade.may_move:
        return f"{figures.partition_moves} partitions went to another member; none should."
    return ""


def _count(played: Played, version: str) -> int:
    return sum(pod.version == version and pod.ready for pod in played.last.pods)

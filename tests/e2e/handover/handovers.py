"""Warm rollouts as the tests see them: what they cost, by what every consumer was given and by what was committed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from sandbox.workload import deliveries
from sandbox.workload.deliveries import Delivery
from sandbox.workload.delivery_log import MAX_AGE_S
from sandbox.workload.topics import create_topic
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.progress import is_ready, pods_of
from tests.e2e.stage.stage import LOAD_PER_PARTITION, Stage
from tests.e2e.stage.waiting import wait_for

OF_EACH_MEMBER: Final = LOAD_PER_PARTITION * PARTITIONS / REPLICAS
"""Messages a second."""
HEARTBEAT_S: Final = 3.0
"""After that a fenced consumer notices by itself, if nobody has removed it."""
COMMIT_S: Final = 1.0
"""What it has read since its last commit is read again."""
QUICKEST_START_S: Final = 1.5
"""A start of the quickest of these consumers takes longer than that where the machine has nothing else to do."""
STAYS: Final = {"EXIT_ON_FATAL": "0"}
"""A fenced process consumes nothing more and stays until it is told to end, as docs/handover.md advises: what a
handover costs then does not hang on how soon a pod is stopped."""
WARM: Final = {"strategy": "WarmHandover", "onFailure": "Rollback", "rejoinTimeout": "2m"}
"""With time enough for a pod that starts slowly on a machine that is busy."""


@dataclass(frozen=True)
class Cost:
    rebalances: int
    idle_s: float
    """Partition-seconds in gaps above half a second."""
    worst_gap_s: float
    """The longest time in which a partition changed hands: from one pod's last delivery to the next pod's first."""
    duplicates: int
    missing: int
    went_back: int
    """Commits of an offset below one that was committed before, in the same partition."""
    took_s: float
    start_s: float = 0.0
    """How long the quickest new pod took from its making to Ready, 0 without one: a restart in place leaves its
    partitions for longer than that. It grows with what else the machine does, as all the other times do."""
    story: tuple[str, ...] = ()
    """What the operator and the cluster told meanwhile, for who has to find out why."""


def warm_group(
    stage: Stage, name: str, made: Json | None = None, rollout: Json | None = None, env: Mapping[str, str] | None = None
) -> Json:
    """`made`: in place of the usual three consumers by librdkafka."""
    made = made or stage.group(name)
    spec = {**made["spec"], "rollout": {**made["spec"]["rollout"], **WARM, **(rollout or {})}}
    return with_env({**made, "spec": spec}, DELIVERIES_TOPIC=deliveries_topic(stage, name), **(env or {}))


def deliveries_topic(stage: Stage, name: str) -> str:
    return f"{stage.topic}-{name}-deliveries"


def create(stage: Stage, *groups: Json) -> None:
    for group in groups:
        create_topic(stage.kafka.bootstrap_servers, deliveries_topic(stage, group["metadata"]["name"]), 1)
    stage.create(*groups)


def cost_of(stage: Stage, name: str, doing: Callable[[], Any]) -> Cost:
    """What was given to the group's consumers meanwhile."""
    return costs_of(stage, [name], doing)[name]


def costs_of(stage: Stage, names: Iterable[str], doing: Callable[[], Any]) -> dict[str, Cost]:
    """The same of several groups at once."""
    began = time.time()
    doing()
    ended = time.time()
    wait_for("what was delivered to be recorded", lambda: time.time() > ended + 2 * MAX_AGE_S)
    return {name: _cost(stage, name, began, ended) for name in names}


def _cost(stage: Stage, name: str, began: float, ended: float) -> Cost:
    servers, group = {"bootstrap.servers": stage.kafka.bootstrap_servers}, stage.group_id(name)
    rows = deliveries.read(servers, deliveries_topic(stage, name), int(began * 1000))
    measured = deliveries.measure(rows, PARTITIONS, int(began * 1000), int(ended * 1000))
    return Cost(
        rebalances=stage.kafka.rebalances(group, began, ended),
        idle_s=measured.idle_partition_seconds,
        worst_gap_s=longest_change_of_hands_s(rows, set(pods(stage, name)), ended),
        duplicates=measured.duplicates,
        missing=measured.missing,
        went_back=_went_back(stage, group),
        took_s=ended - began,
        start_s=min((ready - made for made, ready in starts(stage, name, began)), default=0.0),
        story=stage.cluster.story(name, began),
    )


def longest_change_of_hands_s(rows: Iterable[Delivery], there: Collection[str], ended: float) -> float:
    """A pause in which a pod goes on with what it had is the machine's, or the producer's.

    `there`: the pods at the end, seconds since the epoch; what one before them read last, nobody has taken over.
    """
    by_partition: defaultdict[int, list[Delivery]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.at_ms):
        by_partition[row.partition].append(row)
    gaps = [0.0]
    for served in by_partition.values():
        gaps += [(after.at_ms - row.at_ms) / 1000 for row, after in pairwise(served) if after.pod != row.pod]
        gaps += [] if served[-1].pod in there else [ended - served[-1].at_ms / 1000]
    return max(gaps)


def rolled_out(stage: Stage, group: Json, phase: str = "Ready") -> Cost:
    """Until it is over, and one StatefulSet is left."""
    name = group["metadata"]["name"]

    def doing() -> None:
        stage.cluster.apply(group)
        if phase == "Ready":
            stage.cluster.wait_complete(name, 450.0)
        stage.cluster.wait_phase(name, phase, 300.0)
        wait_one_set(stage, name)

    return cost_of(stage, name, doing)


def wait_one_set(stage: Stage, name: str) -> None:
    wait_for("one StatefulSet", lambda: len(sets(stage, name)) == 1, 60.0, lambda: stage.cluster.summary(name))


def sets(stage: Stage, name: str) -> list[str]:
    found = stage.cluster.api.list_all("statefulsets", stage.cluster.namespace)[0]
    names = (str(each["metadata"]["name"]) for each in found)
    return sorted(each for each in names if each in (name, f"{name}-alt"))


def pods(stage: Stage, name: str) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in stage.cluster.pods(name))


def nothing_is_lost(cost: Cost) -> None:
    assert (cost.rebalances, cost.missing, cost.went_back) == (0, 0, 0), cost


def nothing_is_idle(cost: Cost) -> None:
    """The demo measures what is really idle; here it is less than any restart in place."""
    assert cost.worst_gap_s < max(QUICKEST_START_S, cost.start_s), cost


def little_is_read_twice(cost: Cost, start_delay_s: float) -> None:
    """What a fenced process reads until it knows, with what it had not committed. For where little else goes on: who
    had no turn for a while reads in a moment what came meanwhile, and knows later. `start_delay_s`: of each start, the
    consumer's own; the rest tells how slow the machine is."""
    slower = max(1.0, cost.start_s - start_delay_s)
    assert cost.duplicates < REPLICAS * OF_EACH_MEMBER * (HEARTBEAT_S + COMMIT_S) * slower, cost


def nothing_is_idle_untold(cost: Cost) -> None:
    """A process that ends when it is fenced may be back before its pod is stopped, where a machine is slow or a start
    quick. It fences its replacement, which has to start again; and the operator says so."""
    told = any("FencedEachOther" in line for line in cost.story)
    if not told:
        nothing_is_idle(cost)


def starts(stage: Stage, name: str, began: float) -> list[tuple[float, float]]:
    """When each pod that came since then was made, and was Ready; seconds since the epoch."""
    made: dict[str, float] = {}
    ready: dict[str, float] = {}
    for record in pods_of(stage.recorder.records("pods"), name):
        uid = record.obj["metadata"]["uid"]
        made.setdefault(uid, record.seen_at)
        if is_ready(record.obj):
            ready.setdefault(uid, record.seen_at)
    return [(made[uid], at) for uid, at in ready.items() if made[uid] >= began]


def _went_back(stage: Stage, group: str) -> int:
    offsets: dict[int, list[int]] = defaultdict(list)
    for commit in stage.kafka.commits(group):
        offsets[commit.partition].append(commit.offset)
    assert offsets, "nothing was committed"
    return sum(later < earlier for each in offsets.values() for earlier, later in pairwise(each))

"""Members that die: their successors are back at work soon, and nobody else notices (F10, F13)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pytest

from tests.e2e.members.members import Watched, wait_known
from tests.e2e.stage import processes
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import PARTITIONS, with_env
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.pod_logs import PodLogs
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.quiet, pytest.mark.timeout(400)]

SESSION_S: Final = 60.0
LONG = {"consumer": {"session": f"{SESSION_S:.0f}s"}}
"""So that no session ends before the operator, and whoever it lets in, have done what they do."""
HEARTBEAT_S: Final = 5.0
"""Its session lasts from its last heartbeat (F23)."""
SLOW_S: Final = 5.0
LIVES_ON = {"EXIT_ON_FATAL": "0"}


@dataclass(frozen=True)
class Kind:
    """A KIP-848 group, who of it dies, and how."""

    name: str
    env: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    replicas: int = 2
    victims: tuple[int, ...] = (1,)
    by_force: bool = False

    def made_by(self, stage: Stage) -> Json:
        group = stage.group(self.name, replicas=self.replicas, protocol={"target": "Consumer"}, timeouts=LONG)
        return with_env(group, START_DELAY_SECONDS=f"{self.delay_s:.0f}", **self.env)


SEEN: Final = (
    Kind("exits"),
    Kind("lives-on", LIVES_ON),
    Kind("slow", LIVES_ON, SLOW_S),
    Kind("pair", replicas=3, victims=(0, 2)),
    Kind("forced", by_force=True),
)
SEEN_LATE: Final = (Kind("late-exits"), Kind("late-lives-on", LIVES_ON))
NOT_SEEN: Final = (Kind("away-exits"), Kind("away-lives-on", LIVES_ON))
CLASSIC: Final = "classic"
RELEASED: Final = "MembersReleased"
_REFUSED: Final = "still used by another member"


@dataclass(frozen=True)
class Crash:
    kind: Kind
    group: Watched
    before: Sighting
    at: float

    @property
    def victims(self) -> list[str]:
        return [f"{self.kind.name}-{ordinal}" for ordinal in self.kind.victims]

    @property
    def others(self) -> frozenset[str]:
        return frozenset(self.before.members) - frozenset(self.victims)

    def check(self, stage: Stage, since: float | None = None) -> None:
        """The victims are back since the operator let their replacements in; nobody else was touched.

        `since`: when the operator was there to do so, for the figure that is printed; else their replacements' start.
        """
        for victim in self.victims:
            back_at = self.group.wait_owned_again(victim, self.before, self.at)
            started_at = since or self.group.wait_started_again(victim, self.at)
            pods = self.group.uids(victim, self.at)
            took_s = back_at - started_at
            print(f"{victim}: back after {took_s:.1f} s, {len(pods)} pods")  # noqa: T201 - a figure
            assert len(pods) <= 2, "its pod is restarted once at most"
            told = {event["reason"] for event in stage.cluster.events(self.kind.name)}
            # Who is deleted by force may yet have time to leave by itself: then it is let in at once, by nobody's help.
            before_its_session = back_at - self.at < SESSION_S - HEARTBEAT_S
            assert RELEASED in told or before_its_session, "it came back when its session had ended"
        assert self.group.touched(self.others, self.before, self.at) == []


@pytest.fixture(scope="module")
def watched(stage: Stage) -> Iterator[dict[str, Watched]]:
    """All groups, made together; by name."""
    kinds = (*SEEN, *SEEN_LATE, *NOT_SEEN)
    classic = stage.group(CLASSIC, replicas=2, protocol={"target": "Eager"})
    stage.create(*(kind.made_by(stage) for kind in kinds), classic)
    sizes = {kind.name: kind.replicas for kind in kinds} | {CLASSIC: 2}
    with ExitStack() as stack:
        looks = {n: stack.enter_context(Lookout(stage.kafka, stage.group_id(n))) for n in sizes}
        groups = {n: Watched(n, looks[n], stage.recorder) for n in sizes}
        for name, group in groups.items():
            group.wait_whole(sizes[name], PARTITIONS)
        wait_known(stage, *groups)
        yield groups


def crash(stage: Stage, group: Watched, kind: Kind) -> Crash:
    before, at = group.now, time.time()
    pods = stage.cluster.pods(kind.name)
    for ordinal in kind.victims:
        if kind.by_force:
            stage.cluster.kubectl("delete", "pod", f"{kind.name}-{ordinal}", "--force", "--grace-period=0")
        else:
            assert processes.kill(pods[ordinal])
    return Crash(kind, group, before, at)


@pytest.fixture(scope="module")
def logs(stage: Stage) -> Iterator[PodLogs]:
    with PodLogs(stage.cluster.api, stage.recorder, stage.cluster.namespace) as following:
        yield following


@pytest.fixture(scope="module")
def crashes(stage: Stage, watched: dict[str, Watched], logs: PodLogs) -> dict[str, Crash]:
    """All die at once."""
    return {kind.name: crash(stage, watched[kind.name], kind) for kind in SEEN}


@pytest.mark.parametrize("name", [kind.name for kind in SEEN])
def test_the_replacement_works_soon_and_nobody_else_is_touched(
    stage: Stage, crashes: dict[str, Crash], name: str
) -> None:
    crashes[name].check(stage)


def test_a_slow_starter_is_not_restarted_for_being_slow(stage: Stage, crashes: dict[str, Crash], logs: PodLogs) -> None:
    """On a machine without a turn for the operator it may yet be refused: then it is restarted, as others are."""
    slow = crashes["slow"]
    slow.check(stage)
    refused_first = logs.lines(slow.kind.name, _REFUSED)
    assert len(slow.group.uids("slow-1", slow.at)) == (2 if refused_first else 1)


def refused(cluster: Cluster, pod: str) -> bool:
    """Its consumer, or the one before it, was told that the id is held (F13)."""
    logs = [cluster.kubectl("logs", pod, *which, check=False) for which in ((), ("--previous",))]
    return any(_REFUSED in log for log in logs)


def wait_refused(stage: Stage, done: list[Crash]) -> None:
    for each in done:
        for victim in each.victims:
            wait_for(f"{victim} to be refused", partial(refused, stage.cluster, victim), 60.0)


def test_a_process_that_was_refused_is_restarted(stage: Stage, watched: dict[str, Watched]) -> None:
    """The operator comes too late to release the id before the replacement asks for it."""
    with stage.operator.stopped():
        done = [crash(stage, watched[kind.name], kind) for kind in SEEN_LATE]
        wait_refused(stage, done)
    goes_on_at = time.time()
    for each in done:
        each.check(stage, goes_on_at)


def test_an_operator_that_was_down_knows_from_its_memory_who_is_dead(stage: Stage, watched: dict[str, Watched]) -> None:
    stage.operator.kill()
    done = [crash(stage, watched[kind.name], kind) for kind in NOT_SEEN]
    wait_refused(stage, done)
    stage.operator.start()
    stage.operator.wait_ready()
    ready_at = time.time()
    for each in done:
        each.check(stage, ready_at)


def test_a_classic_member_that_dies_comes_back_without_a_rebalance(stage: Stage, watched: dict[str, Watched]) -> None:
    """Nothing has to be done for it, and nothing is: in a classic group the newcomer takes over (F10, F13)."""
    group = watched[CLASSIC]
    done = crash(stage, group, Kind(CLASSIC))
    group.wait_owned_again(f"{CLASSIC}-1", done.before, done.at)
    assert group.touched(done.others, done.before, done.at) == []
    assert stage.kafka.rebalances(stage.group_id(CLASSIC), done.at, time.time()) == 0
    assert all(seen.members.keys() == done.before.members.keys() for seen in group.lookout.sightings(done.at))
    told = {event["reason"] for event in stage.cluster.events(CLASSIC)}
    assert told.isdisjoint({"MembersRemoved", RELEASED, "RestartingPod"})


def test_a_pod_that_is_ready_and_does_nothing_is_told(stage: Stage) -> None:
    """While nobody owns the partitions; not any more when somebody does."""
    group = stage.group("idle", replicas=1, rollout={"rejoinTimeout": "60s"})
    stage.cluster.apply(with_env(group, NEVER_JOIN="1"))
    degraded = stage.cluster.wait_condition("idle", "Degraded", "True", "PartitionsWithoutLiveOwner")
    assert "idle-0" in degraded["message"]
    stage.cluster.wait_condition("idle", "Degraded", "True", "RolloutFailed")
    stage.cluster.apply(with_env(group, NEVER_JOIN=None))
    stage.cluster.wait_complete("idle")
    stage.cluster.wait_condition("idle", "Degraded", "False")

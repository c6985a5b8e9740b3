"""Restarts of real consumers, as they are told from what a real broker says of their group.

Pods are made up here, to match the processes; that a real cluster tells of real pods so, the end-to-end tests show.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.telemetry.bodies import MemberRestarted
from slackwater.api.telemetry.events import Event, MemberRestartedEvent, RebalanceEvent
from slackwater.api.telemetry.words import Outcome, RestartReason
from slackwater.core.decision.decision import Decision
from slackwater.core.telemetry.sight import Sight
from slackwater.core.telemetry.tracker import Tracker, follow
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World
from tests.adapters.kafka.own_broker import own_broker
from tests.adapters.kafka.static_group import CONSUMER, StaticGroup
from tests.api.manifests import consumer_group
from tests.core.telemetry.stories import AT_REST

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(240)]

CLASSIC: Mapping[str, str | int] = {"group.protocol": "classic", "session.timeout.ms": 8_000}
WITHIN_S = 60.0


@pytest.fixture(scope="module")
def bootstrap_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with own_broker(tmp_path_factory.mktemp("broker"), {}) as bootstrap:
        yield bootstrap


class Watcher:
    """Looks at the group over and over, as a pass does, and keeps what was told."""

    def __init__(self, scene: StaticGroup, reader: KafkaGroupReader, replicas: int) -> None:
        self._scene = scene
        self._reader = reader
        manifest = consumer_group(scene.group_id, replicas=replicas, topics=[scene.topic])
        manifest["metadata"] |= {"uid": scene.group_id, "generation": 1}
        self._group = parse_consumer_group(manifest)
        self.pods = [self._pod(ordinal, time.time()) for ordinal in range(replicas)]
        self._history = GroupHistory()
        self._tracker = Tracker()
        self.events: list[Event] = []

    def _pod(self, ordinal: int, started_at: float) -> Pod:
        name = self._scene.instance_id(ordinal)
        return Pod(name, ordinal, f"uid-of-{name}", "rev", started_at, True, started_at, started_at)

    def ended(self, ordinal: int) -> None:
        self.pods[ordinal] = replace(self.pods[ordinal], started_at=None, ready=False, ended_at=time.time())

    def started(self, ordinal: int) -> None:
        now, pod = time.time(), self.pods[ordinal]
        self.pods[ordinal] = replace(pod, started_at=now, ready=True, ready_changed_at=now, restarts=pod.restarts + 1)

    async def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WITHIN_S
        while True:
            await self._look()
            if holds():
                return
            assert time.monotonic() < deadline, self.events
            await asyncio.sleep(0.2)

    async def _look(self) -> None:
        topics = {self._scene.group_id: frozenset({self._scene.topic})}
        view = (await self._reader.observe(topics))[self._scene.group_id]
        seen = isinstance(view, GroupObservation)
        self._history = advance(self._history, view) if seen else interrupted(self._history)  # type: ignore[arg-type]
        world = World(time.time(), self._group, view, self._history, all_pods=tuple(self.pods), memory=AT_REST)
        self._tracker, new = follow(self._tracker, Sight(world, Decision(AT_REST)))
        self.events += new

    @property
    def restarts(self) -> list[MemberRestarted]:
        return [event.member_restarted for event in self.events if isinstance(event, MemberRestartedEvent)]

    @property
    def rebalances(self) -> int:
        return sum(isinstance(event, RebalanceEvent) for event in self.events)

    def known(self) -> int:
        return len(self._tracker.restarts.slots)


async def watched(scene: StaticGroup, reader: KafkaGroupReader, protocol: Mapping[str, str | int]) -> Watcher:
    watcher = Watcher(scene, reader, 2)
    await watcher.until(lambda: True)
    await scene.started(2, protocol)
    await watcher.until(lambda: watcher.known() == 2)
    watcher.events.clear()
    return watcher


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER], ids=["classic", "consumer"])
async def test_a_member_that_returns_in_time_is_told_with_its_silence(
    protocol: Mapping[str, str | int], scene: StaticGroup, reader: KafkaGroupReader
) -> None:
    watcher = await watched(scene, reader, protocol)
    scene.members[1].stop()
    watcher.ended(1)
    stopped_at = _told(time.time())
    await watcher.until(lambda: bool(watcher.restarts))
    scene.start(1, protocol)
    watcher.started(1)
    await watcher.until(lambda: watcher.restarts[-1].outcome is Outcome.RETURNED)
    back_by = _told(time.time())

    away, back = watcher.restarts
    assert (away.outcome, back.reason, back.partitions, back.evicted) == (Outcome.AWAY, RestartReason.CRASH, 3, False)
    assert (away.episode, back.instance_id) == (back.episode, scene.instance_id(1))
    assert back.last_seen_at is not None
    assert back.rejoined_at is not None
    assert back.last_seen_at <= stopped_at < back.rejoined_at <= back_by
    assert watcher.rebalances == 0


def _told(moment: float) -> float:
    """As an event tells it: in whole milliseconds, the nearest one."""
    return round(moment, 3)


async def test_a_member_that_returns_too_late_was_evicted(scene: StaticGroup, reader: KafkaGroupReader) -> None:
    """Classic: when its session of 8 s has ended, the other member is given its partitions."""
    watcher = await watched(scene, reader, CLASSIC)
    scene.members[1].kill()
    watcher.ended(1)
    await watcher.until(lambda: watcher.rebalances == 1)
    scene.start(1, CLASSIC)
    watcher.started(1)
    await watcher.until(lambda: watcher.restarts[-1].outcome is Outcome.RETURNED)
    assert watcher.restarts[-1].evicted is True
    await watcher.until(lambda: watcher.rebalances == 2)

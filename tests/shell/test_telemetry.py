"""The operator's calls: passes and pods go in, events come out, and whatever goes wrong stays there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from slackwater.adapters.telemetry.files import FileSink
from slackwater.adapters.telemetry.poll_metrics import MetricsUnreadable
from slackwater.adapters.telemetry.recorder import Dropped, Recorder
from slackwater.adapters.telemetry.scraping import Endpoint, ScrapeFailed
from slackwater.adapters.telemetry.topic import TopicSink
from slackwater.api.telemetry.events import Event, MemberRestartedEvent, PollObservedEvent, read_line
from slackwater.api.telemetry.words import PollSource, RestartReason
from slackwater.core.decision.decision import Decision
from slackwater.core.telemetry.polls import PollReading
from slackwater.core.world.world import World
from slackwater.shell.metrics import Metrics
from slackwater.shell.places import parse_place
from slackwater.shell.store import Key
from slackwater.shell.telemetry import Telemetry, sink_at
from tests.adapters.telemetry.events import FakeSink
from tests.core.factories import NOW, observation, pod, watched, world
from tests.core.telemetry.stories import AT_REST

KEY = Key("default", "payments")
ENDPOINT = Endpoint(9090)


class Stage:
    def __init__(self, **given: Any) -> None:
        self.sink = FakeSink()
        self.recorder = Recorder(self.sink)
        self.telemetry = Telemetry(self.recorder, lambda: NOW, **given)

    def saw(self, seen: World) -> None:
        self.telemetry.saw(KEY, seen, Decision(seen.memory), None)

    async def told(self) -> list[Event]:
        await self.telemetry.close()
        return [read_line(text) for text in self.sink.taken]


def at_rest(at: float = 0.0, **changes: Any) -> World:
    kafka = observation(at=NOW + at)
    return world(now=NOW + at, kafka=kafka, history=watched(kafka), memory=AT_REST, **changes)


def deleted_pod() -> Mapping[str, Any]:
    """As the watch tells of its deletion."""
    ended = {"terminated": {"finishedAt": "1970-01-12T13:46:45Z", "exitCode": 0}}
    labels = {"slackwater.dev/group": "payments"}
    metadata = {"namespace": "default", "name": "payments-1", "uid": "uid-1", "labels": labels}
    return {"metadata": metadata, "status": {"containerStatuses": [{"name": "consumer", "state": ended}]}}


async def test_passes_and_pods_become_events() -> None:
    stage = Stage(cluster_of=lambda _: "prod")
    stage.saw(at_rest(pods=(pod(0), pod(1), pod(2))))
    stage.telemetry.saw_pod(deleted_pod())
    stage.saw(at_rest(10, pods=(pod(0), pod(2))))
    told = await stage.told()
    (restarted,) = [event for event in told if isinstance(event, MemberRestartedEvent)]
    assert restarted.member_restarted.stopped_at == NOW + 5
    assert restarted.member_restarted.reason is RestartReason.DELETED
    assert {(event.key, event.cluster) for event in told} == {("default/payments", "prod")}


async def test_nothing_is_told_of_a_group_whose_cluster_is_not_known_yet() -> None:
    known: list[str | None] = [None, "prod"]
    stage = Stage(cluster_of=lambda _: known.pop(0))
    stage.saw(at_rest())
    stage.saw(at_rest(1))
    assert [(event.cluster, event.at) for event in await stage.told()] == [("prod", NOW + 1)]


async def test_a_bug_in_telling_fails_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    with monkeypatch.context() as broken:
        broken.setattr("slackwater.shell.telemetry.follow", lambda *_: 1 / 0)
        with capture_logs() as logs:
            stage.saw(at_rest())
    assert [log["event"] for log in logs] == ["telemetry_failed"]
    assert stage.recorder.dropped == {Dropped.FAILED: 1}
    stage.saw(at_rest(1))
    assert [event.type.value for event in await stage.told()] == ["group_observed"]


async def test_a_group_that_is_gone_is_forgotten() -> None:
    stage = Stage(endpoint_of=lambda _: ENDPOINT)
    stage.saw(at_rest())
    stage.telemetry.saw_pod(deleted_pod())
    stage.telemetry.forget(KEY)
    assert not stage.telemetry._trackers
    assert not stage.telemetry._seen
    assert not stage.telemetry._ends.of(KEY, "consumer")
    await stage.told()


async def test_pods_are_asked_for_their_poll_times(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(endpoint_of=lambda _: ENDPOINT)
    answers: dict[str, PollReading | Exception | None] = {
        "10.0.0.0": PollReading(PollSource.JAVA, 60.0, 5.0, 90.0),
        "10.0.0.1": None,
        "10.0.0.2": ScrapeFailed("it does not answer"),
        "10.0.0.3": MetricsUnreadable("what is this?"),
        "10.0.0.6": ZeroDivisionError("a bug"),
    }

    async def read(address: str, endpoint: Endpoint, namespace: str) -> PollReading | None:
        answer = answers[address]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(stage.telemetry._scraper, "read", read)
    pods = [*(pod(ordinal) for ordinal in (0, 1, 2, 3, 6)), pod(4, started_at=None), pod(5, terminating=True)]
    seen = at_rest(pods=tuple(pods))
    group = seen.group.model_copy(update={"spec": seen.group.spec.model_copy(update={"replicas": 7})})
    stage.saw(replace(seen, group=group))
    await stage.telemetry.scrape()
    assert stage.telemetry.scrapes == {"ok": 1, "nothing found": 1, "failed": 3}
    (polled,) = [event for event in await stage.told() if isinstance(event, PollObservedEvent)]
    assert (polled.poll_observed.pod, polled.poll_observed.instance_id) == ("payments-0", "payments-0")
    assert polled.poll_observed.time_between_poll_max_ms == 90.0


async def test_a_namespace_whose_pods_are_slow_keeps_no_other_from_being_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand silent pods take three minutes: the others are asked each minute all the same."""
    stage, answers, asked = Stage(endpoint_of=lambda _: ENDPOINT), asyncio.Event(), Counter[str]()

    async def read(_: str, endpoint: Endpoint, namespace: str) -> None:
        asked[namespace] += 1
        if namespace == "evil":
            await answers.wait()

    monkeypatch.setattr(stage.telemetry._scraper, "read", read)
    for namespace in ("evil", "good"):
        seen = at_rest(pods=(pod(0),))
        stage.telemetry.saw(Key(namespace, "payments"), seen, Decision(seen.memory), None)
    rounds = []
    async with asyncio.timeout(10):
        while asked["good"] < 3:
            rounds.append(asyncio.create_task(stage.telemetry.scrape()))
            await asyncio.sleep(0)
    assert asked["evil"] == 1
    answers.set()
    await asyncio.gather(*rounds)
    await stage.telemetry.scrape()
    assert asked["evil"] == 2
    await stage.told()


async def test_groups_that_name_no_port_are_not_asked() -> None:
    stage = Stage()
    stage.saw(at_rest(pods=(pod(0),)))
    await stage.telemetry.scrape()
    assert not stage.telemetry.scrapes
    await stage.told()


async def test_what_is_lost_is_in_the_metrics() -> None:
    stage = Stage()
    metrics = Metrics()
    stage.telemetry.publish(metrics)
    stage.saw(at_rest())
    stage.recorder.dropped[Dropped.BUFFER_FULL] += 3
    text = metrics.text().decode()
    assert 'slackwater_telemetry_events_total{type="group_observed"} 1.0' in text
    assert 'slackwater_telemetry_dropped_total{reason="BufferFull"} 3.0' in text
    assert 'slackwater_telemetry_dropped_total{reason="Ending"} 0.0' in text
    await stage.told()


async def test_without_a_place_nothing_is_told_and_nothing_runs() -> None:
    telemetry = Telemetry(None, lambda: NOW)
    telemetry.saw(KEY, at_rest(), Decision(AT_REST), None)
    telemetry.saw_pod(deleted_pod())
    telemetry.publish(Metrics())
    assert list(telemetry.parts()) == []
    assert not telemetry._trackers
    await telemetry.close()


async def test_its_parts_write_what_was_told() -> None:
    stage = Stage()
    parts = [asyncio.create_task(part, name=name) for name, part in stage.telemetry.parts()]
    stage.saw(at_rest())
    async with asyncio.timeout(10):
        while not stage.sink.taken:  # noqa: ASYNC110 - the parts under test tell nobody
            await asyncio.sleep(0)
    for part in parts:
        part.cancel()
    await asyncio.gather(*parts, return_exceptions=True)
    await stage.telemetry.close()
    assert stage.sink.closed


def test_places_have_their_sinks(tmp_path: Path) -> None:
    api: Any = None
    files = sink_at(parse_place(f"file:{tmp_path}"), api, lambda: NOW)
    assert isinstance(files, FileSink)
    assert files._folder == tmp_path
    assert isinstance(sink_at(parse_place("kafka:shop/main/slackwater-telemetry"), api, lambda: NOW), TopicSink)


def test_a_bug_in_telling_how_pods_ended_reaches_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who acts learns of the pod after it."""
    stage = Stage()
    monkeypatch.setattr(stage.telemetry._ends, "take", lambda *_: 1 / 0)
    with capture_logs() as logs:
        stage.telemetry.saw_pod(deleted_pod())
    assert [log["event"] for log in logs] == ["telemetry_failed"]
    assert stage.recorder.dropped == {Dropped.FAILED: 1}

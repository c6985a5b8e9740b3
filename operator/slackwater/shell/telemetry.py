"""The operator's memory of what happened, on its way out: each pass is told here, and each pod that the watch brings.

Nothing here may delay or fail a pass. What goes wrong is counted and said in the log.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn

import structlog

from slackwater.adapters.cluster.translation import group_of
from slackwater.adapters.telemetry.files import FileSink
from slackwater.adapters.telemetry.pod_ends import PodEnds
from slackwater.adapters.telemetry.recorder import Dropped, Recorder
from slackwater.adapters.telemetry.scraping import Endpoint, Scraper
from slackwater.adapters.telemetry.sinks import Sink
from slackwater.adapters.telemetry.topic import TopicSink
from slackwater.api.errors import SlackwaterError
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Act
from slackwater.core.decision.decision import Decision
from slackwater.core.telemetry.polls import poll_observed
from slackwater.core.telemetry.sight import Sight
from slackwater.core.telemetry.tracker import Tracker, follow
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World
from slackwater.ports import Cluster
from slackwater.shell.metrics import Metrics
from slackwater.shell.own_kafka import read_client_settings
from slackwater.shell.places import FilePlace, Place
from slackwater.shell.settings import Settings
from slackwater.shell.store import Key
from slackwater.shell.witnesses import Witness

Json = Mapping[str, Any]

SCRAPE_EVERY_S: Final = 60.0
"""As far as the Java client's own figures look back."""
END_WITHIN_S: Final = 3.0
"""Kopf gives everything at the end 5 s."""

_Question = Callable[[], Coroutine[Any, Any, None]]

_log = structlog.get_logger(__name__)


class _Seen(NamedTuple):
    """No more of a world: its templates are large."""

    group: ConsumerGroup
    pods: Sequence[Pod]


class Telemetry(Witness):
    """Without a recorder nothing is told, and nothing costs anything.

    `cluster_of`: the id of the Kafka cluster that a group is in; while it is None nothing is told of the group, because
    events with it and events without it would be of two groups. `endpoint_of`: where a group's consumers publish their
    metrics.
    """

    def __init__(
        self,
        recorder: Recorder | None,
        now: Callable[[], float],
        cluster_of: Callable[[Key], str | None] = lambda _: "",
        endpoint_of: Callable[[ConsumerGroup], Endpoint | None] = lambda _: None,
    ) -> None:
        self._recorder = recorder
        self._now = now
        self._cluster_of = cluster_of
        self._endpoint_of = endpoint_of
        self._scraper = Scraper()
        self._ends = PodEnds()
        self._trackers: dict[Key, Tracker] = {}
        self._seen: dict[Key, _Seen] = {}
        """Of each group whose consumers publish metrics, as it was last seen."""
        self._asking: set[str] = set()
        """Namespaces whose pods are being asked."""
        self.scrapes: Counter[str] = Counter()
        """By result."""

    def saw(self, key: Key, world: World, decision: Decision, done: Act | None) -> None:
        cluster = self._cluster_of(key)
        if self._recorder is None or cluster is None:
            return
        try:
            ends = self._ends.of(key, world.group.spec.consumer_container.name)
            sight = Sight(world, decision, done, ends, cluster)
            self._trackers[key], events = follow(self._trackers.get(key, Tracker()), sight)
            self._recorder.record(events)
        except Exception:  # noqa: BLE001 - a bug in telling what happened must not stop what happens
            self._trackers.pop(key, None)
            self._recorder.dropped[Dropped.FAILED] += 1
            _log.exception("telemetry_failed", group=str(key))
        if self._endpoint_of(world.group) is not None:
            self._seen[key] = _Seen(world.group, world.wanted_pods)
        else:
            self._seen.pop(key, None)

    def saw_pod(self, obj: Json) -> None:
        """Every version of a pod that the watch brings, that of its deletion too."""
        name = group_of(obj)
        if self._recorder is None or name is None:
            return
        try:
            self._ends.take(Key(obj["metadata"]["namespace"], name), obj)
        except Exception:  # noqa: BLE001 - a bug in telling what happened must not hide it from those who act
            self._recorder.dropped[Dropped.FAILED] += 1
            _log.exception("telemetry_failed", group=name, pod=obj["metadata"]["name"])

    def forget(self, key: Key) -> None:
        self._trackers.pop(key, None)
        self._seen.pop(key, None)
        self._ends.forget(key)

    def parts(self) -> Iterable[tuple[str, Coroutine[Any, Any, NoReturn]]]:
        """What has to run as long as the operator does, by name."""
        if self._recorder is not None:
            yield "telemetry", self._recorder.run()
            yield "poll-times", self._keep_scraping()

    async def close(self) -> None:
        """After its parts have ended."""
        await self._scraper.close()
        if self._recorder is not None:
            await self._recorder.close(END_WITHIN_S)

    def publish(self, metrics: Metrics) -> None:
        recorder = self._recorder
        if recorder is None:
            return
        metrics.count_requests(
            "slackwater_telemetry_events_total",
            "What was told, by type of event.",
            ("type",),
            lambda: [((kind,), count) for kind, count in list(recorder.recorded.items())],
        )
        metrics.count_requests(
            "slackwater_telemetry_dropped_total",
            "Events that were not written, by reason.",
            ("reason",),
            lambda: [((reason.value,), recorder.dropped[reason]) for reason in Dropped],
        )
        metrics.count_requests(
            "slackwater_telemetry_scrapes_total",
            "Questions to consumers' metrics endpoints, by result.",
            ("result",),
            lambda: [((result,), count) for result, count in list(self.scrapes.items())],
        )

    async def _keep_scraping(self) -> NoReturn:
        async with asyncio.TaskGroup() as rounds:
            while True:
                await asyncio.sleep(SCRAPE_EVERY_S)
                rounds.create_task(self.scrape(), name="poll-times-round")

    async def scrape(self) -> None:
        """Ask every running pod whose group says where, all at about the same time. A namespace whose pods keep the
        last round waiting is left out of this one, and no other waits for it."""
        pods: defaultdict[str, list[_Question]] = defaultdict(list)
        for key, seen in self._seen.items():
            if key.namespace not in self._asking:
                pods[key.namespace] += self._asked_of(key, seen)
        self._asking.update(pods)
        await asyncio.gather(*(self._round(namespace, asked) for namespace, asked in pods.items()))

    async def _round(self, namespace: str, asked: Iterable[_Question]) -> None:
        try:
            await asyncio.gather(*(ask() for ask in asked))
        finally:
            self._asking.discard(namespace)

    def _asked_of(self, key: Key, seen: _Seen) -> Iterator[_Question]:
        if (endpoint := self._endpoint_of(seen.group)) is None:
            return
        for pod in seen.pods:
            # At its node's address, not only the pod answers: the operator is nobody's way to a node's ports.
            if pod.started_at and not pod.terminating and pod.address not in ("", pod.node_address):
                yield partial(self._ask, key, seen.group, pod, endpoint)

    async def _ask(self, key: Key, group: ConsumerGroup, pod: Pod, endpoint: Endpoint) -> None:
        try:
            reading = await self._scraper.read(pod.address, endpoint, key.namespace)
            cluster = self._cluster_of(key)
            if reading is not None and self._recorder is not None and cluster is not None:
                self._recorder.record([poll_observed(group, pod, reading, self._now(), cluster)])
        except SlackwaterError as error:
            self.scrapes["failed"] += 1
            _log.debug("poll_times_unreadable", group=str(key), pod=pod.name, problem=str(error))
        except Exception:  # noqa: BLE001 - nothing that a consumer answers may end the operator
            self.scrapes["failed"] += 1
            _log.exception("poll_times_failed", group=str(key), pod=pod.name)
        else:
            self.scrapes["ok" if reading is not None else "nothing found"] += 1


def telemetry_to(
    settings: Settings, api: Cluster, now: Callable[[], float], cluster_of: Callable[[Key], str | None]
) -> Telemetry:
    """To nowhere where the settings name no place."""
    place = settings.telemetry
    recorder = Recorder(sink_at(place, api, now, settings.token_hosts)) if place is not None else None
    return Telemetry(recorder, now, cluster_of, endpoint_in)


def endpoint_in(group: ConsumerGroup) -> Endpoint | None:
    """Where the spec says that its consumers publish their metrics."""
    metrics = group.spec.client.metrics
    return Endpoint(metrics.port, metrics.path) if metrics is not None else None


def sink_at(place: Place, api: Cluster, now: Callable[[], float], token_hosts: Collection[str] = ()) -> Sink:
    """A folder of files, or a topic of a KafkaConnection."""
    match place:
        case FilePlace():
            return FileSink(place.path, now)
        case _:
            return TopicSink(place.topic, lambda: read_client_settings(api, place.connection, token_hosts))

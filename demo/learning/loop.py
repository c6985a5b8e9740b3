"""The loop closed, once: history, pipeline, recommendation, and its application without a restart."""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import KafkaException
from kafka.errors import KafkaError
from rich.console import Console
from rich.markup import escape

from demo.cluster import Cluster
from demo.fleet import Pod, consumer_pods
from demo.kafka import Kafka
from demo.learning import lesson
from demo.learning.chronicle import Chronicle
from demo.learning.history import LONGEST_SESSION_S, History
from demo.learning.jobs import run_jobs
from demo.learning.lesson import Learned, Lesson, recommendation_in, runs
from demo.manifests import NAMESPACE, TELEMETRY
from demo.modes import LEARNING, Mode
from demo.scene import first_version
from demo.view import View
from sandbox.errors import SandboxError
from sandbox.layout import Layout

_APPLIED_WITHIN_S = 120.0
"""The operator looks for a topic that is not there yet twice a minute."""
_ALTERED_WITHIN_S = 30.0
_WATCHED_FOR_S = 5.0
"""After that: a restart would have begun by then."""
_LOOK_EVERY_S = 0.5


class Loop:
    def __init__(
        self, layout: Layout, cluster: Cluster, kafka: Kafka, view: Callable[[Mode], View], console: Console
    ) -> None:
        self._layout, self._cluster, self._kafka = layout, cluster, kafka
        self._view, self._console = view, console

    def play(self) -> Learned:
        """A part that fails is told as the problem: the figures of all modes are told all the same."""
        try:
            found = self._learn()
        except (SandboxError, KafkaException, KafkaError, TimeoutError) as error:
            return Learned(None, str(error))
        return Learned(found, lesson.judge(found))

    def _learn(self) -> Lesson:
        began_s = time.monotonic()
        self._kafka.alter(LEARNING, {lesson.SESSION: str(LONGEST_SESSION_S * 1000)})
        self._cluster.give_nodes()
        self._make_history()
        before, pods_before = self._kafka.settings(LEARNING), self._pods()
        run_jobs(self._layout, self._kafka.bootstrap_servers, self._console)
        told = self._wait_applied()
        self._wait_until(lambda: self._kafka.settings(LEARNING) != before, _ALTERED_WITHIN_S)  # the status comes first
        self._wait_until(lambda: runs(self._pods()) != runs(pods_before), _WATCHED_FOR_S)
        after, pods_after = self._kafka.settings(LEARNING), self._pods()
        return Lesson(told, before, after, pods_before, pods_after, time.monotonic() - began_s)

    def _make_history(self) -> None:
        servers = self._kafka.bootstrap_servers
        with (
            first_version(LEARNING, self._cluster, self._kafka, self._view(LEARNING)) as scene,
            Chronicle(servers, TELEMETRY, LEARNING.workload) as chronicle,
        ):
            History(scene, self._cluster, chronicle, servers).make()

    def _pods(self) -> tuple[Pod, ...]:
        return consumer_pods(self._cluster.look(LEARNING)[1])

    def _wait_applied(self) -> lesson.Json:
        """The recommendation once it is applied, or as it is when that does not happen; shown as kubectl shows it."""

        def is_applied() -> bool:
            return lesson.is_applied(recommendation_in(self._cluster.as_yaml(LEARNING)))

        self._wait_until(is_applied, _APPLIED_WITHIN_S)
        text = self._cluster.as_yaml(LEARNING)
        self._console.print(f"  $ kubectl --namespace {NAMESPACE} get cg {LEARNING.workload} --output=yaml")
        for line in lesson.excerpt(text).splitlines():
            self._console.print(f"    {escape(line)}", soft_wrap=True)
        return recommendation_in(text)

    @staticmethod
    def _wait_until(condition: Callable[[], bool], within_s: float) -> None:
        """Or for so long: what is missing then is said by `lesson.judge`."""
        deadline_s = time.monotonic() + within_s
        while not condition() and time.monotonic() < deadline_s:
            time.sleep(_LOOK_EVERY_S)

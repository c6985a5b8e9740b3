"""Plays one mode: deploy the first version, wait until all is served, change it, wait for the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.demo import fleet, manifests, modes
from sandbox.demo.cluster import Cluster
from sandbox.demo.fleet import Pod, Progress
from sandbox.demo.follower import Follower
from sandbox.demo.kafka import Kafka
from sandbox.demo.modes import Mode
from sandbox.demo.view import Moment, View
from sandbox.errors import StartFailed

_LOOK_EVERY_S = 0.5
_STEADY_FOR_S = 3.0
_DEPLOYED_WITHIN_S = 90.0
_ROLLED_WITHIN_S = 240.0


@dataclass(frozen=True, slots=True)
class Played:
    """One mode, played to its end. Moments are unix seconds."""

    mode: Mode
    started_s: float
    ended_s: float
    """When the rollout was over and the group served again; for a bad end, when the demo stopped watching."""
    measured_until_s: float
    pods_before: tuple[Pod, ...]
    pods_seen: frozenset[str]
    """uids of every pod that was seen between the marks."""
    last: Moment
    progress: Progress
    steps_s: tuple[float, ...] = ()
    """When each step of an upgrade was first seen."""


class Player:
    """Plays modes on a cluster whose node has the images, and, for Slackwater's modes, where the operator runs."""

    def __init__(self, cluster: Cluster, kafka: Kafka, view: Callable[[Mode], View]) -> None:
        self._cluster = cluster
        self._kafka = kafka
        self._view = view

    def play(self, mode: Mode) -> Played:
        """Raises StartFailed when the first version is not served or the change does not end within its deadline."""
        self._kafka.make_topics(mode)
        servers = self._kafka.bootstrap_servers
        self._cluster.apply([manifests.load(mode, servers), manifests.consumers(mode, modes.FIRST, servers)])
        with Follower(servers, mode.deliveries_topic) as follower, self._view(mode) as view:
            scene = _Scene(mode, self._cluster, self._kafka, follower, view)
            scene.begin("the first version starts")
            scene.wait(scene.is_settled, _DEPLOYED_WITHIN_S, _STEADY_FOR_S)
            before = scene.last.pods
            started_s = scene.begin(_change(mode))
            self._cluster.apply([manifests.consumers(mode, modes.SECOND, servers)])
            if mode.ends_unserved:
                scene.wait(lambda: scene.progress.done, _ROLLED_WITHIN_S, 0)
                scene.stage = "the rollout is complete; watching what comes of it"
                scene.watch(modes.AFTERMATH_S)
                ended_s = time.time()
            else:
                ended_s = scene.wait(scene.is_settled, _ROLLED_WITHIN_S, _STEADY_FOR_S)
            until_s = scene.looked_s
            seen, steps_s = frozenset(scene.seen), tuple(scene.steps_s.values())
            return Played(mode, started_s, ended_s, until_s, before, seen, scene.last, scene.progress, steps_s)


def _change(mode: Mode) -> str:
    if mode.upgrade is None:
        return "the second version is rolled out"
    return f"protocol.target is now {mode.upgrade.target}"


class _Scene:
    """One mode while it is being played: looks, shows, remembers."""

    def __init__(self, mode: Mode, cluster: Cluster, kafka: Kafka, follower: Follower, view: View) -> None:
        self.mode = mode
        self.stage = ""
        self.seen: set[str] = set()
        self.steps_s: dict[str, float] = {}
        self.progress = Progress(done=False, phase="")
        self.looked_s = 0.0
        self.last: Moment
        self._cluster, self._kafka, self._follower, self._view = cluster, kafka, follower, view
        self._began_s = 0.0

    def begin(self, stage: str) -> float:
        """Start a stage: the moment of it, in unix seconds."""
        self.stage, self.seen, self.steps_s, self._began_s = stage, set(), {}, time.time()
        return self._began_s

    def look(self) -> None:
        self.looked_s = time.time()
        workload, items = self._cluster.look(self.mode)
        self.progress = fleet.progress(self.mode.kind, workload)
        if self.progress.step:
            self.steps_s.setdefault(self.progress.step, self.looked_s)
        pods = fleet.consumer_pods(items)
        self.seen |= {pod.uid for pod in pods}
        group, served = self._kafka.group(self.mode), self._follower.served()
        elapsed_s = time.time() - self._began_s
        told = self.progress
        self.last = Moment(self.mode, self.stage, elapsed_s, told.phase, pods, group, served, told.protocol)
        self._view.show(self.last)

    def is_settled(self) -> bool:
        """Whether the rollout is over, nobody is coming or going, and every partition has its owner and is served."""
        pods = self.last.pods
        at_rest = len(pods) == self.mode.replicas and all(pod.ready and not pod.terminating for pod in pods)
        whole = self.last.group.is_whole and len(self.last.group.members) == self.mode.replicas
        return self.progress.done and at_rest and whole and self.last.served == modes.PARTITIONS

    def wait(self, condition: Callable[[], bool], within_s: float, steady_for_s: float) -> float:
        """Look until `condition` has held for `steady_for_s`: the moment from which it did."""
        deadline_s = time.time() + within_s
        since_s: float | None = None
        while True:
            self.look()
            since_s = (since_s or self.looked_s) if condition() else None
            if since_s is not None and self.looked_s - since_s >= steady_for_s:
                return since_s
            if time.time() > deadline_s:
                raise StartFailed(f"Not done within {within_s:.0f} s: {self.stage}.", log=self._evidence())
            time.sleep(_LOOK_EVERY_S)

    def watch(self, seconds: float) -> None:
        until_s = time.time() + seconds
        while time.time() < until_s:
            self.look()
            time.sleep(_LOOK_EVERY_S)

    def _evidence(self) -> list[str]:
        pods = [f"{pod.name} {pod.version} {pod.state}, restarts {pod.restarts}" for pod in self.last.pods]
        group = self.last.group
        seen = f"group {group.state}, {len(group.members)} members, {self.last.served} partitions served"
        return [self.last.phase, seen, *pods]

"""One mode while it is being played: looks, shows, remembers, waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from demo import fleet, manifests, modes
from demo.cluster import Cluster
from demo.fleet import Progress
from demo.follower import Follower
from demo.kafka import Kafka
from demo.modes import Mode
from demo.view import Moment, View
from sandbox.errors import StartFailed

STEADY_FOR_S = 3.0
ROLLED_WITHIN_S = 240.0
_DEPLOYED_WITHIN_S = 90.0
_LOOK_EVERY_S = 0.5


@contextmanager
def first_version(mode: Mode, cluster: Cluster, kafka: Kafka, view: View) -> Iterator[Scene]:
    """The scene of a mode, once its first version serves every partition. Raises StartFailed when it never does."""
    kafka.make_topics(mode)
    servers = kafka.bootstrap_servers
    cluster.apply([manifests.load(mode, servers), manifests.consumers(mode, modes.FIRST, servers)])
    with Follower(servers, mode.deliveries_topic) as follower, view:
        scene = Scene(mode, cluster, kafka, follower, view)
        scene.begin("the first version starts")
        scene.wait(scene.is_settled, _DEPLOYED_WITHIN_S, STEADY_FOR_S)
        yield scene


class Scene:
    """Use it as `first_version` gives it."""

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

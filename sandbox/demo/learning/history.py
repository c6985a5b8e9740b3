"""Makes a history worth learning from, out of nothing but real restarts: a rollout, crashes, and a pod without a node.

Most members are back in seconds. One is away for longer than any session timeout that the brokers allow: that is what a
long timeout costs, for its partitions lie idle until it has passed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from sandbox.demo import manifests, modes
from sandbox.demo.cluster import Cluster
from sandbox.demo.fleet import Pod
from sandbox.demo.learning.chronicle import Chronicle
from sandbox.demo.scene import ROLLED_WITHIN_S, STEADY_FOR_S, Scene

LONGEST_SESSION_S = 60
"""The brokers' highest for KIP-848 groups, unless told otherwise (F23)."""
AWAY_FOR_S = LONGEST_SESSION_S + 2
WAVES = ((0, 1), (2, 3), (4,)) * 2
"""Ordinals that crash at the same time. Twice each: the second time the kubelet waits for 10 s."""
AWAY = modes.REPLICAS - 1
"""The ordinal that no node takes."""
_BACK_WITHIN_S = 180.0


def make_history(scene: Scene, cluster: Cluster, chronicle: Chronicle, bootstrap_servers: str) -> None:
    """Returns when the group is whole again and the operator has recorded it all. Raises StartFailed."""
    scene.begin("the second version is rolled out")
    cluster.apply([manifests.consumers(scene.mode, modes.SECOND, bootstrap_servers)])
    scene.wait(scene.is_settled, ROLLED_WITHIN_S, STEADY_FOR_S)
    scene.begin("members crash, and one finds no node for a while")
    crashes = _Crashes(scene, cluster, chronicle)
    for wave in WAVES:
        crashes.play(wave)
    crashes.end()
    scene.wait(scene.is_settled, _BACK_WITHIN_S, STEADY_FOR_S)


class _Crashes:
    def __init__(self, scene: Scene, cluster: Cluster, chronicle: Chronicle) -> None:
        self._scene, self._cluster, self._chronicle = scene, cluster, chronicle
        self._before = chronicle.returned()
        self._leaver = self._pod(AWAY)
        self._away_since_s: float | None = None
        cluster.take_nodes()
        cluster.delete_pod(self._leaver.name)

    def play(self, ordinals: Sequence[int]) -> None:
        """Kill these at about the same time, and wait until they are recorded as being back."""
        before, names = self._chronicle.returned(), [self._pod(ordinal).name for ordinal in ordinals]
        for name in names:
            self._cluster.crash(name)
        self._wait(lambda: all(self._chronicle.returned()[name] > before[name] for name in names))

    def end(self) -> None:
        """Wait until the member that found no node is recorded as being back."""
        name = self._leaver.name
        self._wait(lambda: self._chronicle.returned()[name] > self._before[name])

    def _wait(self, condition: Callable[[], bool]) -> None:
        def look() -> bool:
            self._mind_the_nodes()
            return condition()

        self._scene.wait(look, _BACK_WITHIN_S, 0)

    def _mind_the_nodes(self) -> None:
        """Give them back once the pod has been gone for long enough, however long it took to end."""
        if self._away_since_s is None and all(pod.uid != self._leaver.uid for pod in self._scene.last.pods):
            self._away_since_s = time.time()
        if self._away_since_s is not None and time.time() - self._away_since_s > AWAY_FOR_S:
            self._cluster.give_nodes()
            self._away_since_s = float("inf")

    def _pod(self, ordinal: int) -> Pod:
        name = f"{self._scene.mode.workload}-{ordinal}"
        return next(pod for pod in self._scene.last.pods if pod.name == name)

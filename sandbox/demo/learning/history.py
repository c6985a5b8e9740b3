"""Makes a history worth learning from, out of nothing but real restarts: one rollout, and processes that are killed.

Most members are back in seconds. One crashes again and again, until no session timeout that the brokers allow could
have waited for it: that is what a long timeout costs.
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
CRASHES_FOR_S = LONGEST_SESSION_S + 5
WAVES = ((0, 1), (2, 3), (4,)) * 2
"""Ordinals that crash at the same time. Twice each: the second time the kubelet waits for 10 s."""
LOOPING = modes.REPLICAS - 1
_BACK_WITHIN_S = 180.0


def make_history(scene: Scene, cluster: Cluster, chronicle: Chronicle, bootstrap_servers: str) -> None:
    """Returns when the group is whole again and the operator has recorded it all. Raises StartFailed."""
    scene.begin("the second version is rolled out")
    cluster.apply([manifests.consumers(scene.mode, modes.SECOND, bootstrap_servers)])
    scene.wait(scene.is_settled, ROLLED_WITHIN_S, STEADY_FOR_S)
    scene.begin("members crash, one of them again and again")
    crashes = _Crashes(scene, cluster, chronicle)
    for wave in WAVES:
        crashes.play(wave)
    crashes.end()
    scene.wait(scene.is_settled, _BACK_WITHIN_S, STEADY_FOR_S)


class _Crashes:
    def __init__(self, scene: Scene, cluster: Cluster, chronicle: Chronicle) -> None:
        self._scene, self._cluster, self._chronicle = scene, cluster, chronicle
        self._until_s = time.time() + CRASHES_FOR_S
        self._killed: set[tuple[str, int]] = set()
        """Runs of the looping pod."""
        self._before = chronicle.returned()

    def play(self, ordinals: Sequence[int]) -> None:
        """Kill these at about the same time, and wait until they are recorded as being back."""
        before, names = self._chronicle.returned(), [self._pod(ordinal).name for ordinal in ordinals]
        for name in names:
            self._cluster.crash(name)
        self._wait(lambda: all(self._chronicle.returned()[name] > before[name] for name in names))

    def end(self) -> None:
        """Wait until the looping pod's member is recorded as being back."""
        name = self._pod(LOOPING).name
        self._wait(lambda: self._chronicle.returned()[name] > self._before[name])

    def _wait(self, condition: Callable[[], bool]) -> None:
        def look() -> bool:
            self._loop()
            return condition()

        self._scene.wait(look, _BACK_WITHIN_S, 0)

    def _loop(self) -> None:
        """Kill the looping pod's process as soon as it runs, for longer than any session lasts; then leave it alone."""
        pod = self._pod(LOOPING)
        run = (pod.uid, pod.restarts)
        if time.time() < self._until_s and pod.runs and run not in self._killed:
            self._killed.add(run)
            self._cluster.crash(pod.name)

    def _pod(self, ordinal: int) -> Pod:
        name = f"{self._scene.mode.workload}-{ordinal}"
        return next(pod for pod in self._scene.last.pods if pod.name == name)

"""Makes a history worth learning from, out of nothing but real restarts: a rollout, crashes, and pods without a node.

Most members are back in seconds. Two are away for longer than any session timeout that the brokers allow: that is what
a long timeout costs, for their partitions lie idle until it has passed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from demo import manifests, modes
from demo.cluster import Cluster
from demo.learning.chronicle import Chronicle
from demo.scene import ROLLED_WITHIN_S, STEADY_FOR_S, Scene

LONGEST_SESSION_S = 60
"""The brokers' highest for KIP-848 groups, unless told otherwise (F23)."""
AWAY_FOR_S = LONGEST_SESSION_S + 2
CRASHES = ((0, 1), (2, 3), (4, 5))
"""Ordinals that crash at the same time. Once each: the second time the kubelet would wait."""
AWAY = (4, 5)
"""Ordinals that no node takes."""
_BACK_WITHIN_S = 180.0


class History:
    def __init__(self, scene: Scene, cluster: Cluster, chronicle: Chronicle, bootstrap_servers: str) -> None:
        self._scene, self._cluster, self._chronicle = scene, cluster, chronicle
        self._bootstrap_servers = bootstrap_servers

    def make(self) -> None:
        """Returns when the group is whole again and the operator has recorded it all. Raises StartFailed."""
        self._roll_out()
        for ordinals in CRASHES:
            self._crash(ordinals)
        self._keep_away(AWAY)
        self._scene.wait(self._scene.is_settled, _BACK_WITHIN_S, STEADY_FOR_S)

    def _roll_out(self) -> None:
        self._scene.begin("the second version is rolled out")
        self._cluster.apply([manifests.consumers(self._scene.mode, modes.SECOND, self._bootstrap_servers)])
        self._scene.wait(self._scene.is_settled, ROLLED_WITHIN_S, STEADY_FOR_S)

    def _crash(self, ordinals: Sequence[int]) -> None:
        self._scene.begin("two members crash")
        are_back = self._recorded_as_back(ordinals)
        for name in self._names(ordinals):
            self._cluster.crash(name)
        self._scene.wait(are_back, _BACK_WITHIN_S, 0)

    def _keep_away(self, ordinals: Sequence[int]) -> None:
        """Nodes are to be had again once the pods have been gone for so long, however long they took to end."""
        self._scene.begin("two members find no node for a while")
        leavers = {pod.uid for pod in self._scene.last.pods if pod.name in self._names(ordinals)}
        are_back = self._recorded_as_back(ordinals)
        self._cluster.take_nodes()
        self._cluster.delete_pods(self._names(ordinals))
        self._scene.wait(lambda: leavers.isdisjoint(pod.uid for pod in self._scene.last.pods), _BACK_WITHIN_S, 0)
        until_s = time.time() + AWAY_FOR_S
        self._scene.wait(lambda: time.time() > until_s, 2 * AWAY_FOR_S, 0)
        self._cluster.give_nodes()
        self._scene.wait(are_back, _BACK_WITHIN_S, 0)

    def _recorded_as_back(self, ordinals: Sequence[int]) -> Callable[[], bool]:
        """Whether each of these members has been away once more than now, and is back."""
        before, names = self._chronicle.returned(), self._names(ordinals)
        return lambda: all(self._chronicle.returned()[name] > before[name] for name in names)

    def _names(self, ordinals: Sequence[int]) -> list[str]:
        return [f"{self._scene.mode.workload}-{ordinal}" for ordinal in ordinals]

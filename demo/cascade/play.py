"""One run: the first version at rest, one apply of all new templates, the end, and what it was measured to be."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from demo.cascade import manifests, modes
from demo.cascade.brokers import Brokers
from demo.cascade.cast import cast
from demo.cascade.figures import Observed, Run, measure
from demo.cascade.modes import Mode
from demo.cascade.scene import Scene
from demo.cluster import Cluster
from demo.manifests import NAMESPACE
from sandbox.errors import SandboxError, StartFailed
from tests.e2e.stage.api import Api
from tests.e2e.stage.recorder import Recorder

_STARTED_WITHIN_S: Final = 600.0
_ENDS_WITHIN_S: Final = 1500.0
_SELECTED_WITHIN_S: Final = 60.0
_GONE_WITHIN_S: Final = 180.0
STEADY_FOR_S: Final = 10.0
BAD_STEADY_FOR_S: Final = 60.0
"""After bad templates: whoever waits for a turn would have begun by then, were it not for a halt."""
_RECORDED_AFTER_S: Final = 2.0
"""A delivery or a generation stands in its topic by then, and an expiry in the log."""
_LOOK_AGAIN_S: Final = 0.5


class Player:
    """Plays runs on a cluster whose node has the images and, for modes that need it, the operator. `say` gets
    what happens, a line at a time."""

    def __init__(self, cluster: Cluster, brokers: Brokers, say: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._brokers = brokers
        self._api = Api(cluster.kubeconfig)
        self._say = say

    def play(self, mode: Mode, number: int) -> Run:
        """What it leaves, the next one clears away, or the stage. Raises SandboxError when the first version does not
        come to rest: there is nothing to be measured then. A change that does not come to its end is a run with a
        problem."""
        self._clear()
        now = cast(mode.name, number, self._brokers.leaders())
        self._brokers.make_topics(now)
        with Recorder(self._api, NAMESPACE, ("pods",)) as recorder:
            scene = Scene(mode, now, self._brokers, self._api, recorder)
            self._begin(scene)
            return measure(self._change(scene))

    def _begin(self, scene: Scene) -> None:
        self._say("the first version starts")
        servers = self._brokers.bootstrap_servers
        around = [manifests.load(scene.cast, servers), *manifests.bystanders(scene.cast, servers)]
        first = manifests.groups(scene.mode, scene.cast, modes.FIRST, servers)
        self._cluster.apply([*around, *manifests.fleet(scene.mode), *first])
        at_rest = "the first version of all groups"
        scene.wait(at_rest, lambda: scene.is_rolled_out(modes.FIRST), _STARTED_WITHIN_S, STEADY_FOR_S)
        scene.wait("the fleet to select its groups", scene.is_selected, _SELECTED_WITHIN_S)

    def _change(self, scene: Scene) -> Observed:
        mode, marks = scene.mode, self._brokers.marks()
        second = manifests.groups(mode, scene.cast, modes.SECOND, self._brokers.bootstrap_servers)
        self._say("one apply of twelve templates")
        started_s, trouble = time.time(), ""
        self._cluster.apply(second)
        try:
            if mode.bad_image:
                scene.wait("the way back", scene.is_back, _ENDS_WITHIN_S, BAD_STEADY_FOR_S)
            else:
                scene.wait("the rollouts", lambda: scene.is_rolled_out(modes.SECOND), _ENDS_WITHIN_S, STEADY_FOR_S)
        except StartFailed as error:
            trouble = "; ".join((error.what, *error.log))
        until_s = time.time()
        self._say("reading back what happened")
        time.sleep(_RECORDED_AFTER_S)
        return self._observed(scene, started_s, until_s, trouble, self._brokers.ended_sessions(scene.cast, marks))

    def _observed(
        self, scene: Scene, started_s: float, until_s: float, trouble: str, expired: dict[str, int]
    ) -> Observed:
        start_ms, end_ms = int(started_s * 1000), int(until_s * 1000)
        return Observed(
            mode=scene.mode,
            cast=scene.cast,
            started_s=started_s,
            until_s=until_s,
            sights=tuple(scene.sights()),
            deliveries=self._brokers.deliveries(scene.cast, start_ms),
            rebalances=self._brokers.rebalances(scene.cast, start_ms, end_ms),
            expiries=expired,
            written=self._brokers.written(scene.cast, start_ms),
            coordinators_after=scene.coordinators(),
            trouble=trouble,
        )

    def _clear(self) -> None:
        """What a run before has left, in the cluster and at the brokers."""
        self._say("clearing away what was before")
        if self._cluster.knows_groups():
            self._cluster.delete_groups()
            self._cluster.delete_all("consumerfleets")
        self._cluster.delete_all("deployments", "statefulsets")
        deadline_s = time.monotonic() + _GONE_WITHIN_S
        while self._api.list_all("pods", NAMESPACE)[0]:
            if time.monotonic() > deadline_s:
                raise SandboxError(f"Not all pods are gone within {_GONE_WITHIN_S:.0f} s.")
            time.sleep(_LOOK_AGAIN_S)
        self._brokers.remove()

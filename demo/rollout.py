"""Plays one mode: deploy the first version, wait until all is served, change it, wait for the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from demo import manifests, modes
from demo.cluster import Cluster
from demo.fleet import Pod, Progress
from demo.kafka import Kafka
from demo.modes import Mode
from demo.scene import ROLLED_WITHIN_S, STEADY_FOR_S, first_version
from demo.view import Moment, View


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
        with first_version(mode, self._cluster, self._kafka, self._view(mode)) as scene:
            before = scene.last.pods
            started_s = scene.begin(_change(mode))
            self._cluster.apply([manifests.consumers(mode, modes.SECOND, self._kafka.bootstrap_servers)])
            if mode.ends_unserved:
                scene.wait(lambda: scene.progress.done, ROLLED_WITHIN_S, 0)
                scene.stage = "the rollout is complete; watching what comes of it"
                scene.watch(modes.AFTERMATH_S)
                ended_s = time.time()
            else:
                ended_s = scene.wait(scene.is_settled, ROLLED_WITHIN_S, STEADY_FOR_S)
            until_s = scene.looked_s
            seen, steps_s = frozenset(scene.seen), tuple(scene.steps_s.values())
            return Played(mode, started_s, ended_s, until_s, before, seen, scene.last, scene.progress, steps_s)


def _change(mode: Mode) -> str:
    if mode.upgrade is None:
        return "the second version is rolled out"
    return f"protocol.target is now {mode.upgrade.target}"

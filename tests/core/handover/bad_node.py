"""Pods that behave worse than their version, wherever they are made again; and what the status says meanwhile."""

from __future__ import annotations

from typing import Final

from slackwater.core.decision.acts import DeletePod
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.runs import Run
from tests.core.simulation.versions import VERSIONS

LOOKS_LATE: Final = 2
"""The operator looks once a second: a pod that fell out just now may be overlooked."""


class BadNode:
    """Pods of these ordinals and versions that are made from now on behave as another version, while it is bad."""

    def __init__(self, run: Run, behaves: str, *whose: tuple[int, str]) -> None:
        """`whose`: ordinal and version."""
        self.run, self.behaves, self.whose = run, behaves, whose
        self.bad = True
        self.deleted_at: list[float] = []
        self._known = {pod.uid for pod in run.outside.pods}
        self._wrong_for = 0

    def step(self) -> None:
        for pod in self.run.outside.pods:
            if pod.uid not in self._known:
                self._known.add(pod.uid)
                if self.bad and (pod.ordinal, self.run.outside.image(pod)) in self.whose:
                    pod.version = VERSIONS[self.behaves]
        self.run.step()
        self._ready_is_true()
        last = self.run.operator.last
        if last is not None and isinstance(last.act, DeletePod):
            self.deleted_at.append(self.run.now)

    def steps(self, seconds: int) -> None:
        for _ in range(seconds):
            self.step()

    def until(self, *phases: RolloutPhase, within_s: int = 400) -> None:
        for _ in range(within_s):
            self.step()
            if self.run.phase in phases:
                return
        raise AssertionError("\n".join(self.run.operator.log[-40:]))

    def _ready_is_true(self) -> None:
        """No group is Ready of which an ordinal has no pod that consumes; a look may be a second old."""
        outside = self.run.outside
        serving = {pod.ordinal for pod in outside.pods if outside.serves(pod)}
        says_so = condition(self.run, "Ready")[0] == "True"
        self._wrong_for = self._wrong_for + 1 if says_so and serving != {0, 1, 2} else 0
        assert self._wrong_for <= LOOKS_LATE, "\n".join(self.run.operator.log[-40:])


def condition(run: Run, kind: str) -> tuple[str, str, str]:
    found = next(each for each in run.outside.status["conditions"] if each["type"] == kind)
    return found["status"], found["reason"], found["message"]

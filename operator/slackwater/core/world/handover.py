"""The ordinal that goes from one StatefulSet's pod to the other's, or went last, and how far that has come.

    Begun ──► TakenOver ──┐
      └─────► Undone ─────┴──► Over       from Begun as well, where the old pod was given up

Each state has its own fields; `Handover` has what holds in all of them. How it stands in `status.rollout.handover` is
`handover_wire`'s matter. What leads from one state to the next: `core.handover.transitions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slackwater.core.world.pods import Pod, Run


@dataclass(frozen=True, slots=True)
class Held:
    """A pod that had the ordinal, as it was written down: its members, and the process that they were seen with."""

    ids: Mapping[str, str] = field(default_factory=dict)
    """Instance id → member id."""
    run: Run | None = None
    """While the container is in this run, nobody but the other pod can have joined. None: not known."""
    down: bool = False
    """The pod was known not to work: there was nothing to lose."""
    idle: bool = False
    """It was Ready and out of the group for longer than `rejoinTimeout`: it does not join by itself."""

    def runs_on(self, pod: Pod) -> bool:
        """This is the pod, and its container is in the same run as then, or still in none."""
        return self.run == pod.run


@dataclass(frozen=True, slots=True)
class Begun:
    """The replacement is made beside the old pod, and has not been seen to take over."""

    held: Held
    """The old pod's."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """The replacement has joined under the old pod's instance ids: the ordinal is the replacement's."""

    held: Held
    """The replacement's."""
    before: Mapping[str, str] = field(default_factory=dict)
    """Instance id → member id of the old pod."""


@dataclass(frozen=True, slots=True)
class Undone:
    """The replacement is removed again: the ordinal is the old pod's."""

    held: Held = Held()
    """The old pod's, as far as it is still known."""


Reached = Begun | TakenOver | Undone


@dataclass(frozen=True, slots=True)
class Over:
    """One of the two pods has ended."""

    reached: Reached
    """How far the handover had come by then."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The version that takes over, and how long its pods take to join, for `rollout.handover: Predictive`."""

    version: str = ""
    """Hash of the template that the replacement is made with."""
    running_since: float | None = None
    """When its container was first seen to run; None: not in time."""
    joined_after_s: tuple[float, ...] = ()
    """How long the last replacements of that version took from there to their join."""


@dataclass(frozen=True, slots=True)
class Handover:
    """What holds of a handover in every state, and the state."""

    ordinal: int
    to: str
    """Name of the StatefulSet whose pod is to have the ordinal."""
    started_at: float
    state: Reached | Over
    replacement: Replacement = Replacement()
    alone_since: float | None = None
    """When one of the ordinal's two pods had last ended: an id that was held before may have been the other one's."""
    fenced: int = 0
    """How often in this rollout the replaced process came back and fenced its replacement."""
    cold: bool = False
    """There was no room for one more pod: in this rollout, old pods are given up first."""
    not_come: int = 0
    """How often the pod that this handover left alone was started again, because it did not join the group."""
    returned: int = 0
    """How often in a row the ordinal's old pod was down when a handover of it began, and came back before its end."""

    @property
    def over(self) -> bool:
        return isinstance(self.state, Over)

    @property
    def reached(self) -> Reached:
        """How far it has come, whether it is over or not."""
        return self.state.reached if isinstance(self.state, Over) else self.state

    @property
    def held(self) -> Held:
        """The pod that has the ordinal, as far as this handover has come."""
        return self.reached.held

    @property
    def before(self) -> Mapping[str, str]:
        """Instance id → member id of the old pod."""
        return self.reached.before if isinstance(self.reached, TakenOver) else self.reached.held.ids

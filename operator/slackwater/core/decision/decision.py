"""What every decision travels as: chapters of the plan, rollouts, handovers, upkeep and commands all return it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slackwater.core.decision.acts import Act
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold
from slackwater.core.world.memory import RolloutMemory


@dataclass(frozen=True, slots=True)
class Decision:
    """What to remember, at most one act, why not more, and what to say to people; the memory is written first."""

    memory: RolloutMemory
    act: Act | None = None
    hold: Hold | None = None
    """Why there is no act although there is work to do, or why there is no more than this one."""
    refusal: Hold | None = None
    """Why the group is not taken to the protocol that is asked for; everything else goes on."""
    notes: tuple[Note, ...] = ()

    @property
    def settles(self) -> bool:
        """There is an act or a hold, so that nothing further is to be decided in this pass."""
        return self.act is not None or self.hold is not None

    def then(self, later: Decision) -> Decision:
        """The later one decides; notes and the refusal from before it stay, and the notes come first."""
        if self.refusal is None and not self.notes:
            return later
        return replace(later, refusal=later.refusal or self.refusal, notes=(*self.notes, *later.notes))

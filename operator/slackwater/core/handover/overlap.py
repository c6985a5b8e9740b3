"""An ordinal that both StatefulSets have, as a value: its two pods, how far the handover has come, who holds the ids.

What is done about it is `outcomes`' matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from slackwater.core.decision.acts import Purpose
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason, waiting_for
from slackwater.core.handover.holder import Holder, heir, holder, keeper
from slackwater.core.handover.latecomers import not_taking_over
from slackwater.core.handover.ranges import without_ordinal
from slackwater.core.rollout.candidates import known_down
from slackwater.core.rollout.gates import Down
from slackwater.core.world.handover import Begun, Handover, TakenOver, Undone
from slackwater.core.world.pods import Pod
from slackwater.core.world.two_sets import Beside, Direction
from slackwater.core.world.world import World

LOOK_AGAIN_S: Final = 0.2
"""Until the old pod is let go, both deliver: how soon a takeover is seen is how much is delivered twice."""


class Stage(StrEnum):
    """How far the handover has come, and so which judge is asked who holds the ids."""

    BEGUN = "begun"
    """The old pod had the ids, and its replacement is to have them."""
    TURNED_ROUND = "turned round"
    """The same, but the pods go the other way now."""
    FROM_A_DEAD_ONE = "from a dead one"
    """The old pod was down when it began: there is nothing to lose."""
    TAKEN_OVER = "taken over"
    UNDONE = "undone"
    """The replacement is to go, and nobody is asked: who has done what since cannot be known."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """`world`: of a group that Kafka described, with `handover` in its memory."""

    world: World
    beside: Beside
    way: Direction
    handover: Handover
    """Of this ordinal."""
    old: Pod | None
    """The pod that holds the ordinal, as far as is known."""
    new: Pod | None
    """The one that arrives beside it."""

    @property
    def stage(self) -> Stage:
        match self.handover.reached:
            case Undone():
                return Stage.UNDONE
            case TakenOver():
                return Stage.TAKEN_OVER
            case Begun() if self.handover.to != self.way.to.name:
                return Stage.TURNED_ROUND
            case Begun(held):
                return Stage.FROM_A_DEAD_ONE if held.down else Stage.BEGUN

    @property
    def holder(self) -> Holder:
        return JUDGES[self.stage](self)

    @property
    def down(self) -> Down:
        """Ordinals of the pods that are known not to consume."""
        return known_down(self.world, self.world.workload or self.way.to)

    def remembering(self, handover: Handover) -> Overlap:
        world = self.world.remembering(replace(self.world.memory, handover=handover))
        return replace(self, world=world, handover=handover)

    def waits_for(self, whom: str, recheck_s: float = LOOK_AGAIN_S, look_s: float | None = None) -> Decision:
        """It is looked at as often when it is late, and said then."""
        late = not_taking_over(self.world, self.handover, self.old, self.new)
        hold = waiting_for(Reason.RESTART_IN_HAND, whom) if late is None else late
        return Decision(self.world.memory, hold=replace(hold, recheck_s=recheck_s, look_s=look_s))

    def removes_old(self, purpose: Purpose) -> Decision:
        """The StatefulSet that the pods come from gives the ordinal up."""
        off = self.beside.other(self.handover.to).name
        return Decision(self.world.memory, without_ordinal(self.beside, off, self.handover.ordinal, purpose))

    def removes_new(self) -> Decision:
        """The StatefulSet that the ordinal was to go to gives it up."""
        to, ordinal = self.handover.to, self.handover.ordinal
        return Decision(self.world.memory, without_ordinal(self.beside, to, ordinal, Purpose.TAKE_BACK))


JUDGES: Final[Mapping[Stage, Callable[[Overlap], Holder]]] = {
    Stage.BEGUN: lambda o: holder(o.world, o.handover, o.old, o.new),
    Stage.TURNED_ROUND: lambda o: holder(o.world, o.handover, o.old, o.new),
    Stage.FROM_A_DEAD_ONE: lambda o: heir(o.world, o.handover, o.old, o.new, o.down),
    Stage.TAKEN_OVER: lambda o: keeper(o.world, o.handover),
    Stage.UNDONE: lambda _: Holder.UNCLEAR,
}

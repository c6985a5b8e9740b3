"""What a campaign orders of groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.fleet_defaults import PinnedField
from slackwater.core.fleet.claim import Cell
from slackwater.core.fleet.records import Values


@dataclass(frozen=True, slots=True)
class Order:
    """What is ordered of each group that may begin, when it gets the turn that it asks for."""

    campaign: str
    """Its uid."""
    fleet: str
    """`namespace/name` of the campaign's fleet."""
    wave: str
    asked_at: float
    takes: Cell
    restart: str = ""
    """With `restart`: the token that its pods are to be made with."""
    applies: Values = field(default_factory=dict)
    """With `applyDefaults`: what is to be pinned, but for what the group says itself."""
    named: str = ""
    """The campaign as `namespace/name`, as groups name it."""

    @property
    def reason(self) -> MoveReason:
        return reason_of(self.applies, restarts=bool(self.restart))


def reason_of(applies: Values, *, restarts: bool) -> MoveReason:
    """For what a campaign has groups ask for their turns."""
    if restarts:
        return MoveReason.RESTART
    return MoveReason.PROTOCOL_UPGRADE if PinnedField.PROTOCOL_TARGET in applies else MoveReason.ROLLOUT

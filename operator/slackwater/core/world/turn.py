"""A group's turn to move, where ConsumerFleets say how many groups may move at a time: as its fleets' allocator has it,
and as it is remembered in `status.rollout.turn`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.telemetry.words import HeldBy
from slackwater.api.timestamps import Moment

ALWAYS_ASKS: Final = frozenset({MoveReason.ROLLOUT, MoveReason.RESTART, MoveReason.PROTOCOL_UPGRADE})
"""What needs a turn in every fleet. The others do where a budget names them."""


class TurnStanding(StrEnum):
    NO_FLEET = "NoFleet"
    """No ConsumerFleet selects the group: it moves as it likes."""
    WAITS = "Waits"
    """It may not move now: it was not called; or it has a turn that is not good yet, or that a fleet has stopped."""
    CALLED = "Called"
    """It may begin: the room that it takes is reserved. The turn is given by writing it down, before the act."""
    HAS = "Has"
    """Its turn is written down, and the allocator has admitted it (`Allocator.may_act`)."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a group stands in line: at one thing that has no room for it, whatever else has none."""

    by: HeldBy
    fleet: str | None = None
    """The ConsumerFleet whose it is, or the FleetCampaign, as `namespace/name`."""
    name: str | None = None
    """Of the budget, or of the campaign's wave."""
    place: str | None = None
    """Where that counts; None: everywhere."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the fleets say of a group at the moment of a look. Put into the world by whoever builds it."""

    standing: TurnStanding = TurnStanding.NO_FLEET
    fleets: tuple[str, ...] = ()
    """Those that select the group, as `namespace/name`, in the order in which people read them."""
    asks: frozenset[MoveReason] = ALWAYS_ASKS
    """What the group needs a turn for: always `ALWAYS_ASKS`, and Scale or Start where a budget of a fleet names it."""
    campaign: str = ""
    """The uid of the FleetCampaign that has called the group; empty: it moves of its own accord."""
    unread: tuple[str, ...] = ()
    """Namespaces whose fleets the operator may not read: one of those may select the group, and none of them is among
    `fleets`."""
    stands_at: Stand | None = None
    """Where it waits; None: it does not, or for its own gates."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """`status.rollout.turn`: asked, given (in the status write before the first act), done."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    reason: MoveReason
    asked_at: Moment
    """It stays when the turn ends early: whoever gave way comes again near the front."""
    given_at: Moment | None = None
    done_at: Moment | None = None
    """When the rollout was Complete, RolledBack or Failed."""
    cluster: str = ""
    """The id of the Kafka cluster where it was given; empty: not known."""
    coordinator: int | None = None
    """The broker that coordinated the group then; None: not known."""
    campaign: str = ""
    yielded: int = 0
    """How often it has ended early."""
    again_at: Moment | None = None
    """Since when it waits in the middle of its rollout; None: it has not yet begun, or has its turn."""
    is_a_fix: bool = False
    """The version before it had failed: no halt keeps this one from beginning."""
    stands: bool = False
    """The way back, or a cut-over that has stopped all pods, has made no step for long: others have its room until it
    makes one."""
    tried_since: Moment | None = None
    """Since when that tries to go on, and no pod was made: what it does may be refused for ever."""

    @property
    def asks(self) -> bool:
        """It waits to be given."""
        return self.given_at is None and self.done_at is None

    @property
    def is_held(self) -> bool:
        """It was given, and is not over."""
        return self.given_at is not None and self.done_at is None

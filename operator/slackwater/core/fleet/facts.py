"""What is known of a group, as far as fleets ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.claim import Cell, Standing

NO_LABELS: Final[Mapping[str, str]] = {}
NOT_KNOWN: Final = "?"
"""The place of a group whose Kafka cluster or coordinator is not known yet."""


@dataclass(frozen=True, slots=True)
class GroupFacts:
    namespace: str
    name: str
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=lambda: NO_LABELS)
    replicas: int = 1
    topics: tuple[str, ...] = ()
    """In order, each once."""
    cluster: str | None = None
    """The id that the brokers tell; None: they have not yet."""
    coordinator: int | None = None
    """The broker that coordinates the group; None: not known."""
    standing: Standing = Standing.RESTS
    reason: MoveReason = MoveReason.ROLLOUT
    """What it asks for its turn for, or has it for."""
    asked_at: float = 0.0
    is_urgent: bool = False
    is_a_fix: bool = False
    """Its last version failed, and it asks for the next one: no halt keeps it from that."""
    has_begun: bool = False
    """It gave its turn back in the middle of its rollout, and asks for the rest."""
    is_moving: bool = False
    counts_until: float = 0.0
    takes_s: float | None = None
    """How long nine of ten of its last rollouts took at most, for as many pods as it has; None: it had none."""
    failed_at: float | None = None
    """When its last rollout failed or went back, for the last time; infinite while it goes back; None: it did not."""
    begun_at: float = 0.0
    """When it was given its turn, by its status; where that ended early, when its rollout began."""
    is_well: bool = True
    """No rollout is under way, and the last one did not fail."""
    disturbed: bool | None = False
    """It is not calm, not whole, or could not be seen; None: nobody has looked yet."""

    besides: frozenset[Cell] = frozenset()
    """Cells of campaigns that its turn takes room of."""
    key: str = field(init=False, repr=False, compare=False)
    """`namespace/name`: kept, since all that is known of the group is kept by it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.namespace}/{self.name}")

    @property
    def has_a_turn(self) -> bool:
        return self.standing in (Standing.HAS, Standing.MENDS, Standing.STANDS)

    @property
    def is_sick(self) -> bool:
        """Disturbed, and not by its turn."""
        return bool(self.disturbed) and not self.has_a_turn

    @property
    def place(self) -> str:
        """Where it is coordinated, as far as that is known."""
        return f"{self.cluster or NOT_KNOWN}/{NOT_KNOWN if self.coordinator is None else self.coordinator}"

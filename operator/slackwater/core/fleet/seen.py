"""Groups and fleets as their objects show them to whoever does not lead: what people are shown is made of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from slackwater.api.annotations import CAMPAIGN, PAUSE, URGENT
from slackwater.api.conditions import ConditionStatus
from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.resources import ConsumerFleet
from slackwater.core.decision.reasons import Reason
from slackwater.core.fleet.campaign_groups import named_by
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.facts import NO_LABELS, GroupFacts
from slackwater.core.fleet.layers import Giver, said_by
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.times import Gates, Scope, gates_of
from slackwater.core.fleet.turn import standing_of
from slackwater.core.world.memory import RolloutMemory, read_memory
from slackwater.core.world.turn import Turn, TurnStanding

Json = Mapping[str, Any]
REACHES_TOO_FAR: Final = FleetReason.NAMESPACES_NOT_ALLOWED.value


@dataclass(frozen=True, slots=True)
class Seen:
    facts: GroupFacts
    memory: RolloutMemory
    updated: int = 0
    """Pods that have the wanted version, by the operator's last word."""
    campaign: str = ""
    """The FleetCampaign whose order its changes wait for, by `namespace/name`; empty: none."""

    @property
    def key(self) -> str:
        return self.facts.key

    @property
    def given_at(self) -> float | None:
        """When the turn was given that it has; None: it has none."""
        turn = self.memory.turn
        return turn.given_at if turn is not None and turn.is_held else None


def seen(group: Json) -> Seen:
    """From the API's object. Raises InvalidSpec where a newer operator wrote its status.

    A coordinator is known from the last turn only: status has no other, since it may move at any time.
    """
    metadata, status = group["metadata"], group.get("status") or {}
    memory, annotations = read_memory(status), metadata.get("annotations") or {}
    turn = memory.turn
    cluster = (turn.cluster if turn is not None else "") or (memory.claimed.cluster_id if memory.claimed else "")
    facts = GroupFacts(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        labels=metadata.get("labels") or NO_LABELS,
        replicas=group["spec"].get("replicas", 1),
        topics=tuple(sorted({*(group["spec"].get("topics") or ())})),
        cluster=cluster or None,
        coordinator=None if turn is None else turn.coordinator,
        standing=standing_of(memory, paused=PAUSE in annotations),
        reason=MoveReason.ROLLOUT if turn is None else turn.reason,
        asked_at=0.0 if turn is None else turn.asked_at,
        is_urgent=URGENT in annotations,
        is_moving=memory.step is not None or memory.handover is not None,
        counts_until=0.0 if turn is None or turn.done_at is None else turn.done_at,
    )
    campaign = named_by(facts.key, annotations.get(CAMPAIGN, ""))
    return Seen(facts, memory, status.get("updatedReplicas") or 0, campaign)


@dataclass(frozen=True, slots=True)
class FleetSeen:
    fleet: Fleet
    gates: Gates
    """By its spec and the clock, as of when it was read."""
    generation: int
    status: Json
    created_at: float = 0.0
    """In seconds since the epoch; 0: it is not in the cluster."""

    @property
    def key(self) -> str:
        return self.fleet.key

    @property
    def giver(self) -> Giver | None:
        """What it says of its groups' defaults; None: nothing."""
        return giver_of(self.fleet, self.created_at, self.generation)

    @property
    def is_taken_up(self) -> bool:
        """What its status says is of this generation."""
        return self.status.get("observedGeneration") == self.generation

    @property
    def shut(self) -> frozenset[str]:
        """The gates, of `claims.GATES`, that are shut for another reason than the time."""
        accepted, halted = self.condition(FleetConditionType.ACCEPTED), self.condition(FleetConditionType.HALTED)
        told = {
            "accepted": accepted.get("status") == ConditionStatus.FALSE,
            "pause": bool(self.fleet.spec.pause),
            "halts": halted.get("status") == ConditionStatus.TRUE and bool(self.status.get("halted")),
        }
        return frozenset(name for name, is_shut in told.items() if is_shut)

    def condition(self, kind: FleetConditionType) -> Json:
        """Empty where the operator has not reported it."""
        return _condition(self.status, kind)


def _condition(status: Json, kind: FleetConditionType) -> Json:
    return next((each for each in status.get("conditions") or () if each.get("type") == kind), {})


def fleet_seen(found: ConsumerFleet, now: float) -> FleetSeen:
    """Who names namespaces, and was not refused for it, is the operator's own."""
    spec, metadata = found.spec, found.metadata
    is_refused = _condition(found.status, FleetConditionType.ACCEPTED).get("reason") == REACHES_TOO_FAR
    is_of_the_operator = bool(spec.namespaces) and not is_refused
    fleet = Fleet(metadata.namespace, metadata.name, spec, is_of_the_operator)
    gates = gates_of(fleet, Scope(), now)
    created = metadata.creation_timestamp
    created_at = 0.0 if created is None else created.timestamp()
    return FleetSeen(fleet.overridden(gates.is_overridden), gates, metadata.generation, found.status, created_at)


def giver_of(fleet: Fleet, created_at: float, generation: int) -> Giver | None:
    """What it says of its groups' defaults; None: nothing."""
    says = {} if fleet.spec.defaults is None else said_by(fleet.spec.defaults)
    return Giver(fleet.namespace, fleet.name, says, created_at, generation) if says else None


def turn_shown(memory: RolloutMemory, gated: Json) -> Turn:
    """What the operator's fleets say of a group, as far as it shows. `gated`: its condition RolloutGated."""
    turn = memory.turn
    waits = turn is not None and turn.asks and gated.get("reason") == Reason.AWAITING_TURN
    return Turn(TurnStanding.WAITS) if waits else Turn()


def settled(group: Seen, settles_s: float, now: float) -> GroupFacts:
    """Its facts, where the longest `settleFor` of its fleets is so many seconds: who is done counts no longer."""
    facts = group.facts
    if facts.standing is not Standing.SETTLES:
        return facts
    until = facts.counts_until + settles_s
    return replace(facts, standing=Standing.SETTLES if until > now else Standing.RESTS, counts_until=until)

"""From objects as the API server has them to what fleets count: a fleet, and what is known of a group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

from slackwater.api.annotations import PAUSE, RESUME, URGENT
from slackwater.api.consumer_fleet import ConsumerFleetSpec, Halt
from slackwater.api.errors import InvalidSpec
from slackwater.api.fleet_budgets import MoveReason
from slackwater.api.label_selector import LabelSelector
from slackwater.api.parsing import parse_consumer_fleet
from slackwater.api.timestamps import moment
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import EVERYWHERE, Fleet
from slackwater.core.fleet.facts import NO_LABELS, GroupFacts
from slackwater.core.fleet.halts import Halted, Halts
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.layers import Giver
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.seen import giver_of
from slackwater.core.fleet.sight import Sight
from slackwater.core.fleet.standstill import came_before_its_turn
from slackwater.core.fleet.times import Gates, Refused, Scope, gates_of
from slackwater.core.fleet.turn import standing_of
from slackwater.core.world.in_hand import has_moved
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.shell.room import NoRoom

Json = Mapping[str, Any]

UNREAD: Final = "?"
"""What stands for all fleets of a namespace is called so: no object can be."""
_OF_ALL: Final = ConsumerFleetSpec(explicit_selector=LabelSelector(), halt=Halt(failures="100%", disturbed="100%"))
"""Of what is shut in any case: it never halts."""


@dataclass(frozen=True, slots=True)
class ReadFleet:
    """A fleet as it was read."""

    fleet: Fleet
    unread: Refused | None
    """Why its spec cannot be read; it selects whom it may then, and lets nobody begin."""
    resume: str
    """The token of the command to resume; empty: none was given."""
    version: tuple[object, ...]
    """Equal where nothing has changed that people write."""
    giver: Giver | None = None
    """What it says of its groups' defaults; None: nothing, or it cannot be read."""

    def gates(self, scope: Scope, now: float) -> Gates:
        if self.unread is not None:
            stops = frozenset({"pause"} if self.fleet.spec.pause else ())
            return Gates(stops | {"accepted"}, stops, refused=self.unread)
        return gates_of(self.fleet, scope, now)


def read_fleet(obj: Json, own_namespace: str) -> ReadFleet:
    metadata, resume = obj["metadata"], _resume_in(obj)
    try:
        spec, unread = parse_consumer_fleet(obj).spec, None
    except InvalidSpec as error:
        spec, unread = _whom_it_may_select(obj), Refused(FleetReason.INVALID_SPEC, str(error))
    is_of_the_operator = metadata["namespace"] == own_namespace
    fleet = Fleet(metadata["namespace"], metadata["name"], spec, is_of_the_operator)
    made, generation = metadata.get("creationTimestamp"), metadata.get("generation", 0)
    giver = giver_of(fleet, moment(made) if made else 0.0, generation)
    return ReadFleet(fleet, unread, resume, version_of(obj), giver)


def version_of(obj: Json, *, stands: bool = False) -> tuple[object, ...]:
    """Its uid first. `stands`: for those that are over."""
    metadata, has_room = obj["metadata"], not isinstance(obj.get("spec"), NoRoom)
    return metadata["uid"], metadata.get("generation", 0), _resume_in(obj), has_room, stands


def _resume_in(obj: Json) -> str:
    return str((obj["metadata"].get("annotations") or {}).get(RESUME, ""))


def surplus_fleet(obj: Json, most: int) -> ReadFleet:
    """One of more than count in its namespace: it selects all groups there. Nothing of it is read."""
    metadata = obj["metadata"]
    message = (
        f"this namespace has more than {most} ConsumerFleets, and only the oldest {most} count: while there are more,"
        " nothing begins in the namespace. Delete those that nobody needs; the operator can raise"
        " observation.mostFleets"
    )
    fleet = Fleet(metadata["namespace"], metadata["name"], _OF_ALL)
    return ReadFleet(fleet, Refused(FleetReason.TOO_MANY_FLEETS, message), "", version_of(obj, stands=True))


def unread_in(namespace: str, own_namespace: str) -> ReadFleet:
    """What stands for the fleets of a namespace that may not be read. It never halts: it is shut in any case."""
    is_of_the_operator = namespace == own_namespace
    reaches = (EVERYWHERE,) if is_of_the_operator else ()
    fleet = Fleet(namespace, UNREAD, _OF_ALL.model_copy(update={"namespaces": reaches}), is_of_the_operator)
    message = f"the operator may not read the ConsumerFleets of namespace {namespace}"
    return ReadFleet(fleet, Refused(FleetReason.NOT_READ, message), "", ())


def kept_of(read: ReadFleet, halts: Halts, gates: Gates) -> Kept:
    return Kept(read.fleet.overridden(gates.is_overridden), gates, halts)


def halts_in(obj: Json) -> Halts:
    """What its status remembers: a halt outlives its leader."""
    status = obj.get("status") or {}
    halted = status.get("halted") or {}
    try:
        since = moment(halted["since"]) if halted else 0.0
        resumed_at = moment(status["resumedAt"]) if status.get("resumedAt") else -inf
    except (KeyError, TypeError, ValueError):
        return Halts()  # no operator wrote that
    found = Halted(since, frozenset(map(str, halted.get("groups") or ()))) if halted else None
    return Halts(found, resumed_at)


def facts_of(obj: Json, memory: RolloutMemory, sight: Sight, fleets: Iterable[Fleet], now: float) -> GroupFacts:
    """`fleets`: all that there are. Who is done counts until those of them that select it let it go."""
    metadata, spec, turn = obj["metadata"], obj.get("spec") or {}, memory.turn
    annotations = metadata.get("annotations") or {}
    goes = bool(metadata.get("deletionTimestamp"))
    facts = GroupFacts(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        labels=metadata.get("labels") or NO_LABELS,
        replicas=spec.get("replicas", 1),
        topics=tuple(sorted({*map(str, spec.get("topics") or ())})),
        cluster=sight.cluster or (turn.cluster if turn is not None else "") or None,
        coordinator=sight.coordinator if sight.coordinator is not None or turn is None else turn.coordinator,
        standing=Standing.RESTS if goes else standing_of(memory, paused=PAUSE in annotations or _is_unread(obj)),
        reason=MoveReason.ROLLOUT if turn is None else turn.reason,
        asked_at=0.0 if turn is None else turn.asked_at,
        is_urgent=URGENT in annotations,
        takes_s=None if memory.took is None else memory.took.p90 / memory.took.pods * spec.get("replicas", 1),
        is_a_fix=turn is not None and turn.is_a_fix,
        has_begun=turn is not None and turn.yielded > 0 and memory.phase.under_way and has_moved(memory),
        failed_at=_failed_at(memory),
        begun_at=_begun_at(memory),
        is_well=memory.phase.at_rest,
        disturbed=False if goes else sight.disturbed,
    )
    facts = replace(facts, is_moving=sight.is_moving and facts.has_a_turn)
    if facts.standing is not Standing.SETTLES or turn is None or turn.done_at is None:
        return facts
    settles_ms = max((each.spec.settle_for_ms for each in fleets if each.selects(facts)), default=0)
    until = turn.done_at + settles_ms / 1000
    return replace(facts, counts_until=until) if until > now else replace(facts, standing=Standing.RESTS)


def _is_unread(obj: Json) -> bool:
    """Its spec cannot be read, by the operator's last word: nothing is decided, so that a turn would be of no use."""
    return any(
        (each.get("type"), each.get("status"), each.get("reason")) == ("Degraded", "True", "InvalidSpec")
        for each in (obj.get("status") or {}).get("conditions") or ()
    )


def _begun_at(memory: RolloutMemory) -> float:
    """Of a turn that ended early, when its rollout did."""
    turn = memory.turn
    if turn is None:
        return 0.0
    return turn.given_at if turn.given_at is not None else memory.started_at or 0.0


def _failed_at(memory: RolloutMemory) -> float | None:
    """What failed before there was a turn is no fleet's business: long ago."""
    turn = memory.turn
    if not memory.phase.gave_up:
        return None
    if turn is not None and came_before_its_turn(turn):
        return -inf
    if turn is not None and memory.phase is RolloutPhase.ROLLING_BACK:
        return inf
    return -inf if turn is None or turn.done_at is None else turn.done_at


def _whom_it_may_select(obj: Json) -> ConsumerFleetSpec:
    """As much as can be read of a spec that cannot: else a slip would lift a freeze."""
    spec = obj.get("spec") or {}
    named = spec.get("namespaces") or ()
    known = tuple(each for each in named if isinstance(each, str)) if isinstance(named, list) else (EVERYWHERE,)
    pause = spec.get("pause")
    update = {"namespaces": known, "pause": pause if isinstance(pause, str) else ""}
    return ConsumerFleetSpec(explicit_selector=LabelSelector()).model_copy(update=update)

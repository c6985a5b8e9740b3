"""A group that ConsumerFleets select waits for its turn before it disturbs anybody, once for each rollout.

Asked before the first restart or handover, before a DrainCutover stops all pods, and where a budget names them before
a change of `replicas` at rest and a new group's first pods. Remedies never ask: the way back, pods that are down, pods
that are to start again, `replicas: 0`. How a turn begins and ends is `life`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import CAMPAIGN, PAUSE
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.fleet.campaign_groups import named_by
from slackwater.core.fleet.claim import Standing
from slackwater.core.members.work import lag_at_the_start
from slackwater.core.world.in_hand import has_moved
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.turn import ALWAYS_ASKS, TurnRecord, TurnStanding
from slackwater.core.world.world import World

WAITED_S: Final = 30.0
"""Whoever waited in the middle of a rollout for longer says nothing of how long one takes."""
RECHECK_S: Final = 60.0
"""Whoever is called is looked at without being asked again: this one is for a call that got lost."""


def turn_refusal(world: World) -> Hold | None:
    """Why a rollout that goes forward may not disturb anybody now; None where it may, by its turn or without any.

    A group that is called has its turn as soon as the act's memory says so (`given`). Where somebody has paused the
    rollout, that is what people read: no act comes past that gate either.
    """
    goes_forward = world.memory.phase is RolloutPhase.PROGRESSING
    if not goes_forward or PAUSE in world.group.metadata.annotations:
        return None
    return _refusal(world, is_for_this=is_for_the_rollout(world.memory))


def scale_refusal(world: World) -> Hold | None:
    """Why `replicas` of a group at rest may not change now. A stop is obeyed at once."""
    turn = world.memory.turn
    at_rest = not world.memory.phase.under_way
    if not at_rest or world.replicas == 0 or MoveReason.SCALE not in world.turn.asks:
        return None
    return _refusal(world, is_for_this=turn is not None and turn.reason is MoveReason.SCALE)


def start_refusal(world: World) -> Hold | None:
    """Why a new group may not be given its first pods now. Of one that ran before, whatever is missing is made."""
    turn = world.memory.turn
    if not is_new(world) or MoveReason.START not in world.turn.asks:
        return None
    return _refusal(world, is_for_this=turn is not None and turn.reason is MoveReason.START)


def is_new(world: World) -> bool:
    """No pod of it has ever been asked for, as far as is remembered."""
    return not world.sets and not world.memory.last_good_revision and world.memory.step is None and world.replicas > 0


def given(world: World, memory: RolloutMemory, reasons: Collection[MoveReason] = ALWAYS_ASKS) -> RolloutMemory:
    """With the turn, if it is for one of `reasons`: it is written down before the act.

    `world`: decided about; `memory`: what goes with the act.

    The rollout begins now: the lag of hours ago says nothing of what it will cost. Where pods had moved before, and its
    turn ended early, the moment of its beginning stays; what it waited since is no time that it takes.
    """
    turn = memory.turn
    if turn is None or not turn.asks or turn.reason not in reasons or world.turn.standing is not TurnStanding.CALLED:
        return memory
    if memory.phase.goes_back:
        return memory  # a remedy, decided upon while the call was out
    turn_now = _given(world, turn)
    if turn.reason is MoveReason.SCALE:
        return replace(memory, turn=turn_now)
    if is_first(world.memory):
        return replace(beginning(world, memory), turn=turn_now)
    waited_long = turn.again_at is not None and world.now - turn.again_at > WAITED_S
    return replace(memory, stood_still=memory.stood_still or waited_long, turn=turn_now)


def is_first(memory: RolloutMemory) -> bool:
    """The turn that is asked for is the first one in which a pod of this rollout may move: one that ended early, before
    any did, was none."""
    return memory.turn is None or memory.turn.yielded == 0 or not has_moved(memory)


def beginning(world: World, memory: RolloutMemory) -> RolloutMemory:
    """As if the rollout began now."""
    return replace(memory, started_at=world.now, lag_before=lag_at_the_start(world.seen))


def judged(world: World) -> World:
    """The world that the gates judge a group by that was called: as if its rollout began now."""
    turn = world.memory.turn
    first = turn is not None and turn.asks and is_first(world.memory)
    if not first or world.turn.standing is not TurnStanding.CALLED:
        return world
    return world.remembering(replace(world.memory, lag_before=lag_at_the_start(world.seen)))


def not_yet(world: World, hold: Hold) -> Hold:
    """What a group that was called says of its gates. That it has to be looked at first is no news: a call costs no
    write."""
    turn = world.memory.turn
    is_called = world.turn.standing is TurnStanding.CALLED and turn is not None and turn.asks
    if not is_called or hold.reason is not Reason.OBSERVATION_STALE:
        return hold
    return replace(awaiting(world), recheck_s=hold.recheck_s)


def is_awaited(world: World, hold: Hold | None) -> bool:
    """The group stands still until it is called: nothing has to be looked at each second."""
    waits = world.turn.standing is not TurnStanding.CALLED
    return waits and hold is not None and hold.reason is Reason.AWAITING_TURN


def has_to_wait(world: World) -> bool:
    """Its rollout has begun, and its turn is not given: what `PHASE` shows."""
    turn, fleets = world.memory.turn, world.turn.standing is not TurnStanding.NO_FLEET
    return fleets and turn is not None and turn.asks and world.memory.phase is RolloutPhase.PROGRESSING


def awaiting(world: World) -> Hold:
    """The sentence stays as it is for as long as the group waits: a place in the line would be a write to each group
    whenever one is called. Who has the turn is worked out by whoever asks."""
    if world.turn.unread:
        return Hold(Reason.AWAITING_TURN, _unread(world.turn.unread), RECHECK_S, awaited=True)
    fleets = world.turn.fleets
    kind, whose = ("ConsumerFleet", "its") if len(fleets) == 1 else ("ConsumerFleets", "their")
    message = (
        f"waits for its turn in {kind} {listing(fleets)}: {whose} conditions say what is open,"
        f" `kubectl slackwater why {world.group.name}` says who has it{_ordered(world)}"
    )
    return Hold(Reason.AWAITING_TURN, message, RECHECK_S, awaited=True)


def _ordered(world: World) -> str:
    name = world.group.metadata.annotations.get(CAMPAIGN, "")
    campaign = named_by(f"{world.group.namespace}/{world.group.name}", name)
    if not campaign or world.memory.commands.get(CAMPAIGN) == campaign:
        return ""  # it has called the group
    return (
        f"; by its annotation, changes wait for FleetCampaign {campaign} to order them: where that was deleted, make it"
        " again, or remove the annotation"
    )


def _unread(namespaces: tuple[str, ...]) -> str:
    kind = "namespace" if len(namespaces) == 1 else "namespaces"
    return (
        f"waits until the operator may read the ConsumerFleets of {kind} {listing(namespaces)}: whether one of them"
        " limits this group is not known, and what is not known lets nothing begin"
    )


def standing_of(memory: RolloutMemory, *, paused: bool = False) -> Standing:
    """Where a group stands by what its status remembers, for the allocator. `paused`: by annotation, so that a turn
    would be of no use to it.

    Whoever settles counts until `turn.done_at` and its fleets' `settleFor`.
    """
    turn = memory.turn
    if turn is not None and turn.stands:
        return Standing.STANDS
    if turn is not None and turn.is_held:
        return Standing.HAS
    if mends(memory):
        return Standing.MENDS
    if turn is not None and turn.asks and not paused:
        return Standing.ASKS
    was_given = turn is not None and turn.given_at is not None
    return Standing.SETTLES if was_given else Standing.RESTS


def mends(memory: RolloutMemory) -> bool:
    """By a remedy: it goes back, or starts all pods that it has stopped."""
    stopped = memory.upgrade is not None and memory.upgrade.stopped_at is not None
    return memory.phase is RolloutPhase.ROLLING_BACK or (memory.phase.under_way and stopped)


def _refusal(world: World, *, is_for_this: bool) -> Hold | None:
    turn = world.memory.turn
    match world.turn.standing:
        case TurnStanding.NO_FLEET:
            return None
        case TurnStanding.CALLED if turn is not None and turn.done_at is None and is_for_this:
            return None  # written already, and not known to be: its room is kept in any case
        case TurnStanding.HAS if turn is not None and turn.is_held and is_for_this:
            return None
    return awaiting(world)


def is_for_the_rollout(memory: RolloutMemory) -> bool:
    """The turn is for what is rolled out. One for another image is none for another protocol, nor is one to scale or to
    start: budgets may count those apart."""
    turn = memory.turn
    if turn is None or turn.reason not in ALWAYS_ASKS:
        return False
    return memory.upgrade is None or turn.reason is MoveReason.PROTOCOL_UPGRADE


def _given(world: World, turn: TurnRecord) -> TurnRecord:
    coordinator = world.seen.coordinator if world.seen is not None else None
    return replace(
        turn,
        given_at=world.now,
        again_at=None,
        cluster=world.cluster_id or "",
        coordinator=coordinator,
        campaign=world.turn.campaign or turn.campaign,
    )

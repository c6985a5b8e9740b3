"""Restarts of members: `member_restarted` events, from which all statistics about silences are made.

A fold over sights. Each place in the group has a `Life` while a process works there, an `Episode` from its end until
another one has the place. What proves a return is that somebody else holds the place (F41): another member id under
the same instance id, or in the same pod.

An operator that was restarted knows no lives of before. A static member that still stands in the group though nothing
runs in its pod, and one that the restart in hand had, are taken up under the id that any operator gives them: it is
made of the place and of the member id that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slackwater.api.telemetry.bodies import MemberRestarted
from slackwater.api.telemetry.events import MemberRestartedEvent
from slackwater.api.telemetry.words import EventType, Outcome
from slackwater.core.members.presence import Presence, presence
from slackwater.core.telemetry.episodes import brought_up_to_date, episode_of
from slackwater.core.telemetry.found import places_to_take_up, take_up
from slackwater.core.telemetry.holdings import Holding, holdings
from slackwater.core.telemetry.lives import Episode, Life, life_of
from slackwater.core.telemetry.sight import Sight

TOLD_AGAIN_S: Final = 300.0
"""A member that stays away is told of once in each such period, by the clock."""

Slot = Life | Episode
Told = tuple[MemberRestartedEvent, ...]


@dataclass(frozen=True, slots=True)
class Restarts:
    slots: Mapping[str, Slot] = field(default_factory=dict)
    """By place."""
    ended: Mapping[str, str] = field(default_factory=dict)
    """The last episode that came to its end, by place."""

    @property
    def away(self) -> tuple[Episode, ...]:
        return tuple(slot for slot in self.slots.values() if isinstance(slot, Episode))


def follow_restarts(restarts: Restarts, sight: Sight) -> tuple[Restarts, Told]:
    """Fold one more sight in."""
    held = holdings(sight.world)
    slots, ended = dict(restarts.slots), dict(restarts.ended)
    events: list[MemberRestartedEvent] = []
    for place in [*slots, *(place for place in places_to_take_up(sight, held) if place not in slots)]:
        slot = slots.get(place) or take_up(sight, place, held, ended.get(place))
        following, told = (None, ()) if slot is None else _go_on(sight, slot, held)
        events += told
        for body in (event.member_restarted for event in told):
            if body.outcome is not Outcome.AWAY:
                ended[place] = body.episode
        if following is None:
            slots.pop(place, None)
        else:
            slots[place] = following
    return Restarts(slots, ended), tuple(events)


def _go_on(sight: Sight, slot: Slot, held: Mapping[str, Holding] | None) -> tuple[Slot | None, Told]:
    """At most: it ends, and somebody else is there already."""
    if isinstance(slot, Life):
        if slot.runs_in(sight.world.pod(slot.ordinal)):
            return _live_on(sight, slot, held)
        slot = episode_of(sight, slot)
    return _stay_away(sight, slot, held)


def _live_on(sight: Sight, life: Life, held: Mapping[str, Holding] | None) -> tuple[Life, Told]:
    life = replace(life, running_at=sight.world.now)
    holding = held.get(life.place) if held is not None else None
    if holding is not None and holding.member_ids != life.member_ids and not _is_handed_over(sight, life):
        life = replace(
            life,
            member_ids=holding.member_ids,
            before=life.member_ids,
            joined_at=holding.joined_by(holding.member_ids - life.member_ids),
        )
    seen = sight.world.seen
    can_be_told = holding is not None and (holding.partitions or (seen is not None and seen.calm))
    if holding is not None and can_be_told and holding.partitions != life.partitions:
        life = replace(life, partitions=holding.partitions)
    return _ready_since(sight, life)


def _is_handed_over(sight: Sight, life: Life) -> bool:
    """Then another member is its successor's, or will be known to be its own when that is over."""
    handover = sight.decided.memory.handover
    return handover is not None and handover.ordinal == life.ordinal and not handover.over


def _ready_since(sight: Sight, life: Life) -> tuple[Life, Told]:
    """What it ended is told once more when its pod is Ready."""
    pod = sight.world.pod(life.ordinal)
    if life.closed is None or pod is None or not pod.ready:
        return life, ()
    complete = replace(life.closed, ready_at=pod.ready_changed_at)
    told = (_event(sight, complete, Outcome.RETURNED, "Ready"),) if complete.ready_at is not None else ()
    return replace(life, closed=None), told


def _stay_away(sight: Sight, episode: Episode, held: Mapping[str, Holding] | None) -> tuple[Slot | None, Told]:
    holding = held.get(episode.place) if held is not None else None
    successor = holding if holding is not None and holding.member_ids - episode.member_ids else None
    episode = brought_up_to_date(sight, episode, held, successor)
    if episode.ordinal >= sight.world.replicas:
        return None, (_event(sight, episode, Outcome.SCALED_AWAY),)
    if successor is not None:
        return _returned(sight, episode, successor)
    if _place_is_given_up(sight, episode, held):
        return None, ()
    period = int(sight.world.now // TOLD_AGAIN_S)
    if period == episode.told:
        return episode, ()
    return replace(episode, told=period), (_event(sight, episode, Outcome.AWAY, period),)


def _returned(sight: Sight, episode: Episode, successor: Holding) -> tuple[Life | None, Told]:
    new = successor.member_ids - episode.member_ids
    episode = replace(episode, rejoined_at=successor.joined_by(new))
    told = (_event(sight, episode, Outcome.RETURNED),)
    pod = sight.world.pod(episode.ordinal)
    if pod is None or pod.started_at is None or not episode.is_of_another_run(pod):
        return None, told  # it has ended again, or the cluster has not told of its process yet
    unready = episode if episode.ready_at is None and episode.last_seen_at is not None else None
    return replace(life_of(successor, pod, pod.started_at, sight.world.now, unready), member_ids=new), told


def _place_is_given_up(sight: Sight, episode: Episode, held: Mapping[str, Holding] | None) -> bool:
    """The pod is back with all its members, and none of them has this place: there are fewer now, or of other names."""
    pod = sight.world.pod(episode.ordinal)
    if held is None or episode.place in held or pod is None or not episode.is_of_another_run(pod):
        return False
    return presence(sight.world, pod) is Presence.YES


def _event(sight: Sight, episode: Episode, outcome: Outcome, telling: object = "") -> MemberRestartedEvent:
    """`telling`: which one it is, of those with the same outcome."""
    known = episode.in_order()
    body = MemberRestarted(
        episode=known.id,
        instance_id=known.instance_id,
        pod=known.pod,
        ordinal=known.ordinal,
        reason=known.reason,
        mode=known.mode,
        outcome=outcome,
        last_seen_at=known.last_seen_at,
        stopped_at=known.stopped_at,
        started_at=known.started_at,
        ready_at=known.ready_at,
        rejoined_at=known.rejoined_at,
        evicted=known.evicted,
        partitions=len(known.partitions) if known.partitions is not None else None,
        spec_generation=known.spec_generation,
    )
    return MemberRestartedEvent(
        **sight.envelope("member_restarted", known.id, outcome, telling),
        type=EventType.MEMBER_RESTARTED,
        member_restarted=body,
    )

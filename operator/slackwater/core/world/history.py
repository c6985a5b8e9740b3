"""What a row of observations of one group tells that a single one cannot.

A fold: `advance(history, observation)` returns the next history. It lives in memory only. After a restart of the
operator it begins again, which makes the operator wait longer, never act sooner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from slackwater.core.world.departures import Stay, with_departures, with_stays
from slackwater.core.world.moves import moved_after
from slackwater.core.world.observation import GroupObservation, Member, TopicPartition
from slackwater.core.world.pods import Pod
from slackwater.core.world.sighting import MemberSighting
from slackwater.core.world.step import Step

LONG_BEFORE_S: Final = 10.0
"""By more than clocks differ: one that came just before a process started, as it seems, may be that process's."""

TAKEOVERS_KEPT: Final = 3
CLOCK_SET_BACK_S: Final = 30.0
"""No answer of Kafka is so late: a look that seems so much older than the last one was made by another clock."""

BRIEFLY_S: Final = 10.0
"""Between two looks so close nothing can happen that a look which fails in between would have shown."""

WAITS_KEPT: Final = 5
"""Enough that some are whole: the first may have begun before we looked, and a consumer that ends commits early."""


@dataclass(frozen=True, slots=True)
class GroupHistory:
    watched_since: float | None = None
    """The first observation of the row that leads to the newest one; None while the last look failed. A row in which
    some fail, but no two that succeed are more than `BRIEFLY_S` apart, is not broken."""
    first_look_ended_at: float | None = None
    """The end of that observation; None: at once."""
    watched_before: float | None = None
    """The same for the row that a failed look may have broken; None while none has failed."""
    observed_at: float | None = None
    """The newest observation folded in."""
    disturbed: tuple[float, float] | None = None
    """The looks before and after the last time that the group came to a coordinator again, which gives every member,
    dead ones too, a whole session more; None: not while we watched."""
    coordinator: int | None = None
    unchanged_since: float | None = None
    """Since when state, members and assignments have been the same; None before the first observation."""
    unsettled_since: float | None = None
    """Since when no look has shown the group calm; None while it is."""
    some_went_without_at: float | None = None
    """The last look that showed more members than partitions: one that owned nothing then had nothing to own."""
    fingerprint: tuple[object, ...] = ()
    members: Mapping[str, MemberSighting] = field(default_factory=dict)
    """By instance id, or by member id for dynamic members."""
    crowd: int = 0
    """The most members that one look showed."""
    departures: Mapping[str, float] = field(default_factory=dict)
    """When a member that is gone was first seen missing, by the same keys as `members`; of static ones."""
    left: Mapping[str, tuple[Stay, ...]] = field(default_factory=dict)
    """The last stays of dynamic members that have left a place (`MemberSighting.places`)."""
    committed: Mapping[TopicPartition, int] = field(default_factory=dict)
    commit_moved_after: Mapping[TopicPartition, float] = field(default_factory=dict)
    """A moment after which a partition's committed offset grew: that of the observation before the one that saw it."""
    end: Mapping[TopicPartition, int] = field(default_factory=dict)
    end_moved_after: Mapping[TopicPartition, float] = field(default_factory=dict)
    """The same for the end of the partition's log."""
    unread_since: Mapping[TopicPartition, float] = field(default_factory=dict)
    """When we first saw records arrive after the last move of a partition's committed offset."""
    waited_s: Mapping[TopicPartition, tuple[float, ...]] = field(default_factory=dict)
    """How long records had waited at the last `WAITS_KEPT` moves of a partition's committed offset, oldest first."""

    def predates(self, member: Member, pod: Pod) -> bool:
        """It was in the group long before the pod's container started: it is not that process's, if it is dynamic."""
        sighting = self.members.get(member.instance_id or member.member_id)
        if sighting is None or sighting.member_id != member.member_id or pod.runs_since is None:
            return False
        return sighting.came_by < pod.runs_since - LONG_BEFORE_S

    def has_seen(self, step: Step) -> bool:
        """Whether the group was in sight when the step began: after a restart of the operator it may be any pod that
        does not work, as where there is no step."""
        return self.watched_since is not None and self.watched_since <= step.started_at

    @property
    def unchanged_from_the_first(self) -> bool:
        """Whether nothing has changed for as long as the group was watched."""
        first = self.watched_since if self.first_look_ended_at is None else self.first_look_ended_at
        return self.unchanged_since is not None and self.unchanged_since == first

    def calm_for(self, observation: GroupObservation) -> float:
        """Seconds, up to this observation, in which nothing about a calm group changed; 0 when it is not calm."""
        if self.unchanged_since is None or not observation.calm:
            return 0.0
        return max(0.0, observation.observed_at - self.unchanged_since)


def advance(history: GroupHistory, observation: GroupObservation) -> GroupHistory:
    """Fold one more observation in. Observations that are not newer than the last one change nothing; one that is much
    older was made after our clock had been set back, and begins again."""
    if history.observed_at is not None and observation.observed_at <= history.observed_at:
        set_back = history.observed_at - observation.observed_at > CLOCK_SET_BACK_S
        return advance(GroupHistory(), observation) if set_back else history
    fingerprint = _fingerprint(observation)
    unchanged = history.unchanged_since is not None and fingerprint == history.fingerprint
    committed = {p: o.committed for p, o in observation.offsets.items() if o.committed is not None}
    end = {p: o.end for p, o in observation.offsets.items() if o.end is not None}
    end = {p: o for p, o in history.end.items() if p in observation.partitions} | end  # a leader may be away for a look
    members = _sightings(history, observation)
    since = _watched_since(history, observation.observed_at)
    first_look_ended_at = observation.answered_at if since == observation.observed_at else history.first_look_ended_at
    return GroupHistory(
        watched_since=since,
        first_look_ended_at=first_look_ended_at,
        observed_at=observation.observed_at,
        disturbed=_disturbed(history, observation),
        coordinator=observation.coordinator,
        unchanged_since=history.unchanged_since if unchanged else observation.ended_at,
        unsettled_since=None if observation.calm else _unsettled_since(history, observation.observed_at),
        some_went_without_at=observation.observed_at if observation.some_go_without else history.some_went_without_at,
        fingerprint=fingerprint,
        members=members,
        crowd=max(history.crowd, len(members)),
        departures=_departures(history, members, observation.observed_at),
        left=_left(history, members, observation.observed_at),
        committed=committed,
        commit_moved_after=moved_after(history.committed, committed, history.commit_moved_after, history.observed_at),
        end=end,
        end_moved_after=moved_after(history.end, end, history.end_moved_after, history.observed_at),
        unread_since=_unread(history, committed, end, observation.observed_at),
        waited_s=_waited(history, committed, observation.observed_at),
    )


def interrupted(history: GroupHistory) -> GroupHistory:
    """An observation failed: calm has to be shown again; absence, too, unless a look succeeds soon."""
    watched = history.watched_since if history.watched_since is not None else history.watched_before
    return replace(history, unchanged_since=None, watched_since=None, watched_before=watched)


def _watched_since(history: GroupHistory, at: float) -> float:
    if history.watched_since is not None:
        return history.watched_since
    return history.watched_before if _was_brief(history, at) and history.watched_before is not None else at


def _unsettled_since(history: GroupHistory, at: float) -> float:
    in_sight = history.watched_since is not None or _was_brief(history, at)
    return history.unsettled_since if in_sight and history.unsettled_since is not None else at


def _was_brief(history: GroupHistory, at: float) -> bool:
    return history.observed_at is not None and at - history.observed_at <= BRIEFLY_S


def _disturbed(history: GroupHistory, observation: GroupObservation) -> tuple[float, float] | None:
    if history.observed_at is None:
        return None
    out_of_sight = history.watched_since is None
    if out_of_sight or history.coordinator != observation.coordinator:
        return (history.observed_at, observation.observed_at)
    return history.disturbed


def _fingerprint(observation: GroupObservation) -> tuple[object, ...]:
    members = sorted(
        (m.instance_id or "", m.member_id, m.epoch or 0, tuple(sorted(m.assignment))) for m in observation.members
    )
    return (observation.state, observation.type, observation.epoch, tuple(members))


def _sightings(history: GroupHistory, observation: GroupObservation) -> dict[str, MemberSighting]:
    sightings: dict[str, MemberSighting] = {}
    for member in observation.members:
        key = member.instance_id or member.member_id
        known, at = history.members.get(key), observation.observed_at
        if known is None or known.member_id != member.member_id or (known.away and not member.has_left):
            sightings[key] = _first_sighting(history, member, known, at, observation.ended_at)
            continue
        if known.there_by is None:
            known = replace(known, there_by=at)
        if member.has_left and not known.away:
            known = replace(known, away=True, away_since=at, left_after=history.observed_at)
        if known.assignment != member.assignment:
            waiting = _waiting(history, member.assignment)
            known = replace(
                known,
                assignment=member.assignment,
                assigned_since=observation.ended_at,
                found_waiting=waiting,
                stood_s=_stood_s(history, known, at),
            )
        sightings[key] = known
    return sightings


def _stood_s(history: GroupHistory, known: MemberSighting, at: float) -> float:
    """`MemberSighting.stood_s` of a member that has other partitions now: a rebalance is no proof of life. What was
    committed since the look before may be the work of who has its partitions now."""
    since = known.assigned_since
    if any(history.commit_moved_after.get(partition, 0.0) >= since for partition in known.assignment):
        return 0.0
    unread, moved_after = history.unread_since, history.end_moved_after
    arrived = [p for p in known.assignment if p in unread and moved_after.get(p, 0.0) >= since]
    begun = min((max(since, unread[partition]) for partition in arrived), default=at)
    return max(known.stood_s, at - begun)


def _first_sighting(
    history: GroupHistory, member: Member, known: MemberSighting | None, at: float, ended_at: float
) -> MemberSighting:
    """Of one that has come, or come back. `known`: who was seen under its id in the look before."""
    takeovers = known.takeovers if known is not None else ()
    if known is not None and known.member_id != member.member_id:
        takeovers = (*takeovers, at)[-TAKEOVERS_KEPT:]
    stays = known is not None and not known.away and known.assignment == member.assignment != frozenset()
    return MemberSighting(
        member.member_id,
        at,
        history.observed_at,
        member.assignment,
        ended_at,
        takeovers=takeovers,
        taken_from=(known.member_id, known.absent_at, known.places[0]) if known is not None and stays else None,
        first_look_ended_at=ended_at,
        away=member.has_left,
        places=(member.address,) if member.instance_id is not None else (member.address, member.client_id),
        found_waiting=_waiting(history, member.assignment),
    )


def _waiting(history: GroupHistory, assignment: frozenset[TopicPartition]) -> dict[TopicPartition, float] | None:
    if history.observed_at is None:
        return None
    return {p: history.unread_since[p] for p in assignment if p in history.unread_since}


def _departures(history: GroupHistory, members: Mapping[str, MemberSighting], at: float) -> dict[str, float]:
    """Static members only: the ids of dynamic ones never come back, and would pile up here."""
    went = {key: _gone_since(seen, at) for key, seen in history.members.items() if seen.member_id != key}
    return with_departures(history.departures, went, members, at, history.crowd)


def _left(history: GroupHistory, members: Mapping[str, MemberSighting], at: float) -> dict[str, tuple[Stay, ...]]:
    gone = [seen for key, seen in history.members.items() if seen.member_id == key and key not in members]
    ended = {place: Stay(seen.since, at) for seen in gone for place in seen.places}
    return with_stays(history.left, ended, at, history.crowd) if ended or history.left else {}


def _gone_since(known: MemberSighting, at: float) -> float:
    """Who has left for a while is gone since then (F12): to be taken off the list a session later frees nothing."""
    if not known.away:
        return at
    return known.left_after if known.left_after is not None else known.since


def _waited(
    history: GroupHistory, committed: Mapping[TopicPartition, int], at: float
) -> dict[TopicPartition, tuple[float, ...]]:
    result = {p: waits for p, waits in history.waited_s.items() if p in committed}
    numbers: dict[float, float] = {}  # most waits are from one look to the next: each is kept once
    rows: dict[tuple[float, ...], tuple[float, ...]] = {}
    for partition, offset in committed.items():
        if history.observed_at is not None and offset > history.committed.get(partition, offset):
            wait_s = at - history.unread_since.get(partition, history.observed_at)
            waits = (*result.get(partition, ()), numbers.setdefault(wait_s, wait_s))[-WAITS_KEPT:]
            result[partition] = rows.setdefault(waits, waits)
    return result


def _unread(
    history: GroupHistory, committed: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], at: float
) -> dict[TopicPartition, float]:
    read = {p for p, offset in committed.items() if offset > history.committed.get(p, -1)}
    arrived = {p for p, offset in end.items() if offset > history.end.get(p, offset)}
    still = {p: moment for p, moment in history.unread_since.items() if p in end}
    return {p: moment for p, moment in (dict.fromkeys(arrived, at) | still).items() if p not in read}

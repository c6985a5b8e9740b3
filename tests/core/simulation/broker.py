"""A group coordinator and the logs of one topic, as far as a consumer group sees them.

Classic static members (F10): one that died stays listed until its session ends; one that returns before that gets its
partitions back without a rebalance, under a new member id (F41). With `kip848`, a member that crashed keeps its
instance id until then (F13), and one that was stopped in order releases it (F12).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    KafkaView,
    Member,
    MemberRef,
    PartitionOffsets,
    TopicPartition,
    Unobserved,
)

REBALANCE_S: Final = 1.5
COMMIT_EVERY_S: Final = 2.0


@dataclass(eq=False)
class Process:
    """One run of a consumer."""

    instance_id: str | None
    address: str
    consumes: bool = True
    alive: bool = True
    member_id: str | None = None
    committed_at: float = 0.0


@dataclass
class Listed:
    """One entry in the coordinator's books."""

    process: Process
    member_id: str
    heard_at: float
    released: bool = False
    assignment: frozenset[TopicPartition] = frozenset()


class Broker:
    def __init__(self, partitions: int, session_s: float, *, kip848: bool = False) -> None:
        self.partitions = tuple(TopicPartition("orders", i) for i in range(partitions))
        self.session_s = session_s
        self.kip848 = kip848
        self.reachable = True
        self.producing = True
        self.books: dict[str, Listed] = {}
        self.rebalances = 0
        self.down_since = 0.0
        self.idle_s = dict.fromkeys(self.partitions, 0.0)
        """Seconds for which nobody alive owned each partition."""
        self._rebalance_ends: float | None = None
        self._end = dict.fromkeys(self.partitions, 100)
        self._committed: dict[TopicPartition, int] = {}
        self._ids = count()

    def join(self, process: Process, now: float) -> None:
        """Let a process into the group if it can be let in now."""
        if not self.reachable or process.member_id is not None:
            return
        key = process.instance_id or f"dynamic-{next(self._ids)}"
        known = self.books.get(key)
        if known is not None and self.kip848 and not known.released:
            return  # UNRELEASED_INSTANCE_ID
        process.member_id = f"{key}-{next(self._ids)}"
        process.committed_at = now
        assignment = known.assignment if known is not None else frozenset()
        self.books[key] = Listed(process, process.member_id, now, assignment=assignment)
        if known is None:
            self._rebalance(now)

    def stopped_in_order(self, process: Process, now: float) -> None:
        """SIGTERM: dynamic members leave, static ones do not, KIP-848 ones release their instance id."""
        for key, listed in list(self.books.items()):
            if listed.process is process and self.reachable:
                listed.released = True
                if process.instance_id is None:
                    del self.books[key]
                    self._rebalance(now)

    def remove(self, members: Iterable[MemberRef], now: float) -> None:
        """What the operator asks for when pods were scaled away (F10): exactly these members, by both ids."""
        gone = [ref for ref in members if self._holds(ref)]
        for ref in gone:
            del self.books[ref.instance_id]
        if gone:
            self._rebalance(now)

    def release(self, members: Iterable[MemberRef]) -> None:
        """Their instance ids may be taken over (F12)."""
        for ref in members:
            if self._holds(ref):
                self.books[ref.instance_id].released = True

    def _holds(self, ref: MemberRef) -> bool:
        known = self.books.get(ref.instance_id)
        return known is not None and known.member_id == ref.member_id

    def set_reachable(self, reachable: bool, now: float) -> None:
        """A coordinator that comes back gives every member a whole session anew."""
        self.reachable = reachable
        self.down_since = now
        for listed in self.books.values():
            listed.heard_at = now

    def tick(self, now: float, passed_s: float) -> None:
        if not self.reachable:
            return
        for key, listed in list(self.books.items()):
            if listed.process.alive and listed.process.member_id == listed.member_id:
                listed.heard_at = now
            elif now - listed.heard_at > self.session_s:
                del self.books[key]
                self._rebalance(now)
        if self._rebalance_ends is not None and now >= self._rebalance_ends:
            self._rebalance_ends = None
            self._assign()
        self._move_offsets(now, passed_s)
        served = {p for e in self.books.values() if self.works(e.process) for p in e.assignment}
        for partition in self.partitions:
            self.idle_s[partition] += 0.0 if partition in served else passed_s

    def observe(self, group_id: str, now: float) -> KafkaView:
        if not self.reachable:
            return Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", self.down_since)
        state = GroupState.STABLE if self.books else GroupState.EMPTY
        if self._rebalance_ends is not None:
            state = GroupState.PREPARING_REBALANCE
        return GroupObservation(
            group_id,
            now,
            state,
            GroupType.CONSUMER if self.kip848 else GroupType.CLASSIC,
            "range",
            members=tuple(self._member(listed) for listed in self.books.values()),
            partitions=frozenset(self.partitions),
            offsets={p: PartitionOffsets(self._committed.get(p), self._end[p]) for p in self.partitions},
        )

    def has_fenced(self, process: Process) -> bool:
        """Whether another process holds the id under which this one had joined."""
        known = self.books.get(process.instance_id or "")
        return process.member_id is not None and known is not None and known.member_id != process.member_id

    def works(self, process: Process) -> bool:
        """The process is in the group and consumes; the truth, of which the operator sees only signs."""
        return process.alive and process.consumes and any(e.process is process for e in self.books.values())

    def _member(self, listed: Listed) -> Member:
        target = listed.assignment if self.kip848 else None
        host = f"/{listed.process.address}"
        epoch = (-2 if listed.released else 1) if self.kip848 else None
        return Member(listed.member_id, listed.process.instance_id, "consumer", host, listed.assignment, target, epoch)

    def _rebalance(self, now: float) -> None:
        if self._rebalance_ends is None:
            self.rebalances += 1
        self._rebalance_ends = now + REBALANCE_S

    def _assign(self) -> None:
        order = sorted(self.books)
        for index, key in enumerate(order):
            self.books[key].assignment = frozenset(self.partitions[index :: len(order)])

    def _move_offsets(self, now: float, passed_s: float) -> None:
        if self.producing:
            for partition in self.partitions:
                self._end[partition] += max(1, int(10 * passed_s))
        if self._rebalance_ends is not None:
            return
        for listed in self.books.values():
            process = listed.process
            live = process.alive and process.consumes and process.member_id == listed.member_id
            if live and now - process.committed_at >= COMMIT_EVERY_S:
                process.committed_at = now
                self._committed |= {p: self._end[p] for p in listed.assignment}

"""The modelled coordinator in time: sessions that end, heartbeats that learn of a rebalance, commits.

What it answers, and what becomes of the group, is `coordinator.model`'s matter, which a real broker is held against;
what clients do with the answers is `coordinator.clients`'. Here is only when.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import (
    GroupState,
    GroupType,
    KafkaView,
    MemberRef,
    PartitionOffsets,
    TopicPartition,
    Unobserved,
)
from tests.core.coordinator import clients, model, modern
from tests.core.coordinator.described import TOPIC, observed, topic
from tests.core.coordinator.fleet import state_seen
from tests.core.coordinator.model import Error, Group, Member, complete

REBALANCE_S: Final = 1.5
"""In that time every living member has learned of a rebalance by its heartbeat. A broker waits for as long when the
first member joins an empty group, and again with each further one."""
COMMIT_EVERY_S: Final = 2.0
RANGE: Final = ("range",)


class Numbers:
    """Counts; as `itertools.count`, which later versions of Python do not copy."""

    def __init__(self, start: int = 0) -> None:
        self.next = start

    def __iter__(self) -> Numbers:
        return self

    def __next__(self) -> int:
        self.next += 1
        return self.next - 1


@dataclass(eq=False)
class Process:
    """One run of a consumer."""

    instance_id: str | None
    address: str
    consumes: bool = True
    protocols: tuple[str, ...] = RANGE
    """What it offers, most wanted first; none: it speaks KIP-848."""
    reads_poison: bool = False
    topics: tuple[str, ...] | None = None
    """What it subscribes to; None: everything that there is."""
    alive: bool = True
    member_id: str = ""
    """Under which it joined last."""
    refused: Error | None = None
    """A fatal answer to its join: it lives on and never joins (F13)."""
    committed_at: float = 0.0


class Broker:
    def __init__(self, partitions: int, session_s: float) -> None:
        self.partitions = tuple(sorted(topic(range(partitions))))
        self.session_s = session_s
        self.reachable = True
        self.hides_assignments = False
        """Whether a classic group that rebalances shows none, as older brokers' coordinators do."""
        self.producing = True
        self.batch: int | None = None
        """Records that a member consumes of a partition before it commits; None: all that are there."""
        self.poisoned: set[TopicPartition] = set()
        """Where the next record is one at which consumers stand, if they do not read it."""
        self.group = Group()
        self.topics = [TOPIC] * partitions
        """Which topic each partition is of, by the partition's number here."""
        self.rebalances = 0
        """Of a consumer group: how often the coordinator had another target."""
        self.down_since = 0.0
        self.idle_s = dict.fromkeys(self.partitions, 0.0)
        """Seconds for which nobody alive owned each partition."""
        self._heard_at: dict[str, float] = {}
        self._processes: dict[str, Process] = {}
        """By member id; also of members that are gone."""
        self._hosts: dict[str, str] = {}
        """By instance id, while somebody has it: the first holder's (F41)."""
        self._learned_at = 0.0
        """When all members know of the rebalance under way."""
        self._end = dict.fromkeys(self.partitions, 100)
        self.committed: dict[TopicPartition, int] = {}
        """The next offset to be read, by partition."""
        self._ids = Numbers()

    def join(self, process: Process, now: float) -> None:
        """A process that is not in the group asks to be let in, unless it was fenced and has yet to learn of it."""
        in_vain = process.refused is not None or self.has_fenced(process)
        if not self.reachable or in_vain or self._is_member(process):
            return
        member_id, reads = f"{process.address}/{next(self._ids)}", self._read_by(process)
        member = Member(member_id, process.instance_id, process.protocols, reads=reads)
        group, error = clients.ask_to_join(self.group, member)
        if error is not Error.NONE:
            process.refused = error
            return
        process.member_id, process.committed_at = member.member_id, now
        self._processes[member.member_id] = process
        self._heard_at[member.member_id] = now
        if process.instance_id is not None:
            self._hosts.setdefault(process.instance_id, process.address)
        if group.initial:
            self._learned_at = now + REBALANCE_S
        self._become(group, now)

    def stopped_in_order(self, process: Process, now: float) -> None:
        """SIGTERM."""
        member = self.group.member(process.member_id)
        if member is not None and self.reachable:
            self._become(clients.stop(self.group, member), now)

    def leave(self, process: Process, now: float) -> None:
        """It goes for good, as a dynamic member does, whatever it is."""
        self._become(modern.leave(self.group, process.member_id, process.instance_id)[0], now)

    def remove(self, members: Iterable[MemberRef], now: float) -> None:
        """What the operator asks for when pods were scaled away (F10): exactly these members, by both ids."""
        for ref in members:
            self._become(modern.leave(self.group, ref.member_id, ref.instance_id)[0], now)

    def release(self, members: Iterable[MemberRef], now: float) -> None:
        """Their instance ids may be taken over (F12)."""
        for ref in members:
            left, _ = modern.consumer_leave(self.group, ref.member_id, ref.instance_id, for_a_while=True)
            self._become(left, now)

    def grow(self, by: int, now: float, name: str = TOPIC) -> None:
        """More partitions of a topic; the group's leader notices, and the group rebalances for them."""
        self.partitions = tuple(sorted(topic(range(len(self.partitions) + by))))
        self.topics += [name] * by
        known = ((each, self._read_by(self._processes[each.member_id])) for each in self.group.members)
        self.group = replace(self.group, members=tuple(replace(each, reads=reads) for each, reads in known))
        for partition in self.partitions[-by:]:
            self._end[partition], self.idle_s[partition] = 100, 0.0
        if self.group.type is GroupType.CLASSIC and self.group.members:
            self._become(model.rebalance(self.group)[0], now)

    def forget_group(self) -> None:
        """Somebody has deleted the group, with its offsets; it has no members."""
        self.group, self.committed = Group(), {}

    def set_reachable(self, reachable: bool, now: float) -> None:
        """A coordinator that comes back gives every member a whole session again."""
        if reachable == self.reachable:
            return
        self.reachable = reachable
        self.down_since = now
        self._heard_at = dict.fromkeys(self._heard_at, now)

    def tick(self, now: float, passed_s: float) -> None:
        if not self.reachable:
            return
        self._end_sessions(now)
        if now >= self._learned_at:
            self._rebalance(now)
        self._move_offsets(now, passed_s)
        working = [m for m in self.group.members if self.works(self._processes[m.member_id])]
        served = {p for member in working for p in topic(member.assignment)}
        for partition in self.partitions:
            self.idle_s[partition] += 0.0 if partition in served else passed_s

    def observe(self, now: float) -> KafkaView:
        if not self.reachable:
            return Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", self.down_since)
        offsets = {p: PartitionOffsets(self.committed.get(p), self._end[p]) for p in self.partitions}
        seen = observed(self.group, now, self._host_of, offsets)
        if not self.hides_assignments or seen.type is not GroupType.CLASSIC or seen.state is GroupState.STABLE:
            return seen
        return replace(seen, members=tuple(replace(each, assignment=frozenset()) for each in seen.members))

    def has_fenced(self, process: Process) -> bool:
        """Whether another process holds the id under which this one had joined."""
        holder = self.group.holder(process.instance_id)
        return bool(process.member_id) and holder is not None and holder.member_id != process.member_id

    def works(self, process: Process) -> bool:
        """The process is in the group and consumes; the truth, of which the operator sees only signs."""
        return process.alive and process.consumes and self._is_member(process)

    def owned_by(self, process: Process) -> frozenset[TopicPartition]:
        member = self.group.member(process.member_id)
        return frozenset() if member is None else frozenset(topic(member.assignment))

    def _read_by(self, process: Process) -> frozenset[int] | None:
        topics = process.topics
        return None if topics is None else frozenset(i for i, name in enumerate(self.topics) if name in topics)

    def process_of(self, member_id: str) -> Process:
        """Also of a member that is gone."""
        return self._processes[member_id]

    def _is_member(self, process: Process) -> bool:
        return self.group.member(process.member_id) is not None

    def _lives(self, member: Member) -> bool:
        return self._processes[member.member_id].alive

    def _host_of(self, member: Member) -> str:
        return self._hosts.get(member.instance_id or "", self._processes[member.member_id].address)

    def _end_sessions(self, now: float) -> None:
        for member in self.group.members:
            if self._lives(member):
                self._heard_at[member.member_id] = now
            elif now - self._heard_at[member.member_id] > self.session_s:
                self._become(modern.drop(self.group, member.member_id)[0], now)

    def _rebalance(self, now: float) -> None:
        """The first one in a group ends by time; each other one as soon as nobody is waited for any more."""
        group = complete(self.group)[0] if self.group.initial else clients.join_again(self.group, self._lives)
        leader = group.member(group.leader or "")
        if leader is not None and self._lives(leader):  # without it, until its session ends, there is nothing to go by
            group = clients.sync(group, self._lives, len(self.partitions))
        if group.type is GroupType.CONSUMER:
            group = clients.reconcile(group, self._lives, len(self.partitions))
        self._become(group, now)

    def _become(self, group: Group, now: float) -> None:
        was_calm = self.is_calm
        self.group = group
        if was_calm and not self.is_calm:
            self.rebalances += 1
            self._learned_at = now + REBALANCE_S
        held = {member.instance_id for member in group.members}
        self._hosts = {instance_id: host for instance_id, host in self._hosts.items() if instance_id in held}

    @property
    def is_calm(self) -> bool:
        return state_seen(self.group, len(self.partitions)) in (GroupState.STABLE, GroupState.EMPTY)

    def _move_offsets(self, now: float, passed_s: float) -> None:
        if self.producing:
            for partition in self.partitions:
                self._end[partition] += max(1, int(10 * passed_s))
        if self.group.type is GroupType.CLASSIC and not self.is_calm:
            return
        for member in self.group.members:
            process = self._processes[member.member_id]
            if process.alive and process.consumes and now - process.committed_at >= COMMIT_EVERY_S:
                process.committed_at = now
                read = {p for p in topic(member.assignment) if process.reads_poison or p not in self.poisoned}
                self.committed |= {p: self._read_to(p) for p in read}

    def fill(self, records: int) -> None:
        """So many more in each partition, at once."""
        for partition in self.partitions:
            self._end[partition] += records

    def unread(self) -> int:
        """In all partitions."""
        return sum(self._end[partition] - self.committed.get(partition, 0) for partition in self.partitions)

    def _read_to(self, partition: TopicPartition) -> int:
        end = self._end[partition]
        return end if self.batch is None else min(end, self.committed.get(partition, 0) + self.batch)

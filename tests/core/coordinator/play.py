"""Plays a scenario of single requests to a coordinator, real or modelled, and writes down all that can be seen.

Member ids differ from run to run, so that a process is named by who it is in the scenario (`a`, `a2`). A request that
has no answer in its step is parked in the coordinator. Generations are written down until KIP-848 comes into play:
after that they are epochs, which the model does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from slackwater.core.world.observation import GroupType
from tests.core.coordinator.model import Error

LONG_SESSION_MS: Final = 60_000
SHORT_SESSION_MS: Final = 20_000
LONG_REBALANCE_MS: Final = 60_000
SHORT_REBALANCE_MS: Final = 20_000
"""They are waited for; but no machine is so slow that one ends before its time in the scenario has come."""


_JOIN_AGAIN: Final = (Error.REBALANCE_IN_PROGRESS, Error.ILLEGAL_GENERATION)


@dataclass(eq=False)
class Process:
    """One run of a consumer, as it knows itself."""

    who: str
    instance_id: str | None
    protocols: tuple[str, ...] = ()
    """What it offers; none: it speaks KIP-848."""
    session_ms: int = LONG_SESSION_MS
    rebalance_ms: int = LONG_REBALANCE_MS
    member_id: str = ""
    generation: int = -1
    protocol: str | None = None
    leads: bool = False
    must_sync: bool = False
    alive: bool = True


class Seen(NamedTuple):
    """An answer that a process got."""

    process: Process
    request: str
    error: Error
    generation: int = -1
    protocol: str | None = None
    member_id: str = ""
    leads: bool = False


class Described(NamedTuple):
    """The group as its description tells it, with member ids."""

    type: GroupType
    state: str
    protocol: str
    members: Sequence[tuple[str, str | None]]


class Coordinator(Protocol):
    """What a scenario is played to. Requests are sent; `answers` waits until no more can be expected."""

    async def connect(self, process: Process) -> None: ...
    async def join(self, process: Process) -> None: ...
    async def sync(self, process: Process) -> None: ...
    async def heartbeat(self, process: Process) -> None: ...
    async def leave(self, process: Process, instance_id: str | None, member_id: str) -> None: ...
    async def consumer_heartbeat(self, process: Process, epoch: int) -> None: ...
    async def answers(self) -> list[Seen]: ...
    async def describe(self) -> Described: ...
    async def session_ends(self, process: Process, others: Sequence[Process]) -> None: ...
    async def rebalance_timeout(self) -> None: ...


@dataclass
class Player:
    coordinator: Coordinator
    rebalance_ms: int = LONG_REBALANCE_MS
    """For how long the processes let a rebalance wait for them."""
    processes: dict[str, Process] = field(default_factory=dict)
    record: list[dict[str, Any]] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    """Member id → who."""
    _answers: list[Seen] = field(default_factory=list)
    _modern: bool = False

    async def start(
        self, *who: str, offers: str = "", instance: str | None = None, static: bool = True, short: bool = False
    ) -> None:
        """Processes join one after the other, without waiting for the rebalance to end. `offers`: `range,sticky`."""
        protocols = tuple(offers.split(",")) if offers else ()
        session_ms = SHORT_SESSION_MS if short else LONG_SESSION_MS
        self._modern = self._modern or not offers
        for name in who:
            instance_id = (instance or name) if static else None
            self.processes[name] = Process(name, instance_id, protocols, session_ms, self.rebalance_ms)
            await self.coordinator.connect(self.processes[name])
        for name in who:
            if offers:
                await self.coordinator.join(self.processes[name])
            else:
                await self.coordinator.consumer_heartbeat(self.processes[name], 0)
        kept = "" if instance is None else f" in place of {instance}"
        await self._write(f"{' '.join(who)} start{kept} with {offers or 'KIP-848'}")

    async def heartbeat(self, *who: str) -> None:
        for name in who:
            await self.coordinator.heartbeat(self.processes[name])
        await self._write(f"{' '.join(who)} heartbeat")

    async def rejoin(self, who: str) -> None:
        await self.coordinator.join(self.processes[who])
        await self._write(f"{who} joins again")

    async def settle(self) -> None:
        """Every process does what a client does, until none has anything to do."""
        while await self._clients_turn():
            pass
        self._answers = [seen for seen in self._answers if (seen.request, seen.error) != ("heartbeat", Error.NONE)]
        await self._write("settle")

    async def leave(self, who: str) -> None:
        process = self.processes[who]
        await self.coordinator.leave(process, process.instance_id, process.member_id)
        process.alive = False
        await self._write(f"{who} leaves")

    async def remove(self, instance: str, as_seen: str | None = None) -> None:
        """An administrator removes an instance id, when it is still held as it was by `as_seen`."""
        member_id = self.processes[as_seen].member_id if as_seen else ""
        await self.coordinator.leave(Process("administrator", instance), instance, member_id)
        await self._write(f"remove {instance}" + (f" as held by {as_seen}" if as_seen else ""))

    async def consumer_leave(self, who: str, epoch: int) -> None:
        process = self.processes[who]
        await self.coordinator.consumer_heartbeat(process, epoch)
        process.alive = False
        await self._write(f"{who} leaves with epoch {epoch}")

    async def kill(self, who: str) -> None:
        self.processes[who].alive = False
        await self._write(f"{who} is killed")

    async def session_ends(self, who: str) -> None:
        others = [p for p in self.processes.values() if p.alive]
        await self.coordinator.session_ends(self.processes[who], others)
        await self._write(f"the session of {who} ends")

    async def rebalance_timeout(self) -> None:
        await self.coordinator.rebalance_timeout()
        await self._write("the rebalance times out")

    async def _clients_turn(self) -> bool:
        """Heartbeats, joins and syncs as they are due; False when nothing was."""
        living = [p for p in self.processes.values() if p.alive and p.protocols]
        for process in [p for p in living if p.generation >= 0]:
            await self.coordinator.heartbeat(process)
        told = await self._take()
        joining = [seen.process for seen in told if seen.error in _JOIN_AGAIN]
        for process in joining:
            await self.coordinator.join(process)
        await self._take()
        syncing = sorted((p for p in living if p.must_sync), key=lambda p: p.leads)
        for process in syncing:
            await self.coordinator.sync(process)
        await self._take()
        return bool(joining or syncing)

    async def _take(self) -> list[Seen]:
        """Take in what was answered; a dynamic newcomer comes back at once with the id that it was given."""
        taken: list[Seen] = []
        while seen := await self.coordinator.answers():
            taken += seen
            for answer in seen:
                self._learn(answer)
                if answer.error is Error.MEMBER_ID_REQUIRED:
                    await self.coordinator.join(answer.process)
        self._answers += taken
        return taken

    def _learn(self, answer: Seen) -> None:
        process = answer.process
        if answer.member_id and answer.request in ("join", "consumer-heartbeat"):
            process.member_id = answer.member_id
            self.labels[answer.member_id] = process.who
        if answer.request == "join" and answer.error is Error.NONE:
            process.generation, process.protocol = answer.generation, answer.protocol
            process.leads, process.must_sync = answer.leads, True
        if answer.request == "sync":
            process.must_sync = False
        if answer.error in (Error.FENCED_INSTANCE_ID, Error.UNKNOWN_MEMBER_ID):
            process.alive = False

    async def _write(self, step: str) -> None:
        await self._take()
        answers = [self._told(seen) for seen in self._answers]
        self._answers = []
        group = await self.coordinator.describe()
        members = sorted(f"{self.labels.get(m, '?')}{f' as {i}' if i else ''}" for m, i in group.members)
        told = {"type": group.type.value, "state": group.state, "protocol": group.protocol, "members": members}
        if group.type is GroupType.CONSUMER:
            told = {"type": group.type.value, "members": members}
        self.record.append({"step": step, "answers": sorted(answers), "group": told})

    def _told(self, seen: Seen) -> str:
        generation = f" generation {seen.generation}" if seen.generation >= 0 and not self._modern else ""
        return f"{seen.process.who}: {seen.request} {seen.error.value}{generation} {seen.protocol or ''}".strip()

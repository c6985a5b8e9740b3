"""The same exploration by several processes, for one that would take hours.

States are shared out by their digest: each belongs to one process, which alone knows whether it was there before.
What a process finds that belongs to another it hands over, in rounds. What leads where is put together in the end.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from tests.core.coordinator.events import natural
from tests.core.coordinator.exploring import Explored, Goal, TooMany, disturbances, kept
from tests.core.coordinator.fleet import Fleet
from tests.core.coordinator.pilot import Broken

ROUND: Final = 2_000
"""States that each process goes on from before they hand over what they found."""
REPORT_S: Final = 60.0


class Found(NamedTuple):
    """A state on its way to the process that it belongs to."""

    name: bytes
    source: int
    event: str
    fleet: bytes


@dataclass
class Share:
    """What one process knows. States are named by the first eight bytes of their digest, and told apart by all."""

    known: set[bytes] = field(default_factory=set)
    came_from: dict[int, tuple[int, str]] = field(default_factory=dict)
    sources: array[int] = field(default_factory=lambda: array("Q"))
    targets: array[int] = field(default_factory=lambda: array("Q"))
    ends: set[int] = field(default_factory=set)
    transitions: int = 0
    broken: str = ""


@dataclass
class Whole:
    states: int
    transitions: int
    lost: list[int]
    came_from: dict[int, tuple[int, str]]

    def story(self, state: int) -> str:
        """How it came to this state."""
        events: list[str] = []
        while (source := self.came_from[state][0]) != state:
            events.append(self.came_from[state][1])
            state = source
        return "\n".join(f"{i:3d} {event}" for i, event in enumerate(reversed(events), start=1))


def explore_together(start: Fleet, goal: Goal, *, begun: int, limit: int, processes: int = 2) -> Whole:
    """Raises Broken when an invariant does not hold, TooMany beyond `limit` states.

    `begun`: how many states are gone on from before the work is shared out, so that what is made on the way and kept
    (templates) is known to all.
    """
    first = _Worker(Explored(start, None, lambda fleet: None), goal, 0, 1)
    first.take(first.found.digest(start), short(first.found.digest(start)), "", start)
    for _ in range(begun):
        if first.ahead:
            first.go_on()
    context = get_context("fork")
    ends = [context.Pipe() for _ in range(processes)]
    running = [
        context.Process(target=_work, args=(first, place, [each for pair in ends for each in pair]), daemon=True)
        for place in range(processes)
    ]
    for process in running:
        process.start()
    for _, end in ends:
        end.close()  # so that one that dies is missed
    try:
        return _put_together(_lead([end for end, _ in ends], limit))
    finally:
        for process in running:
            process.terminate()
            process.join()


class _Worker:
    def __init__(self, found: Explored, goal: Goal, place: int, processes: int) -> None:
        self.found, self.goal, self.place, self.processes = found, goal, place, processes
        self.share = Share()
        self.ahead: deque[tuple[int, Fleet | bytes]] = deque()
        self.sent: list[list[Found]] = [[] for _ in range(processes)]

    def of(self, name: bytes) -> int:
        return name[-1] % self.processes

    def take(self, name: bytes, source: int, event: str, fleet: Fleet | bytes) -> None:
        """Of a state that belongs to this process."""
        if name in self.share.known:
            return
        self.share.known.add(name)
        state = short(name)
        if state in self.share.came_from:
            raise AssertionError("two states have the same first eight bytes")
        self.share.came_from[state] = (source, sys.intern(event))
        self.ahead.append((state, fleet if isinstance(fleet, bytes) else kept(fleet)))

    def go_on(self) -> None:
        name, ahead = self.ahead.popleft()
        fleet = pickle.loads(ahead) if isinstance(ahead, bytes) else ahead
        if self.goal(fleet):
            self.share.ends.add(name)
        for event, after in natural(fleet):
            self.share.sources.append(name)
            self.share.targets.append(self._reach(name, event, after))
        for event, after in disturbances(fleet, None):
            self._reach(name, event, after)
            self.share.transitions += 1

    def _reach(self, source: int, event: str, fleet: Fleet) -> int:
        name = self.found.digest(fleet)
        owner = self.of(name)
        if owner == self.place:
            self.take(name, source, event, fleet)
        elif name not in self.share.known:  # of the others' it knows what it has handed over
            self.share.known.add(name)
            self.sent[owner].append(Found(name, source, event, pickle.dumps(kept(fleet), pickle.HIGHEST_PROTOCOL)))
        return short(name)


def short(name: bytes) -> int:
    return int.from_bytes(name[:8], "big")


def _work(first: _Worker, place: int, ends: list[Connection]) -> None:
    """What was found before belongs to one of them now; who goes on from it is told by the order."""
    processes, leader = len(ends) // 2, ends[2 * place + 1]
    for end in ends:
        if end is not leader:
            end.close()
    gc.disable()  # nothing in a state refers back to it
    worker = _Worker(first.found, first.goal, place, processes)
    worker.share.known = set(first.share.known)
    if place == 0:
        worker.share = first.share
    worker.ahead = deque(fleet for number, fleet in enumerate(first.ahead) if number % processes == place)
    while True:
        try:
            for _ in range(ROUND):
                if worker.ahead:
                    worker.go_on()
        except Broken as broken:
            worker.share.broken = f"{broken!r}"
        leader.send((worker.sent, len(worker.ahead), len(worker.share.came_from), worker.share.broken))
        worker.sent = [[] for _ in range(processes)]
        arrived: list[Found] | None = leader.recv()
        if arrived is None:
            worker.share.known = set()
            leader.send(worker.share)
            return
        for found in arrived:
            worker.take(*found)


def _lead(workers: list[Connection], limit: int) -> list[Share]:
    """Hand over what they found, until there is nothing left."""
    began = told = time.monotonic()
    while True:
        said = [worker.recv() for worker in workers]
        states = sum(found for _, _, found, _ in said)
        if time.monotonic() - told > REPORT_S:
            told = time.monotonic()
            ahead = sum(left for _, left, _, _ in said)
            print(f"{states} states, {ahead} ahead, {told - began:.0f} s", file=sys.stderr, flush=True)  # noqa: T201 - progress
        if broken := next((words for _, _, _, words in said if words), ""):
            raise Broken(broken)
        if states > limit:
            raise TooMany(f"more than {limit} states")
        for_each = [[found for sent, _, _, _ in said for found in sent[place]] for place in range(len(workers))]
        over = not any(for_each) and not any(left for _, left, _, _ in said)
        for worker, found in zip(workers, for_each, strict=True):
            worker.send(None if over else found)
        if over:
            return [worker.recv() for worker in workers]


def _put_together(shares: list[Share]) -> Whole:
    came_from: dict[int, tuple[int, str]] = {}
    for share in shares:
        came_from |= share.came_from
    assert len(came_from) == sum(len(share.came_from) for share in shares)
    transitions = sum(share.transitions + len(share.targets) for share in shares)
    return Whole(len(came_from), transitions, _lost(shares, list(came_from)), came_from)


def _lost(shares: list[Share], states: list[int]) -> list[int]:
    """States from which there is no way to a goal any more."""
    numbers = {state: number for number, state in enumerate(states)}
    back: list[array[int]] = [array("L") for _ in states]
    for source, target in _ways(shares):
        back[numbers[target]].append(numbers[source])
    reached = bytearray(len(states))
    queue = deque(numbers[end] for share in shares for end in share.ends)
    for number in queue:
        reached[number] = True
    while queue:
        for source in back[queue.popleft()]:
            if not reached[source]:
                reached[source] = True
                queue.append(source)
    return [state for state, number in numbers.items() if not reached[number]]


def _ways(shares: list[Share]) -> Iterator[tuple[int, int]]:
    for share in shares:
        yield from zip(share.sources, share.targets, strict=True)

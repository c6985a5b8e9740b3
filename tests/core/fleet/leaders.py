"""Leaders that lose their lease at any moment, requests that land at any later time: all that can happen (FLEET 6.6).

Of each group there are two objects: its status, which says whether it has its turn, and its StatefulSet, by which a pod
of it is taken away. Every write says which version of its object it was decided upon, so one that lands after another
changes nothing. What a leader knows of an object may be behind. The allocator is the product's.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from slackwater.core.fleet.allocation import HORIZON_S, Allocator
from slackwater.core.fleet.claim import Cell, Claim, Limit, Standing

CELL: Final = Cell("slackwater/platform", "all")
FOR_EVER_S: Final = 1e9
"""How long a call is good: that one lapses is no danger, since it was acted upon or not."""


class Rule(StrEnum):
    """What has to be so before a pod is taken away."""

    CALLED = "the group was called; its turn is written afterwards"
    WRITTEN = "its turn is written"
    ADMITTED = "and this leader found it there, or gave it"
    SOON = "and where more were found than may move, they were listed again"
    WHOLE = "a horizon later, when no request of an earlier leader is under way"


class Hasty(Allocator):
    """Takes whatever turns it finds for good, and waits for nothing."""

    def began(self, claims: Iterable[Claim], now: float) -> tuple[str, ...]:
        called = super().began(claims, now)
        self._admitted |= self._found_there
        self._found_there, self._overfull, self._relist_at = set(), frozenset(), None
        return called


class Request(NamedTuple):
    """Under way to the API server, on the version that is in force; a later version ends it without effect."""

    leader: int
    kind: str
    """`turn`, `pod` or `done`."""
    group: int


class Known(NamedTuple):
    """A group's two objects, as they are or as somebody last saw them."""

    turn: bool = False
    away: bool = False
    back: int = 0
    """How many pods have been replaced."""


@dataclass(frozen=True, slots=True)
class Leader:
    """The one that holds the lease; those before it are only the requests that they left."""

    allocator: bytes
    knows: tuple[Known, ...]
    is_new: tuple[bool, ...]
    """Whether what it knows of the group is the version in force."""
    first: int = 0
    """The group that asked first, as it sees it."""
    calls: frozenset[int] = frozenset()
    admitted: frozenset[int] = frozenset()
    found_too_many: bool = False
    is_past_the_horizon: bool = False


@dataclass(frozen=True, slots=True)
class State:
    groups: tuple[Known, ...]
    requests: frozenset[Request] = frozenset()
    leader: Leader | None = None
    begun: int = 0
    """How many leaders there have been."""

    @property
    def key(self) -> object:
        """Without the allocator, which follows from the rest."""
        leader = self.leader
        if leader is None:
            return self.groups, self.requests, self.begun
        return self.groups, self.requests, self.begun, *(getattr(leader, name) for name in _KEPT)


_KEPT: Final = ("knows", "is_new", "first", "calls", "admitted", "found_too_many", "is_past_the_horizon")


@dataclass(frozen=True, slots=True)
class Fleet:
    groups: int
    limit: int
    leaders: int
    pods: int = 1
    rule: Rule = Rule.WHOLE

    def explore(self, most: int) -> tuple[int, list[str] | None]:
        """How many states there are, and what leads to one in which too many groups move; None: none was found, up to
        `most` states."""
        first = State((Known(),) * self.groups)
        came: dict[object, tuple[object, str]] = {first.key: (None, "")}
        line = deque([first])
        while line and len(came) < most:
            state = line.popleft()
            for what, after in self._events(state):
                if after.key in came:
                    continue
                came[after.key] = (state.key, what)
                if sum(group.away for group in after.groups) > self.limit:
                    return len(came), _way_to(after.key, came)
                line.append(after)
        return len(came), None

    def _events(self, state: State) -> Iterator[tuple[str, State]]:
        yield from self._of_the_world(state)
        if state.leader is None:
            for first in range(self.groups if state.begun < self.leaders else 0):
                yield f"leader {state.begun + 1} begins, for whom group {first} is the first", self._begin(state, first)
            return
        yield "it loses the lease", replace(state, leader=None)
        for group in range(self.groups):
            yield from self._of_the_leader(state, state.leader, group)
        if self.rule in (Rule.SOON, Rule.WHOLE) and not state.leader.is_past_the_horizon:
            yield "a horizon passes", self._pass_the_horizon(state, state.leader)

    def _of_the_world(self, state: State) -> Iterator[tuple[str, State]]:
        for request in sorted(state.requests):
            yield f"{request} is carried out", _carried_out(state, request)
            yield f"{request} is lost", replace(state, requests=state.requests - {request})
        for group, known in enumerate(state.groups):
            if known.away:
                after = known._replace(away=False, back=known.back + 1)
                yield f"a pod of group {group} is back", _changed(state, group, after)

    def _begin(self, state: State, first: int) -> State:
        """Whom it would call first may have changed: by another head start, or since the first one's gates refused."""
        allocator = Allocator(FOR_EVER_S) if self.rule in (Rule.SOON, Rule.WHOLE) else Hasty(FOR_EVER_S)
        allocator.limited([(CELL, Limit(number=self.limit))])
        allocator.began([self._claim(each, known, first) for each, known in enumerate(state.groups)], 0.0)
        too_many = sum(known.turn for known in state.groups) > self.limit
        leader = Leader(b"", state.groups, (True,) * self.groups, first=first, found_too_many=too_many)
        return replace(state, begun=state.begun + 1, leader=self._with(leader, allocator))

    def _of_the_leader(self, state: State, leader: Leader, group: int) -> Iterator[tuple[str, State]]:
        known = leader.knows[group]
        if not leader.is_new[group]:
            yield f"it learns of group {group}", self._learns(state, leader, group)
            return
        mine = {request.group for request in state.requests if request.leader == state.begun}
        if group in mine or known.away:
            return
        for kind in self._wants(leader, group):
            request = Request(state.begun, kind, group)
            yield f"{request}", replace(state, requests=state.requests | {request})

    def _wants(self, leader: Leader, group: int) -> Iterable[str]:
        known = leader.knows[group]
        if known.turn and known.back >= self.pods:
            yield "done"
        elif known.back < self.pods and self._may_act(leader, group):
            yield "pod"
        if not known.turn and group in leader.calls:
            yield "turn"

    def _may_act(self, leader: Leader, group: int) -> bool:
        has = leader.knows[group].turn
        if self.rule is Rule.CALLED:
            return has or group in leader.calls
        if self.rule is Rule.WRITTEN:
            return has
        allocator: Allocator = pickle.loads(leader.allocator)
        return has and allocator.may_act(str(group))

    def _learns(self, state: State, leader: Leader, group: int) -> State:
        """By a watch or an answer: what it learns is what is so."""
        knows = tuple(state.groups[each] if each == group else known for each, known in enumerate(leader.knows))
        is_new = tuple(each == group or new for each, new in enumerate(leader.is_new))
        allocator: Allocator = pickle.loads(leader.allocator)
        allocator.changed([self._claim(group, knows[group], leader.first)], self._now(leader))
        return replace(state, leader=self._with(replace(leader, knows=knows, is_new=is_new), allocator))

    def _pass_the_horizon(self, state: State, leader: Leader) -> State:
        """What leaders before this one sent has been carried out or given up by now; then all groups are listed."""
        under_way = (r for r in state.requests if r.leader == state.begun or self.rule is Rule.SOON)
        requests = frozenset(under_way)
        allocator: Allocator = pickle.loads(leader.allocator)
        claims = [self._claim(each, known, leader.first) for each, known in enumerate(state.groups)]
        allocator.relisted(claims, HORIZON_S)
        leader = replace(leader, knows=state.groups, is_new=(True,) * self.groups, is_past_the_horizon=True)
        return replace(state, requests=requests, leader=self._with(leader, allocator))

    def _with(self, leader: Leader, allocator: Allocator) -> Leader:
        names = range(self.groups)
        called = frozenset(each for each in names if allocator.is_called(str(each)))
        has = (each for each in names if leader.knows[each].turn)
        admitted = frozenset(each for each in has if allocator.may_act(str(each)))
        return replace(leader, allocator=pickle.dumps(allocator), calls=called, admitted=admitted)

    def _now(self, leader: Leader) -> float:
        return HORIZON_S if leader.is_past_the_horizon else 0.0

    def _claim(self, group: int, known: Known, first: int) -> Claim:
        asks = Standing.ASKS if known.back < self.pods else Standing.RESTS
        standing = Standing.HAS if known.turn else asks
        takes = frozenset() if standing is Standing.RESTS else frozenset({CELL})
        return Claim(
            str(group), frozenset({CELL}), takes, standing, (0.0, (group - first) % self.groups), moving=known.away
        )


def _carried_out(state: State, request: Request) -> State:
    known = state.groups[request.group]
    effects: dict[str, Callable[[], Known]] = {
        "turn": lambda: known._replace(turn=True),
        "pod": lambda: known._replace(away=True),
        "done": lambda: known._replace(turn=False),
    }
    state = replace(state, requests=state.requests - {request})
    return _changed(state, request.group, effects[request.kind](), of_status=request.kind != "pod")


def _changed(state: State, group: int, after: Known, *, of_status: bool = False) -> State:
    """What was decided upon the version before has no effect any more."""
    kinds = ("turn", "done") if of_status else ("pod",)
    requests = frozenset(r for r in state.requests if r.group != group or r.kind not in kinds)
    groups = tuple(after if each == group else known for each, known in enumerate(state.groups))
    leader = state.leader
    if leader is not None:
        leader = replace(leader, is_new=tuple(each != group and new for each, new in enumerate(leader.is_new)))
    return replace(state, groups=groups, requests=requests, leader=leader)


def _way_to(key: object, came: dict[object, tuple[object, str]]) -> list[str]:
    way = []
    while (found := came[key])[1]:
        way.append(found[1])
        key = found[0]
    return way[::-1]

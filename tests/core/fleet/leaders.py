"""Leaders that lose their lease at any moment, requests that land at any later time: all that can happen (FLEET 6.6).

Of each group there are two objects: its status, which says whether it has its turn, and its StatefulSet, by which a pod
of it is taken away. Every write says which version of its object it was decided upon, so one that lands after another
changes nothing. What a leader knows of an object may be behind. The allocator is the product's.

States that differ by names only are one, so that more of them can be explored to the end:
- Groups are numbered in the order in which the leader has them, any order of them; while nobody leads, in one order
  that does not depend on their numbers.
- Requests of leaders before this one are not told apart by leader: whoever sent two of one kind for one group, the
  first to be carried out ends the other.
What a leader does follows from `Leader`, which is worked out once for all states in which it is the same.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import permutations
from typing import Final, NamedTuple

from slackwater.core.fleet.allocation import HORIZON_S, Allocator
from slackwater.core.fleet.claim import Cell, Claim, Limit, Standing

CELL: Final = Cell("slackwater/platform", "all")
FOR_EVER_S: Final = 1e9
"""How long a call is good: that one lapses is no danger, since it was acted upon or not."""
NOBODY: Final = -1
TURN, POD, DONE = "turn", "pod", "done"
"""What a request asks for: that the group has its turn, that a pod is taken away, that its turn is over."""


class Rule(StrEnum):
    """What has to be so before a pod is taken away."""

    CALLED = "the group was called; its turn is written afterwards"
    WRITTEN = "its turn is written"
    ADMITTED = "and this leader found it there, or gave it"
    SOON = "and where more were found than may move, they were listed again"
    WHOLE = "a horizon later, when no request of an earlier leader is under way"

    @property
    def waits(self) -> bool:
        return self in (Rule.SOON, Rule.WHOLE)


class Hasty(Allocator):
    """Takes whatever turns it finds for good, and waits for nothing."""

    def began(self, claims: Iterable[Claim], now: float) -> tuple[str, ...]:
        called = super().began(claims, now)
        self._admitted |= self._found_there
        self._found_there, self._overfull, self._relist_at = set(), frozenset(), None
        return called


class Known(NamedTuple):
    """A group's two objects, as they are or as somebody last saw them."""

    turn: bool = False
    away: bool = False
    back: int = 0
    """How many pods have been replaced."""


class Group(NamedTuple):
    """A group as it is, and what is under way to it: requests on the versions in force, which a later version ends."""

    known: Known = Known()
    is_new: bool = True
    """Whether what the leader knows of it is the version in force."""
    own: str = ""
    """The leader's request, one at a time; empty: none."""
    old: frozenset[str] = frozenset()
    """Requests of leaders before it."""

    def changed(self, after: Known, *ends: str) -> Group:
        """What was decided upon the version before has no effect any more."""
        own = "" if self.own in ends else self.own
        return Group(after, is_new=False, own=own, old=self.old.difference(ends))

    def without(self, request: str, *, own: bool) -> Group:
        return self._replace(own="") if own else self._replace(old=self.old - {request})

    def left(self) -> Group:
        """Its leader is one of those before."""
        return Group(self.known, old=self.old.union([self.own] if self.own else ()))


class Leader(NamedTuple):
    """What the one that holds the lease goes by; those before it are only the requests that they left."""

    knows: tuple[Known, ...]
    calls: frozenset[int]
    admitted: frozenset[int]
    waits: frozenset[int]
    """Groups that stand in line."""
    moving: int
    """Groups that it counts."""
    relists: bool
    """It found more than may move, and lists them again a horizon later."""
    is_past_the_horizon: bool


class State(NamedTuple):
    groups: tuple[Group, ...]
    leader: int = NOBODY
    """Its number in `Fleet.leading`."""
    begun: int = 0
    """How many leaders there have been."""


What = tuple[str, object]


@dataclass(frozen=True, slots=True)
class Fleet:
    groups: int
    limit: int
    leaders: int
    pods: int = 1
    rule: Rule = Rule.WHOLE
    folds: bool = True
    """False: groups keep their numbers when a leader goes. To see that nothing is lost by that."""
    leading: list[tuple[Leader, bytes]] = field(default_factory=list, repr=False, compare=False)
    """Each leader that was met, and the allocator of it."""
    numbers: dict[object, int] = field(default_factory=dict, repr=False, compare=False)
    """Of leaders, by what they go by and by how they came about."""

    def __str__(self) -> str:
        return f"groups={self.groups} limit={self.limit} leaders={self.leaders} pods={self.pods}"

    def explore(self, most: int) -> tuple[int, list[str] | None]:
        """How many states there are, and what leads to one in which too many groups move; None: none was found, up to
        `most` states."""
        found = self.states(most)
        worst = next((state for state in reversed(found) if self.is_over(state)), None)
        return len(found), None if worst is None else self._way_to(worst, found)

    def is_over(self, state: State) -> bool:
        return sum(group.known.away for group in state.groups) > self.limit

    def states(self, most: int) -> dict[State, State | None]:
        """Each with the one before it; ends with the first in which too many groups move."""
        first = State((Group(),) * self.groups)
        came: dict[State, State | None] = {first: None}
        one: dict[Group, Group] = {}
        line = deque([first])
        while line and len(came) < most:
            state = line.popleft()
            for _, after in self._events(state):
                if after in came:
                    continue
                kept = after._replace(groups=tuple(one.setdefault(group, group) for group in after.groups))
                came[kept] = state
                if self.is_over(kept):
                    return came
                line.append(kept)
        return came

    def with_leader(self, state: State) -> object:
        """The state, with what its leader goes by instead of its number, which is this fleet's own."""
        leader = None if state.leader == NOBODY else self.leading[state.leader][0]
        return state.groups, leader, state.begun

    def _way_to(self, state: State, came: dict[State, State | None]) -> list[str]:
        way = []
        while (before := came[state]) is not None:
            what = next(what for what, after in self._events(before) if after == state)
            way.append(" ".join(map(str, what)))
            state = before
        return way[::-1]

    def _events(self, state: State) -> Iterator[tuple[What, State]]:
        yield from self._of_the_world(state)
        if state.leader == NOBODY:
            for order in permutations(range(self.groups)) if state.begun < self.leaders else ():
                groups = tuple(state.groups[each] for each in order)
                begins = State(groups, self._begins(groups), state.begun + 1)
                yield ("a leader begins, and numbers the groups:", order), begins
            return
        yield ("it loses the lease", ""), self._left(state)
        leader, _ = self.leading[state.leader]
        for number, group in enumerate(state.groups):
            if not group.is_new:
                learns = self._with(state, number, group._replace(is_new=True))
                yield ("it learns of", number), learns._replace(leader=self._learns(state.leader, number, group.known))
            elif not group.own and not group.known.away:
                for kind in self._wants(leader, number):
                    yield (f"it asks: {kind} of", number), self._with(state, number, group._replace(own=kind))
        if self.rule.waits and not leader.is_past_the_horizon:
            yield ("a horizon passes", ""), self._pass_the_horizon(state)

    def _of_the_world(self, state: State) -> Iterator[tuple[What, State]]:
        for number, group in enumerate(state.groups):
            under_way = [(kind, False) for kind in sorted(group.old)] + [(group.own, True)] * bool(group.own)
            for kind, own in under_way:
                yield (f"{kind} is carried out of", number), self._with(state, number, EFFECTS[kind](group))
                yield (f"{kind} is lost of", number), self._with(state, number, group.without(kind, own=own))
            if group.known.away:
                back = group.known._replace(away=False, back=group.known.back + 1)
                yield ("a pod is back of", number), self._with(state, number, group.changed(back, POD))

    def _left(self, state: State) -> State:
        return self._folded(State(tuple(group.left() for group in state.groups), NOBODY, state.begun))

    def _with(self, state: State, number: int, group: Group) -> State:
        groups = (*state.groups[:number], group, *state.groups[number + 1 :])
        return self._folded(State(groups, state.leader, state.begun))

    def _folded(self, state: State) -> State:
        """While nobody leads: nobody knows an older version, and groups have no numbers."""
        if state.leader != NOBODY:
            return state
        groups = tuple(group._replace(is_new=True) for group in state.groups)
        return folded(state._replace(groups=groups)) if self.folds else state._replace(groups=groups)

    def _begins(self, groups: tuple[Group, ...]) -> int:
        """Whom it would call first may have changed: by another head start, or since the first one's gates refused."""
        knows = tuple(group.known for group in groups)

        def begun() -> Allocator:
            allocator = Allocator(FOR_EVER_S) if self.rule.waits else Hasty(FOR_EVER_S)
            allocator.limited([(CELL, Limit(number=self.limit))])
            allocator.began([self._claim(each, known) for each, known in enumerate(knows)], 0.0)
            return allocator

        return self._once(("begins", knows), knows, begun, is_past_the_horizon=False)

    def _wants(self, leader: Leader, number: int) -> Iterator[str]:
        known = leader.knows[number]
        if known.turn and known.back >= self.pods:
            yield DONE
        elif known.back < self.pods and self._may_act(leader, number):
            yield POD
        if not known.turn and number in leader.calls:
            yield TURN

    def _may_act(self, leader: Leader, number: int) -> bool:
        has = leader.knows[number].turn
        if self.rule is Rule.CALLED:
            return has or number in leader.calls
        return has if self.rule is Rule.WRITTEN else number in leader.admitted

    def _learns(self, leader: int, number: int, known: Known) -> int:
        """By a watch or an answer: what it learns is what is so."""
        before, kept = self.leading[leader]
        knows = tuple(known if each == number else was for each, was in enumerate(before.knows))
        is_past = before.is_past_the_horizon

        def learned() -> Allocator:
            allocator: Allocator = pickle.loads(kept)
            allocator.changed([self._claim(number, known)], HORIZON_S if is_past else 0.0)
            return allocator

        return self._once((leader, number, known), knows, learned, is_past_the_horizon=is_past)

    def _pass_the_horizon(self, state: State) -> State:
        """What leaders before this one sent has been carried out or given up by now; then all groups are listed."""
        knows, (_, kept) = tuple(group.known for group in state.groups), self.leading[state.leader]

        def relisted() -> Allocator:
            allocator: Allocator = pickle.loads(kept)
            allocator.relisted([self._claim(each, known) for each, known in enumerate(knows)], HORIZON_S)
            return allocator

        leader = self._once((state.leader, knows), knows, relisted, is_past_the_horizon=True)
        old = (group.old if self.rule is Rule.SOON else frozenset[str]() for group in state.groups)
        groups = (group._replace(is_new=True, old=each) for group, each in zip(state.groups, old, strict=True))
        return State(tuple(groups), leader, state.begun)

    def _once(
        self, way: object, knows: tuple[Known, ...], made: Callable[[], Allocator], *, is_past_the_horizon: bool
    ) -> int:
        """The number of a leader that came about by `way`. Those that go by the same are one."""
        if (number := self.numbers.get(way)) is not None:
            return number
        allocator, names = made(), range(self.groups)
        leader = Leader(
            knows,
            calls=frozenset(each for each in names if allocator.is_called(str(each))),
            admitted=frozenset(each for each in names if knows[each].turn and allocator.may_act(str(each))),
            waits=frozenset(each for each in names if allocator.waits_for(str(each)) is not None),
            moving=allocator.use(CELL)[1],
            relists=allocator.relist_at is not None,
            is_past_the_horizon=is_past_the_horizon,
        )
        number = self.numbers[way] = self.numbers.setdefault(leader, len(self.leading))
        if number == len(self.leading):
            self.leading.append((leader, pickle.dumps(allocator)))
        return number

    def _claim(self, number: int, known: Known) -> Claim:
        asks = Standing.ASKS if known.back < self.pods else Standing.RESTS
        standing = Standing.HAS if known.turn else asks
        takes = () if standing is Standing.RESTS else (CELL,)
        return Claim(str(number), (CELL,), takes, standing, (0.0, number), moving=known.away)


EFFECTS: Final[dict[str, Callable[[Group], Group]]] = {
    TURN: lambda group: group.changed(group.known._replace(turn=True), TURN, DONE),
    POD: lambda group: group.changed(group.known._replace(away=True), POD),
    DONE: lambda group: group.changed(group.known._replace(turn=False), TURN, DONE),
}


def folded(state: State) -> State:
    """With the groups in one order, where nobody leads."""
    return state._replace(groups=tuple(sorted(state.groups, key=_rank))) if state.leader == NOBODY else state


def _rank(group: Group) -> tuple[Known, list[str]]:
    return group.known, sorted(group.old)

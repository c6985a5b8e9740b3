"""Which group is in which wave of a campaign: by what it is now, but for those with which a wave has begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from slackwater.api.amounts import amount_of
from slackwater.api.fleet_waves import Wave
from slackwater.core.fleet.participants import Participant

REST: Final = "*"
"""The wave of all groups that are in no other; no wave that people name can be called so. People read `the rest`."""


def wave_in_words(name: str) -> str:
    return "the rest" if name == REST else name


def the_wave(name: str) -> str:
    """The same in a sentence."""
    return wave_in_words(name) if name == REST else f"wave {name}"


def plan_of(own: Sequence[Wave], of_the_fleet: Sequence[Wave]) -> tuple[Wave, ...]:
    """The waves to go through. The last one takes all that is left: a group in none would never come."""
    given = tuple(own or of_the_fleet)
    return given if given and given[-1].takes_the_rest else (*given, _rest())


def _rest() -> Wave:
    return Wave.model_construct(name=REST, selector=None, size=None, max=None, soak_ms=0)


def in_order(participants: Iterable[Participant]) -> list[Participant]:
    """Spread over namespaces and coordinators, and the same after a restart."""
    return sorted(participants, key=lambda each: (_spread(each.uid, each.key), each.key))


@lru_cache(maxsize=65_536)
def _spread(uid: str, key: str) -> int:
    return int.from_bytes(blake2b(f"{uid}/{key}".encode(), digest_size=6).digest())


def by_wave(
    plan: Sequence[Wave], current: int, participants: Iterable[Participant]
) -> tuple[tuple[Participant, ...], ...]:
    """The groups of each wave, in order. Waves before `current` are over: who comes too late for one is in the last.

    A group with which a wave has begun stays in it, and takes its place there before others do. Who passes waves comes
    with this one.
    """
    everybody = in_order(participants)
    index = {wave.name: number for number, wave in enumerate(plan)}
    begun = {each.key: index[each.begun_in] for each in everybody if each.begun_in in index}
    placing = _Placing(plan, current, everybody, Counter(begun.values()))
    found: list[list[Participant]] = [[] for _ in plan]
    for each in everybody:
        found[begun[each.key] if each.key in begun else placing.place(each)].append(each)
    return tuple(map(tuple, found))


class _Placing:
    """Gives the places of waves with a size, in order. Whoever is left alone, or done without being asked, takes none:
    a canary wave of groups that are skipped would try nothing."""

    def __init__(
        self, plan: Sequence[Wave], current: int, everybody: Sequence[Participant], taken: Counter[int]
    ) -> None:
        self._plan, self._current, self._taken = plan, current, taken
        movable = sum(not each.is_left_alone for each in everybody)
        self._sizes: Mapping[int, int] = {
            number: amount_of(wave.size, movable) for number, wave in enumerate(plan) if wave.size is not None
        }

    def place(self, participant: Participant) -> int:
        last = len(self._plan) - 1
        if participant.passes_waves and participant.is_to_come:
            return self._current
        for number, wave in enumerate(self._plan):
            if wave.selector is not None and not wave.selector.matches(participant.labels):
                continue
            if number not in self._sizes:
                is_too_late = number < self._current and participant.is_to_come
                return last if is_too_late else number
            if number >= self._current and self._taken[number] < self._sizes[number]:
                self._taken[number] += participant.takes_a_place
                return number
        return last

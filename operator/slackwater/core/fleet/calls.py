"""Who was called, for how long, and when those come again that did not use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from slackwater.core.fleet.claim import Cells

FIRST_WAY_BACK_S: Final = 60.0
LONGEST_WAY_BACK_S: Final = 900.0
"""How long others go first after a call that was not used: its own gates held the group back."""

PutOff = Callable[[str, float], float | None]
"""Until when a group that might be called now could not use it; None: it can."""


def nobody(_group: str, _now: float) -> None:
    """Is put off."""


@dataclass(frozen=True, slots=True)
class Call:
    """A group may begin: what it takes is reserved until it has its turn, or lets the call lapse."""

    group: str
    takes: Cells
    until: float


class Calls:
    def __init__(self, call_s: float) -> None:
        self._call_s = call_s
        self._calls: dict[str, Call] = {}
        self._lapsed: dict[str, int] = {}
        self._back_at: dict[str, float] = {}
        self._lapses: list[str] = []
        self._put_off: set[str] = set()

    def set_back(self, seconds: float) -> None:
        """The clock was."""
        self._calls = {group: replace(call, until=call.until - seconds) for group, call in self._calls.items()}
        self._back_at = {group: at - seconds for group, at in self._back_at.items()}

    def taken_lapses(self) -> tuple[str, ...]:
        """The groups whose calls have lapsed since somebody asked."""
        lapses, self._lapses = tuple(self._lapses), []
        return lapses

    def __contains__(self, group: str) -> bool:
        return group in self._calls

    def of(self, group: str) -> Call | None:
        return self._calls.get(group)

    def is_away(self, group: str) -> bool:
        """It did not use its last call, and others go first."""
        return group in self._back_at

    def call(self, group: str, takes: Cells, now: float) -> Call:
        call = self._calls[group] = Call(group, takes, now + self._call_s)
        return call

    def keep(self, group: str, until: float) -> float | None:
        """At least up to then; None where it is not called."""
        call = self._calls.get(group)
        if call is None:
            return None
        self._calls[group] = replace(call, until=max(call.until, until))
        return self._calls[group].until

    def end(self, group: str) -> None:
        del self._calls[group]

    def lapse(self, group: str, now: float) -> float:
        """It was not used; returns when the group comes again, later each time."""
        del self._calls[group]
        self._lapses.append(group)
        lapsed = self._lapsed[group] = self._lapsed.get(group, 0) + 1
        back_at: float = now + min(FIRST_WAY_BACK_S * 2 ** (lapsed - 1), LONGEST_WAY_BACK_S)
        self._back_at[group] = back_at
        return back_at

    def put_off(self, group: str, until: float) -> None:
        """It would be called now, and could not use it."""
        self._back_at[group] = until
        self._put_off.add(group)

    def taken_back(self, only: str | None = None) -> tuple[str, ...]:
        """Those who were put off, and are no more: what they could not use may be otherwise."""
        groups = tuple(sorted(self._put_off if only is None else self._put_off & {only}))
        self._put_off.difference_update(groups)
        for group in groups:
            del self._back_at[group]
        return groups

    def come_back(self, group: str, now: float) -> bool:
        """Whether it does so now."""
        if self._back_at.get(group, now + 1) > now:
            return False
        del self._back_at[group]
        self._put_off.discard(group)
        return True

    def changed(self, group: str, *, asks: bool) -> None:
        """What it asks for, or whether it does. If it asks no more, what it let lapse counts no longer."""
        if not asks:
            self._lapsed.pop(group, None)
        if not asks or group in self._put_off:
            self._back_at.pop(group, None)
            self._put_off.discard(group)

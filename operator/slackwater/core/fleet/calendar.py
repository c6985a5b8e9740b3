"""When groups may begin: windows that open by a schedule, freezes, and what a clock change does to both.

Local times are those of the fleet's zone. An opening in the hour that is left out is at its end, one in the hour that
comes twice is at its first; a duration is elapsed time. A freeze that begins or ends at a time that comes twice lasts
the longer of both, so that it never ends early.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from slackwater.core.fleet.cron import LOOKS_AHEAD_S, MINUTE_S, Steps, last_time, next_time

LONGEST_S: Final = 8 * 86_400.0
"""Where one opening follows upon another for so long, it is looked at again when that is over: a schedule may name
every minute."""


class Span(NamedTuple):
    """In seconds since the epoch; `ends` is the first moment that is not in it."""

    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Recurring:
    """Begins by a schedule of cron, and lasts."""

    name: str
    schedule: str
    duration_s: float
    zone: ZoneInfo

    def at(self, now: float, steps: Steps | None = None) -> Span | None:
        """The span that `now` is in, from its last beginning; of several that follow upon one another, to the last end
        that the steps reach: it may last longer, and never ends earlier."""
        begun = self._last_begun(now)
        if begun is None or begun + self.duration_s <= now:
            return None
        ends, last = begun + self.duration_s, now + LONGEST_S
        if self._is_unbroken:
            return Span(begun, ends + LONGEST_S)
        for _ in (steps or Steps()).of_a_span():
            following = self._last_begun(min(ends, last))
            if following is None or following + self.duration_s <= ends:
                break
            ends = following + self.duration_s
        return Span(begun, ends)

    def next_after(self, now: float) -> float | None:
        """When it begins next; None where that is not within `LOOKS_AHEAD_S`."""
        return next_time(self.schedule, self.zone, now)

    def ended_before(self, now: float) -> float | None:
        """When the last span ended, where `now` is in none; None where none has begun within `LOOKS_AHEAD_S`."""
        begun = self._last_begun(now)
        return None if begun is None else begun + self.duration_s

    @property
    def _is_unbroken(self) -> bool:
        """Every minute, whatever is done to the clock."""
        return self.schedule.split() == ["*"] * 5 and self.duration_s >= MINUTE_S

    def _last_begun(self, now: float) -> float | None:
        """The one that ends last, too: all last as long."""
        return last_time(self.schedule, self.zone, now)


@dataclass(frozen=True, slots=True)
class Once:
    """From one local time to another, as `2026-11-26T00:00`."""

    name: str
    begins: str
    ends: str
    zone: ZoneInfo

    def at(self, now: float, _steps: Steps | None = None) -> Span | None:
        span = self._span
        return span if span.begins <= now < span.ends else None

    def next_after(self, now: float) -> float | None:
        begins = self._span.begins
        return begins if now < begins <= now + LOOKS_AHEAD_S else None

    @property
    def _span(self) -> Span:
        begins, ends = (
            [datetime.fromisoformat(each).replace(tzinfo=self.zone, fold=fold).timestamp() for fold in (0, 1)]
            for each in (self.begins, self.ends)
        )
        return Span(min(begins), max(ends))


Rule = Recurring | Once


@dataclass(frozen=True, slots=True)
class Opening:
    """Whether groups may begin, and up to when that holds."""

    is_open: bool
    until: float | None = None
    """While it is open, it holds at least until then. None: for as long as is looked ahead; where it is closed, it may
    also open at a moment that one look does not reach (`STEPS`)."""
    by: str = ""
    """The window that is open, the freeze that holds, or the window that opens next."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """No window: always open, but for freezes."""

    windows: tuple[Rule, ...] = ()
    freezes: tuple[Rule, ...] = ()

    def look(self, now: float) -> Opening:
        return Look(self, now).opening()


@dataclass(slots=True)
class Track:
    """What one rule says at a moment, and at later ones: nothing is worked out twice."""

    rule: Rule
    steps: Steps
    span: Span | None = None
    """The one that the moment is in."""
    begins: float | None = None
    """When it begins next, where it is in none."""
    _holds_until: float = -inf

    def at(self, now: float) -> Track:
        if now < self._holds_until:
            return self
        self.steps.take()
        self.span, self.begins = self.rule.at(now, self.steps), None
        if self.span is not None:
            self._holds_until = self.span.ends
            return self
        self.steps.take()
        self.begins = self.rule.next_after(now)
        self._holds_until = now + LOOKS_AHEAD_S if self.begins is None else self.begins
        return self


class Look:
    """All rules of a calendar at one moment. However many they are, that and when groups may begin is worked out in a
    bounded number of steps."""

    def __init__(self, calendar: Calendar, now: float) -> None:
        self._calendar, self._now = calendar, now
        self._steps = Steps(len(calendar.windows) + len(calendar.freezes))
        self.windows = [each.at(now) for each in self._tracks(calendar.windows)]
        self.freezes = [each.at(now) for each in self._tracks(calendar.freezes)]

    def changes(self) -> Iterator[float]:
        """When a rule begins or ends, at the earliest."""
        for track in (*self.windows, *self.freezes):
            if track.span is not None:
                yield track.span.ends  # what begins before that ends with it: every minute, perhaps
            elif track.begins is not None:
                yield track.begins

    def freezes_at(self) -> float | None:
        """When the next freeze begins."""
        found = (each.rule.next_after(self._now) if each.span is not None else each.begins for each in self.freezes)
        return min((at for at in found if at is not None), default=None)

    def opening(self) -> Opening:
        frozen = [(each.span.ends, each.rule.name) for each in self.freezes if each.span is not None]
        if frozen:
            until, name = max(frozen)
            return Opening(False, self._opens(until), name)
        freezes_at = self.freezes_at()
        if not self.windows:
            return Opening(True, freezes_at)
        spans = [(each.span.ends, each.rule.name) for each in self.windows if each.span is not None]
        if not spans:
            following = [(each.begins, each.rule.name) for each in self.windows if each.begins is not None]
            at, name = min(following, default=(None, ""))
            return Opening(False, None if at is None else self._opens(at), name)
        closes_at, name = max(spans)
        return Opening(True, min(closes_at, freezes_at) if freezes_at is not None else closes_at, name)

    def _tracks(self, rules: tuple[Rule, ...]) -> list[Track]:
        return [Track(rule, self._steps) for rule in rules]

    def _opens(self, at: float) -> float | None:
        """From `at` on, when groups may begin: a window may be closed when a freeze ends, and the other way round.
        None, too, where the steps are spent before."""
        first, windows, freezes = at, self._tracks(self._calendar.windows), self._tracks(self._calendar.freezes)
        while at - first <= LOOKS_AHEAD_S and not self._steps.is_spent:
            frozen_until = max((span.ends for each in freezes if (span := each.at(at).span) is not None), default=at)
            if frozen_until > at:
                at = frozen_until
                continue
            if not windows or any(each.at(at).span is not None for each in windows):
                return at
            following = min((each.begins for each in windows if each.begins is not None), default=None)
            if following is None:
                return None
            at = following
        return None

"""When groups may begin: windows that open by a schedule, freezes, and what a clock change does to both.

Local times are those of the fleet's zone. An opening in the hour that is left out is at its end, one in the hour that
comes twice is at its first; a duration is elapsed time. A freeze that begins or ends at a time that comes twice lasts
the longer of both, so that it never ends early.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim

LOOKS_AHEAD_S: Final = 400 * 86_400.0
"""What opens later than that is not said."""
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

    def at(self, now: float) -> Span | None:
        """The span that `now` is in: of several that overlap, from the first beginning to the last end."""
        begins, ends = now, now
        for begun in self._backwards(now):
            if begun + self.duration_s <= begins or now - begun > LONGEST_S:
                break
            begins, ends = begun, max(ends, begun + self.duration_s)
        if ends <= now:
            return None
        for begun in self._onwards(now):
            if begun > ends or begun - now > LONGEST_S:
                break
            ends = begun + self.duration_s
        return Span(begins, ends)

    def next_after(self, now: float) -> float | None:
        """When it begins next; None where that is not within `LOOKS_AHEAD_S`."""
        begins = next(self._onwards(now), None)
        return begins if begins is not None and begins - now <= LOOKS_AHEAD_S else None

    def ended_before(self, now: float) -> float | None:
        """When the last span ended, where `now` is in none; None where none has begun within `LOOKS_AHEAD_S`."""
        begun = next(self._backwards(now), None)
        return begun + self.duration_s if begun is not None and now - begun <= LOOKS_AHEAD_S else None

    def _onwards(self, now: float) -> Iterator[float]:
        return (each.timestamp() for each in CronSim(self.schedule, self._local(now)))

    def _backwards(self, now: float) -> Iterator[float]:
        """From the last one at or before `now`."""
        later = self._local(now + 60.0)
        return (at for each in CronSim(self.schedule, later, reverse=True) if (at := each.timestamp()) <= now)

    def _local(self, moment: float) -> datetime:
        return datetime.fromtimestamp(moment, self.zone)


@dataclass(frozen=True, slots=True)
class Once:
    """From one local time to another, as `2026-11-26T00:00`."""

    name: str
    begins: str
    ends: str
    zone: ZoneInfo

    def at(self, now: float) -> Span | None:
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
    """None: for as long as is looked ahead."""
    by: str = ""
    """The window that is open, the freeze that holds, or the window that opens next."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """No window: always open, but for freezes."""

    windows: tuple[Rule, ...] = ()
    freezes: tuple[Rule, ...] = ()

    def look(self, now: float) -> Opening:
        frozen = [(span.ends, freeze.name) for freeze in self.freezes if (span := freeze.at(now)) is not None]
        if frozen:
            until, name = max(frozen)
            return Opening(False, self._opens(until), name)
        freezes_at = min(filter(None, (freeze.next_after(now) for freeze in self.freezes)), default=None)
        if not self.windows:
            return Opening(True, freezes_at)
        spans = [(span.ends, window.name) for window in self.windows if (span := window.at(now)) is not None]
        if not spans:
            following = [(at, each.name) for each in self.windows if (at := each.next_after(now)) is not None]
            at, name = min(following, default=(None, ""))
            return Opening(False, None if at is None else self._opens(at), name)
        closes_at, name = max(spans)
        return Opening(True, min(closes_at, freezes_at) if freezes_at is not None else closes_at, name)

    def _opens(self, at: float) -> float | None:
        """From `at` on, when groups may begin: a window may be closed when a freeze ends, and the other way round."""
        first = at
        while at - first <= LOOKS_AHEAD_S:
            frozen_until = max((span.ends for each in self.freezes if (span := each.at(at))), default=at)
            if frozen_until > at:
                at = frozen_until
                continue
            if not self.windows or any(each.at(at) for each in self.windows):
                return at
            following = min(filter(None, (each.next_after(at) for each in self.windows)), default=None)
            if following is None:
                return None
            at = following
        return None

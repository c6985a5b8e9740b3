"""When a fleet lets groups begin, by its pause, windows, freezes and override; and whether its spec can be kept.

What only the cluster or the clock can judge is judged here; all else the API server has refused by then. A fleet that
is not accepted lets nothing of what it selects begin: a typo in a freeze must not lift it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSimError

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.errors import SlackwaterError
from slackwater.api.fleet_times import Freeze, UnderWay, Window
from slackwater.core.fleet.calendar import Calendar, Look, Once, Opening, Recurring, Rule, Span
from slackwater.core.fleet.claims import EVERYWHERE, Fleet
from slackwater.core.fleet.reasons import FleetReason

LONGEST_OVERRIDE_S: Final = 24 * 3600.0
ALWAYS: Final = Opening(True)
_UTC: Final = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the operator works."""

    own: str = ""
    """Its own namespace; empty: not known."""
    watched: tuple[str, ...] = ()
    """The namespaces that it watches; empty: all of them."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a fleet is not accepted."""

    reason: FleetReason
    message: str
    until: float | None = None
    """When that is over by itself; None: never."""


@dataclass(frozen=True, slots=True)
class Gates:
    """What a fleet's spec says at one moment, to all of its groups."""

    shut: frozenset[str] = frozenset()
    """By the names of `claims.GATES`."""
    stops: frozenset[str] = frozenset()
    """Those of them at which a group that has begun stops as well, between two pods."""
    open_windows: frozenset[str] = frozenset()
    closes_at: float | None = None
    """When the last of the open windows closes, where all of them let begin only what ends before that (`fit`); None:
    nothing has to."""
    freezes_at: float | None = None
    """When the next freeze begins, where what begins in the windows that are open has to end before they close."""
    override_until: float | None = None
    """When the override ends that is in force; None: none is."""
    opening: Opening = ALWAYS
    """By windows and freezes alone."""
    refused: Refused | None = None
    until: float | None = None
    """Up to when all of that holds; None: until somebody changes the fleet."""

    @property
    def is_overridden(self) -> bool:
        return self.override_until is not None


@dataclass(frozen=True, slots=True)
class Times:
    """A fleet's windows, freezes and override, as moments and rules of its time zone."""

    windows: tuple[tuple[Window, Recurring], ...] = ()
    freezes: tuple[tuple[Freeze, Rule], ...] = ()
    override_until: float | None = None

    @property
    def calendar(self) -> Calendar:
        return Calendar(tuple(rule for _, rule in self.windows), tuple(rule for _, rule in self.freezes))


def gates_of(fleet: Fleet, scope: Scope, now: float) -> Gates:
    """`now`: in seconds since the epoch."""
    spec = fleet.spec
    paused = frozenset({"pause"} if spec.pause else ())
    try:
        times = _times_of(spec)
        refused = _refused(fleet, scope, times, now)
    except TimesNotUnderstood as error:
        times, refused = _understood(spec), error.refused
    look = Look(times.calendar, now)
    stops, changes = paused.union(_stops(times, look, now)), {*look.changes(), times.override_until}
    if refused is not None:
        until = min((at for at in (refused.until, *changes) if at is not None and at > now), default=None)
        return Gates(paused | {"accepted"}, stops, refused=refused, until=until)
    open_windows = list(_open_windows(times, look))
    closes_at, frozen = _closes_at(open_windows), any(each.span is not None for each in look.freezes)
    closed = bool(times.windows) and not open_windows
    return Gates(
        shut=paused | {name for name, is_shut in (("windows", closed), ("freezes", frozen)) if is_shut},
        stops=stops,
        open_windows=frozenset(window.name for window, _ in open_windows),
        closes_at=closes_at,
        freezes_at=None if closes_at is None else look.freezes_at(),
        override_until=until if (until := times.override_until) is not None and now < until else None,
        opening=look.opening(),
        until=min((at for at in changes if at is not None and at > now), default=None),
    )


class TimesNotUnderstood(SlackwaterError):
    """A ConsumerFleet names a time zone, a schedule or a day that does not exist: its condition says so."""

    def __init__(self, reason: FleetReason, message: str) -> None:
        super().__init__(message)
        self.refused = Refused(reason, message)


def _refused(fleet: Fleet, scope: Scope, times: Times, now: float) -> Refused | None:
    named = [each for each in fleet.spec.namespaces if each != fleet.namespace]
    if named and not fleet.is_of_the_operator:
        of_the_operator = f"the operator's own ({scope.own})" if scope.own else "the operator's own"
        message = f"a fleet reaches into other namespaces only from {of_the_operator}: remove spec.namespaces"
        return Refused(FleetReason.NAMESPACES_NOT_ALLOWED, message)
    unknown = [each for each in named if each != EVERYWHERE and scope.watched and each not in scope.watched]
    if unknown:
        return Refused(FleetReason.NAMESPACE_NOT_WATCHED, f"the operator does not watch {', '.join(sorted(unknown))}")
    if times.override_until is not None and times.override_until - now > LONGEST_OVERRIDE_S:
        message = "an override lasts at most 24 hours; change the windows instead"
        return Refused(FleetReason.OVERRIDE_TOO_LONG, message, times.override_until - LONGEST_OVERRIDE_S)
    return None


def _times_of(spec: ConsumerFleetSpec) -> Times:
    zone = _zone(spec.time_zone)
    override = spec.override
    return Times(
        tuple((window, _recurring(window, window.schedule, window.duration_ms, zone)) for window in spec.windows),
        tuple((freeze, _frozen(freeze, zone)) for freeze in spec.freezes),
        None if override is None else max(_moments("override.until", override.until, zone)),
    )


def _understood(spec: ConsumerFleetSpec) -> Times:
    """A slip in one of them, or beside them, lifts none of the others."""
    windows: list[tuple[Window, Recurring]] = []
    freezes: list[tuple[Freeze, Rule]] = []
    for window in spec.windows:
        with suppress(TimesNotUnderstood):
            zone = _zone(spec.time_zone)
            windows.append((window, _recurring(window, window.schedule, window.duration_ms, zone)))
    for freeze in spec.freezes:
        with suppress(TimesNotUnderstood):
            freezes.append((freeze, _frozen(freeze, _zone(spec.time_zone))))
    return Times(tuple(windows), tuple(freezes))


def _zone(name: str | None) -> ZoneInfo:
    if name is None:
        return _UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError) as error:  # a folder of zones, such as Europe; a name that is none
        message = f"no time zone is called {name}: write one such as Europe/Berlin or UTC"
        raise TimesNotUnderstood(FleetReason.TIME_ZONE_UNKNOWN, message) from error


def _recurring(of: Window | Freeze, schedule: str, duration_ms: int, zone: ZoneInfo) -> Recurring:
    rule = Recurring(of.name, schedule, duration_ms / 1000, zone)
    try:
        rule.next_after(0.0)
    except CronSimError as error:
        message = f"the schedule of {of.name} cannot be understood ({error}): '{schedule}'"
        raise TimesNotUnderstood(FleetReason.TIME_NOT_UNDERSTOOD, message) from error
    return rule


def _frozen(freeze: Freeze, zone: ZoneInfo) -> Rule:
    if freeze.schedule is not None and freeze.duration_ms is not None:
        return _recurring(freeze, freeze.schedule, freeze.duration_ms, zone)
    begins, ends = freeze.begins or "", freeze.ends or ""
    for written in (begins, ends):
        _moments(f"freeze {freeze.name}", written, zone)
    return Once(freeze.name, begins, ends, zone)


def _moments(what: str, written: str, zone: ZoneInfo) -> tuple[float, float]:
    """A local time that comes twice is two moments."""
    try:
        local = datetime.fromisoformat(written)
        first, second = (local.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))
    except (ValueError, OverflowError) as error:
        message = f"{what}: no calendar has {written}"
        raise TimesNotUnderstood(FleetReason.TIME_NOT_UNDERSTOOD, message) from error
    return first, second


def _open_windows(times: Times, look: Look) -> Iterator[tuple[Window, Span]]:
    for (window, _), track in zip(times.windows, look.windows, strict=True):
        if track.span is not None:
            yield window, track.span


def _closes_at(open_windows: list[tuple[Window, Span]]) -> float | None:
    if not all(window.fit for window, _ in open_windows):
        return None
    return max((span.ends for _, span in open_windows), default=None)


def _stops(times: Times, look: Look, now: float) -> Iterator[str]:
    """At windows that are all closed, what the one says that closed last."""
    freezes = zip(times.freezes, look.freezes, strict=True)
    if any(track.span is not None and freeze.under_way is UnderWay.STOP for (freeze, _), track in freezes):
        yield "freezes"
    if any(track.span is not None for track in look.windows):
        return
    ended = [(at, window.under_way) for window, rule in times.windows if (at := rule.ended_before(now)) is not None]
    if ended and max(ended, key=lambda each: each[0])[1] is UnderWay.STOP:
        yield "windows"

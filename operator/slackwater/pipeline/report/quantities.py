"""Numbers, durations and moments as people read them. Pure.

A figure that is not known is an en dash, never a zero.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Final

UNKNOWN: Final = "\N{EN DASH}"
THIN: Final = "\N{NARROW NO-BREAK SPACE}"
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def number_text(value: float | None) -> str:
    """Three significant digits below a hundred, whole numbers in groups of three above."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0 or abs(value) >= 99.95 or value == int(value):
        return _signed(f"{value:,.0f}")
    if abs(value) < 0.001:
        return "< 0.001" if value > 0 else _signed("> -0.001")
    digits = 2 - math.floor(math.log10(abs(value)))
    return _signed(f"{value:.{digits}f}".rstrip("0").rstrip("."))


def compact_text(value: float) -> str:
    """For axes: 1200 is 1.2k."""
    for size, prefix in PREFIXES:
        if abs(value) >= size:
            return _signed(f"{value / size:.3g}{prefix}")
    return _signed(f"{value:.3g}")


def duration_text(seconds: float | None) -> str:
    """`45 s`, `1.5 s`, `2 min 30 s`, `1 h`; the two largest units, and milliseconds below one second."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0:
        return _signed(f"-{duration_text(-seconds)}")
    if 0 < seconds < 1:
        return f"{number_text(seconds * 1000)}{THIN}ms"
    if (shown := round(seconds, 1)) < 60:
        return f"{number_text(shown)}{THIN}s"
    rest = round(seconds)
    for index, (size, unit) in enumerate(UNITS[:-1]):
        if rest >= size:
            whole, rest = divmod(rest, size)
            smaller, name = UNITS[index + 1]
            tail = f" {rest // smaller}{THIN}{name}" if rest >= smaller else ""
            return f"{whole:,}{THIN}{unit}{tail}"
    raise AssertionError(seconds)


def milliseconds_text(value_ms: float | None) -> str:
    return UNKNOWN if value_ms is None else duration_text(value_ms / 1000)


def share_text(share: float | None) -> str:
    return UNKNOWN if share is None or not math.isfinite(share) else f"{number_text(round(share * 100, 2))}{THIN}%"


def moment_text(at_s: float | None) -> str:
    """A Unix time as `2 Nov 2026 14:05:09 UTC`."""
    if at_s is None:
        return UNKNOWN
    at = datetime.fromtimestamp(at_s, UTC)
    return f"{day_text(at_s, year=True)} {at:%H:%M:%S}{THIN}UTC"


def day_text(at_s: float, *, year: bool = False) -> str:
    at = datetime.fromtimestamp(at_s, UTC)
    return f"{at.day}{THIN}{MONTHS[at.month - 1]}{f' {at.year}' if year else ''}"


def clock_text(at_s: float, *, seconds: bool = False) -> str:
    at = datetime.fromtimestamp(at_s, UTC)
    return f"{at:%H:%M:%S}" if seconds else f"{at:%H:%M}"


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,}{THIN}{one if count == 1 else many or one + 's'}"


def _signed(figure: str) -> str:
    return figure.replace("-", "\N{MINUS SIGN}")

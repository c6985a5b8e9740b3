"""What is measured, and how it is shown and kept. Pure but for the file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles
from typing import Final

TO_BEAT_NOOP_PER_SECOND: Final = 230
"""No-op reconciles a second on one core, as the project's first issue asks for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """One run. Seconds are wall-clock seconds."""

    noop_per_second: float
    """Passes over a group of three pods at rest that find nothing to do, per second of one core."""
    groups: int
    observed_p50_seconds: float
    """From the API server's answer to a changed spec until the status has seen it; all groups changed at once."""
    observed_p99_seconds: float
    created_p50_seconds: float
    """The same for groups that are new, with all that has to be made for them; all created at once."""
    created_p99_seconds: float
    rss_mib: float
    """Resident memory of the operator with all groups at rest."""
    writes_at_rest: int
    """Requests that change something, in a minute with all groups at rest."""


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """The 50th and the 99th, of at least two values."""
    cut = quantiles(seconds, n=100, method="inclusive")
    return round(cut[49], 3), round(cut[98], 3)


def write(figures: Figures, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(figures), indent=2) + "\n")


def table(figures: Figures) -> str:
    """For people, with the figure to beat beside ours."""
    times = figures.noop_per_second / TO_BEAT_NOOP_PER_SECOND
    rows = (
        ("no-op reconciles a second, one core", f"{figures.noop_per_second:.0f}"),
        ("  the figure to beat", f"{TO_BEAT_NOOP_PER_SECOND} ({times:.1f} times that)"),
        (
            f"{figures.groups} changed groups: applied → observed",
            _pair(figures.observed_p50_seconds, figures.observed_p99_seconds),
        ),
        (
            f"{figures.groups} new groups: applied → observed",
            _pair(figures.created_p50_seconds, figures.created_p99_seconds),
        ),
        (f"memory with {figures.groups} groups", f"{figures.rss_mib:.0f} MiB"),
        ("writes in a minute at rest", str(figures.writes_at_rest)),
    )
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _pair(p50_s: float, p99_s: float) -> str:
    return f"p50 {p50_s:.2f} s, p99 {p99_s:.2f} s"

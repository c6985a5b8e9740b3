"""What a reader must know before believing the page: what is missing, left out, or older than the rest. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final

from slackwater.pipeline.report.model import Standing, Totals
from slackwater.pipeline.report.quantities import counted, moment_text
from slackwater.pipeline.tables import Table

STALE_S: Final = 86_400
"""Recommendations older than the newest event by more than a day are worth a word."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found beside the groups. Moments in Unix seconds; `unread`: recommendations of another schema."""

    missing: Set[Table]
    quarantined: Mapping[str, int]
    unread: int
    as_of_s: float | None
    advised_s: float | None
    listed: int
    detailed: int


def notes_of(found: Findings, totals: Totals) -> tuple[str, ...]:
    return tuple(_notes(found, totals))


def _notes(found: Findings, totals: Totals) -> Iterator[str]:
    if Table.EVENTS in found.missing:
        yield "No telemetry was ingested yet, so restarts and lag are unknown: run slackwater pipeline ingest."
    advised = totals.groups - totals.count(Standing.NONE_YET) - totals.count(Standing.AUDITED_ONLY)
    if not advised:
        yield "There are no recommendations yet: run slackwater pipeline recommend."
    if found.unread:
        words = counted(found.unread, "recommendation")
        yield f"{words} of another schema left out: another version of slackwater wrote them; update this one."
    if found.advised_s is not None and found.as_of_s is not None and found.as_of_s - found.advised_s > STALE_S:
        newest = moment_text(found.as_of_s)
        yield (
            f"The newest recommendation is as of {moment_text(found.advised_s)}, the newest event of {newest}: run"
            " slackwater pipeline recommend for new ones."
        )
    if found.quarantined:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.quarantined.items()))
        total = counted(sum(found.quarantined.values()), "record")
        yield f"{total} in quarantine and counted nowhere on this page: {reasons}."
    if found.detailed < found.listed:
        yield f"Charts for the first {counted(found.detailed, 'group')} of {totals.groups:,}; more with --groups."

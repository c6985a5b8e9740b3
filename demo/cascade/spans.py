"""Stretches of time, and how many there were at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """From one moment to before another, in unix seconds."""

    start_s: float
    end_s: float


def peak(spans: Iterable[Span]) -> int:
    """How many there were at once at most. One that begins as another ends is not beside it."""
    changes = sorted(change for span in spans for change in ((span.start_s, 1), (span.end_s, -1)))
    now = most = 0
    for _, change in changes:  # of one moment the ends come first, for they sort first
        now += change
        most = max(most, now)
    return most


def within(spans: Iterable[Span], start_s: float, end_s: float) -> list[Span]:
    """What of them lies between two moments."""
    cut = (Span(max(span.start_s, start_s), min(span.end_s, end_s)) for span in spans)
    return [span for span in cut if span.start_s < span.end_s]

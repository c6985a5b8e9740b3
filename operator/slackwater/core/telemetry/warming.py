"""How long do partitions take to warm up with a new owner? From a rebalance until the lag is back where it was before.

The lag before is the greatest of the last calm looks, as it goes up and down without any rebalance. What another
rebalance cuts short says nothing; what takes longer than `WATCHED_FOR_S` is told as taking that long.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from slackwater.api.telemetry.events import RebalanceEvent
from slackwater.core.telemetry.sight import Sight

WATCHED_FOR_S: Final = 1_800.0
LOOKS_BEFORE: Final = 5
ALLOWANCE: Final = 1.1
"""Times the lag before: that much more is the traffic's."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """One that has ended, or was watched long enough."""

    rebalance_at: float
    """When the group was seen calm again: which rebalance it was."""
    took_s: float


@dataclass(frozen=True, slots=True)
class Warming:
    lags: tuple[int, ...] = ()
    """Of the last looks at the calm group, `LOOKS_BEFORE` at most."""
    since: float | None = None
    """When the rebalance ended whose partitions are watched; None: nothing is."""
    lag_before: int = 0
    last: WarmUp | None = None


def follow_warming(track: Warming, sight: Sight, rebalances: Iterable[RebalanceEvent]) -> Warming:
    """Fold one more sight in. `rebalances`: those that it told of."""
    kafka = sight.world.seen
    if kafka is None:
        return track
    for body in (event.rebalance for event in rebalances):
        moved = body.partitions_moved > 0 and bool(track.lags)
        since = body.ended_at if moved else None
        track = Warming((), since, max(track.lags, default=0), track.last)
    if not kafka.calm or kafka.lag is None:
        return track
    if track.since is None:
        return replace(track, lags=(*track.lags, kafka.lag)[-LOOKS_BEFORE:])
    took_s = kafka.observed_at - track.since
    if kafka.lag > ALLOWANCE * track.lag_before and took_s < WATCHED_FOR_S:
        return track
    return Warming((kafka.lag,), last=WarmUp(track.since, min(took_s, WATCHED_FOR_S)))

"""All that was told of a restart, put together: as `silver.restarts` does it, one episode at a time. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from slackwater.api.telemetry.bodies import MemberRestarted
from slackwater.api.telemetry.words import Outcome, RestartMode, RestartReason

_IN_ORDER: Final = (
    ("last_seen_at", "stopped_at"),
    ("last_seen_at", "rejoined_at"),
    ("stopped_at", "started_at"),
    ("stopped_at", "rejoined_at"),
    ("started_at", "ready_at"),
)
"""Pairs of moments of which the first cannot be later than the second, but in a warm handover (F37)."""


@dataclass(slots=True)
class Episode:
    """The newest telling of each field in which that is known; `Unknown` is not knowing."""

    told: dict[str, tuple[float, Any]] = field(default_factory=dict)
    told_at: float = 0.0

    def add(self, at: float, body: MemberRestarted) -> None:
        self.told_at = max(self.told_at, at)
        for name in type(body).model_fields:
            value = getattr(body, name)
            if value is None or (name == "reason" and value is RestartReason.UNKNOWN):
                continue
            if name not in self.told or at >= self.told[name][0]:
                self.told[name] = (at, value)

    def __getitem__(self, name: str) -> Any:
        return self.told[name][1] if name in self.told else None


@dataclass(frozen=True, slots=True)
class Restart:
    """What the statistics want of it."""

    away_s: float
    """As far as that was seen; NaN where nobody could measure it."""
    returned: bool
    planned: bool
    day: int
    """Since 1970."""
    rollout: float
    """The spec's generation; NaN where there was no rollout, or nobody knows which."""


def restarts_in(episodes: Iterable[Episode]) -> list[Restart]:
    """Those that were silences, and whose times can be."""
    return [found for each in episodes if (found := _restart(each)) is not None]


def _restart(episode: Episode) -> Restart | None:
    if episode["mode"] is RestartMode.WARM_HANDOVER or _is_impossible(episode):
        return None
    returned = episode["outcome"] is Outcome.RETURNED
    end, begin = episode["rejoined_at"] if returned else episode.told_at, episode["last_seen_at"]
    away_s = end - begin if end is not None and begin is not None else float("nan")
    if away_s < 0:
        return None
    planned = episode["reason"] is RestartReason.ROLLOUT
    began = next(at for at in (begin, episode["stopped_at"], episode.told_at) if at is not None)
    generation = episode["spec_generation"] if planned else None
    rollout = float("nan") if generation is None else float(generation)
    return Restart(away_s, returned, planned, int(began // 86_400), rollout)


def _is_impossible(episode: Episode) -> bool:
    pairs = ((episode[first], episode[second]) for first, second in _IN_ORDER)
    return any(first is not None and second is not None and first > second for first, second in pairs)

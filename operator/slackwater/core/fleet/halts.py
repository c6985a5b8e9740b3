"""What has gone wrong in one fleet, and whether anybody may begin therefore.

Failures are counted from the groups' own phases, so that a new leader counts the same. Once there are too many, that is
latched: until those groups are well again, or somebody resumes. That too many are disturbed lifts by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Final

from slackwater.api.amounts import amount_of
from slackwater.api.consumer_fleet import Halt
from slackwater.core.fleet.tally import NAMED, Sickness, Tally

CALM_FOR_S: Final = 120.0
"""So long no more than the share are disturbed before groups may begin at their coordinator again."""
AT_LEAST: Final = 3
"""So few that are disturbed hold nobody back, whatever share they are."""


@dataclass(frozen=True, slots=True)
class Halted:
    """By failures."""

    since: float
    groups: frozenset[str]
    """Who has to be well again. Of what was written down by another leader: the first that stand there."""

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(sorted(self.groups))[:NAMED]


@dataclass(slots=True)
class Halts:
    by_failures: Halted | None = None
    resumed_at: float = -inf
    """Rollouts that began before that are not counted: somebody has seen them fail."""
    _calm_since: dict[str, float | None] = field(default_factory=dict)
    """Coordinator at which too many are, or were a moment ago, disturbed → since when they are not; None: they are."""
    _unknown: frozenset[str] = frozenset()
    """Coordinators at which too many are disturbed, or not looked at yet."""

    @property
    def failed(self) -> frozenset[str]:
        """Who has to be well again before others begin."""
        return frozenset() if self.by_failures is None else self.by_failures.groups

    @property
    def by_disturbance(self) -> tuple[str, ...]:
        """The coordinators at which nobody may begin, since too many are known to be disturbed."""
        return tuple(sorted(self._calm_since))

    @property
    def shut_places(self) -> frozenset[str]:
        """The coordinators at which nobody may begin."""
        return self._unknown | self._calm_since.keys()

    @property
    def lifts_at(self) -> float | None:
        """When time alone lifts one of them."""
        return min((at + CALM_FOR_S for at in self._calm_since.values() if at is not None), default=None)

    def resume(self, now: float) -> None:
        self.by_failures, self.resumed_at = None, now

    def judge(self, halt: Halt, tally: Tally, now: float) -> None:
        self._judge_failures(halt, tally, now)
        share = int(str(halt.disturbed).removesuffix("%"))
        sick = {place for place, each in tally.places() if _too_many(each, each.disturbed, share)}
        maybe = {place for place, each in tally.places() if _too_many(each, each.disturbed + each.unknown, share)}
        self._unknown = frozenset(maybe)
        kept = {
            place: now if at is None else min(at, now) for place, at in self._calm_since.items() if place not in sick
        }
        self._calm_since = dict.fromkeys(sick) | {p: at for p, at in kept.items() if now - at < CALM_FOR_S}

    def _judge_failures(self, halt: Halt, tally: Tally, now: float) -> None:
        latched = self.by_failures
        since = (now if latched is None else latched.since) - halt.within_ms / 1000
        counted = frozenset(
            group.key
            for group in tally.failed
            if group.begun_at > self.resumed_at and group.failed_at is not None and group.failed_at >= since
        )
        if latched is None:
            if len(counted) > amount_of(halt.failures, len(tally)):
                self.by_failures = Halted(now, counted)
            return
        left = counted | {key for key in latched.groups if not tally.is_well(key)}
        self.by_failures = Halted(latched.since, left) if left else None


def _too_many(sickness: Sickness, number: int, share: int) -> bool:
    return number > AT_LEAST and number * 100 > share * sickness.groups

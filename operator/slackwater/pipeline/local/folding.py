"""Events, one after the other, into what is known of each group. Bounded but for restarts, of which there are few."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from slackwater.api.telemetry.bodies import GroupObserved, PollObserved, Rebalance
from slackwater.api.telemetry.events import (
    Event,
    GroupObservedEvent,
    MemberRestartedEvent,
    PollObservedEvent,
    RebalanceEvent,
    read_line,
)
from slackwater.pipeline.local.episodes import Episode, restarts_in
from slackwater.pipeline.local.tallies import Tally
from slackwater.pipeline.recommend.advising import batches_of
from slackwater.pipeline.statistics.history import GRID_FROM_S, Absences, PollCounts

FEWEST_REBALANCES: Final = 5
"""Measured ones, below which their usual length is not taken from them."""
REMEMBERED: Final = 4_096
"""Ids of a group's last polls, which are told once a minute and recorded again within moments, if at all."""
_DAY_S: Final = 86_400.0

GroupKey = tuple[str, str, str, str]


@dataclass(slots=True)
class Group:
    """What was told of one group so far."""

    first_at: float
    last_at: float
    observed: GroupObserved | None = None
    observed_at: float = 0.0
    episodes: dict[str, Episode] = field(default_factory=dict)
    rebalances_s: dict[str, float] = field(default_factory=dict)
    """By event id."""
    warm_ups_s: dict[float, float] = field(default_factory=dict)
    """By the moment of the rebalance."""
    longest: Tally = field(default_factory=lambda: Tally(1000 * GRID_FROM_S))
    record: Tally = field(default_factory=lambda: Tally(1e-4))
    recent: OrderedDict[str, None] = field(default_factory=OrderedDict)


@dataclass(slots=True)
class Fleet:
    """All groups, and the lines that say nothing."""

    groups: dict[GroupKey, Group] = field(default_factory=dict)
    events: int = 0
    unreadable: int = 0

    def read(self, lines: Iterable[bytes], as_of: float | None = None) -> None:
        """Fold lines in; those that cannot be read are counted. `as_of`: what is newer is left out."""
        for line in lines:
            if not line.strip():
                continue
            try:
                event = read_line(line)
            except ValidationError:
                self.unreadable += 1
                continue
            if as_of is None or event.at <= as_of:
                self._fold(event)

    def newest(self) -> datetime | None:
        """The newest event's moment; None where there was none."""
        newest = max((group.last_at for group in self.groups.values()), default=None)
        return None if newest is None else datetime.fromtimestamp(newest, UTC)

    def _fold(self, event: Event) -> None:
        self.events += 1
        key = (event.cluster, event.namespace, event.name, event.group_id)
        group = self.groups.setdefault(key, Group(event.at, event.at))
        group.first_at, group.last_at = min(group.first_at, event.at), max(group.last_at, event.at)
        match event:
            case GroupObservedEvent():
                _observe(group, event.at, event.group_observed)
            case MemberRestartedEvent():
                body = event.member_restarted
                group.episodes.setdefault(body.episode, Episode()).add(event.at, body)
            case RebalanceEvent():
                _rebalanced(group, event.id, event.rebalance)
            case PollObservedEvent():
                _polled(group, event.id, event.poll_observed)
            case _:
                pass  # holds and changes of settings say nothing of how long anything takes


def _observe(group: Group, at: float, body: GroupObserved) -> None:
    if at >= group.observed_at:
        group.observed, group.observed_at = body, at
    if body.warmed_up_after is not None and body.warmed_up_s is not None:
        known = group.warm_ups_s.get(body.warmed_up_after, 0.0)
        group.warm_ups_s[body.warmed_up_after] = max(known, body.warmed_up_s)


def _rebalanced(group: Group, event_id: str, body: Rebalance) -> None:
    if body.started_at is not None and body.ended_at > body.started_at:
        group.rebalances_s[event_id] = body.ended_at - body.started_at


def _polled(group: Group, event_id: str, body: PollObserved) -> None:
    if event_id in group.recent:
        return
    group.recent[event_id] = None
    if len(group.recent) > REMEMBERED:
        group.recent.popitem(last=False)
    longest_ms, records = body.time_between_poll_max_ms, body.records_per_poll_avg
    if longest_ms is None or longest_ms <= 0:
        return
    group.longest.add(longest_ms)
    if records is not None and records >= 1:
        group.record.add(longest_ms / records)


def row_of(key: GroupKey, group: Group) -> dict[str, Any]:
    """As a row of `silver/groups`, with `rebalance_s` and `warmed_up` as `recommend.histories` adds them."""
    cluster, namespace, name, group_id = key
    told = (
        dict.fromkeys(GroupObserved.model_fields) if group.observed is None else group.observed.model_dump(mode="json")
    )
    usual_s = list(group.rebalances_s.values())
    return {
        **told,
        "cluster": cluster,
        "namespace": namespace,
        "name": name,
        "group_id": group_id,
        "first_at": datetime.fromtimestamp(group.first_at, UTC),
        "last_at": datetime.fromtimestamp(group.last_at, UTC),
        "observed_days": (group.last_at - group.first_at) / _DAY_S,
        "settings_at": None if group.observed is None else datetime.fromtimestamp(group.observed_at, UTC),
        "rebalance_s": median(usual_s) if len(usual_s) >= FEWEST_REBALANCES else None,
        "warmed_up": _quartiles(group.warm_ups_s),
    }


def _quartiles(warm_ups_s: Mapping[float, float]) -> dict[str, float] | None:
    if not warm_ups_s:
        return None
    first, middle, third = (float(each) for each in np.quantile(list(warm_ups_s.values()), (0.25, 0.5, 0.75)))
    return {"first_s": first, "median_s": middle, "third_s": third, "count": len(warm_ups_s)}


def absences_of(row: Mapping[str, Any], group: Group) -> Absences:
    """The group's history for the statistics."""
    found = sorted(
        restarts_in(group.episodes.values()), key=lambda each: (np.isnan(each.away_s), each.away_s, each.day)
    )
    day, rollout = (np.array([getattr(each, name) for each in found], dtype=np.float64) for name in ("day", "rollout"))
    longest, record = group.longest.counts(), group.record.counts()
    return Absences(
        silence_s=np.array([each.away_s for each in found], dtype=np.float64),
        returned=np.array([each.returned for each in found], dtype=np.bool_),
        observed_days=row["observed_days"],
        planned=np.array([each.planned for each in found], dtype=np.bool_),
        polls=PollCounts(*longest, *record),
        batch=batches_of(day, rollout, row["last_at"]),
    )

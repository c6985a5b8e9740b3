"""What happened to one group: one fold over all that its passes saw.

It lives in memory only. After a restart of the operator it begins again: what was in hand then is told by the same ids,
or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from slackwater.api.telemetry.events import Event
from slackwater.core.telemetry.groups import Observed, follow_group
from slackwater.core.telemetry.holds import Holds, follow_holds
from slackwater.core.telemetry.rebalances import Rebalances, follow_rebalances
from slackwater.core.telemetry.restarts import Restarts, follow_restarts
from slackwater.core.telemetry.settings import Settings, follow_settings
from slackwater.core.telemetry.sight import Sight
from slackwater.core.telemetry.turns import Turns, follow_turns
from slackwater.core.telemetry.warming import Warming, follow_warming


@dataclass(frozen=True, slots=True)
class Tracker:
    observed: Observed = field(default_factory=Observed)
    restarts: Restarts = field(default_factory=Restarts)
    rebalances: Rebalances = field(default_factory=Rebalances)
    warming: Warming = field(default_factory=Warming)
    holds: Holds = field(default_factory=Holds)
    settings: Settings = field(default_factory=Settings)
    turns: Turns = field(default_factory=Turns)


def follow(tracker: Tracker, sight: Sight) -> tuple[Tracker, tuple[Event, ...]]:
    """Fold one pass in; returns the next tracker and what is to be told, in order."""
    restarts, restart_events = follow_restarts(tracker.restarts, sight)
    reasons = [event.member_restarted.reason for event in restart_events]
    reasons += [episode.reason for episode in restarts.away]
    rebalances, rebalance_events = follow_rebalances(tracker.rebalances, sight, reasons)
    warming = follow_warming(tracker.warming, sight, rebalance_events)
    observed, group_events = follow_group(tracker.observed, sight, warming.last)
    holds, hold_events = follow_holds(tracker.holds, sight)
    settings, setting_events = follow_settings(tracker.settings, sight)
    turns, turn_events = follow_turns(tracker.turns, sight)
    following = Tracker(observed, restarts, rebalances, warming, holds, settings, turns)
    return following, (*setting_events, *group_events, *restart_events, *rebalance_events, *hold_events, *turn_events)

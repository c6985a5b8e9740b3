"""ConsumerFleets: who moves, who waits, and what holds them back. A fleet's namespace may have no groups."""

from __future__ import annotations

from typing import Final

from dashboard.panels import Colour, Kind, Panel, Query, Section, Unit

_NAME: Final = "{{namespace}}/{{fleet}}"


def _of_fleets(name: str, *labels: str) -> str:
    """A fleet that has just gone from one operator to another is told by both."""
    return f"max by ({', '.join(('namespace', 'fleet', *labels))}) ({name})"


def _half(name: str) -> str:
    grown = f"sum by (namespace, fleet, le) (increase({name}_bucket[1h]))"
    return f"histogram_quantile(0.5, {grown})"


SECTION: Final = Section(
    "Consumer fleets",
    (
        Panel(
            "Groups of a fleet, by what they do",
            "How many groups move, are called, wait, settle, have failed or are disturbed.",
            (
                Query(
                    _of_fleets('slackwater_fleet_groups{standing!="selected"}', "standing") + " > 0",
                    f"{_NAME} {{{{standing}}}}",
                ),
            ),
        ),
        Panel(
            "Budgets, how full",
            "How many groups move in the fullest cell of each budget, as a share of what it allows.",
            (
                Query(
                    f"{_of_fleets('slackwater_fleet_budget_used', 'budget')}"
                    f" / {_of_fleets('slackwater_fleet_budget_limit', 'budget')}",
                    f"{_NAME} {{{{budget}}}}",
                ),
            ),
            Unit.SHARE,
        ),
        Panel(
            "Longest wait for a turn",
            "How long the group waits that asked first.",
            (Query(_of_fleets("slackwater_fleet_oldest_wait_seconds"), _NAME),),
            Unit.SECONDS,
        ),
        Panel(
            "Open",
            "Whether groups may begin, by pause, windows and freezes.",
            (Query(_of_fleets("slackwater_fleet_open"), _NAME),),
            kind=Kind.STATE_TIMELINE,
            words={0: ("closed", Colour.IDLE), 1: ("open", Colour.GOOD)},
        ),
        Panel(
            "Halted",
            "Whether nothing begins because too many groups have failed or are disturbed.",
            (Query(_of_fleets("slackwater_fleet_halted", "reason"), f"{_NAME} {{{{reason}}}}"),),
            kind=Kind.STATE_TIMELINE,
            words={0: ("goes on", Colour.GOOD), 1: ("halted", Colour.BAD)},
        ),
        Panel(
            "Overridden",
            "Whether an override lets groups pass what keeps others from beginning.",
            (Query(_of_fleets("slackwater_fleet_overridden"), _NAME),),
            kind=Kind.STATE_TIMELINE,
            words={0: ("no", Colour.IDLE), 1: ("override", Colour.MOVING)},
        ),
        Panel(
            "Turns in the last hour",
            "Turns that were given, and calls that lapsed because the group's own gates held it back.",
            (
                Query(
                    "round(sum by (namespace, fleet, result) (increase(slackwater_fleet_turns_total[1h])))",
                    f"{_NAME} {{{{result}}}}",
                ),
            ),
        ),
        Panel(
            "Half of the waits",
            "How long groups waited that were given their turn in the last hour: half of them less than this.",
            (Query(_half("slackwater_fleet_wait_seconds"), _NAME),),
            Unit.SECONDS,
        ),
        Panel(
            "Half of the turns",
            "How long rollouts took from their turn to their end, in the last hour: half of them less than this.",
            (Query(_half("slackwater_fleet_turn_seconds"), _NAME),),
            Unit.SECONDS,
        ),
        Panel(
            "Paused for",
            "How long ago a fleet was paused that is paused now.",
            (Query(f"time() - {_of_fleets('slackwater_fleet_paused_since_timestamp_seconds')}", _NAME),),
            Unit.SECONDS,
        ),
    ),
)

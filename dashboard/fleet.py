"""All groups of the chosen namespaces at a glance: is anything wrong, and with which of them?"""

from __future__ import annotations

from typing import Final

from dashboard.panels import (
    FLEET,
    GROUP,
    Kind,
    Panel,
    Query,
    Section,
    Unit,
    gauge,
    grown,
    idle_partitions,
    in_the_last_hour,
    worst,
)

_MEMBERS: Final = gauge("slackwater_group_members", FLEET)
_EXPECTED: Final = gauge("slackwater_group_members_expected", FLEET)
_STATE: Final = gauge("slackwater_group_state", FLEET, "state")
_HELD: Final = gauge("slackwater_gate_held", FLEET, "reason")
_LAG: Final = gauge("slackwater_group_lag", FLEET)
_LAG_SECONDS: Final = gauge("slackwater_group_lag_seconds", FLEET)
_REBALANCES: Final = in_the_last_hour("slackwater_group_rebalances_total", FLEET)


def _number(title: str, description: str, expr: str, bad_from: float | None = None) -> Panel:
    return Panel(title, description, (Query(expr),), kind=Kind.STAT, width=4, height=4, bad_from=bad_from)


_NUMBERS: Final = (
    _number("Groups", "ConsumerGroups that the operator takes care of.", f"count({_EXPECTED})"),
    _number(
        "Degraded",
        "Groups whose condition Degraded is True: a rollout failed, or a member does not do its work.",
        f"sum({gauge('slackwater_group_degraded', FLEET)})",
        bad_from=1,
    ),
    _number(
        "Members missing",
        "Members that groups ask for and Kafka does not have, over all groups of which it tells.",
        f"sum(clamp_min({_EXPECTED} - {_MEMBERS}, 0))",
        bad_from=1,
    ),
    _number("Waiting", "Groups whose work is blocked.", f"count({_HELD})"),
    _number(
        "Upgrades in hand",
        "Groups on their way from one rebalance protocol to another.",
        f"count({gauge('slackwater_upgrade_step', FLEET)} > 0)",
    ),
    _number("Records behind", "The lag of all groups together.", f"sum({_LAG})"),
)

SECTION: Final = Section(
    "Fleet",
    (
        *_NUMBERS,
        Panel(
            "Groups by state",
            "How many groups are in which of Kafka's states; Unknown while Kafka does not answer.",
            (Query(f"sum by (state) ({_STATE}) > 0", "{{state}}"),),
            stacked=True,
        ),
        Panel(
            "Work that waits, by reason",
            "How many groups have work that waits, by the reason for which it waits now.",
            (Query(f"sum by (reason) ({_HELD})", "{{reason}}"),),
            stacked=True,
        ),
        Panel(
            "Rollout steps in the last hour",
            "Pods that rollouts restarted or replaced: done, or failed where the rollout stopped or turned back.",
            (Query(f"round({grown('slackwater_rollout_steps_total', FLEET, 'result')})", "{{result}}"),),
        ),
        Panel(
            "Oldest lag",
            "How long ago the end of the log was at what is committed now, of the ten groups furthest behind.",
            (Query(worst(_LAG_SECONDS), GROUP),),
            Unit.SECONDS,
        ),
        Panel(
            "Rebalances in the last hour",
            "The ten groups that rebalanced most often; more than five an hour raise an alert.",
            (Query(worst(_REBALANCES), GROUP),),
        ),
        Panel(
            "Idle partitions",
            "Partitions that nobody reads, on average, of the ten groups with the most of them.",
            (Query(worst(idle_partitions(FLEET)), GROUP),),
        ),
        Panel(
            "All groups",
            "Each group as it is now; choose one above to see how it came to that.",
            (
                Query(f"{_STATE} == 1"),
                Query(_HELD),
                Query(_EXPECTED, "Members wanted"),
                Query(_MEMBERS, "Members"),
                Query(_LAG, "Records behind"),
                Query(_LAG_SECONDS, "Oldest lag", Unit.SECONDS),
                Query(_REBALANCES, "Rebalances in the last hour"),
            ),
            kind=Kind.TABLE,
            columns={"namespace": "Namespace", "group": "Group", "state": "State", "reason": "Waits because of"},
            width=24,
            height=9,
        ),
    ),
)

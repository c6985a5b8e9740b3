"""The chosen groups, each in full: what is it doing, what does it wait for, and what did that cost?"""

from __future__ import annotations

from typing import Final

from dashboard.panels import (
    CHOSEN,
    GROUP,
    Colour,
    Kind,
    Panel,
    Query,
    Section,
    Unit,
    gauge,
    grown,
    idle_partitions,
    in_the_last_hour,
)
from slackwater.core.world.observation import GroupState

_BUCKETS: Final = grown("slackwater_group_rebalance_duration_seconds_bucket", CHOSEN, "namespace", "group", "le")
_HOLDS: Final = f"sum by (namespace, group, reason) (slackwater_gate_holds_total{CHOSEN})"
"""Not its growth: a reason has no series before its first hold, which would not count."""

_COLOURS: Final = {
    GroupState.STABLE: Colour.GOOD,
    GroupState.EMPTY: Colour.IDLE,
    GroupState.DEAD: Colour.IDLE,
    GroupState.UNKNOWN: Colour.UNKNOWN,
}
_NUMBERED: Final = tuple(enumerate(GroupState, 1))
_IN_EACH: Final = " or ".join(
    f'{number} * slackwater_group_state{{namespace=~"$namespace", group=~"$group", state="{state.value}"}}'
    for number, state in _NUMBERED
)
_STATE: Final = f"max by (namespace, group) ({_IN_EACH})"
"""The state as a number: so a group has one line, on which its states follow each other."""


def _one(name: str, legend: str) -> Query:
    return Query(gauge(name, CHOSEN), f"{GROUP} {legend}")


SECTION: Final = Section(
    "Chosen groups: $group",
    (
        Panel(
            "State",
            "The group's state in Kafka's own words; Unknown while Kafka does not answer.",
            (Query(_STATE, GROUP),),
            kind=Kind.STATE_TIMELINE,
            width=12,
            words={number: (state.value, _COLOURS.get(state, Colour.MOVING)) for number, state in _NUMBERED},
        ),
        Panel(
            "What it waits for",
            "The reason for which work waits, while it does; docs/reasons.md says what to do about each.",
            (Query(gauge("slackwater_gate_held", CHOSEN, "reason"), GROUP + " {{reason}}"),),
            kind=Kind.STATE_TIMELINE,
            width=12,
            words={1: ("waits", Colour.MOVING)},
        ),
        Panel(
            "Members",
            "Members in the group, whoever runs them, and how many the ConsumerGroup asks for.",
            (_one("slackwater_group_members", "has"), _one("slackwater_group_members_expected", "wants")),
        ),
        Panel(
            "Lag in records",
            "Records behind, over all partitions; one without a commit counts as unread.",
            (Query(gauge("slackwater_group_lag", CHOSEN), GROUP),),
        ),
        Panel(
            "Lag in seconds",
            "How long ago the end of the log was at what is committed now, of the partition furthest behind.",
            (Query(gauge("slackwater_group_lag_seconds", CHOSEN), GROUP),),
            Unit.SECONDS,
        ),
        Panel(
            "Rebalances in the last hour",
            "Rebalances that the operator saw in the hour before.",
            (Query(in_the_last_hour("slackwater_group_rebalances_total", CHOSEN), GROUP),),
        ),
        Panel(
            "Time of a rebalance",
            "How long rebalances took in the hour before, as estimated from buckets.",
            (
                Query(f"histogram_quantile(0.5, {_BUCKETS})", f"{GROUP} half"),
                Query(f"histogram_quantile(0.95, {_BUCKETS})", f"{GROUP} 95 of 100"),
            ),
            Unit.SECONDS,
        ),
        Panel(
            "Idle partitions",
            "Partitions that nobody reads, on average: partition-seconds lost in each second.",
            (Query(idle_partitions(CHOSEN), GROUP),),
        ),
        Panel(
            "Rollout steps in the last hour",
            "Pods that rollouts restarted or replaced: done, or failed where the rollout stopped or turned back.",
            (Query(in_the_last_hour("slackwater_rollout_steps_total", CHOSEN, "result"), GROUP + " {{result}}"),),
        ),
        Panel(
            "Rollout",
            "The phase of the rollout: Failed and RolledBack last until somebody applies another version or retries.",
            (Query(gauge("slackwater_rollout_phase", CHOSEN, "phase"), GROUP + " {{phase}}"),),
            kind=Kind.STATE_TIMELINE,
            words={1: ("is", Colour.IDLE)},
        ),
        Panel(
            "Handovers fenced in the last hour",
            "Warm handovers in which the replaced process came back and fenced its replacement, or may have.",
            (Query(in_the_last_hour("slackwater_handovers_fenced_total", CHOSEN), GROUP),),
        ),
        Panel(
            "Waits by reason",
            "How often work began to wait for that reason since the operator, or the group, began.",
            (Query(_HOLDS, GROUP + " {{reason}}"),),
        ),
        Panel(
            "Protocol upgrade",
            "The step in hand and how many there are; 0 where there is no upgrade.",
            (_one("slackwater_upgrade_step", "step"), _one("slackwater_upgrade_steps", "of")),
        ),
        Panel(
            "Upgrade under way since",
            "How long ago the upgrade in hand began; half done for a day raises an alert.",
            (
                Query(
                    f"time() - {gauge('slackwater_upgrade_start_timestamp_seconds', CHOSEN)}",
                    GROUP,
                ),
            ),
            Unit.SECONDS,
        ),
        Panel(
            "Degraded",
            "Whether the condition Degraded is True: a rollout failed, or a member does not do its work.",
            (Query(gauge("slackwater_group_degraded", CHOSEN), GROUP),),
            kind=Kind.STATE_TIMELINE,
            words={0: ("as it should be", Colour.GOOD), 1: ("degraded", Colour.BAD)},
        ),
        Panel(
            "Timeouts, and what is recommended",
            "What the members are given, beside the target of the newest recommendation where there is one.",
            (
                Query(gauge("slackwater_actual_timeout_seconds", CHOSEN, "setting"), GROUP + " {{setting}}"),
                Query(
                    gauge("slackwater_recommended_timeout_seconds", CHOSEN, "setting"),
                    GROUP + " {{setting}} recommended",
                ),
            ),
            Unit.SECONDS,
            width=12,
        ),
        Panel(
            "Records of a poll, and what is recommended",
            "The most that one poll brings, beside the target of the newest recommendation where there is one.",
            (
                _one("slackwater_actual_max_poll_records", "is"),
                _one("slackwater_recommended_max_poll_records", "recommended"),
            ),
            width=12,
        ),
    ),
)

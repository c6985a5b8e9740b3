"""All ConsumerGroups together, those without series of their own as well."""

from __future__ import annotations

from typing import Final

from dashboard.panels import Panel, Query, Section

SECTION: Final = Section(
    "All groups",
    (
        Panel(
            "All groups by state",
            "How many ConsumerGroups of all namespaces are in which of Kafka's states.",
            (Query("sum by (state) (slackwater_groups_in_state) > 0", "{{state}}"),),
            stacked=True,
        ),
        Panel(
            "All work that waits, by reason",
            "How many ConsumerGroups of all namespaces have work that waits, by the reason for which it waits now.",
            (Query("sum by (reason) (slackwater_groups_held)", "{{reason}}"),),
            stacked=True,
        ),
        Panel(
            "All that are degraded",
            "ConsumerGroups of all namespaces whose condition Degraded is True.",
            (Query("sum(slackwater_groups_degraded)", "degraded"),),
        ),
        Panel(
            "All records behind",
            "The lag of all ConsumerGroups of all namespaces together.",
            (Query("sum(slackwater_groups_lag)", "records"),),
        ),
    ),
)

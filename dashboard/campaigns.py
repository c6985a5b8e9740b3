"""FleetCampaigns: how far each is, when it will be done, and whether that is too late."""

from __future__ import annotations

from typing import Final

from dashboard.panels import Colour, Kind, Panel, Query, Section, Unit

_NAME: Final = "{{namespace}}/{{campaign}}"


def _of_campaigns(name: str, *labels: str) -> str:
    """A campaign that has just gone from one operator to another is in the metrics of both."""
    return f"max by ({', '.join(('namespace', 'campaign', *labels))}) ({name})"


SECTION: Final = Section(
    "Campaigns",
    (
        Panel(
            "Groups of a campaign, by what they do",
            "How many groups wait, move, are done, have failed or are left as they are, while the campaign lasts.",
            (
                Query(
                    _of_campaigns("slackwater_campaign_groups", "state") + " > 0",
                    f"{_NAME} {{{{state}}}}",
                ),
            ),
        ),
        Panel(
            "Done in",
            "How long it takes until the campaign is done, by what rollouts usually take.",
            (
                Query(
                    f"clamp_min({_of_campaigns('slackwater_campaign_eta_timestamp_seconds')} - time(), 0)",
                    _NAME,
                ),
            ),
            Unit.SECONDS,
        ),
        Panel(
            "Overdue",
            "Whether the campaign is not done after its deadline.",
            (Query(_of_campaigns("slackwater_campaign_overdue"), _NAME),),
            kind=Kind.STATE_TIMELINE,
            words={0: ("in time", Colour.GOOD), 1: ("overdue", Colour.BAD)},
        ),
    ),
)

"""What Prometheus is told of each campaign. Labels are its namespace and name, and of groups what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from slackwater.api.conditions import ConditionStatus
from slackwater.api.fleet_campaign_status import CampaignConditionType
from slackwater.core.fleet.participants import Participant, Progress
from slackwater.shell.campaign_folds import Folded
from slackwater.shell.campaigns import Campaigns

LABELS: Final = ("namespace", "campaign")
SKIPPED: Final = "skipped"
STATES: Final = (*(each.value.lower() for each in Progress), SKIPPED)


class CampaignMetrics(Collector):
    """Read when somebody asks, in any thread: as of the last fold."""

    def __init__(self, campaigns: Campaigns) -> None:
        self._campaigns = campaigns

    def collect(self) -> Iterator[Metric]:
        groups = GaugeMetricFamily(
            "slackwater_campaign_groups", "Groups of the campaign, by what they do.", labels=(*LABELS, "state")
        )
        eta = GaugeMetricFamily(
            "slackwater_campaign_eta_timestamp_seconds",
            "When the campaign is done, by what rollouts usually take; none while that is not known.",
            labels=LABELS,
        )
        overdue = GaugeMetricFamily(
            "slackwater_campaign_overdue", "1 while the campaign is not done after its deadline.", labels=LABELS
        )
        for each in self._campaigns.folded:
            name = (each.campaign.namespace, each.campaign.name)
            states = Counter(map(_state, each.participants))
            for state in STATES if not each.campaign.is_over else ():
                groups.add_metric((*name, state), states[state])
            if (known := each.campaign.status.eta) is not None and known.p50 is not None:
                eta.add_metric(name, known.p50.timestamp())
            overdue.add_metric(name, _is_overdue(each))
        yield from (groups, eta, overdue)


def _state(participant: Participant) -> str:
    return SKIPPED if participant.is_left_alone else participant.progress.value.lower()


def _is_overdue(folded: Folded) -> bool:
    said = {each.type: each.status for each in folded.campaign.status.conditions}
    return said.get(CampaignConditionType.OVERDUE) is ConditionStatus.TRUE

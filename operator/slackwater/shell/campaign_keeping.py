"""What is written of campaigns: a status before anybody acts on it, and Events of what it says for the first time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from math import inf
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import EVENT, FLEET_CAMPAIGN
from slackwater.api.errors import SlackwaterError
from slackwater.api.fleet_campaign_status import CampaignCondition, FleetCampaignStatus
from slackwater.core.fleet.campaign_eta import Outlook
from slackwater.core.fleet.campaign_report import news, report, verdicts
from slackwater.core.fleet.report import merged
from slackwater.ports import Cluster
from slackwater.shell.campaign_folds import Folded
from slackwater.shell.campaigns import Campaigns
from slackwater.shell.events import event_about
from slackwater.shell.fleet_places import in_turns
from slackwater.shell.store import Key, Store, key_of

Json = Mapping[str, Any]

FOLD_AGAIN_S: Final = 1.0
"""Campaigns are folded no more often: with 10,000 groups that takes a good part of a second."""
STATUS_AGAIN_S: Final = 10.0
"""A status of which only counts change is written no more often."""
OUTLOOK_AGAIN_S: Final = 60.0

_log = structlog.get_logger(__name__)


class CampaignKeeping:
    def __init__(self, api: Cluster, store: Store, campaigns: Campaigns, now: Callable[[], float]) -> None:
        self._api = api
        self._store = store
        self._campaigns = campaigns
        self._now = now
        self._written_at: dict[Key, float] = {}
        self._outlooks: dict[Key, tuple[float, Outlook]] = {}

    async def keep(self) -> None:
        """For as long as this replica leads."""
        while True:
            self._campaigns.changed.clear()
            again_s = await self.keep_once()
            try:
                async with asyncio.timeout(again_s):
                    await self._campaigns.changed.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(FOLD_AGAIN_S)

    async def keep_once(self) -> float | None:
        """Fold, and write what that says; returns in how many seconds something is due again, None: when something
        changes."""
        due, by_name = inf, {each.campaign.key: each for each in await self._campaigns.fold_in_turns()}
        self._forget_all_but({key_of(each.obj) for each in self._campaigns.folded})
        for folded in map(by_name.__getitem__, in_turns(by_name)):
            try:
                due = min(due, await self._write(folded))
            except SlackwaterError as error:  # no answer; or this replica does not lead for a moment
                _log.warning("campaign_status_not_written", campaign=folded.campaign.key, error=str(error))
                due = min(due, self._now() + STATUS_AGAIN_S)
            except Exception:  # noqa: BLE001 - a bug that one campaign brings to light must not stop all groups
                _log.exception("campaign_crashed", campaign=folded.campaign.key)
                due = min(due, self._now() + STATUS_AGAIN_S)
        due = min(due, self._now() if self._campaigns.is_under_way else self._campaigns.wakes_at())
        return None if due == inf else max(FOLD_AGAIN_S, due - self._now())

    def _forget_all_but(self, there: Collection[Key]) -> None:
        self._written_at = {key: at for key, at in self._written_at.items() if key in there}
        self._outlooks = {key: known for key, known in self._outlooks.items() if key in there}

    async def _write(self, folded: Folded) -> float:
        """Returns when to look at it again; infinite: when something changes. Raises ClusterFailed."""
        key, before, now = key_of(folded.obj), folded.obj.get("status") or {}, self._now()
        status = self._status(folded)
        if folded.course.placed:
            outlook = await self._outlook(key, folded)
            status = status.model_copy(update={"eta": outlook.eta, "bottleneck": outlook.bottleneck})
        wanted = status.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        if wanted == before:
            return inf
        written_at = self._written_at.get(key, -inf)
        if _is_less_ago(now, written_at, STATUS_AGAIN_S) and not _is_a_step(folded.campaign.status, status):
            return written_at + STATUS_AGAIN_S
        self._written_at[key] = now
        metadata = folded.obj["metadata"]
        try:
            written = await self._api.apply_status(
                FLEET_CAMPAIGN, *key, metadata["uid"], wanted, metadata["resourceVersion"]
            )
        except Conflict:  # the watch brings what it is by now
            return now + FOLD_AGAIN_S
        self._take_in(key, written)
        for reason, message, warning in news(folded.campaign.status, status):
            await self._post(folded.obj, reason.value, message, warning=warning)
        return now + FOLD_AGAIN_S

    async def _outlook(self, key: Key, folded: Folded) -> Outlook:
        """Beside the event loop, since it takes a while with thousands of groups."""
        at, known = self._outlooks.get(key, (-inf, Outlook()))
        is_new = _is_less_ago(self._now(), at, OUTLOOK_AGAIN_S)
        if is_new and folded.course.status.phase is folded.campaign.status.phase:
            return known
        try:
            found = await asyncio.to_thread(self._campaigns.outlook(folded))
        except Exception:  # noqa: BLE001 - a campaign goes on without a forecast
            found = Outlook()
            _log.exception("campaign_not_forecast", campaign=folded.campaign.key)
        self._outlooks[key] = (self._now(), found)
        return found

    def _status(self, folded: Folded) -> FleetCampaignStatus:
        campaign, course, now = folded.campaign, folded.course, self._now()
        if campaign.is_over and course.status.phase is campaign.status.phase:
            return campaign.status
        generation = folded.obj["metadata"].get("generation", 0)
        said = verdicts(campaign, course, folded.participants, now)
        conditions = merged((folded.obj.get("status") or {}).get("conditions") or (), said, now, generation)
        parsed = tuple(CampaignCondition.model_validate(each, by_alias=True, by_name=False) for each in conditions)
        status = report(campaign, course, folded.participants, now)
        return status.model_copy(update={"observed_generation": generation, "conditions": parsed})

    def _take_in(self, key: Key, obj: Json | None) -> None:
        known = self._store.get(FLEET_CAMPAIGN, key)
        if obj is not None:
            self._store.put(FLEET_CAMPAIGN, obj)
        elif known is not None:
            self._store.drop(FLEET_CAMPAIGN, known)

    async def _post(self, about: Json, reason: str, message: str, *, warning: bool) -> None:
        """One that cannot be written is logged and given up."""
        namespace, name = about["metadata"]["namespace"], about["metadata"]["name"]
        _log.info("event", about=f"FleetCampaign {namespace}/{name}", reason=reason, message=message)
        try:
            body = event_about(about, reason, message, self._now(), warning=warning)
            await self._api.create(EVENT, namespace, body)
        except SlackwaterError as error:
            _log.warning("event_not_written", about=f"{namespace}/{name}", reason=reason, error=str(error))


def _is_less_ago(now: float, at: float, seconds: float) -> bool:
    """Of what comes after now nobody knows how long ago it was: the clock was set back."""
    return 0.0 <= now - at < seconds


def _is_a_step(before: FleetCampaignStatus, after: FleetCampaignStatus) -> bool:
    """Somebody may act on it, or waits to see it."""
    return any(
        getattr(before, part) != getattr(after, part)
        for part in ("phase", "wave", "wave_begun_at", "started_at", "commands", "observed_generation")
    )

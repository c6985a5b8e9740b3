"""Campaigns over a cluster in memory: one leader, groups as their statuses say, and a clock that a test moves."""

from __future__ import annotations

from typing import Any, Final

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, FLEET_CAMPAIGN, POD
from slackwater.api.annotations import GROUP_LABEL
from slackwater.api.timestamps import timestamp
from slackwater.core.world.turn import TurnStanding
from slackwater.shell.campaign_keeping import FOLD_AGAIN_S, CampaignKeeping
from slackwater.shell.campaigns import Campaigns
from tests.api.campaign_refusals import campaign as campaign_manifest
from tests.shell.fakes import KEY, group_object
from tests.shell.fleet_stage import FleetStage

UID: Final = "uid-of-campaign"


def campaign_object(version: int, *, name: str = "restart", **spec: Any) -> dict[str, Any]:
    obj = campaign_manifest(**({"fleetRef": {"name": "fleet"}} | spec))
    names = {"name": name, "namespace": KEY.namespace, "uid": UID if name == "restart" else f"uid-of-{name}"}
    obj["metadata"] = {**names, "generation": 1, "resourceVersion": str(version)}
    return obj


class CampaignStage(FleetStage):
    def lead(self) -> None:
        super().lead()
        self.campaigns = Campaigns(self.store, self.fleets, lambda: self.now)
        api: Any = self.api
        self.campaign_keeping = CampaignKeeping(api, self.store, self.campaigns, lambda: self.now)

    async def list_all(self) -> None:
        await super().list_all()
        listed, version = await self.api.list_all(FLEET_CAMPAIGN, None)
        self.store.replace(FLEET_CAMPAIGN, listed, version)

    async def begin(self) -> None:
        await super().begin()
        self.campaigns.fold()

    def campaign(self, **spec: Any) -> None:
        self._put(FLEET_CAMPAIGN, campaign_object(self.api.version, **spec))

    def annotate(self, **annotations: str) -> None:
        obj = self.api.objects["FleetCampaign", KEY.namespace, "restart"]
        self._put(FLEET_CAMPAIGN, {**obj, "metadata": {**obj["metadata"], "annotations": annotations}})

    async def goes_on(self, seconds: float = FOLD_AGAIN_S) -> None:
        """Until nothing more is due at once."""
        self.passes(seconds)
        for _ in range(5):
            await self.campaign_keeping.keep_once()

    def campaign_status(self, name: str = "restart") -> dict[str, Any]:
        found: dict[str, Any] = self.api.objects["FleetCampaign", KEY.namespace, name].get("status", {})
        return found

    def rests(self, *names: str) -> None:
        for name in names:
            self._put(CONSUMER_GROUP, group_object(name=name) | {"status": {"observedGeneration": 1}})
            self.pod(name, self.now - 3600.0)
            self.sees(name)

    def pod(self, name: str, at: float) -> None:
        metadata = {"name": f"{name}-0", "labels": {GROUP_LABEL: name}, "uid": f"{name}-{at}"}
        metadata |= {"namespace": KEY.namespace, "creationTimestamp": timestamp(int(at))}
        self._put(POD, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": {}})

    def has_begun(self, name: str, wave: str) -> None:
        """As the write says that gives the turn."""
        turn = {"reason": "Restart", "askedAt": self.now, "givenAt": self.now, "campaign": UID}
        self.says(name, "Progressing", turn, wave)

    def has_done(self, name: str, wave: str) -> None:
        self.pod(name, self.now)
        turn = {"reason": "Restart", "askedAt": self.now, "givenAt": self.now, "doneAt": self.now, "campaign": UID}
        self.says(name, "Complete", turn, f"{wave} done {timestamp(self.now)}")

    def says(self, name: str, phase: str, turn: dict[str, Any], record: str) -> None:
        times = {key: timestamp(each) if isinstance(each, float) else each for key, each in turn.items()}
        status = {"observedGeneration": 1, "rollout": {"phase": phase, "turn": times}}
        status["commands"] = {f"slackwater.dev/campaign.{UID}": record}
        self._put(CONSUMER_GROUP, group_object(name=name) | {"status": status})
        self.sees(name)

    def called(self) -> list[str]:
        names = [key.name for key in self.store.keys(CONSUMER_GROUP)]
        return [name for name in names if self.standing(name) is TurnStanding.CALLED]

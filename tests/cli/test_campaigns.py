"""Campaigns: what the operator reports of them, held by pictures; and what people tell them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from rich.console import RenderableType

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN, NAMESPACE
from slackwater.api.annotations import PROMOTE
from slackwater.cli.errors import NoSuchCampaign, NothingToDo, NotObeyed
from slackwater.cli.giving import campaign as giving
from slackwater.cli.pictures.campaign import campaign_document, campaign_picture, campaigns_table
from slackwater.cli.reaching.choice import Place
from tests.cli.command import Done, typed
from tests.cli.fleets import fleet_object
from tests.cli.pictures import held
from tests.cli.test_giving_fleet import Cluster
from tests.cli.test_tables import drawn

Json = dict[str, Any]

KEY = Place("slackwater", "kip-848")
OBEDIENT = 5.0
STATUS: Json = {
    "observedGeneration": 1,
    "phase": "Running",
    "wave": "tenth",
    "waves": [
        {"name": "canary", "groups": 4, "done": 4},
        {"name": "tenth", "groups": 30, "done": 12, "failed": 1, "skipped": 2},
        {"name": "rest", "groups": 257, "skipped": 19},
    ],
    "skipped": {"BrokerCannot": 9, "OwnValue": 12},
    "skippedGroups": [
        {"group": "team-bi/export", "reason": "OwnValue", "message": "it says Cooperative itself"},
        {"group": "team-x/clicks", "reason": "BrokerCannot"},
    ],
    "failedGroups": [{"group": "team-pay/refunds"}],
    "eta": {"p50": "2026-11-26T03:10:00Z", "p90": "2026-11-26T05:00:00Z"},
    "bottleneck": "coordinators, broker 3",
    "conditions": [
        {"type": "Accepted", "status": "True", "message": "it can be kept"},
        {"type": "Progressing", "status": "True", "message": "wave tenth: 15 groups to come, 2 under way"},
        {"type": "Halted", "status": "False", "message": "nothing has failed"},
    ],
}


def campaign(status: Json | None = None, name: str = KEY.name, **spec: Any) -> Json:
    given = {"fleetRef": {"name": "platform"}, "action": {"applyDefaults": {"fields": ["protocol.target"]}}, **spec}
    metadata = {"name": name, "namespace": KEY.namespace, "uid": "u", "generation": 1, "resourceVersion": "1"}
    return {"metadata": metadata, "spec": given, "status": STATUS if status is None else status}


SOAKS = {
    **STATUS,
    "phase": "Soaking",
    "waves": [{"name": "tenth", "groups": 30, "done": 28, "skipped": 2, "soakUntil": "2026-11-25T00:40:00Z"}],
}
ORDERS: Json = {
    "observedGeneration": 1,
    "phase": "AwaitingPromotion",
    "wave": "canary",
    "waves": [
        {"name": "canary", "groups": 2, "done": 2},
        {"name": "tenth", "groups": 30},
        {"name": "rest", "groups": 259, "skipped": 1},
    ],
    "skipped": {"HasFailed": 1},
    "skippedGroups": [{"group": "team-x/clicks", "reason": "HasFailed"}],
    "conditions": [
        {
            "type": "Progressing",
            "status": "True",
            "message": "wave canary is done: promote the campaign to go on",
        },
    ],
}
CAMPAIGNS = {
    "running": campaign(),
    "soaking": campaign(SOAKS),
    "awaiting-promotion": campaign({**STATUS, "phase": "AwaitingPromotion"}),
    "refused": campaign(
        {
            "observedGeneration": 1,
            "phase": "Pending",
            "conditions": [{"type": "Accepted", "status": "False", "message": "there is no ConsumerFleet platform"}],
        }
    ),
    "orders-changes": campaign(ORDERS, "base-image-2026-12", action={"changes": {}}),
    "not-taken-up": campaign({}, action={"restart": {}}, dryRun=True),
}
PICTURES: dict[str, Callable[[], RenderableType]] = {
    **{f"campaign-{name}": lambda each=each: campaign_picture(each) for name, each in CAMPAIGNS.items()},  # type: ignore[misc]
    "campaign-list": lambda: campaigns_table([*CAMPAIGNS.values()], with_namespace=True),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_is_held(picture: str) -> None:
    held(f"{picture}.txt", drawn(PICTURES[picture]()))


def test_the_wave_that_nobody_named_is_the_rest() -> None:
    """In its status it has a name that people cannot give."""
    unnamed = campaign({**STATUS, "wave": "*", "waves": [{"name": "*", "groups": 257, "done": 3}]})
    for shown in (campaign_picture(unnamed), campaigns_table([unnamed], with_namespace=False)):
        assert "the rest" in drawn(shown)
        assert "*" not in drawn(shown)


def test_its_document_is_what_the_operator_says() -> None:
    document = campaign_document(campaign())
    assert (document["namespace"], document["name"], document["status"]) == (*KEY, STATUS)


class Campaigns(Cluster):
    """With an operator that takes campaigns up, promotes those that wait for it, and `refuses` new ones."""

    refuses = ""

    async def read(self, kind: Any, namespace: str, name: str) -> Any:
        found = self.objects.get((kind.name, namespace, name))
        if kind is FLEET_CAMPAIGN and found is not None:
            tokens = {key: each for key, each in found["metadata"].get("annotations", {}).items() if key == PROMOTE}
            found["status"] = {
                **found.get("status", {}),
                "observedGeneration": found["metadata"]["generation"],
                "commands": tokens,
            }
        return await super().read(kind, namespace, name)

    async def create(self, kind: Any, namespace: str, body: Any) -> Any:
        metadata = {**body["metadata"], "namespace": namespace, "uid": "made", "generation": 1}
        refused = {"type": "Accepted", "status": "False", "reason": "CannotGoOn", "message": self.refuses}
        status = {"conditions": [refused]} if self.refuses else {}
        return self._store(kind, {**body, "metadata": metadata, "status": status})

    def campaign(self, name: str = KEY.name) -> Any:
        return self.objects["FleetCampaign", KEY.namespace, name]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Campaigns:
    api = Campaigns()
    api.add(CONSUMER_FLEET, fleet_object())
    api.add(FLEET_CAMPAIGN, campaign())

    @asynccontextmanager
    async def reached(context: str | None) -> AsyncIterator[Campaigns]:
        yield api

    for module in ("giving.campaign", "looking.fleets", "reaching.each"):
        monkeypatch.setattr(f"slackwater.cli.{module}.cluster", reached)
    return api


async def test_it_is_paused_and_goes_on(cluster: Campaigns) -> None:
    said = await giving.tell(None, KEY, giving.pause, OBEDIENT)
    assert said.startswith("kip-848: paused; no other group begins")
    assert cluster.campaign()["spec"]["paused"] is True
    with pytest.raises(NothingToDo, match="kip-848 is paused already"):
        await giving.tell(None, KEY, giving.pause, OBEDIENT)
    assert await giving.tell(None, KEY, giving.go_on, OBEDIENT) == "kip-848: goes on"
    with pytest.raises(NothingToDo, match="kip-848 is not paused, so there is nothing to start"):
        await giving.tell(None, KEY, giving.go_on, OBEDIENT)


STOPS = {
    "not accepted": ({"type": "Accepted", "status": "False", "message": "the fleet does not give it"}, "does not give"),
    "halted": ({"type": "Halted", "status": "True", "message": "two groups have failed"}, "two groups have failed"),
}


@pytest.mark.parametrize(("condition", "why"), STOPS.values(), ids=STOPS)
async def test_one_that_cannot_go_on_is_not_said_to(cluster: Campaigns, condition: Json, why: str) -> None:
    cluster.campaign()["spec"]["paused"] = True
    cluster.campaign()["status"] = {**STATUS, "phase": "Paused", "conditions": [condition]}
    with pytest.raises(NotObeyed, match=f"kip-848 is paused no more, but it does not go on: .*{why}"):
        await giving.tell(None, KEY, giving.go_on, OBEDIENT)
    assert cluster.campaign()["spec"]["paused"] is False


def test_one_that_cannot_begin_is_not_said_to_be_started(
    cluster: Campaigns, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.refuses = "ConsumerFleet slackwater/platform does not give protocol.target: write it into its spec.defaults"
    done = started(capsys, "--fleet", "platform", "--apply-defaults", "--field", "protocol.target")
    assert (done.code, done.out) == (1, "")
    assert done.sentence == f"FleetCampaign restart-all is made, but cannot begin: {cluster.refuses}."


async def test_what_is_over_is_not_paused(cluster: Campaigns) -> None:
    cluster.campaign()["status"] = {"phase": "Succeeded"}
    with pytest.raises(NothingToDo, match="kip-848 is over"):
        await giving.tell(None, KEY, giving.pause, OBEDIENT)


async def test_a_wave_that_waits_for_somebody_is_promoted(cluster: Campaigns) -> None:
    with pytest.raises(NothingToDo, match="no wave waits to be promoted, it is Running in wave tenth"):
        await giving.tell(None, KEY, giving.promote, OBEDIENT)
    cluster.campaign()["status"] = {**STATUS, "phase": "AwaitingPromotion"}
    said = await giving.tell(None, KEY, giving.promote, OBEDIENT)
    assert said == "kip-848: promoted; the wave after tenth begins"
    assert set(cluster.campaign()["metadata"]["annotations"]) == {PROMOTE}


async def test_a_campaign_that_there_is_not(cluster: Campaigns) -> None:
    with pytest.raises(NoSuchCampaign, match="in namespace slackwater: did you mean kip-848"):
        await giving.tell(None, Place("slackwater", "kip-84"), giving.pause, OBEDIENT)


async def test_one_that_goes_is_told_nothing(cluster: Campaigns) -> None:
    cluster.campaign()["metadata"]["deletionTimestamp"] = "2026-11-24T21:30:00Z"
    with pytest.raises(NothingToDo, match="is being deleted"):
        await giving.tell(None, KEY, giving.pause, OBEDIENT)


def started(capsys: pytest.CaptureFixture[str], *options: str) -> Done:
    return typed(capsys, "campaign", "start", "restart-all", "-n", "slackwater", *options)


@pytest.mark.parametrize(
    ("options", "spec"),
    [
        (["--restart"], {"action": {"restart": {}}}),
        (["--changes", "--max-failures", "3"], {"action": {"changes": {}}, "maxFailures": 3}),
        (["--apply-defaults", "--dry-run"], {"action": {"applyDefaults": {}}, "dryRun": True}),
        (
            ["--apply-defaults", "--field", "protocol.target"],
            {"action": {"applyDefaults": {"fields": ["protocol.target"]}}},
        ),
    ],
)
def test_it_is_made_as_it_was_typed(
    options: list[str], spec: Json, cluster: Campaigns, capsys: pytest.CaptureFixture[str]
) -> None:
    done = started(capsys, "--fleet", "platform", *options)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("restart-all: started")
    assert cluster.campaign("restart-all")["spec"] == {"fleetRef": {"name": "platform"}, **spec}


def test_of_a_fleet_that_there_is_not_none_is_made(cluster: Campaigns, capsys: pytest.CaptureFixture[str]) -> None:
    done = started(capsys, "--fleet", "platfrom", "--restart")
    assert done.sentence == "there is no ConsumerFleet platfrom in namespace slackwater: did you mean platform?"
    assert ("FleetCampaign", "slackwater", "restart-all") not in cluster.objects


async def test_what_is_there_is_not_made_once_more(cluster: Campaigns) -> None:
    with pytest.raises(NothingToDo, match="FleetCampaign kip-848 is there: a campaign does what it was begun for"):
        await giving.start(None, KEY, {"fleetRef": {"name": "platform"}}, OBEDIENT)


def test_who_meant_to_begin_one_learns_how(cluster: Campaigns, capsys: pytest.CaptureFixture[str]) -> None:
    said = typed(capsys, "campaign", "start", "kip-84", "-n", "slackwater").sentence
    there = "there is no FleetCampaign kip-84 in namespace slackwater: did you mean kip-848"
    assert said == f"{there}; to begin a new one, say its --fleet."


def test_where_there_is_none_it_says_where_to_look(cluster: Campaigns, capsys: pytest.CaptureFixture[str]) -> None:
    del cluster.objects["FleetCampaign", *KEY]
    cluster.add(NAMESPACE, {"metadata": {"namespace": "", "name": "slackwater"}})
    here = typed(capsys, "campaign", "status", "-n", "slackwater")
    everywhere = typed(capsys, "campaign", "status", "-A")
    assert (here.code, here.out, everywhere.code, everywhere.out) == (0, "", 0, "")
    assert here.err == "There are no FleetCampaigns in slackwater: -A shows those of all namespaces.\n"
    assert everywhere.err == "There are no FleetCampaigns in any namespace: campaign start makes one.\n"


MISTAKES = {
    "an action without a fleet": (["--restart"], "say of which fleet: --fleet NAME"),
    "a fleet without an action": (
        ["--fleet", "platform"],
        "say what the campaign does: one of --restart, --apply-defaults, --changes",
    ),
    "two actions": (["--fleet", "platform", "--restart", "--changes"], "say what the campaign does: one of --restart"),
    "a field for nothing": (
        ["--fleet", "platform", "--restart", "--field", "protocol.target"],
        "--field is for --apply-defaults",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistyped_start(mistake: str, capsys: pytest.CaptureFixture[str]) -> None:
    options, said = MISTAKES[mistake]
    done = started(capsys, *options)
    assert (done.code, said in done.sentence) == (2, True)


def test_all_are_listed(cluster: Campaigns, capsys: pytest.CaptureFixture[str]) -> None:
    rows = typed(capsys, "campaign", "status", "-A").out.splitlines()
    assert " ".join(rows[1].split()) == "slackwater kip-848 platform applies defaults Running tenth 291 16 1 21"

"""`why --defaults`: whose each setting is, held by pictures; and what is said where fleets cannot be read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.errors import Forbidden, KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, NAMESPACE
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.parsing import parse_consumer_fleet
from slackwater.cli.looking.defaults import Known, look_at
from slackwater.cli.pictures.defaults import defaults_document, defaults_picture
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.campaign_object import read_campaign
from slackwater.core.fleet.layers import FIELDS
from slackwater.core.fleet.seen import FleetSeen, fleet_seen
from slackwater.core.world.inherited import Pin
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, write_memory
from slackwater.core.world.settings import Setting
from slackwater.core.world.tuning import Tuning
from tests.api.manifests import consumer_group
from tests.cli.command import Done, typed
from tests.cli.fleets import NOW, fleet_object
from tests.cli.pictures import held
from tests.cli.test_many import Cluster as Groups
from tests.cli.test_tables import drawn

Json = dict[str, Any]
Capsys = pytest.CaptureFixture[str]
PLATFORM: Final = {
    "protocol": {"target": "Consumer"},
    "timeouts": {"maxPollInterval": "10m"},
    "rollout": {"onFailure": "Pause", "stableFor": "20s"},
}
TARGET, POLLS = PinnedField.PROTOCOL_TARGET, PinnedField.MAX_POLL_INTERVAL


def group(pins: Mapping[PinnedField, Pin] | None = None, tuning: Tuning | None = None, **spec: Any) -> Json:
    obj = consumer_group("payments", replicas=3, **spec)
    obj["metadata"] |= {"namespace": "team-pay", "uid": "u", "generation": 1}
    memory = RolloutMemory(phase=RolloutPhase.COMPLETE, inherited=pins or {}, tuning=tuning or Tuning())
    return {**obj, "status": {"rollout": write_memory(memory)}}


def fleets(**by_name: Json) -> dict[str, FleetSeen]:
    """`pay` is of the group's namespace."""
    found = {}
    for name, defaults in by_name.items():
        obj = fleet_object(name=name, defaults=defaults, namespaces=None if name == "pay" else ["*"])
        obj["metadata"] |= {"namespace": "team-pay"} if name == "pay" else {}
        each = fleet_seen(parse_consumer_fleet(obj), NOW)
        found[each.key] = each
    return found


def campaign(
    name: str = "kip-848", fields: Sequence[str] = ("protocol.target",), status: Json | None = None, **spec: Any
) -> Campaign:
    """One of the platform's fleet that takes up its defaults; `status`: it has begun."""
    action = {"applyDefaults": {"fields": list(fields)}}
    metadata = {"namespace": "slackwater", "name": name, "uid": name}
    named = {"fleetRef": {"name": "platform"}, "action": action, **spec}
    kind = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "FleetCampaign"}
    return read_campaign({**kind, "metadata": metadata, "spec": named, "status": status or {}})


BEGUN: Final = {"phase": "Running", "startedAt": "2026-11-24T21:00:00Z"}


def shown(obj: Json, known: Mapping[str, FleetSeen], *campaigns: Campaign, are_all: bool = True) -> str:
    return drawn(defaults_picture(look_at(obj, Known(known, campaigns, are_all))))


PICTURES: dict[str, Callable[[], str]] = {
    "defaults-of-nobody": lambda: shown(group(), {}),
    "defaults-of-two-fleets": lambda: shown(
        group(protocol={"target": "Cooperative"}), fleets(platform=PLATFORM, pay={"rollout": {"onFailure": "Rollback"}})
    ),
    "defaults-pinned": lambda: shown(
        group({TARGET: Pin("Consumer", "slackwater/platform"), POLLS: Pin("7m", "slackwater/platform")}),
        fleets(platform=PLATFORM),
    ),
    "defaults-of-fleets-that-are-gone": lambda: shown(
        group({TARGET: Pin("Consumer", "slackwater/gone"), POLLS: Pin("7m", "slackwater/platform")}),
        fleets(platform={"rollout": {"onFailure": "Rollback"}}),
    ),
    "defaults-refused": lambda: shown(group(timeouts={"session": "30s"}), fleets(platform=PLATFORM)),
    "defaults-recommended": lambda: shown(
        group(tuning=Tuning(values={Setting.SESSION: 30_000}), rollout={"strategy": "WarmHandover"}), {}
    ),
    "defaults-that-a-campaign-is-to-bring": lambda: shown(
        group({POLLS: Pin("7m", "slackwater/platform")}),
        fleets(platform=PLATFORM),
        campaign(fields=["protocol.target", "timeouts.maxPollInterval"]),
    ),
    "defaults-of-a-campaign-that-has-begun": lambda: shown(
        group({POLLS: Pin("7m", "slackwater/platform")}),
        fleets(platform={"protocol": {"target": "Cooperative"}}),
        campaign(status={**BEGUN, "applies": {"protocol.target": "Consumer"}}),
        campaign("polls", fields=["timeouts.maxPollInterval"]),
    ),
    "defaults-of-fleets-that-may-not-be-read": lambda: shown(
        group({POLLS: Pin("7m", "slackwater/platform")}), {}, are_all=False
    ),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_is_held(picture: str) -> None:
    held(f"{picture}.txt", PICTURES[picture]())


def test_the_document_has_every_setting() -> None:
    known = fleets(platform=PLATFORM)
    document = defaults_document(look_at(group(protocol={"target": "Cooperative"}), Known(known)))
    settings = {each["field"]: each for each in document["settings"]}
    assert set(settings) == set(FIELDS)
    assert settings["timeouts.maxPollInterval"] == {
        "field": "timeouts.maxPollInterval",
        "value": "5m",
        "layer": "BuiltIn",
        "fleet": None,
        "generation": None,
        "needsRollout": True,
        "pinned": False,
        "next": {"value": "10m", "fleet": "slackwater/platform", "generation": 7, "campaign": None},
        "endsWithNextRollout": False,
        "over": [],
    }
    assert settings["protocol.target"]["over"] == [{"fleet": "slackwater/platform", "value": "Consumer"}]
    assert (document["name"], document["partial"], document["refused"]) == ("payments", False, "")


def test_only_a_campaign_that_is_to_bring_a_default_is_named() -> None:
    """One that has called the group, is over, is another fleet's, of other groups, or about other fields holds none."""
    done = {"slackwater.dev/campaign.kip-848": "rest"}
    obj, known = group(), fleets(platform=PLATFORM)
    called = {**obj, "status": {**obj["status"], "commands": done}}

    def brought_by(each: Json, by: Campaign) -> object:
        lines = defaults_document(look_at(each, Known(known, [by])))["settings"]
        return next(line["next"]["campaign"] for line in lines if line["field"] == "protocol.target")

    assert brought_by(obj, campaign()) == "slackwater/kip-848"
    assert brought_by(called, campaign()) is None
    assert brought_by(obj, campaign(status={**BEGUN, "phase": "Succeeded"})) is None
    assert brought_by(obj, campaign(fleetRef={"name": "another"})) is None
    assert brought_by(obj, campaign(selector={"matchLabels": {"tier": "0"}})) is None
    assert brought_by(obj, campaign(fields=["timeouts.maxPollInterval"])) is None
    assert brought_by(obj, campaign(dryRun=True)) is None
    says_itself = group(protocol={"target": "Cooperative"})
    lines = defaults_document(look_at(says_itself, Known(known, [campaign()])))["settings"]
    assert next(line for line in lines if line["field"] == "protocol.target")["next"] is None


class Cluster(Groups):
    """Of four groups, and a fleet over all of them."""

    missing: frozenset[str] = frozenset()
    only_here = False
    """Fleets may be listed by namespace only."""

    async def list_all(self, kind: Any, namespace: str | None, label_selector: str = "") -> Any:
        if kind.name in self.missing:
            raise KindMissing(f"the cluster knows no {kind.plural}")
        if kind is CONSUMER_FLEET and namespace is None and self.only_here:
            raise Forbidden("consumerfleets is forbidden (403)")
        return await super().list_all(kind, namespace, label_selector)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    api = Cluster()
    for namespace, name, team in (("shop", "a", "pay"), ("shop", "b", "pay"), ("bank", "d", "stock")):
        obj = consumer_group(name)
        obj["metadata"] |= {"namespace": namespace, "uid": name, "generation": 1, "resourceVersion": "1"}
        obj["metadata"]["labels"] = {"team": team}
        api.add(CONSUMER_GROUP, {**obj, "status": {}})
    for name in ("shop", "bank"):
        api.add(NAMESPACE, {"metadata": {"namespace": "", "name": name}})
    api.add(CONSUMER_FLEET, fleet_object(defaults={"rollout": {"onFailure": "Rollback"}}))

    @asynccontextmanager
    async def reached(context: str | None) -> AsyncIterator[Cluster]:
        yield api

    for module in ("reaching.choice", "reaching.each"):
        monkeypatch.setattr(f"slackwater.cli.{module}.cluster", reached)
    monkeypatch.setattr("slackwater.cli.reaching.choice.namespace_of", lambda context: "shop")
    return api


def explained(capsys: Capsys, *words: str) -> Done:
    return typed(capsys, "why", "--defaults", *words)


def test_of_one_group_it_is_a_table(cluster: Cluster, capsys: Capsys) -> None:
    done = explained(capsys, "a")
    assert (done.code, done.err) == (0, "")
    assert "rollout.onFailure Rollback ConsumerFleet slackwater/platform (generation 7)" in " ".join(done.out.split())
    assert cluster.writes() == []


def test_of_many_each_has_its_name(cluster: Cluster, capsys: Capsys) -> None:
    done = explained(capsys, "-l", "team=pay")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line in ("a", "b")] == ["a", "b"]
    document = json.loads(explained(capsys, "--all", "-A", "-o", "json").out)
    assert [each["name"] for each in document["items"]] == ["d", "a", "b"]


def test_fleets_are_listed_once_for_all_groups_of_a_namespace(cluster: Cluster, capsys: Capsys) -> None:
    explained(capsys, "a", "b")
    assert cluster.requests["GET", "consumerfleets"] == 1
    assert cluster.requests["GET", "fleetcampaigns"] == 1


def test_one_that_is_missing_keeps_no_other_from_being_shown(cluster: Cluster, capsys: Capsys) -> None:
    done = explained(capsys, "a", "nobody")
    assert done.code == 1
    assert "rollout.onFailure" in done.out
    why, last = done.err.splitlines()
    assert why.startswith("shop/nobody: there is no ConsumerGroup nobody in namespace shop: there are a, b")
    assert last == "Error: why --defaults failed for 1 of 2 ConsumerGroups: shop/nobody."


def test_where_there_is_no_fleet_or_no_such_kind_it_says_so(cluster: Cluster, capsys: Capsys) -> None:
    cluster.missing = frozenset({"ConsumerFleet"})
    done = explained(capsys, "a")
    assert (done.code, "No ConsumerFleet gives it any defaults." in done.out) == (0, True)


def test_who_may_list_the_namespaces_fleets_only_sees_that_it_is_not_all(cluster: Cluster, capsys: Capsys) -> None:
    cluster.only_here = True
    done = explained(capsys, "a")
    assert (done.code, "Fleets of other namespaces may give it defaults as well" in done.out) == (0, True)


def test_labels_that_choose_nobody_are_a_mistake(cluster: Cluster, capsys: Capsys) -> None:
    said = explained(capsys, "-l", "team=nobody").sentence
    assert said == "no ConsumerGroup in namespace shop has labels team=nobody: slackwater list shows which there are."

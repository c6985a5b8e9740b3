"""`fleet plan -f`: a campaign that is not applied yet, held by pictures; and what is said of files that are none."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slackwater.adapters.cluster.errors import ClusterUnreachable, Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN, NAMESPACE
from slackwater.api.fleet_campaign_status import Skip
from slackwater.api.parsing import parse_consumer_fleet, parse_fleet_campaign
from slackwater.cli.errors import NoSuchGroup
from slackwater.cli.looking.fleets import Fleets
from slackwater.cli.looking.looks import Look
from slackwater.cli.pictures.campaign_plan import CampaignPlan, campaign_plan_document, campaign_plan_picture
from slackwater.cli.planning import campaigns as planning
from slackwater.cli.planning.campaigns import Asked, foreseen_campaign
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.board import Board
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.campaign_forecast import Assumed
from slackwater.core.fleet.participants import Obstacle
from slackwater.core.fleet.seen import fleet_seen, seen
from slackwater.core.fleet.surplus import MOST
from slackwater.core.protocol.foreseen import Found
from slackwater.core.protocol.preflight import Way
from slackwater.core.protocol.strategies import STRATEGIES
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.profile import Profile, StrategyName
from tests.cli.command import Done, typed
from tests.cli.fleets import BUDGETS, NOW, fleet_object, groups
from tests.cli.pictures import held
from tests.cli.test_giving_fleet import Cluster
from tests.cli.test_tables import drawn
from tests.core.factories import BROKER
from tests.core.protocol.test_preflight import JAVA, running

Json = dict[str, Any]
Capsys = pytest.CaptureFixture[str]

WAVES: Final = [
    {"name": "canary", "size": 2, "soak": "1h", "promote": "Manual"},
    {"name": "tenth", "size": "25%", "max": 1},
]
TO_CONSUMER: Final[Json] = {"action": {"applyDefaults": {"fields": ["protocol.target"]}}}
DEFAULTS: Final = {"protocol": {"target": "Consumer"}}
DRAINS: Final = Way(Profile.EAGER, next(each for each in STRATEGIES if each.name is StrategyName.DRAIN_CUTOVER))
WAYS: Final[Mapping[str, Found]] = {
    "team-bi/rests-0": Obstacle(Skip.BROKER_CANNOT, "not every broker offers KIP-848 groups: bring all to Kafka 4.0"),
    "team-bi/rests-1": Obstacle(Skip.BROKER_CANNOT, "not every broker offers KIP-848 groups: bring all to Kafka 4.0"),
    "team-bi/rests-2": Obstacle(Skip.WOULD_STOP, "set protocol.allowDowntime to true to stop all for a moment."),
    "team-pay/payments": DRAINS,
    "team-bi/export": Hold(Reason.KAFKA_UNREACHABLE, "Kafka at b:9092 cannot be reached"),
}


def manifest(name: str = "kip-848", **spec: Any) -> Json:
    given = {"fleetRef": {"name": "platform"}, "action": {"restart": {}}, "waves": WAVES, **spec}
    return {
        "apiVersion": "slackwater.dev/v1alpha1",
        "kind": "FleetCampaign",
        "metadata": {"name": name, "namespace": "slackwater"},
        "spec": given,
    }


def planned(
    fleet_spec: Json | None = None,
    ways: Mapping[str, Found] | None = None,
    of: list[Json] | None = None,
    assumed: Assumed | None = None,
    phase: str | None = None,
    **spec: Any,
) -> CampaignPlan:
    objs = groups() if of is None else of
    of_fleet: Json = {"windows": None, **(fleet_spec or {})}
    fleet = fleet_seen(parse_consumer_fleet(fleet_object(**of_fleet)), NOW)
    board = Board((fleet,), [seen(each) for each in objs], NOW)
    by_key = {f"{each['metadata']['namespace']}/{each['metadata']['name']}": each for each in objs}
    fleets = Fleets({fleet.key: fleet}, board, is_partial=False, groups=by_key)
    campaign = Campaign("slackwater", "kip-848", "u", parse_fleet_campaign(manifest(**spec)).spec)
    known = tuple(planning._known(campaign, fleet, fleets))
    return foreseen_campaign(Asked(campaign, fleet, fleets, known, phase, ways or {}), assumed or Assumed())


PICTURES: dict[str, Callable[[], CampaignPlan]] = {
    "restart": planned,
    "to-consumer": lambda: planned({"defaults": DEFAULTS}, WAYS, **TO_CONSUMER),
    "changes": lambda: planned(action={"changes": {}}),
    "refused": lambda: planned(**TO_CONSUMER),
    "paused": lambda: planned({"pause": "INC-4711"}, paused=True, dryRun=True, phase="Running", deadline="5m"),
    "fits-nowhere": lambda: planned(
        {"windows": [{"name": "blinks", "schedule": "0 22 * * *", "duration": "2m"}]}, assumed=Assumed(at=NOW + 7200)
    ),
    "of-nobody": lambda: planned(of=[]),
    "other-limits": lambda: planned({"budgets": BUDGETS}, assumed=Assumed(limits={"coordinators": 3, "all": 9})),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_is_held(picture: str) -> None:
    held(f"campaign-plan-{picture}.txt", drawn(campaign_plan_picture(PICTURES[picture]())))


def test_the_document_names_everybody() -> None:
    document = campaign_plan_document(planned({"defaults": DEFAULTS}, WAYS, **TO_CONSUMER))
    canary, tenth, rest = document["waves"]
    assert (canary["name"], len(canary["groups"]), canary["soakSeconds"], canary["promote"]) == (
        "canary",
        2,
        3600,
        "Manual",
    )
    assert canary["endsAt"] < tenth["beginsAt"] <= rest["beginsAt"] <= rest["endsAt"] == document["endsAt"]
    assert tenth["bottleneck"]["limit"] == 1
    assert [(each["group"], each["reason"]) for each in document["skipped"]] == [
        ("team-bi/rests-0", "BrokerCannot"),
        ("team-bi/rests-1", "BrokerCannot"),
        ("team-bi/rests-2", "WouldStop"),
        ("team-x/clicks", "HasFailed"),
    ]
    assert (document["stops"], [each["group"] for each in document["unknown"]]) == (
        ["team-pay/payments"],
        ["team-bi/export"],
    )
    assert (document["action"], document["applies"], document["overdue"], document["exists"]) == (
        "applyDefaults",
        {"protocol.target": "Consumer"},
        False,
        False,
    )
    assert document["holds"] == ["protocol.target"]


class Reached(Cluster):
    """A fleet, its groups, and a campaign that is not there."""

    refuses: frozenset[str] = frozenset()
    """Kinds that may be listed in one namespace only."""

    async def list_all(self, kind: Any, namespace: str | None, label_selector: str = "") -> Any:
        if kind.name in self.refuses and namespace is None:
            raise Forbidden(f"{kind.plural} is forbidden (403)")
        return await super().list_all(kind, namespace, label_selector)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Reached:
    api = Reached()
    api.add(CONSUMER_FLEET, fleet_object(windows=None, defaults=DEFAULTS))
    api.add(NAMESPACE, {"metadata": {"namespace": "", "name": "slackwater"}})
    for each in groups():
        api.add(CONSUMER_GROUP, each)

    @asynccontextmanager
    async def reached(context: str | None) -> AsyncIterator[Reached]:
        yield api

    monkeypatch.setattr(planning, "cluster", reached)
    monkeypatch.setattr("slackwater.cli.commands.fleet_plan.namespace_of", lambda context: "slackwater")
    return api


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def written(*documents: Any) -> str:
        path = tmp_path / "campaign.yaml"
        texts = [each if isinstance(each, str) else yaml.safe_dump(each) for each in documents]
        path.write_text("---\n".join(texts))
        return str(path)

    return written


File = Callable[..., str]


def foreseen(capsys: Capsys, path: str, *words: str) -> Done:
    return typed(capsys, "fleet", "plan", "-f", path, *words)


def test_it_is_planned_from_the_cluster_and_nothing_is_written(cluster: Reached, file: File, capsys: Capsys) -> None:
    done = foreseen(capsys, file(manifest()))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Campaign slackwater/kip-848   restarts in fleet platform   as if it began now")
    assert cluster.writes() == []


def test_the_fleet_that_would_be_one_too_many_is_said_so(cluster: Reached, file: File, capsys: Capsys) -> None:
    cluster.objects.clear()
    cluster.add(NAMESPACE, {"metadata": {"namespace": "", "name": "slackwater"}})
    for number in range(MOST):
        cluster.add(CONSUMER_FLEET, fleet_object(name=f"f{number}", namespaces=None))
    new = fleet_object(namespaces=None)
    beside = {**new, "metadata": {"name": "platform"}}
    del beside["status"]
    path = file(beside, manifest())
    said = " ".join(foreseen(capsys, path).out.split())
    assert "Nothing would begin while namespace slackwater has 21 ConsumerFleets: only the oldest 20 count" in said
    document = json.loads(foreseen(capsys, path, "-o", "json").out)
    assert document["tooManyFleets"] == {"fleets": 21, "count": 20, "told": False}


def test_the_fleet_that_stands_beside_it_counts(cluster: Reached, file: File, capsys: Capsys) -> None:
    fleet = fleet_object(windows=None, budgets=[{"name": "none", "max": 1}])
    beside = {**fleet, "metadata": {"name": "platform"}, "status": {}}
    del beside["status"]
    document = json.loads(foreseen(capsys, file(beside, manifest(waves=[])), "-o", "json").out)
    assert document["waves"][0]["bottleneck"]["budget"] == "none"


def test_a_fleet_that_is_not_there_yet_may_stand_beside_it(cluster: Reached, file: File, capsys: Capsys) -> None:
    fleet = {
        **fleet_object(name="new", windows=None, budgets=[{"name": "mine", "max": 1}]),
        "metadata": {"name": "new"},
    }
    del fleet["status"]
    path = file(fleet, manifest(fleetRef={"name": "new"}, waves=[]))
    [wave] = json.loads(foreseen(capsys, path, "-o", "json").out)["waves"]
    assert (wave["bottleneck"]["fleet"], wave["bottleneck"]["budget"]) == ("slackwater/new", "mine")


def test_where_it_takes_groups_to_another_protocol_kafka_is_asked(
    cluster: Reached, file: File, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_once(api: Any, place: Any) -> Look:
        if place.name == "payments":
            raise NoSuchGroup("there is no ConsumerGroup payments")
        world = running(JAVA, Profile.EAGER, broker=replace(BROKER, group_version=0))
        return Look(world.remembering(RolloutMemory(protocol=Profile.EAGER)), Decision(world.memory))

    monkeypatch.setattr(planning, "look_once", look_once)
    document = json.loads(foreseen(capsys, file(manifest(**TO_CONSUMER)), "-o", "json").out)
    reasons = {each["reason"] for each in document["skipped"]}
    assert reasons == {"BrokerCannot", "HasFailed"}
    assert [each["group"] for each in document["unknown"]] == ["team-pay/payments"]


def test_brokers_that_nobody_reaches_from_here_are_not_known(
    cluster: Reached, file: File, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_once(api: Any, place: Any) -> Look:
        raise ClusterUnreachable("the API server does not answer")

    monkeypatch.setattr(planning, "look_once", look_once)
    done = foreseen(capsys, file(manifest(**TO_CONSUMER)))
    assert (done.code, "Not known" in done.out) == (0, True)


def test_one_that_is_there_is_said_to_be(cluster: Reached, file: File, capsys: Capsys) -> None:
    cluster.add(FLEET_CAMPAIGN, {**manifest(), "status": {"phase": "Running"}})
    assert "FleetCampaign kip-848 is there (Running), and does what it was begun for" in foreseen(
        capsys, file(manifest())
    ).out.replace("\n", " ")


def test_who_may_not_list_all_is_shown_that_there_may_be_more(cluster: Reached, file: File, capsys: Capsys) -> None:
    cluster.refuses = frozenset({"ConsumerGroup", "ConsumerFleet"})
    done = foreseen(capsys, file(manifest()))
    assert (done.code, "You may not list all groups and fleets: there may be more." in done.out) == (0, True)


def test_who_may_not_read_campaigns_plans_all_the_same(
    cluster: Reached, file: File, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = cluster.read

    async def refused(kind: Any, namespace: str, name: str) -> Any:
        if kind is FLEET_CAMPAIGN:
            raise Forbidden("fleetcampaigns is forbidden (403)")
        return await read(kind, namespace, name)

    monkeypatch.setattr(cluster, "read", refused)
    assert foreseen(capsys, file(manifest())).code == 0


def test_standard_input_is_read(cluster: Reached, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(manifest())))
    assert foreseen(capsys, "-").code == 0


FILES: Final[dict[str, tuple[tuple[Any, ...], str]]] = {
    "an empty one": (("",), "campaign.yaml is empty: give the manifest of a FleetCampaign"),
    "one that is not YAML": (("a: [",), "campaign.yaml is not YAML at line 1, column"),
    "one with a text": (("only words",), "holds no Kubernetes object, but 'only words': give a manifest"),
    "another kind": (
        (fleet_object(),),
        "holds no FleetCampaign, but ConsumerFleet: give the manifest of one",
    ),
    "a mistyped kind": (
        ({**manifest(), "kind": "FleetCampain"},),
        "holds no FleetCampaign, but FleetCampain: did you mean kind: FleetCampaign instead of FleetCampain?",
    ),
    "two campaigns": (
        (manifest(), manifest("other")),
        "holds 2 FleetCampaigns (kip-848, other): give one at a time",
    ),
    "an unknown field": ((manifest(wave=[]),), "FleetCampaign kip-848 in "),
    "no action": (
        (manifest(action={}),),
        "say what the campaign does: one of restart, applyDefaults, changes",
    ),
    "no name": (({**manifest(), "metadata": {}},), "metadata.name"),
    "a name that is a path": (
        ({**manifest(), "metadata": {"name": "a/../b"}},),
        "which is no name: write lower-case letters, digits and -",
    ),
    "a wave that takes the rest too early": (
        (manifest(waves=[{"name": "all"}, {"name": "more", "size": 1}]),),
        "only the last wave may take the rest",
    ),
    "a fleet that there is not": (
        (manifest(fleetRef={"name": "platfrom"}),),
        "there is no ConsumerFleet platfrom in namespace slackwater: did you mean platform?",
    ),
    "a fleet beside it that is none": (
        (manifest(), {**fleet_object(), "spec": {"selector": {}, "budgetz": []}}),
        "ConsumerFleet platform in",
    ),
    "a namespace that there is not": (
        ({**manifest(), "metadata": {"name": "a", "namespace": "slakwater"}},),
        "there is no namespace slakwater: did you mean slackwater?",
    ),
}


@pytest.mark.parametrize("mistake", FILES)
def test_a_file_that_cannot_be_planned_from(mistake: str, cluster: Reached, file: File, capsys: Capsys) -> None:
    documents, said = FILES[mistake]
    done = foreseen(capsys, file(*documents))
    assert (done.code, said in done.sentence) == (1, True), done.err


def test_an_unknown_field_is_named_with_the_one_that_is_meant(cluster: Reached, file: File, capsys: Capsys) -> None:
    assert "spec.wave" in foreseen(capsys, file(manifest(wave=[]))).sentence


def test_a_file_that_is_not_there(capsys: Capsys) -> None:
    done = foreseen(capsys, "/nowhere/campaign.yaml")
    assert (done.code, done.sentence) == (
        1,
        "there is no file /nowhere/campaign.yaml: correct the path, or give - for standard input.",
    )


LINES: Final = {
    "nothing to plan": ((), 2, "say what to plan: a fleet by its NAME, or a campaign by -f FILE"),
    "a campaign and a restart": (
        ("-f", "x", "--all-restart"),
        2,
        "-f says what the campaign does: leave out --all-restart, or -f",
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_a_mistyped_line(line: str, capsys: Capsys) -> None:
    words, code, said = LINES[line]
    done = typed(capsys, "fleet", "plan", *words)
    assert (done.code, said in done.sentence) == (code, True)


OPTIONS: Final = {
    "another fleet": (("other",), 1, "the campaign is one of fleet platform, and not of other: leave out other"),
    "another namespace": (("-n", "shop"), 1, "the manifest names namespace slackwater, and -n says shop: leave one"),
    "no such budget": (
        ("--max", "cordinators=1"),
        2,
        "platform has no budget cordinators: there are all, coordinators",
    ),
    "a time that is over": (("--at", "2020-01-01T00:00"), 2, "2020-01-01T00:00 is over: write a time that is to come"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_that_does_not_fit(option: str, cluster: Reached, file: File, capsys: Capsys) -> None:
    words, code, said = OPTIONS[option]
    done = foreseen(capsys, file(manifest()), *words)
    assert (done.code, said in done.sentence) == (code, True), done.err


def test_the_fleet_may_be_named_as_well(cluster: Reached, file: File, capsys: Capsys) -> None:
    assert foreseen(capsys, file(manifest()), "platform", "--max", "all=1").code == 0

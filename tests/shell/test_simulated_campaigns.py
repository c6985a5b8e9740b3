"""Campaigns of each kind go through groups whose pods really change, wave by wave, to their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, FLEET_CAMPAIGN
from slackwater.api.annotations import CAMPAIGN, PROMOTE, URGENT
from slackwater.api.timestamps import moment
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.versions import NOT_DRAWN, Version
from tests.shell.simulated_fleet import Kill, OfTheFleet, SimulatedFleet

BUDGETS: Final = [{"name": "all", "max": 2}]
CANARY: Final = {"tier": "canary"}
CANARY_WAVE: Final[dict[str, Any]] = {
    "name": "canary",
    "selector": {"matchLabels": CANARY},
    "max": 1,
    "soak": "3m",
}
WAVES: Final[list[dict[str, Any]]] = [CANARY_WAVE, {"name": "some", "size": 2, "soak": "1m"}, {"name": "rest"}]
NAMES: Final = ("canary", "some", "rest")
SIX: Final = tuple(f"g{number}" for number in range(6))


def six(*named: OfTheFleet, **options: Any) -> tuple[OfTheFleet, ...]:
    """One of them is the canary. `named`: instead of those of the same name."""
    options = {"replicas": 2, **options}
    usual = {n: OfTheFleet(n, CANARY if n == "g0" else {}, options, i % 3 + 1) for i, n in enumerate(SIX)}
    return tuple({**usual, **{each.name: each for each in named}}.values())


def by_wave(fleet: SimulatedFleet, *waves: str) -> list[tuple[str, ...]]:
    """Who was in which, by what groups remember."""
    return [tuple(each.name for each in fleet if each.record.partition(" done ")[0] == wave) for wave in waves]


def env(fleet: SimulatedFleet, name: str, variable: str) -> set[str]:
    """What the programs of a group's pods are given."""
    found = set()
    for pod in fleet[name].outside.pods:
        container = fleet[name].outside.revisions[pod.revision]["spec"]["containers"][0]
        found |= {each["value"] for each in container.get("env", ()) if each["name"] == variable}
    return found


@dataclass(frozen=True)
class Kind:
    """What is ordered, and how pods look that have it."""

    action: Mapping[str, Any]
    has_it: Callable[[SimulatedFleet, str], bool]
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Of each group."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """What the fleet says until then."""
    after: Mapping[str, Any] = field(default_factory=dict)
    changes: bool = False
    """People change the groups."""


def _is_restarted(fleet: SimulatedFleet, name: str) -> bool:
    began_at = fleet.campaigns.folded[0].campaign.started_at or 1e12
    return all(pod.created_at >= began_at for pod in fleet[name].outside.pods)


def _has_other_timeouts(fleet: SimulatedFleet, name: str) -> bool:
    return env(fleet, name, "KAFKA_MAX_POLL_INTERVAL_MS") == {"600000"}


def _is_on_kip_848(fleet: SimulatedFleet, name: str) -> bool:
    return {pod.profile.value for pod in fleet[name].outside.pods} == {"Consumer"}


def _runs_v2(fleet: SimulatedFleet, name: str) -> bool:
    return fleet[name].images == {"v2"}


KINDS: Final = {
    "restart": Kind({"restart": {}}, _is_restarted),
    "a default": Kind({"applyDefaults": {}}, _has_other_timeouts, after={"timeouts": {"maxPollInterval": "10m"}}),
    "KIP-848": Kind(
        {"applyDefaults": {"fields": ["protocol.target"]}},
        _is_on_kip_848,
        {"timeouts": {}},
        {"protocol": {"target": "Eager"}},
        {"protocol": {"target": "Consumer"}},
    ),
    "changes": Kind({"changes": {}}, _runs_v2, changes=True),
}


def rarely(kind: str) -> ParameterSet:
    """Explored by `make explore`: it differs little from another."""
    return pytest.param(KINDS[kind], id=kind, marks=pytest.mark.slow)


SOME: Final = [
    pytest.param(KINDS["KIP-848"], id="KIP-848"),
    pytest.param(KINDS["changes"], id="changes"),
    rarely("restart"),
    rarely("a default"),
]


async def ready(kind: Kind, *named: OfTheFleet, **options: Any) -> SimulatedFleet:
    """Six groups at rest; the fleet says what the campaign is to bring, and nothing has come of it."""
    defaults = {"defaults": kind.before} if kind.before else {}
    fleet = await SimulatedFleet(*six(*named, spec=kind.spec, **options), budgets=BUDGETS, **defaults).running()
    if kind.after:
        fleet.says_defaults(**kind.after)
    await fleet.for_seconds(20)
    assert not any(fleet.restarts().values())
    return fleet


def begin(fleet: SimulatedFleet, kind: Kind, **spec: Any) -> None:
    fleet.campaign(**({"action": kind.action, "waves": WAVES} | spec))
    if kind.changes:
        for each in fleet:
            change(fleet, each.name)


def change(fleet: SimulatedFleet, name: str, version: str = "v2") -> None:
    """One commit: another image, and whose order it waits for."""
    fleet[name].annotations = {CAMPAIGN: "restart"}
    fleet[name].outside.apply(version)


def went_wave_by_wave(fleet: SimulatedFleet, kind: Kind) -> None:
    """To its end, as people would count it at the pods."""
    assert all(kind.has_it(fleet, name) for name in SIX)
    assert fleet.restarts() == dict.fromkeys(SIX, 2), "each pod once"
    assert fleet.most_away <= 2, "the fleet's budget holds"
    waves = by_wave(fleet, *NAMES)
    assert [len(each) for each in waves] == [1, 2, 3]
    fleet.one_after_the_other(*waves[:2], soak_s=180)
    fleet.one_after_the_other(*waves[1:], soak_s=60)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_it_reaches_every_pod_once_wave_by_wave_with_a_soak_between(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until_phase("Succeeded")
    went_wave_by_wave(fleet, kind)
    await fleet.for_seconds(100)  # a KIP-848 member that has stayed for longer than a session is noted, once
    writes = [each.writes for each in fleet]
    await fleet.for_seconds(200)
    assert [each.writes for each in fleet] == writes, "nothing comes after its end"
    went_wave_by_wave(fleet, kind)


def slowly(kill: Kill) -> ParameterSet:
    """Explored by `make explore`."""
    return pytest.param(kill, marks=pytest.mark.slow)


@pytest.mark.parametrize("kill", [Kill.AFTER, slowly(Kill.BEFORE), slowly(Kill.AFTER_THE_ACT), slowly(Kill.LATE)])
@pytest.mark.parametrize("kind", SOME)
async def test_an_operator_that_is_killed_at_each_write_comes_to_the_same_end(kind: Kind, kill: Kill) -> None:
    fleet = await ready(kind)
    fleet.api.kill = kill
    begin(fleet, kind)
    await fleet.until_phase("Succeeded", 6000)
    assert fleet.api.kills > 30
    went_wave_by_wave(fleet, kind)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_dry_run_moves_nobody_and_says_who_would_be_in_which_wave(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind, dryRun=True)
    await fleet.for_seconds(300)
    status = fleet.campaign_status()
    assert (status["phase"], not any(fleet.restarts().values())) == ("Forecast", True)
    assert [each["groups"] for each in status["waves"]] == [1, 2, 3]
    assert not any(each.record for each in fleet)


@pytest.mark.parametrize("kind", SOME)
async def test_applied_once_more_it_does_nothing_more(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("one is done", lambda: any(" done " in each.record for each in fleet))
    fleet.applied_again(action=kind.action, waves=WAVES)
    await fleet.until_phase("Succeeded")
    fleet.applied_again(action=kind.action, waves=WAVES)
    await fleet.for_seconds(200)
    went_wave_by_wave(fleet, kind)


@pytest.mark.parametrize("kind", [KINDS[name] for name in KINDS if name != "restart"])
async def test_another_one_of_its_kind_finds_nothing_to_do(kind: Kind) -> None:
    """A restart is one each time it is ordered."""
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until_phase("Succeeded")
    fleet.applied_again(uid="another", action=kind.action, waves=WAVES)
    await fleet.for_seconds(300)
    assert fleet.campaign_status()["phase"] == "Succeeded"
    assert fleet.restarts() == dict.fromkeys(SIX, 2)


@pytest.mark.parametrize("kind", SOME)
async def test_a_wave_that_is_promoted_by_hand_waits_for_that(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind, waves=[{**CANARY_WAVE, "promote": "Manual"}, {"name": "rest"}])
    await fleet.until_phase("AwaitingPromotion")
    await fleet.for_seconds(600)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2}
    fleet.annotate(**{PROMOTE: "1"})
    await fleet.until_phase("Succeeded")
    assert all(kind.has_it(fleet, name) for name in SIX)
    assert fleet.restarts() == dict.fromkeys(SIX, 2)


SAME_TAG: Final = "same-tag"
"""An image that somebody pushes once more."""


def canary(**options: Any) -> OfTheFleet:
    return OfTheFleet("g0", CANARY, {"replicas": 2, "version": SAME_TAG, **options})


async def with_a_bad_canary(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, on_failure: str = "Pause", **spec: Any
) -> SimulatedFleet:
    """Its next pods never join."""
    monkeypatch.setitem(NOT_DRAWN, SAME_TAG, Version())
    fleet = await ready(kind, canary(spec=kind.spec, onFailure=on_failure))
    monkeypatch.setitem(NOT_DRAWN, SAME_TAG, Version(joins=False))
    begin(fleet, kind, **spec)
    if kind.changes:
        change(fleet, "g0", "never-joins")
    return fleet


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_a_bad_canary_halts_it_and_once_mended_it_goes_on(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = await with_a_bad_canary(kind, monkeypatch)
    await fleet.until_phase("Halted")
    await fleet.for_seconds(600)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 1}
    assert fleet.campaign_status()["failedGroups"] == [{"group": "default/g0"}]
    fleet["g0"].outside.apply("v2")
    await fleet.until_phase("Succeeded")
    assert all(kind.has_it(fleet, name) for name in SIX)
    assert fleet.restarts() == dict.fromkeys(SIX, 2)


@pytest.mark.parametrize("kind", SOME)
async def test_one_that_goes_back_has_failed_and_others_go_on_where_that_is_allowed(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = await with_a_bad_canary(kind, monkeypatch, "Rollback", maxFailures=1)
    if kind.changes:
        monkeypatch.setitem(NOT_DRAWN, SAME_TAG, Version())
    await fleet.until_phase("Succeeded")
    assert [each["group"] for each in fleet.campaign_status()["failedGroups"]] == ["default/g0"]
    assert all(kind.has_it(fleet, name) for name in SIX[1:])
    assert {name: number for name, number in fleet.restarts().items() if name != "g0"} == dict.fromkeys(SIX[1:], 2)


@pytest.mark.parametrize("kind", SOME)
async def test_after_its_deadline_it_goes_on_and_says_so(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind, deadline="2m")
    await fleet.until("overdue", lambda: condition(fleet, "Overdue") == "True")
    await fleet.until_phase("Succeeded")
    went_wave_by_wave(fleet, kind)
    assert condition(fleet, "Overdue") == "False"


def condition(fleet: SimulatedFleet, kind: str) -> str:
    found = fleet.campaign_status().get("conditions", ())
    return next((each["status"] for each in found if each["type"] == kind), "")


@pytest.mark.parametrize("kind", SOME)
async def test_a_pause_lets_who_has_begun_finish_and_nobody_begin(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet.edit_campaign(paused=True)
    await fleet.for_seconds(600)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2}
    assert fleet.campaign_status()["phase"] == "Paused"
    fleet.edit_campaign(paused=False)
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
async def test_who_is_deleted_in_the_middle_keeps_nobody_waiting(kind: Kind) -> None:
    """One that has begun, and one that has not."""
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet.goes("g0")
    fleet.goes("g5")
    await fleet.until_phase("Succeeded")
    assert all(kind.has_it(fleet, each.name) for each in fleet)
    assert fleet.restarts() == dict.fromkeys(("g1", "g2", "g3", "g4"), 2)


@pytest.mark.parametrize("kind", SOME)
async def test_who_cannot_be_deleted_yet_keeps_nobody_waiting(kind: Kind) -> None:
    """Its finalizer stands, and Kafka does not answer, say."""
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet["g5"].is_being_deleted = True
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2) | {"g5": 0}


@pytest.mark.parametrize("kind", [KINDS["KIP-848"], rarely("a default")])
async def test_a_deploy_of_its_own_does_not_bring_what_the_campaign_brings_with_its_wave(kind: Kind) -> None:
    """The canaries come first; and who says it itself has it at once."""
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until_phase("Soaking")
    fleet["g5"].outside.apply("v3")
    await fleet.until("it is deployed", lambda: fleet["g5"].images == {"v3"}, 120)
    assert kind.has_it(fleet, "g0")
    assert not kind.has_it(fleet, "g5")
    fleet["g4"].outside.change_spec(
        **{key: {**fleet["g4"].outside.spec.get(key, {}), **each} for key, each in kind.after.items()}
    )
    await fleet.until("it has what it says", lambda: kind.has_it(fleet, "g4"), 120)
    await fleet.until_phase("Succeeded")
    assert all(kind.has_it(fleet, name) for name in SIX)
    assert fleet.restarts() == dict.fromkeys(SIX, 2) | {"g5": 4}


@pytest.mark.parametrize("kind", SOME)
async def test_a_team_that_deploys_in_the_middle_is_moved_twice_for_a_default_alone(kind: Kind) -> None:
    """A change, and a restart, are done by that; nobody else goes sooner for it."""
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet["g5"].annotations = {}
    fleet["g5"].outside.apply("v3")
    await fleet.until_phase("Succeeded")
    assert fleet["g5"].images == {"v3"}
    assert all(kind.has_it(fleet, name) for name in SIX[:5])
    assert kind.changes or kind.has_it(fleet, "g5")
    assert fleet.restarts() == dict.fromkeys(SIX, 2) | {"g5": 4 if "applyDefaults" in kind.action else 2}


@pytest.mark.parametrize("kind", SOME)
async def test_a_team_that_deploys_while_its_group_moves_gets_that_and_the_campaign_counts_it(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet["g0"].outside.apply("v3")
    await fleet.until_phase("Succeeded")
    assert fleet["g0"].images == {"v3"}
    assert kind.changes or kind.has_it(fleet, "g0")
    assert {name: number for name, number in fleet.restarts().items() if name != "g0"} == dict.fromkeys(SIX[1:], 2)
    waves = by_wave(fleet, *NAMES)
    fleet.one_after_the_other(*waves[:2], soak_s=180)


@pytest.mark.parametrize("kind", SOME)
async def test_who_deletes_the_campaign_lets_who_has_begun_finish_and_nobody_begin(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet.delete(FLEET_CAMPAIGN, "restart")
    await fleet.for_seconds(600)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2}
    assert {each.memory.phase for each in fleet if each.name == "g0"} == {RolloutPhase.COMPLETE}


@pytest.mark.parametrize("is_over", [True, False], ids=["over", "in the middle"])
async def test_who_was_called_moves_as_it_likes_when_its_campaign_is_deleted(is_over: bool) -> None:
    """Who was not called by then waits, until its annotation goes or the campaign is made again."""
    kind = KINDS["changes"]
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until_phase("Succeeded" if is_over else "Soaking")
    fleet.delete(FLEET_CAMPAIGN, "restart")
    await fleet.for_seconds(100)
    await fleet.another_leads()
    for name in ("g0", "g5"):
        change(fleet, name, "v3")
    await fleet.for_seconds(300)
    assert (fleet["g0"].images, fleet["g5"].images) == ({"v3"}, {"v3"} if is_over else {"v1"})
    fleet["g5"].annotations = {}
    await fleet.for_seconds(300)
    assert fleet["g5"].images == {"v3"}


async def with_two_to_come(**spec: Any) -> SimulatedFleet:
    """A campaign of changes that is over, in whose last wave one group moves at a time. Two have not named it yet."""
    kind = KINDS["changes"]
    fleet = await ready(kind)
    fleet.campaign(action=kind.action, waves=[CANARY_WAVE, {"name": "rest", "max": 1}], **spec)
    for name in SIX[:4]:
        change(fleet, name)
    await fleet.until_phase("Succeeded")
    return fleet


async def test_a_change_that_comes_after_its_end_goes_by_the_last_wave() -> None:
    """Which reads as under way again, until that is done, and waits while somebody pauses it."""
    fleet = await with_two_to_come()
    fleet.edit_campaign(paused=True)
    fleet.most_away = 0
    for name in SIX[4:]:
        change(fleet, name)
    await fleet.until_phase("Paused")
    await fleet.for_seconds(100)
    assert fleet["g5"].images == {"v1"}
    fleet.edit_campaign(paused=False)
    await fleet.until_phase("Succeeded")
    assert all(_runs_v2(fleet, name) for name in SIX)
    assert (fleet.restarts(), fleet.most_away) == (dict.fromkeys(SIX, 2), 1)
    assert by_wave(fleet, "rest")[0][-2:] == SIX[4:]


async def test_a_change_that_fails_after_its_end_halts_it_for_who_comes_next() -> None:
    fleet = await with_two_to_come()
    change(fleet, "g4", "never-joins")
    await fleet.until_phase("Halted")
    change(fleet, "g5")
    await fleet.for_seconds(300)
    assert fleet["g5"].images == {"v1"}
    change(fleet, "g4")
    await fleet.until_phase("Succeeded")
    assert all(_runs_v2(fleet, name) for name in SIX)


@pytest.mark.parametrize("kind", SOME)
async def test_one_that_is_paused_from_the_first_reads_so(kind: Kind) -> None:
    """Also while it is looked who cannot be taken to a protocol."""
    fleet = await ready(kind)
    fleet["g3"].moves, fleet["g3"].again_at = False, 1e12
    begin(fleet, kind, paused=True)
    await fleet.for_seconds(5)
    assert fleet.campaign_status()["phase"] == "Paused"
    await fleet.for_seconds(200)
    assert (fleet.campaign_status()["phase"], any(fleet.restarts().values())) == ("Paused", False)


@pytest.mark.parametrize("kind", SOME)
async def test_one_that_somebody_paused_is_left_as_it_is(kind: Kind) -> None:
    fleet = await ready(kind)
    fleet["g3"].outside.pause()
    begin(fleet, kind)
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2) | {"g3": 0}
    assert fleet["g3"].skip_reason == "Paused"


@pytest.mark.parametrize("kind", SOME)
async def test_one_without_pods_keeps_nobody_waiting(kind: Kind) -> None:
    """And what it is to get it has when it is started."""
    fleet = await ready(kind)
    fleet["g3"].outside.scale(0)
    await fleet.for_seconds(60)
    begin(fleet, kind)
    await fleet.until_phase("Succeeded")
    fleet["g3"].outside.scale(2)
    await fleet.for_seconds(60)
    assert all(kind.has_it(fleet, name) for name in SIX)


OLD_CLIENT: Final = {"client": {"library": "Librdkafka", "version": "2.3.0"}, "timeouts": {}}
OWN_TARGET: Final = {"protocol": {"target": "Eager"}}


async def test_who_cannot_is_said_before_the_first_pod_moves() -> None:
    kind = KINDS["KIP-848"]
    old = OfTheFleet("g1", options={"replicas": 2, "spec": OLD_CLIENT})
    own = OfTheFleet("g2", options={"replicas": 2, "spec": OWN_TARGET})
    fleet = await ready(kind, old, own)
    fleet["g3"].outside.facts = replace(fleet["g3"].outside.facts, serves_consumer_protocol=False)
    fleet["g4"].outside.foreign_member(there=True)
    await fleet.for_seconds(20)
    begin(fleet, kind)
    await fleet.until("one moves", lambda: any(fleet.restarts().values()))
    said = {name: fleet[name].skip_reason for name in SIX}
    cannot = {"g1": "ClientCannot", "g2": "OwnValue", "g3": "BrokerCannot", "g4": "Refused"}
    assert said == dict.fromkeys(SIX, "") | cannot
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2, "g5": 2}


async def test_who_would_stop_is_said_before_the_first_pod_moves() -> None:
    kind = replace(KINDS["KIP-848"], after={"protocol": {"target": "Cooperative"}})
    fleet = await ready(kind)
    fleet["g2"].outside.change_spec(protocol={"allowDowntime": True})
    await fleet.for_seconds(20)
    begin(fleet, kind)
    await fleet.until("one stops", lambda: any(not each.outside.pods for each in fleet))
    assert {name for name in SIX if fleet[name].skip_reason == "WouldStop"} == {*SIX} - {"g2"}
    await fleet.until_phase("Succeeded")
    assert {pod.profile.value for pod in fleet["g2"].outside.pods} == {"Cooperative"}
    assert {name: n for name, n in fleet.restarts().items() if name != "g2"} == dict.fromkeys({*SIX} - {"g2"}, 0)


async def test_a_dry_run_says_who_cannot() -> None:
    kind = KINDS["KIP-848"]
    old = OfTheFleet("g1", options={"replicas": 2, "spec": OLD_CLIENT})
    fleet = await ready(kind, old)
    begin(fleet, kind, dryRun=True)
    await fleet.for_seconds(60)
    assert fleet.campaign_status()["skipped"] == {"ClientCannot": 1}
    assert fleet["g1"].skip_reason == "ClientCannot"


async def test_values_that_the_fleet_no_longer_says_stop_it() -> None:
    kind = KINDS["a default"]
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet.says_defaults(timeouts={"maxPollInterval": "20m"})
    await fleet.for_seconds(600)
    assert fleet.campaign_status()["phase"] == "Halted"
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2}
    assert kind.has_it(fleet, "g0"), "it takes up what was there when the campaign began"
    fleet.says_defaults(**kind.after)
    await fleet.until_phase("Succeeded")
    went_wave_by_wave(fleet, kind)


@pytest.mark.parametrize("kind", SOME)
async def test_who_comes_in_the_middle_comes_with_the_last_wave(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("some move", lambda: fleet.campaign_status().get("wave") == "some")
    late = fleet.comes(OfTheFleet("g6", CANARY, {"replicas": 2, "spec": kind.spec}))
    if kind.changes:
        late.annotations = {CAMPAIGN: "restart"}
    await fleet.until_phase("Succeeded")
    assert kind.changes or kind.has_it(fleet, "g6")
    assert fleet.restarts() == dict.fromkeys(SIX, 2) | {"g6": 0}, "its pods were made since, as they are to be"


async def test_the_max_of_a_wave_holds_beside_the_budgets() -> None:
    kind = KINDS["restart"]
    fleet = await ready(kind)
    begin(fleet, kind, waves=[{"name": "all", "max": 1}])
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2)
    assert fleet.most_away == 1


async def test_it_takes_the_waves_of_its_fleet_and_only_whom_it_selects() -> None:
    kind = KINDS["restart"]
    fleet = await ready(kind)
    for name in SIX[:3]:
        fleet[name].labels |= {"team": "a"}
    fleet.edit_fleet(waves=[CANARY_WAVE, {"name": "rest"}])
    begin(fleet, kind, waves=[], selector={"matchLabels": {"team": "a"}})
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | dict.fromkeys(SIX[:3], 2)
    fleet.one_after_the_other(("g0",), ("g1", "g2"), soak_s=180)


async def test_who_was_not_called_has_nothing_written() -> None:
    kind = KINDS["KIP-848"]
    fleet = await ready(kind)
    writes = {each.name: each.writes for each in fleet}
    begin(fleet, kind)
    await fleet.until_phase("Soaking")
    await fleet.for_seconds(120)
    assert {each.name: each.writes - writes[each.name] for each in fleet if each.name != "g0"} == dict.fromkeys(
        SIX[1:], 0
    )
    assert fleet["g0"].writes > writes["g0"]


async def test_while_its_fleet_is_paused_nobody_begins() -> None:
    kind = KINDS["restart"]
    fleet = await ready(kind)
    fleet.edit_fleet(pause="INC-4711")
    begin(fleet, kind)
    await fleet.for_seconds(300)
    assert fleet.restarts() == dict.fromkeys(SIX, 0)
    fleet.edit_fleet(pause="")
    await fleet.until_phase("Succeeded")
    went_wave_by_wave(fleet, kind)


async def test_a_canary_that_is_disturbed_while_it_soaks_keeps_the_next_wave() -> None:
    kind = KINDS["restart"]
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until_phase("Soaking")
    canary = fleet["g0"].outside
    canary.room = 1
    canary.evict(0)
    await fleet.for_seconds(600)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2}
    canary.room = None
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2)


async def test_who_raises_what_may_fail_lets_it_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS["restart"]
    fleet = await with_a_bad_canary(kind, monkeypatch)
    await fleet.until_phase("Halted")
    fleet.edit_campaign(maxFailures=1)
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2) | {"g0": 1}


async def test_two_at_once_each_come_to_their_end() -> None:
    """A restart, and a default that has pods restarted as well: a group has both by one restart, or by two."""
    kind = KINDS["a default"]
    fleet = await ready(kind)
    begin(fleet, kind)
    fleet.campaign(name="other", action={"restart": {}}, waves=WAVES)
    await fleet.until_phase("Succeeded")
    await fleet.until("the other one, too", lambda: fleet.campaign_status("other")["phase"] == "Succeeded", 3000)
    assert all(kind.has_it(fleet, name) for name in SIX)
    assert set(fleet.restarts().values()) <= {2, 4}
    assert fleet.most_away <= 2


URGENT_PASSES: Final = [(["Order", "Waves"], True), (["Order"], False)]


@pytest.mark.parametrize(("urgent", "passes"), URGENT_PASSES)
@pytest.mark.parametrize("kind", SOME)
async def test_who_is_urgent_comes_with_the_wave_under_way_where_its_fleet_says_so(
    kind: Kind, urgent: list[str], passes: bool
) -> None:
    fleet = await ready(kind)
    fleet.edit_fleet(urgent=urgent)
    begin(fleet, kind)
    await fleet.until_phase("Soaking")
    fleet["g5"].annotations |= {URGENT: ""}
    await fleet.for_seconds(100)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2, "g5": 2 * passes}
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 2)
    assert ("g5" in by_wave(fleet, "canary")[0]) is passes


async def test_a_dry_run_says_when_it_would_be_done_and_what_would_hold_it_back() -> None:
    fleet = await ready(KINDS["restart"])
    fleet.edit_fleet(budgets=[{"name": "all", "max": 4}, {"name": "coordinators", "per": "Coordinator", "max": 1}])
    begin(fleet, KINDS["restart"], dryRun=True)
    await fleet.for_seconds(10)
    status = fleet.campaign_status()
    assert fleet.now + 240 < moment(status["eta"]["p50"]) <= moment(status["eta"]["p90"]), "waves soak for four minutes"
    assert status["bottleneck"].startswith("coordinators, broker")


async def test_by_what_the_first_one_took_it_is_known_when_the_second_is_done() -> None:
    kind = KINDS["restart"]
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until_phase("Succeeded")
    fleet.applied_again(uid="another", action=kind.action, waves=WAVES)
    await fleet.for_seconds(10)
    began_at, ends_at = fleet.now - 10, moment(fleet.campaign_status()["eta"]["p50"])
    await fleet.until_phase("Succeeded")
    assert fleet.restarts() == dict.fromkeys(SIX, 4)
    assert abs(fleet.now - ends_at) < 0.2 * (fleet.now - began_at)


@pytest.mark.parametrize("kind", [KINDS["restart"], KINDS["KIP-848"]], ids=["restart", "KIP-848"])
async def test_without_its_fleet_nobody_begins_and_with_that_it_goes_on(kind: Kind) -> None:
    fleet = await ready(kind)
    begin(fleet, kind)
    await fleet.until("the canary moves", lambda: fleet.restarts()["g0"] == 1)
    fleet.delete(CONSUMER_FLEET, "fleet")
    await fleet.for_seconds(300)
    assert fleet.restarts() == dict.fromkeys(SIX, 0) | {"g0": 2}
    assert fleet.campaign_status()["phase"] == "Pending"
    fleet.edit_fleet()
    await fleet.until_phase("Succeeded")
    went_wave_by_wave(fleet, kind)


async def test_a_window_holds_for_a_campaign_as_well() -> None:
    """The clock begins on 12 January 1970, at 13:46 UTC."""
    kind = KINDS["restart"]
    fleet = await ready(kind)
    fleet.edit_fleet(timeZone="UTC", windows=[{"name": "afternoon", "schedule": "0 14 * * *", "duration": "1h"}])
    begin(fleet, kind)
    await fleet.until("one moves", lambda: any(fleet.restarts().values()))
    assert 0 <= fleet.now - moment("1970-01-12T14:00:00Z") < 30
    await fleet.until_phase("Succeeded")
    went_wave_by_wave(fleet, kind)

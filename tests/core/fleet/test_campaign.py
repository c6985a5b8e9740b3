"""What a campaign says and remembers, and what its groups are now: who may begin."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from slackwater.api.annotations import PROMOTE
from slackwater.api.conditions import ConditionStatus
from slackwater.api.fleet_campaign import FleetCampaignSpec
from slackwater.api.fleet_campaign_status import CampaignConditionType, CampaignPhase, FleetCampaignStatus, Skip
from slackwater.api.fleet_defaults import PinnedField
from slackwater.core.fleet.campaign import NO_MAX, Campaign, FleetOf, fold
from slackwater.core.fleet.campaign_report import news, report, verdicts
from slackwater.core.fleet.claim import Limit
from slackwater.core.fleet.openings import LOOKED_AT_WITHIN_S
from slackwater.core.fleet.participants import Obstacle, Participant, Progress

NOW: Final = 1_000_000.0
CANARY: Final = {"name": "canary", "selector": {"matchLabels": {"tier": "0"}}, "max": 1, "soak": "10m"}
WAVES: Final[list[dict[str, Any]]] = [CANARY, {"name": "rest"}]
FLEET: Final = FleetOf()


def campaign(wave: str | None = None, status: dict[str, Any] | None = None, **spec: Any) -> Campaign:
    """`wave`: the one under way; None: it has not begun."""
    whole = {"fleetRef": {"name": "platform"}, "action": {"restart": {}}, "waves": WAVES, **spec}
    model = FleetCampaignSpec.model_validate(whole, context={"wire": True})
    moment = datetime.fromtimestamp(NOW - 3600, UTC)
    begun: dict[str, Any] = {} if wave is None else {"wave": wave, "started_at": moment, "wave_begun_at": moment}
    written = FleetCampaignStatus.model_validate({"plan": model.waves if wave else (), **begun, **(status or {})})
    return Campaign("slackwater", "run", "uid-1", model, written)


def group(name: str, progress: Progress = Progress.WAITS, tier: str = "1", **known: Any) -> Participant:
    return Participant(f"team/{name}", uid=name, labels={"tier": tier}, progress=progress, **known)


def done(name: str, ago: float, tier: str = "0", **known: Any) -> Participant:
    return group(name, Progress.DONE, tier, begun_in="canary", done_at=NOW - ago, **known)


def begins(given: Campaign, *groups: Participant, fleet: FleetOf | None = FLEET) -> list[str]:
    return sorted(fold(given, fleet, groups, NOW).may_begin)


def test_nobody_begins_before_it_is_written_that_the_campaign_has() -> None:
    course = fold(campaign(), FLEET, [group("a")], NOW)
    assert (course.may_begin, course.status.phase, course.looks_at) == ((), CampaignPhase.RUNNING, NOW)
    assert course.status.started_at == datetime.fromtimestamp(NOW, UTC)
    assert (course.status.wave, [wave.name for wave in course.status.plan]) == ("canary", ["canary", "rest"])
    assert course.waits == {"team/a"}


def test_the_first_wave_begins_and_the_others_wait() -> None:
    course = fold(campaign("canary"), FLEET, [group("a"), group("b", tier="0"), group("c", tier="0")], NOW)
    assert sorted(course.may_begin) == ["team/b", "team/c"]
    assert course.order is not None
    assert (course.order.restart, course.order.asked_at) == ("uid-1", NOW - 3600)
    assert course.waits == {"team/a"}
    [(cell, limit)] = course.limits
    assert (cell.budget, limit) == ("canary", Limit(number=1))
    assert course.order.takes == cell


def test_a_wave_without_max_has_no_limit_of_its_own() -> None:
    [(_, limit)] = fold(campaign("rest"), FLEET, [group("a")], NOW).limits
    assert limit.number == NO_MAX


@pytest.mark.parametrize(
    ("canaries", "wave", "phase"),
    [
        ([done("b", 601)], "rest", CampaignPhase.RUNNING),
        ([done("b", 599)], "canary", CampaignPhase.SOAKING),
        ([done("b", 5000), done("c", 599)], "canary", CampaignPhase.SOAKING),
        ([done("b", 601, is_calm=False)], "canary", CampaignPhase.SOAKING),
        ([done("b", 601), group("c", tier="0")], "canary", CampaignPhase.RUNNING),
        ([done("b", 601), group("c", Progress.MOVES, "0", begun_in="canary")], "canary", CampaignPhase.RUNNING),
        ([done("b", 601), group("c", Progress.BUSY, "0")], "canary", CampaignPhase.RUNNING),
        ([], "rest", CampaignPhase.RUNNING),
        ([group("c", tier="0", obstacle=Obstacle(Skip.PAUSED))], "rest", CampaignPhase.RUNNING),
    ],
    ids=[
        "soaked",
        "soaks",
        "from the last one on",
        "disturbed",
        "one is to come",
        "one moves",
        "one has a rollout of its own",
        "an empty wave, without soak",
        "all are left as they are, without soak",
    ],
)
def test_when_the_next_wave_begins(canaries: list[Participant], wave: str, phase: CampaignPhase) -> None:
    course = fold(campaign("canary"), FLEET, [*canaries, group("a")], NOW)
    assert (course.status.wave, course.status.phase) == (wave, phase)
    assert "team/a" not in course.may_begin, "not before the wave is written"


def test_it_looks_again_when_a_soak_is_over_and_when_it_becomes_overdue() -> None:
    assert fold(campaign("canary"), FLEET, [done("b", 100), group("a")], NOW).looks_at == NOW + 500
    assert fold(campaign("rest", deadline="2h"), FLEET, [group("a")], NOW).looks_at == NOW + 3600


def test_soak_is_not_counted_from_before_the_campaign() -> None:
    """Who was done without it has no moment in it."""
    course = fold(campaign("canary"), FLEET, [group("b", Progress.DONE, "0"), group("a")], NOW)
    assert course.status.wave == "rest"


FAILED: Final = group("f", Progress.FAILED, "0", begun_in="canary", done_at=NOW - 5000)


def test_more_failures_than_allowed_stop_it_and_those_who_have_begun_go_on() -> None:
    moving = group("m", Progress.MOVES, "0", begun_in="canary")
    course = fold(campaign("canary"), FLEET, [FAILED, moving, group("a", tier="0")], NOW)
    assert (course.may_begin, course.status.phase) == ((), CampaignPhase.HALTED)
    assert begins(campaign("canary", maxFailures=1), FAILED, moving, group("a", tier="0")) == ["team/a"]


def test_while_its_fix_is_under_way_nobody_else_begins() -> None:
    fixed = replace(FAILED, progress=Progress.MOVES, is_being_mended=True)
    course = fold(campaign("canary"), FLEET, [fixed, group("a", tier="0")], NOW)
    assert (course.may_begin, course.status.phase) == ((), CampaignPhase.HALTED)


def test_once_it_is_mended_it_goes_on() -> None:
    mended = replace(FAILED, progress=Progress.DONE)
    assert fold(campaign("canary"), FLEET, [mended, group("a")], NOW).status.wave == "rest"


def test_paused_it_neither_begins_nor_goes_on() -> None:
    soaked = [done("b", 601), group("a")]
    course = fold(campaign("canary", paused=True), FLEET, soaked, NOW)
    assert (course.may_begin, course.status.wave, course.status.phase) == ((), "canary", CampaignPhase.PAUSED)


def test_a_dry_run_says_what_would_be_and_never_begins() -> None:
    groups = [group("a"), group("b", tier="0"), group("c", obstacle=Obstacle(Skip.BROKER_CANNOT, "too old"))]
    dry = campaign(dryRun=True)
    course = fold(dry, FLEET, groups, NOW)
    assert (course.may_begin, course.status.started_at, course.waits) == ((), None, frozenset({"team/a", "team/b"}))
    status = report(dry, course, groups, NOW)
    assert [(wave.name, wave.groups, wave.skipped) for wave in status.waves] == [("canary", 1, 0), ("rest", 2, 1)]
    assert (status.phase, status.skipped) == (CampaignPhase.FORECAST, {Skip.BROKER_CANNOT: 1})
    assert [(each.group, each.message) for each in status.skipped_groups] == [("team/c", "too old")]


def test_a_dry_run_lets_no_change_go() -> None:
    named = campaign(action={"changes": {}}, dryRun=True)
    assert fold(named, FLEET, [group("a"), group("b", is_named=False)], NOW).waits == {"team/a"}


def test_before_the_first_wave_it_is_known_who_cannot() -> None:
    """Else the canary moves, and then people read that all others are left as they are."""
    groups = [group("a", tier="0"), group("b", Progress.BUSY, is_looked_at=False)]
    course = fold(campaign(), FLEET, groups, NOW)
    assert (course.status.wave, course.status.wave_begun_at) == ("", None)
    begun = {"plan": WAVES, "started_at": datetime.fromtimestamp(NOW, UTC), "phase": "Running"}
    looks = replace(campaign(), status=FleetCampaignStatus.model_validate(begun, context={"wire": True}))
    course = fold(looks, FLEET, groups, NOW + 60)
    assert (course.status, course.may_begin, course.looks_at) == (looks.status, (), NOW + LOOKED_AT_WITHIN_S)
    assert course.waits == {"team/a", "team/b"}
    assert course.wait is not None
    assert course.wait.message == "looks first which groups can be taken to the other protocol: 1 group left"
    for at, known in ((NOW + 60, True), (NOW + LOOKED_AT_WITHIN_S, False)):
        course = fold(looks, FLEET, [groups[0], replace(groups[1], is_looked_at=known)], at)
        assert (course.status.wave, course.may_begin) == ("canary", ()), "it is written before anybody begins"


def test_deleted_in_the_middle_nobody_else_begins() -> None:
    deleted = replace(campaign("canary"), is_being_deleted=True)
    course = fold(deleted, FLEET, [group("b", tier="0")], NOW)
    assert (course.may_begin, course.waits, course.status) == ((), frozenset({"team/b"}), deleted.status)


def test_without_its_fleet_nobody_begins() -> None:
    for given in (campaign(), campaign("canary")):
        course = fold(given, None, [group("b", tier="0")], NOW)
        assert (course.may_begin, course.status.phase) == ((), CampaignPhase.PENDING)
        assert "ConsumerFleet slackwater/platform is not there" in course.refused


def promoted(given: Campaign, token: str = "t1") -> Campaign:
    return replace(given, annotations={PROMOTE: token})


MANUAL: Final[list[dict[str, Any]]] = [{**CANARY, "promote": "Manual"}, {"name": "rest"}]


def test_a_manual_wave_waits_for_a_person() -> None:
    given = campaign("canary", waves=MANUAL)
    course = fold(given, FLEET, [done("b", 601), group("a")], NOW)
    assert (course.status.wave, course.status.phase) == ("canary", CampaignPhase.AWAITING_PROMOTION)
    course = fold(promoted(given), FLEET, [done("b", 601), group("a")], NOW)
    assert (course.status.wave, course.status.commands) == ("rest", {PROMOTE: "t1"})


def test_promoted_while_nothing_waits_for_it_does_not_count_later() -> None:
    given = promoted(campaign("canary", waves=MANUAL))
    early = fold(given, FLEET, [done("b", 100), group("a")], NOW).status
    assert (early.wave, early.commands) == ("canary", {PROMOTE: "t1"})
    course = fold(replace(given, status=early), FLEET, [done("b", 601), group("a")], NOW)
    assert course.status.phase is CampaignPhase.AWAITING_PROMOTION


def test_a_manual_wave_without_anybody_waits_for_nobody() -> None:
    assert fold(campaign("canary", waves=MANUAL), FLEET, [group("a")], NOW).status.wave == "rest"


def test_it_ends_when_its_last_wave_is_over() -> None:
    course = fold(campaign("rest"), FLEET, [done("b", 601), group("a", Progress.DONE, begun_in="rest")], NOW)
    assert (course.status.phase, course.waits) == (CampaignPhase.SUCCEEDED, frozenset())
    over = replace(campaign("rest"), status=course.status)
    assert fold(over, FLEET, [group("late")], NOW).may_begin == ()


def test_it_does_not_end_while_one_that_had_failed_is_under_way_once_more() -> None:
    again = group("b", Progress.MOVES, "0", begun_in="canary")
    assert fold(campaign("rest"), FLEET, [again, group("a", Progress.DONE)], NOW).status.phase is CampaignPhase.RUNNING


def test_who_comes_when_its_wave_is_over_comes_with_the_last() -> None:
    waves = [CANARY, {"name": "half", "size": "50%"}, {"name": "rest"}]
    late = group("late", tier="0")
    course = fold(campaign("half", waves=waves), FLEET, [done("b", 601), late, group("a"), group("c")], NOW)
    assert "team/late" not in course.may_begin
    assert begins(campaign("rest", waves=waves), done("b", 601), late) == ["team/late"]


def test_the_waves_of_the_fleet_are_taken_as_they_are_when_it_begins() -> None:
    given, of_the_fleet = campaign(waves=[]), campaign(waves=WAVES).spec.waves
    course = fold(given, FleetOf(waves=of_the_fleet), [group("a")], NOW)
    assert course.status.plan == of_the_fleet
    began = replace(given, status=course.status)
    assert begins(began, group("b", tier="0"), group("a"), fleet=FleetOf(waves=of_the_fleet[::-1])) == ["team/b"]


def test_without_any_waves_all_groups_are_in_one() -> None:
    course = fold(campaign(waves=[]), FLEET, [group("a")], NOW)
    began = replace(campaign(waves=[]), status=course.status)
    assert begins(began, group("a"), group("b", tier="0")) == ["team/a", "team/b"]


def test_what_is_in_no_wave_comes_last() -> None:
    waves = [CANARY]
    assert fold(campaign("canary", waves=waves), FLEET, [done("b", 601), group("a")], NOW).status.wave == "*"
    assert begins(campaign("*", waves=waves), done("b", 601), group("a")) == ["team/a"]


def test_what_is_said_of_it_is_in_the_words_of_people() -> None:
    before, waves = campaign("canary", waves=[CANARY]), [CANARY]
    after = report(before, fold(before, FLEET, [done("b", 601), group("a")], NOW), [done("b", 601), group("a")], NOW)
    assert [message for _, message, _ in news(before.status, after)][1:] == ["the rest begins"]
    wait = fold(campaign("*", waves=waves), FLEET, [done("b", 601), group("a")], NOW).wait
    assert wait is not None
    assert wait.message == "the rest: 1 group to come, 0 under way"


APPLIES: Final = {PinnedField.PROTOCOL_TARGET: "Consumer"}
APPLY: Final[dict[str, Any]] = {"action": {"applyDefaults": {"fields": ["protocol.target"]}}}


def test_a_campaign_of_defaults_gives_what_the_fleet_said_when_it_began() -> None:
    course = fold(campaign(**APPLY), FleetOf(applies=APPLIES), [group("a")], NOW)
    assert course.status.applies == APPLIES
    given = campaign("rest", {"applies": APPLIES}, **APPLY)
    order = fold(given, FleetOf(applies=APPLIES), [group("a")], NOW).order
    assert order is not None
    assert (order.applies, order.restart) == (APPLIES, "")


def test_a_fleet_that_gives_nothing_of_it_is_no_campaign() -> None:
    course = fold(campaign(**APPLY), FLEET, [group("a")], NOW)
    assert course.status.phase is CampaignPhase.PENDING
    assert "does not give protocol.target: write it into its spec.defaults" in course.refused


def test_a_fleet_that_says_something_else_in_the_middle_stops_it() -> None:
    """Nobody gets what was not tried in the waves before, nor what the fleet no longer says."""
    given = campaign("rest", {"applies": APPLIES}, **APPLY)
    other = FleetOf(applies={PinnedField.PROTOCOL_TARGET: "Cooperative"})
    course = fold(given, other, [group("a")], NOW)
    assert (course.may_begin, course.status.phase) == ((), CampaignPhase.HALTED)
    assert "no longer says what it said when the campaign began, of protocol.target" in course.refused


CHANGES: Final[dict[str, Any]] = {"action": {"changes": {}}}


def test_changes_wait_for_the_first_one_of_a_wave() -> None:
    """Prod would go first, where the change of the canaries comes a little later."""
    unnamed = group("b", Progress.DONE, "0", is_named=False)
    given = campaign("canary", **CHANGES)
    course = fold(given, FLEET, [unnamed, group("a")], NOW)
    assert (course.status.wave, course.status.phase) == ("canary", CampaignPhase.AWAITING_PROMOTION)
    assert course.waits == {"team/a"}
    assert fold(promoted(given), FLEET, [unnamed, group("a")], NOW).status.wave == "rest"
    assert fold(given, FLEET, [unnamed, done("c", 601), group("a")], NOW).status.wave == "rest"


@pytest.mark.parametrize(
    ("given", "groups", "expected"),
    [
        (campaign("canary"), [group("b", tier="0")], {"Accepted", "Progressing"}),
        (campaign("canary"), [FAILED], {"Accepted", "Halted"}),
        (campaign("canary", deadline="1h"), [group("b", tier="0")], {"Accepted", "Progressing", "Overdue"}),
        (campaign("rest"), [done("b", 601)], {"Accepted", "Succeeded"}),
        (campaign("canary", paused=True), [group("b", tier="0")], {"Accepted"}),
        (campaign(dryRun=True), [group("b", tier="0")], {"Accepted"}),
        (campaign(**APPLY), [group("b", tier="0")], set()),
    ],
    ids=["runs", "halted", "overdue", "done", "paused", "a dry run", "not accepted"],
)
def test_its_conditions(given: Campaign, groups: list[Participant], expected: set[str]) -> None:
    found = verdicts(given, fold(given, FLEET, groups, NOW), groups, NOW)
    assert [each.type for each in found] == list(CampaignConditionType)
    assert {each.type.value for each in found if each.status is ConditionStatus.TRUE} == expected


def test_its_counts() -> None:
    given = campaign("canary", maxFailures=1)
    alone = group("s", tier="0", obstacle=Obstacle(Skip.OWN_VALUE, "it says so"))
    groups = [done("b", 100), FAILED, group("m", Progress.MOVES, "0", begun_in="canary"), alone, group("a")]
    status = report(given, fold(given, FLEET, groups, NOW), groups, NOW)
    canary, rest = status.waves
    assert (canary.groups, canary.done, canary.failed, canary.skipped) == (4, 1, 1, 1)
    assert (canary.soak_until, rest.groups) == (None, 1)
    assert [each.group for each in status.failed_groups] == ["team/f"]
    soaks = report(given, fold(given, FLEET, [done("b", 100), group("a")], NOW), [done("b", 100), group("a")], NOW)
    assert soaks.waves[0].soak_until == datetime.fromtimestamp(NOW + 500, UTC)


def test_the_counts_of_one_that_is_over_stay() -> None:
    over = campaign("rest", {"phase": "Succeeded", "waves": [{"name": "canary", "groups": 4}]})
    assert report(over, fold(over, FLEET, [], NOW), [], NOW) == over.status

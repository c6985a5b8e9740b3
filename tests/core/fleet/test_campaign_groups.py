"""What a group's status and its pods show a campaign, and what keeps the campaign from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import CAMPAIGN, PAUSE
from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.fleet_campaign import Action, ApplyDefaults, FleetCampaignSpec
from slackwater.api.fleet_campaign_status import FleetCampaignStatus, Skip
from slackwater.api.fleet_defaults import PinnedField
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.campaign_groups import (
    KnownGroup,
    applies_of,
    participant_of,
)
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.layers import Giver, nearest
from slackwater.core.fleet.participants import Obstacle, Progress, Shown, done_at, progress_of
from slackwater.core.fleet.records import PREFIX, Record, record_of, with_begun, with_done, without_those_of_others
from slackwater.core.world.inherited import Pin
from slackwater.core.world.memory import RolloutPhase
from tests.api.manifests import consumer_group

BEGAN: Final = 1_000_000.4
RESTART, CHANGES, APPLY = (Action.model_validate({name: {}}) for name in ("restart", "changes", "applyDefaults"))
TARGET, POLLS = PinnedField.PROTOCOL_TARGET, PinnedField.MAX_POLL_INTERVAL
APPLIES: Final = {TARGET: "Consumer", POLLS: "10m"}
BEGUN: Final = with_begun({}, "uid-1", "canary")
DONE: Final = with_done(BEGUN, BEGAN + 60)
COMPLETE, ROLLS, FAILED = RolloutPhase.COMPLETE, RolloutPhase.PROGRESSING, RolloutPhase.FAILED
OLD: Final = Shown(COMPLETE, oldest_pod_at=BEGAN - 100)


@pytest.mark.parametrize(
    ("action", "shown", "expected"),
    [
        (RESTART, OLD, Progress.WAITS),
        (RESTART, replace(OLD, commands=BEGUN), Progress.MOVES),
        (RESTART, replace(OLD, oldest_pod_at=1_000_000.0), Progress.DONE),
        (RESTART, replace(OLD, oldest_pod_at=None), Progress.DONE),
        (RESTART, replace(OLD, phase=ROLLS), Progress.BUSY),
        (RESTART, replace(OLD, is_observed=False), Progress.BUSY),
        (RESTART, replace(OLD, is_upgrading=True), Progress.BUSY),
        (RESTART, replace(OLD, phase=ROLLS, commands=BEGUN), Progress.MOVES),
        (RESTART, replace(OLD, phase=FAILED, commands=BEGUN), Progress.FAILED),
        (RESTART, replace(OLD, phase=RolloutPhase.ROLLING_BACK, commands=BEGUN), Progress.FAILED),
        (RESTART, replace(OLD, phase=FAILED), Progress.WAITS),
        (RESTART, replace(OLD, phase=FAILED, commands=DONE), Progress.DONE),
        (RESTART, replace(OLD, phase=ROLLS, commands=DONE), Progress.DONE),
        (CHANGES, OLD, Progress.DONE),
        (CHANGES, replace(OLD, is_observed=False), Progress.BUSY),
        (CHANGES, replace(OLD, phase=ROLLS), Progress.WAITS),
        (CHANGES, replace(OLD, phase=RolloutPhase.ROLLING_BACK), Progress.WAITS),
        (CHANGES, replace(OLD, phase=ROLLS, commands=BEGUN), Progress.MOVES),
        (APPLY, OLD, Progress.WAITS),
        (APPLY, replace(OLD, pins={TARGET: "Consumer"}), Progress.WAITS),
        (APPLY, replace(OLD, pins={**APPLIES, PinnedField.SESSION: "30s"}), Progress.DONE),
        (APPLY, replace(OLD, pins=APPLIES, is_upgrading=True, commands=BEGUN), Progress.MOVES),
    ],
)
def test_how_far_a_group_is(action: Action, shown: Shown, expected: Progress) -> None:
    assert progress_of(action, shown, "uid-1", BEGAN, APPLIES) is expected


@pytest.mark.parametrize(
    ("shown", "progress", "expected"),
    [
        (replace(OLD, commands=DONE, turn_done_at=BEGAN + 900), Progress.DONE, BEGAN + 60),
        (replace(OLD, turn_done_at=BEGAN - 900), Progress.DONE, None),
        (replace(OLD, turn_done_at=BEGAN + 30, oldest_pod_at=BEGAN + 20), Progress.DONE, BEGAN + 30),
        (replace(OLD, turn_done_at=BEGAN + 30, commands=BEGUN), Progress.FAILED, BEGAN + 30),
        (replace(OLD, turn_done_at=BEGAN + 30, commands=BEGUN), Progress.MOVES, None),
    ],
    ids=["once for all", "before the campaign", "by a deploy in between", "failed", "under way"],
)
def test_since_when_it_is(shown: Shown, progress: Progress, expected: float | None) -> None:
    assert done_at(shown, progress, "uid-1", BEGAN) == expected


def test_a_record_that_no_operator_wrote_is_done() -> None:
    assert record_of({f"{PREFIX}c-1": "canary done some day"}, "c-1") == Record("canary", 0.0)


def test_records_of_two_campaigns_are_two() -> None:
    both = with_begun(with_done(with_begun({"slackwater.dev/retry": "t"}, "one", "canary"), 90.0), "two", "rest")
    assert (record_of(both, "one"), record_of(both, "two")) == (Record("canary", 90.0), Record("rest"))
    assert record_of(both, "three") is None
    assert with_begun(both, "one", "rest") == both, "it begins once"
    assert record_of(with_done(both, 99.0), "one") == Record("canary", 90.0)
    left = without_those_of_others(both, frozenset({"two"}))
    assert (record_of(left, "one"), record_of(left, "two")) == (None, Record("rest"))
    assert left["slackwater.dev/retry"] == "t"


def campaign(**spec: Any) -> Campaign:
    whole = {"fleetRef": {"name": "platform"}, "action": {"applyDefaults": {}}, **spec}
    status = FleetCampaignStatus.model_validate({"started_at": "2026-11-29T12:00:00Z"})
    return Campaign("slackwater", "run", "uid-1", FleetCampaignSpec.model_validate(whole), status)


def own(**spec: Any) -> Own:
    written = consumer_group(**spec)["spec"]
    return Own.of(ConsumerGroupSpec.model_validate(written, by_alias=True, by_name=False, context={"wire": True}))


PLATFORM: Final = Giver("slackwater", "platform", {name.value: value for name, value in APPLIES.items()}, generation=7)
TEAM: Final = Giver("team", "pay", {"timeouts.maxPollInterval": "1h"})
NOTHING: Final = KnownGroup("team/payments", own(), "g1", shown=OLD, given=nearest("team", [PLATFORM]))


def found(group: KnownGroup, applies: dict[PinnedField, Any] | None = None) -> Skip | None:
    part = participant_of(campaign(), group, APPLIES if applies is None else applies, BEGAN)
    assert part.obstacle is None or part.is_left_alone
    return None if part.obstacle is None else part.obstacle.skip


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (NOTHING, None),
        (replace(NOTHING, own=own(protocol={"target": "Cooperative"})), None),
        (
            replace(NOTHING, own=own(protocol={"target": "Cooperative"}, timeouts={"maxPollInterval": "9m"})),
            Skip.OWN_VALUE,
        ),
        (replace(NOTHING, own=own(timeouts={"session": "30s"})), Skip.REFUSED),
        (replace(NOTHING, shown=replace(OLD, phase=FAILED)), Skip.HAS_FAILED),
        (replace(NOTHING, annotations={PAUSE: ""}), Skip.PAUSED),
        (replace(NOTHING, shown=replace(OLD, lacks=("cache",))), Skip.VOLUME_CLAIMS_FIXED),
        (replace(NOTHING, way=Obstacle(Skip.BROKER_CANNOT, "too old")), Skip.BROKER_CANNOT),
        (replace(NOTHING, shown=replace(OLD, pins=APPLIES), way=Obstacle(Skip.CLIENT_CANNOT)), Skip.CLIENT_CANNOT),
        (replace(NOTHING, own=own(protocol={"target": "Eager"}), way=Obstacle(Skip.BROKER_CANNOT)), None),
        (replace(NOTHING, annotations={PAUSE: ""}, shown=replace(OLD, commands=BEGUN)), None),
    ],
    ids=[
        "says nothing",
        "says one of two",
        "says both",
        "the whole is refused",
        "has failed",
        "is paused",
        "lacks a volume",
        "cannot",
        "cannot, though a deploy has pinned it",
        "cannot, and would not",
        "has begun",
    ],
)
def test_what_keeps_a_campaign_from_a_group(group: KnownGroup, expected: Skip | None) -> None:
    assert found(group) is expected


def test_who_says_the_same_itself_is_done_and_not_skipped() -> None:
    same = replace(NOTHING, own=own(protocol={"target": "Consumer"}, timeouts={"maxPollInterval": "10m"}))
    part = participant_of(campaign(), same, APPLIES, BEGAN)
    assert (part.progress, part.obstacle) == (Progress.DONE, None)


def test_a_nearer_fleet_goes_first() -> None:
    group = replace(NOTHING, given=nearest("team", [PLATFORM, TEAM]))
    part = participant_of(campaign(), group, {POLLS: "10m"}, BEGAN)
    assert part.obstacle == Obstacle(Skip.NEARER_FLEET, "another fleet says: timeouts.maxPollInterval 1h by team/pay")
    assert found(group) is None, "the target is left to take up"


def test_what_is_pinned_already_is_done() -> None:
    pinned = replace(NOTHING, shown=replace(OLD, pins=APPLIES), pins={n: Pin(v, "x/y") for n, v in APPLIES.items()})
    assert participant_of(campaign(), pinned, APPLIES, BEGAN).progress is Progress.DONE


def test_what_is_not_known_is_waited_for() -> None:
    unknown = replace(NOTHING, way=Hold(Reason.BROKER_UNKNOWN, "the brokers have not told yet"))
    part = participant_of(campaign(), unknown, APPLIES, BEGAN)
    assert (part.progress, part.is_to_come, part.is_ready) == (Progress.BUSY, True, False)


@pytest.mark.parametrize(
    ("annotation", "is_named"), [("slackwater/run", True), ("run", False), ("", False), ("slackwater/gone", False)]
)
def test_whose_changes_are_ordered(annotation: str, is_named: bool) -> None:
    group = replace(NOTHING, annotations={CAMPAIGN: annotation})
    part = participant_of(campaign(action={"changes": {}}), group, {}, BEGAN)
    assert part.is_named is is_named


def test_what_a_campaign_applies_of_what_its_fleet_gives() -> None:
    says = {"protocol.target": "Consumer", "rollout.onFailure": "Rollback"}
    assert applies_of(ApplyDefaults(), says) == {TARGET: "Consumer"}
    assert applies_of(ApplyDefaults(fields=(POLLS,)), says) == {}
    assert applies_of(None, says) == {}

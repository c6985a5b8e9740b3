"""What fleets give groups that say nothing: in force at once, or pinned; and it restarts nobody."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from pydantic import BaseModel

from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.fleet_defaults import FleetDefaults, PinnedField
from slackwater.api.model import refusals
from slackwater.api.resources import ConsumerGroup
from slackwater.api.rollout import CanaryStep, MaxLag, OnFailure
from slackwater.api.structural import structural_schema
from slackwater.core.fleet.defaults import (
    Own,
    by_campaign,
    in_force,
    to_take_up,
    with_next_rollout,
    with_values,
    without_own,
)
from slackwater.core.fleet.explained import Around, Layer, Line, built_in, origins
from slackwater.core.fleet.layers import FIELDS, PARTS, PINNED, Giver, Said, nearest, overlapping, said_by
from slackwater.core.manifests.template import render_template
from slackwater.core.world.inherited import Pin, Pins
from slackwater.core.world.profile import Profile
from slackwater.core.world.settings import Setting
from tests.api.manifests import consumer_group
from tests.core.factories import BOOTSTRAP, group

TARGET, POLLS, SESSION = PinnedField.PROTOCOL_TARGET, PinnedField.MAX_POLL_INTERVAL, PinnedField.SESSION
PLATFORM: Final = "slackwater/platform"


def own(**spec: Any) -> Own:
    written = consumer_group(**spec)["spec"]
    return Own.of(ConsumerGroupSpec.model_validate(written, by_alias=True, by_name=False, context={"wire": True}))


def giver(name: str = PLATFORM, created_at: float = 0.0, **defaults: Any) -> Giver:
    model = FleetDefaults.model_validate(defaults, by_alias=True, by_name=False, context={"wire": True})
    namespace, _, plain = name.partition("/")
    return Giver(namespace, plain, said_by(model), created_at, generation=7)


def pins(fleet: str = PLATFORM, **values: Any) -> Pins:
    names = {"target": TARGET, "polls": POLLS, "session": SESSION}
    return {names[name]: Pin(value, fleet) for name, value in values.items()}


def leaves(model: type[BaseModel], path: str = "") -> set[str]:
    """Every field that may be written, by its path; one bound and one list of steps are one."""
    found = set[str]()
    for info in model.model_fields.values():
        here = f"{path}.{info.alias}".removeprefix(".")
        parts = [
            each for each in (info.annotation, *getattr(info.annotation, "__args__", ())) if isinstance(each, type)
        ]
        inner = [each for each in parts if issubclass(each, BaseModel) and each not in (MaxLag, CanaryStep)]
        found |= leaves(inner[0], here) if inner else {here}
    return found


def test_every_field_that_a_fleet_may_give_is_one_that_is_looked_at() -> None:
    assert leaves(FleetDefaults) == set(FIELDS)
    assert set(FleetDefaults.model_fields) == PARTS


GROUP: Final = group()


@pytest.mark.parametrize("path", FIELDS)
def test_what_is_not_pinned_changes_no_pod(path: str) -> None:
    """The template is what pods are made of: only a pinned field may change it."""
    value = {**VALUES, **OTHERS}[path]
    union = with_values(Own.of(GROUP.spec), {path: value})
    assert isinstance(union, ConsumerGroupSpec), union
    profile = Profile.CONSUMER if path == "protocol.target" else Profile.EAGER
    before = render_template(GROUP, BOOTSTRAP, Profile.EAGER).hash
    after = render_template(GROUP.model_copy(update={"spec": union}), BOOTSTRAP, profile).hash
    assert (before == after) or path in PINNED


VALUES: Final[dict[str, Any]] = {
    "protocol.target": "Consumer",
    "protocol.allowDowntime": True,
    "timeouts.session": "40s",
    "timeouts.heartbeat": "5s",
    "timeouts.maxPollInterval": "10m",
    "timeouts.maxPollRecords": 100,
}
OTHERS: Final[dict[str, Any]] = {
    "timeouts.mode": "Auto",
    "timeouts.consumer.session": "50s",
    "timeouts.consumer.heartbeat": "6s",
    "timeouts.objective.recoverWithin": "1m",
    "timeouts.objective.needlessRebalancesPerMonth": 2.0,
    "timeouts.warmUp": "90s",
    "rollout.strategy": "WarmHandover",
    "rollout.stableFor": "30s",
    "rollout.maxLag": {"growth": 1000},
    "rollout.rejoinTimeout": "10m",
    "rollout.maxUnavailable": "30%",
    "rollout.surgeTimeout": "1m",
    "rollout.handover": "Predictive",
    "rollout.onFailure": "Rollback",
    "rollout.canary": [{"replicas": 1, "hold": "10m"}],
}


def test_only_what_is_written_is_said() -> None:
    assert own().says == {}
    said = own(timeouts={"maxPollInterval": "9m", "consumer": {"session": "50s"}}, rollout={"onFailure": "Pause"}).says
    assert said == {"timeouts.maxPollInterval": "9m", "timeouts.consumer.session": "50s", "rollout.onFailure": "Pause"}
    assert own(rollout={"maxLag": {"growth": 5}}).says == {"rollout.maxLag": {"growth": 5}}


def test_the_nearest_that_says_something_counts_field_by_field() -> None:
    platform = giver(timeouts={"maxPollInterval": "10m"}, rollout={"onFailure": "Pause", "stableFor": "1m"})
    team = giver("team/pay", rollout={"onFailure": "Rollback"})
    found = nearest("team", [platform, team])
    assert {path: (each.value, each.by.key) for path, each in found.items()} == {
        "timeouts.maxPollInterval": ("10m", PLATFORM),
        "rollout.onFailure": ("Rollback", "team/pay"),
        "rollout.stableFor": ("1m", PLATFORM),
    }
    assert found["rollout.onFailure"].over == ((platform, "Pause"),)


@pytest.mark.parametrize(
    ("first", "other"),
    [(("a/z", 1.0), ("a/a", 2.0)), (("a/a", 1.0), ("a/b", 1.0))],
    ids=["the older", "then by name"],
)
def test_two_of_one_layer(first: tuple[str, float], other: tuple[str, float]) -> None:
    one = giver(*first, rollout={"onFailure": "Rollback"})
    two = giver(*other, rollout={"onFailure": "Pause"})
    for givers in ([one, two], [two, one]):
        assert nearest("team", givers)["rollout.onFailure"].by is one
        assert overlapping("team", givers) == {one.key, two.key}


def test_fleets_overlap_only_in_one_layer_and_where_they_differ() -> None:
    platform = giver(rollout={"onFailure": "Rollback"})
    assert overlapping("team", [platform, giver("team/pay", rollout={"onFailure": "Pause"})]) == frozenset()
    assert overlapping("team", [platform, giver("slackwater/two", rollout={"onFailure": "Rollback"})]) == frozenset()
    assert overlapping("team", [platform, giver("slackwater/two", rollout={"stableFor": "1s"})]) == frozenset()


def test_what_needs_no_restart_is_in_force_at_once_and_the_rest_is_not() -> None:
    given = nearest("team", [giver(timeouts={"maxPollInterval": "10m"}, rollout={"onFailure": "Rollback"})])
    found = in_force(own(), given, {})
    assert (found.spec.rollout.on_failure, found.spec.timeouts.max_poll_interval_ms) == (OnFailure.ROLLBACK, None)
    assert found.refused == ""


def test_what_is_pinned_stays_whatever_fleets_say_by_now() -> None:
    for given in ({}, nearest("team", [giver(timeouts={"maxPollInterval": "20m"})])):
        found = in_force(own(), given, pins(polls="10m"))
        assert found.spec.timeouts.max_poll_interval_ms == 600_000


def test_the_groups_own_word_goes_first() -> None:
    said = own(timeouts={"maxPollInterval": "9m"}, rollout={"onFailure": "Pause"})
    given = nearest("team", [giver(timeouts={"maxPollInterval": "10m"}, rollout={"onFailure": "Rollback"})])
    found = in_force(said, given, pins(polls="10m"))
    assert found.spec == said.spec


def test_the_next_rollout_takes_along_what_fleets_say_by_now() -> None:
    given = nearest("team", [giver(protocol={"target": "Consumer"}, rollout={"onFailure": "Rollback"})])
    renewed = with_next_rollout(own(), given, pins(polls="10m"), frozenset({PLATFORM}))
    assert renewed.pins == pins(target="Consumer"), "what its fleet no longer says goes"
    kept = with_next_rollout(own(), given, pins("team/gone", polls="10m"), frozenset({PLATFORM}))
    assert kept.pins == {**pins(target="Consumer"), **pins("team/gone", polls="10m")}, "a deleted fleet leaves its pins"


def test_what_the_group_says_itself_is_not_pinned() -> None:
    said = own(timeouts={"maxPollInterval": "9m"})
    given = nearest("team", [giver(timeouts={"maxPollInterval": "10m"})])
    assert with_next_rollout(said, given, pins(polls="10m"), frozenset({PLATFORM})).pins == {}
    assert without_own(said, pins(polls="10m", target="Eager")) == pins(target="Eager")


def test_what_is_refused_leaves_the_pins_and_says_why() -> None:
    said = own(timeouts={"session": "30s"})
    given = nearest("team", [giver(protocol={"target": "Consumer"})])
    renewed = with_next_rollout(said, given, pins(polls="10m"), frozenset({PLATFORM}))
    assert renewed.pins == pins(polls="10m")
    assert renewed.refused.startswith(
        f"what is given by ConsumerFleet {PLATFORM} does not go with what the group says itself: spec.timeouts: with"
        " protocol.target Consumer the broker keeps session and heartbeat"
    )
    assert in_force(said, given, renewed.pins).spec.timeouts.max_poll_interval_ms == 600_000


def test_of_two_parts_that_do_not_go_together_the_pins_stay() -> None:
    """Pods run by them."""
    given = nearest("team", [giver(rollout={"strategy": "WarmHandover", "onFailure": "Rollback"})])
    found = in_force(own(), given, pins(target="Consumer"))
    assert (found.spec.protocol.target, found.spec.rollout.strategy) == ("Consumer", "InPlace")
    assert "a warm handover needs static members of the classic protocol" in found.refused


def test_what_a_group_says_by_now_overrules_pins_that_do_not_go_with_it() -> None:
    said = own(timeouts={"session": "30s"})
    given = nearest("team", [giver(rollout={"onFailure": "Rollback"})])
    found = in_force(said, given, pins(target="Consumer"))
    assert (found.spec.protocol.target, found.spec.rollout.on_failure) == (None, OnFailure.ROLLBACK)
    assert found.refused


def test_a_campaign_changes_what_it_is_about() -> None:
    renewed = by_campaign(own(), {}, pins(polls="10m"), {TARGET: "Consumer"}, PLATFORM)
    assert renewed.pins == pins(polls="10m", target="Consumer")
    applies = {TARGET: "Consumer", POLLS: "1m"}
    assert to_take_up(own(protocol={"target": "Eager"}), {}, applies, PLATFORM) == {POLLS: "1m"}


def test_explained_layer_by_layer() -> None:
    platform = giver(
        protocol={"target": "Consumer"}, timeouts={"maxPollInterval": "10m"}, rollout={"onFailure": "Pause"}
    )
    team = giver("team-pay/pay", rollout={"onFailure": "Rollback"})
    given = nearest("team-pay", [platform, team])
    said = own(protocol={"target": "Cooperative"})
    found = lines(said, given)
    target, polls, on_failure = found["protocol.target"], found["timeouts.maxPollInterval"], found["rollout.onFailure"]
    assert target == Line("protocol.target", "Cooperative", Layer.GROUP, over=((PLATFORM, "Consumer"),))
    assert (polls.value, polls.layer, polls.over) == ("5m", Layer.BUILT_IN, ())
    assert polls.comes is not None
    assert (polls.comes.value, polls.comes.by.key, polls.comes.by.generation) == ("10m", PLATFORM, 7)
    assert (on_failure.value, on_failure.fleet, on_failure.over) == ("Rollback", "team-pay/pay", ((PLATFORM, "Pause"),))
    pinned = lines(said, given, pins(polls="10m"))["timeouts.maxPollInterval"]
    assert (pinned.value, pinned.layer, pinned.fleet, pinned.comes) == ("10m", Layer.FLEET, PLATFORM, None)
    kept = lines(said, given, pins("team/gone", polls="7m"))["timeouts.maxPollInterval"]
    assert (kept.value, kept.layer, kept.fleet, kept.goes) == ("7m", Layer.KEPT, "team/gone", False)
    assert kept.comes is not None


def lines(said: Own, given: Any, pinned: Pins | None = None, living: frozenset[str] = frozenset()) -> dict[str, Line]:
    return {line.field: line for line in origins(said, given, pinned or {}, Around(living)).lines}


def test_every_setting_has_its_line() -> None:
    assert set(lines(own(), {})) == set(FIELDS)


def test_what_a_fleet_no_longer_says_goes_with_the_next_rollout_and_what_one_said_that_is_gone_stays() -> None:
    polls = "timeouts.maxPollInterval"
    gone, lives = (lines(own(), {}, pins(polls="7m"), living)[polls] for living in (frozenset(), frozenset({PLATFORM})))
    assert gone == Line(polls, "7m", Layer.KEPT, PLATFORM)
    assert lives == Line(polls, "7m", Layer.KEPT, PLATFORM, goes=True)


def test_a_fleet_that_says_nothing_by_now_and_another_that_does() -> None:
    given = nearest("team", [giver(timeouts={"maxPollInterval": "10m"})])
    line = lines(own(), given, pins("team/other", polls="7m"), frozenset({"team/other", PLATFORM}))
    assert line["timeouts.maxPollInterval"] == Line(
        "timeouts.maxPollInterval", "7m", Layer.KEPT, "team/other", comes=given["timeouts.maxPollInterval"]
    )


def test_what_is_refused_is_in_force_nowhere_and_does_not_come() -> None:
    given = nearest("team", [giver(protocol={"target": "Consumer"}, rollout={"stableFor": "20s"})])
    found = origins(own(timeouts={"session": "30s"}), given, {}, Around(frozenset({PLATFORM})))
    target, stable = (line for line in found.lines if line.field in ("protocol.target", "rollout.stableFor"))
    assert target == Line("protocol.target", None, Layer.BUILT_IN, over=((PLATFORM, "Consumer"),))
    assert (stable.value, stable.layer) == ("20s", Layer.FLEET)
    assert "what is given by ConsumerFleet slackwater/platform does not go with what the group says" in found.refused


def test_recommended_timeouts_count_where_nobody_says_anything() -> None:
    given = nearest("team", [giver(timeouts={"maxPollInterval": "10m"})])
    adopted = {Setting.SESSION: 30_000, Setting.MAX_POLL_INTERVAL: 60_000, Setting.CONSUMER_SESSION: 20_000}
    found = origins(own(), given, pins(polls="10m"), Around(frozenset({PLATFORM})), adopted)
    said = {line.field: (line.value, line.layer) for line in found.lines}
    assert said["timeouts.session"] == ("30s", Layer.RECOMMENDED)
    assert said["timeouts.consumer.session"] == ("20s", Layer.RECOMMENDED)
    assert said["timeouts.maxPollInterval"] == ("10m", Layer.FLEET)
    assert said["timeouts.heartbeat"] == ("3s", Layer.BUILT_IN)


def test_a_heartbeat_that_nobody_gives_fits_into_the_session() -> None:
    assert lines(own(timeouts={"session": "6s"}), {})["timeouts.heartbeat"].value == "2s"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("timeouts.session", "45s"),
        ("timeouts.heartbeat", "3s"),
        ("timeouts.maxPollInterval", "5m"),
        ("timeouts.maxPollRecords", None),
        ("timeouts.consumer.session", None),
        ("protocol.allowDowntime", False),
        ("rollout.stableFor", "10s"),
        ("rollout.canary", None),
        ("rollout.maxLag", None),
        ("rollout.onFailure", "Pause"),
    ],
)
def test_what_holds_where_nobody_says_anything(path: str, expected: Any) -> None:
    assert built_in(path) == expected


SAID: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"timeouts": {"session": "30s"}},
    {"protocol": {"target": "Consumer"}},
    {"membership": "Dynamic"},
)


def some(draw: Random, fields: dict[str, Any]) -> Said:
    return {path: value for path, value in fields.items() if draw.random() < 0.4}


@drawn(st.randoms(use_true_random=False))
def test_whatever_fleets_give_the_group_keeps_its_word_and_its_rules_hold(draw: Random) -> None:
    group = own(**draw.choice(SAID))
    givers = [
        Giver(draw.choice(["team", "slackwater"]), f"f{n}", some(draw, {**VALUES, **OTHERS}), draw.random())
        for n in range(draw.randint(0, 3))
    ]
    given = nearest("team", givers)
    before = {PinnedField(path): Pin(value, "x/y") for path, value in some(draw, VALUES).items()}
    pinned = with_next_rollout(group, given, before, frozenset()).pins
    for now in (before, pinned):
        found = in_force(group, given, now)
        assert refusals(found.spec) == ()
        says = said_by(found.spec)
        assert {path: says.get(path) for path in group.says} == group.says
        assert found.refused or all(says[name] == pin.value for name, pin in now.items() if name not in group.says)
    assert not with_next_rollout(group, given, pinned, frozenset()).refused or pinned == without_own(group, before)


@drawn(st.randoms(use_true_random=False))
def test_no_fleet_restarts_anybody(draw: Random) -> None:
    """Whatever fleets come, change or go: until the next rollout, pods are made of the same."""
    given = nearest("team", [Giver("slackwater", "one", some(draw, {**VALUES, **OTHERS}))])
    pinned = with_next_rollout(own(), given, {}, frozenset()).pins
    other = nearest("team", [Giver("slackwater", "two", some(draw, {**VALUES, **OTHERS}))])
    made_of = {path: said_by(in_force(own(), each, pinned).spec).get(path) for each in (given,) for path in PINNED}
    for each in ({}, other):
        found = in_force(own(), each, pinned)
        assert {path: said_by(found.spec).get(path) for path in PINNED} == made_of


def test_the_type_writes_none_of_them_into_an_object() -> None:
    """Or nobody could tell a group that says so from one that says nothing (decision 18)."""
    spec = structural_schema(ConsumerGroup)["properties"]["spec"]
    for path in FIELDS:
        node = spec
        for part in path.split("."):
            node = node["properties"][part]
            assert "default" not in node, path

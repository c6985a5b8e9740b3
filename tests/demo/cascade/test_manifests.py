"""What each mode applies is what the product's own models read; only the way of deploying differs."""

from __future__ import annotations

from typing import Any

import pytest

from demo.cascade import manifests, modes
from demo.cascade.modes import GROUPS, MODES, Mode
from slackwater.api.fleet_budgets import CountedPer
from slackwater.api.parsing import parse_consumer_fleet, parse_consumer_group
from slackwater.core.manifests.client_settings import settings
from slackwater.core.world.profile import Profile
from tests.demo.cascade.samples import BY_NAME, CAST

SERVERS = "broker:9092"
INSTANCE_ID, ORDINAL = "KAFKA_GROUP_INSTANCE_ID", "SLACKWATER_ORDINAL"
OURS = [mode for mode in MODES if mode.runs_on_operator]


def applied(mode: str, version: str = modes.FIRST) -> list[dict[str, Any]]:
    return manifests.groups(BY_NAME[mode], CAST, version, SERVERS)


def container(workload: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = workload["spec"]["template"]["spec"]["containers"][0]
    return found


def environment(workload: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container(workload)["env"]}


@pytest.mark.parametrize("mode", OURS, ids=lambda mode: mode.name)
@pytest.mark.parametrize("version", [modes.FIRST, modes.SECOND])
def test_the_operator_reads_every_group_as_it_is_meant(mode: Mode, version: str) -> None:
    found = [parse_consumer_group(each) for each in manifests.groups(mode, CAST, version, SERVERS)]
    assert [(group.name, group.group_id) for group in found] == [(each.name, each.group_id) for each in CAST.groups]
    assert {group.spec.replicas for group in found} == {modes.MEMBERS}


def test_a_mode_has_a_fleet_where_its_name_says_so() -> None:
    assert [mode.name for mode in MODES if manifests.fleet(mode)] == ["coordinators-1", "quarter", "bad-image-fleet"]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.fleet is not None], ids=lambda mode: mode.name)
def test_the_operator_reads_every_fleet_and_it_selects_all(mode: Mode) -> None:
    (found,) = manifests.fleet(mode)
    spec = parse_consumer_fleet(found).spec
    assert spec.selector.matches({})
    assert len(spec.budgets) == 1


def test_fleets_limit_what_the_modes_are_named_for() -> None:
    def budget(mode: str) -> Any:
        (found,) = manifests.fleet(BY_NAME[mode])
        return parse_consumer_fleet(found).spec

    by_coordinator = budget("coordinators-1").budgets[0]
    assert (by_coordinator.per, by_coordinator.max) == (CountedPer.COORDINATOR, 1)
    quarter = budget("quarter").budgets[0]
    assert (quarter.per, quarter.max, quarter.spacing_ms) == (CountedPer.FLEET, "25%", 5000)
    assert budget("bad-image-fleet").halt.failures == 0


def test_the_second_apply_changes_the_version_and_in_bad_modes_the_image_as_well() -> None:
    for mode in MODES:
        for before, after in zip(applied(mode.name), applied(mode.name, modes.SECOND), strict=True):
            changed = {name for name, value in environment(after).items() if environment(before)[name] != value}
            assert changed == {"VERSION"}
            assert (container(after)["image"] == manifests.BAD_IMAGE) == mode.bad_image
            assert container(before)["image"] != manifests.BAD_IMAGE


def test_plain_modes_have_by_hand_what_the_operator_sets() -> None:
    ours, plain = applied("no-fleet")[0], applied("statefulsets")[0]
    group = parse_consumer_group(ours)
    by_operator = {entry["name"]: entry.get("value") for entry in settings(group, SERVERS, Profile.EAGER)}
    by_hand = environment(plain)
    assert by_hand.pop(INSTANCE_ID)["fieldRef"]["fieldPath"] == "metadata.name"
    del by_operator[INSTANCE_ID]
    wanted = {name: value for name, value in by_operator.items() if value is not None and name != ORDINAL}
    assert {name: by_hand.get(name) for name in wanted} == wanted
    assert wanted.keys() == {name for name in by_hand if name.startswith("KAFKA_")}


def test_only_deployments_have_dynamic_members() -> None:
    assert INSTANCE_ID not in environment(applied("deployments")[0])
    assert {each["kind"] for each in applied("deployments")} == {"Deployment"}
    assert {each["kind"] for each in applied("statefulsets")} == {"StatefulSet"}


def test_bystanders_and_load_are_the_same_in_every_mode() -> None:
    around = manifests.bystanders(CAST, SERVERS)
    assert [each["metadata"]["name"] for each in around] == [each.name for each in CAST.bystanders]
    assert {each["spec"]["replicas"] for each in around} == {modes.BYSTANDER_MEMBERS}
    assert all(INSTANCE_ID not in environment(each) for each in around)
    producers = manifests.load(CAST, SERVERS)["spec"]["template"]["spec"]["containers"]
    assert [each["command"][each["command"].index("--topic") + 1] for each in producers] == list(CAST.topics)


def test_every_mode_gets_twelve_templates() -> None:
    assert {len(applied(mode.name, modes.SECOND)) for mode in MODES} == {GROUPS}

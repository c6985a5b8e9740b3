"""All modes get the same consumers and the same group settings: only the way of rolling out differs."""

from __future__ import annotations

from typing import Any

import pytest

from demo import manifests, modes
from demo.modes import MODES, Kind, Mode
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.core.manifests.client_settings import settings
from slackwater.core.world.profile import Profile

SERVERS = "broker:9092"
INSTANCE_ID, ORDINAL = "KAFKA_GROUP_INSTANCE_ID", "SLACKWATER_ORDINAL"


def environment(container: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container["env"]}


def workload(mode: Mode, version: str = modes.FIRST) -> dict[str, Any]:
    return manifests.consumers(mode, version, SERVERS)


def container(mode: Mode, version: str = modes.FIRST) -> dict[str, Any]:
    found: dict[str, Any] = workload(mode, version)["spec"]["template"]["spec"]["containers"][0]
    return found


def test_the_operator_accepts_what_the_demo_applies() -> None:
    assert parse_kafka_connection(manifests.connection(SERVERS)).spec.bootstrap_servers == SERVERS
    assert parse_consumer_group(workload(modes.SLACKWATER)).group_id == modes.SLACKWATER.workload


def test_plain_modes_have_by_hand_what_the_operator_sets() -> None:
    group = parse_consumer_group(workload(modes.SLACKWATER))
    by_operator = {entry["name"]: entry.get("value") for entry in settings(group, SERVERS, Profile.EAGER)}
    by_hand = environment(container(modes.STATEFUL_SET))
    assert by_hand.pop(INSTANCE_ID)["fieldRef"]["fieldPath"] == "metadata.name"
    assert by_operator.pop(INSTANCE_ID) == f"{group.name}-$({ORDINAL})"
    assert {name: by_hand[name] for name in by_operator if by_operator[name] is not None} == {
        **{name: value for name, value in by_operator.items() if value is not None},
        "KAFKA_GROUP_ID": modes.STATEFUL_SET.workload,
    }
    assert by_operator.keys() - {ORDINAL} == {name for name in by_hand if name.startswith("KAFKA_")}


def test_dynamic_members_lack_only_their_instance_id() -> None:
    dynamic, static = environment(container(modes.DEPLOYMENT)), environment(container(modes.STATEFUL_SET))
    assert static.keys() - dynamic.keys() == {"KAFKA_GROUP_INSTANCE_ID"}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.upgrade is None], ids=lambda mode: mode.name)
def test_the_versions_differ_in_their_number_and_in_joining(mode: Mode) -> None:
    before, after = environment(container(mode, modes.FIRST)), environment(container(mode, modes.SECOND))
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    assert changed == {"VERSION": modes.SECOND, **({"NEVER_JOIN": "1"} if mode.bad_version else {})}


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.upgrade is not None], ids=lambda mode: mode.name)
def test_an_upgrade_changes_the_target_and_no_pod_template(mode: Mode) -> None:
    assert mode.upgrade is not None
    before, after = workload(mode, modes.FIRST), workload(mode, modes.SECOND)
    assert [parse_consumer_group(each).spec.protocol.target for each in (before, after)] == [
        mode.upgrade.origin,
        mode.upgrade.target,
    ]
    assert before["spec"]["template"] == after["spec"]["template"]


def test_nothing_is_shared_between_modes() -> None:
    names = [name for mode in MODES for name in (mode.workload, mode.deliveries_topic)]
    assert len(set(names)) == len(names)


def test_only_the_statefulset_modes_keep_their_pods_names() -> None:
    assert [mode.name for mode in MODES if mode.kind is Kind.DEPLOYMENT] == ["deployment"]
    assert workload(modes.STATEFUL_SET)["kind"] == "StatefulSet"

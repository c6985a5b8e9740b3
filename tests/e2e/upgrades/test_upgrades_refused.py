"""Targets that a library, a broker or a group does not allow: said once, with the way out, and nothing is touched."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.e2e.stage.audit import all_writes
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_own_assignor
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrades import DEADLINE_S, RDKAFKA, events_of, has_arrived, wait_parked, with_target

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

OLD_RDKAFKA = {"library": "Librdkafka", "version": "2.11.1"}
SILENT_RDKAFKA = {"library": "Librdkafka"}
GO = {"library": "FranzGo", "version": "1.20"}
OTHER = {"library": "Other"}
STRANGER = "somebody-else"


@dataclass(frozen=True)
class Wish:
    """A group of one pod, asked for a target that it cannot be taken to; and what is said about it."""

    client: Mapping[str, str]
    has: str | None
    target: str
    reason: str
    way_out: str

    def group(self, stage: Stage, name: str) -> Json:
        protocol = {"target": self.has} if self.has else {}
        return stage.group(name, replicas=1, client=self.client, protocol=protocol)


WISHES = {
    "go-to-consumer": Wish(GO, "Eager", "Consumer", "ClientCannot", "set protocol.target to Eager or Cooperative"),
    "old-to-consumer": Wish(OLD_RDKAFKA, "Eager", "Consumer", "ClientCannot", "2.12 or newer"),
    "of-no-version": Wish(SILENT_RDKAFKA, "Eager", "Consumer", "ClientVersionUnknown", "set client.version"),
    "of-no-profile": Wish(OTHER, None, "Cooperative", "SettingsProfileMissing", "protocol.profiles"),
    "roundrobin": Wish(RDKAFKA, None, "Cooperative", "AssignorUnexpected", "roundrobin"),
    "mixed": Wish(RDKAFKA, "Eager", "Cooperative", "MixedAssignorsUnsupported", "protocol.allowDowntime"),
    "sticky": Wish(RDKAFKA, "Cooperative", "Consumer", "AssignorKeepsData", "protocol.allowDowntime"),
    "joined": Wish(RDKAFKA, "Eager", "Consumer", "ForeignMembers", STRANGER),
}


@dataclass(frozen=True)
class Refused:
    """The groups as they are while their targets are refused; `asked_at`: seconds since the epoch."""

    groups: dict[str, Json]
    pods: dict[str, list[Json]]
    conditions: dict[str, list[Json]]
    asked_at: float
    stranger: ExitStack
    """Closed, it lets the stranger in `joined` go."""


@pytest.fixture(scope="module")
def refused(stage: Stage) -> Iterator[Refused]:
    groups = {name: wish.group(stage, name) for name, wish in WISHES.items()}
    groups["roundrobin"] = with_own_assignor(groups["roundrobin"], "roundrobin")
    stage.create(*groups.values())
    groups["sticky"] = _scaled_up(stage, groups["sticky"])
    with ExitStack() as stranger:
        stranger.enter_context(stage.kafka.foreign_member(stage.group_id("joined"), stage.topic, STRANGER))
        wait_for("the stranger", lambda: len(stage.kafka.look(stage.group_id("joined")).members) == 2)
        for name in WISHES:
            wait_parked(stage, name)
            stage.cluster.wait_condition(name, "Ready", "True")  # counts of Ready pods are told a look before members
            stage.cluster.wait_condition(name, "GroupStable", "True")
        pods = {name: stage.cluster.pods(name) for name in WISHES}
        before = {name: stage.cluster.status(name)["conditions"] for name in WISHES}
        asked_at = time.time()
        stage.cluster.apply(*(with_target(groups[name], wish.target) for name, wish in WISHES.items()))
        for name, wish in WISHES.items():
            stage.cluster.wait_condition(name, "ProtocolUpgrade", "False", wish.reason)
        stage.look_again(*WISHES)
        yield Refused(groups, pods, before, asked_at, stranger)


def _scaled_up(stage: Stage, group: Json) -> Json:
    """To two pods: a second rebalance, with which librdkafka's cooperative-sticky puts its data into assignments."""
    wanted = {**group, "spec": {**group["spec"], "replicas": 2}}
    stage.cluster.apply(wanted)
    wait_for("two members", lambda: len(stage.kafka.look(stage.group_id(group["metadata"]["name"])).members) == 2)
    stage.cluster.wait_complete(group["metadata"]["name"])
    return wanted


@pytest.mark.parametrize("name", WISHES)
def test_it_is_said_once_with_the_way_out(stage: Stage, refused: Refused, name: str) -> None:
    wish = WISHES[name]
    said = stage.cluster.condition(name, "ProtocolUpgrade")
    assert wish.way_out in said["message"]
    told = [e for e in events_of(stage, name, refused.asked_at) if e["reason"] == wish.reason]
    assert [(e["type"], e["message"], e["count"]) for e in told] == [("Warning", said["message"], 1)]


def test_nothing_is_touched(stage: Stage, refused: Refused) -> None:
    writes = all_writes(stage.cluster.namespace, refused.asked_at)
    assert {write.resource for write in writes} <= {"consumergroups/status", "events", "kafkaconnections/status"}
    for name, pods in refused.pods.items():
        assert [_identity(pod) for pod in stage.cluster.pods(name)] == [_identity(pod) for pod in pods]


@pytest.mark.parametrize("name", [name for name in WISHES if name != "joined"])
def test_it_is_one_condition(stage: Stage, refused: Refused, name: str) -> None:
    """(Strangers are told by two: they stand in the way of every restart.)"""
    now = {c["type"]: (c["status"], c["reason"]) for c in stage.cluster.status(name)["conditions"]}
    before = {c["type"]: (c["status"], c["reason"]) for c in refused.conditions[name]}
    assert {kind for kind in now if now[kind] != before[kind]} == {"ProtocolUpgrade"}


def test_set_back_it_is_forgotten(stage: Stage, refused: Refused) -> None:
    stage.cluster.apply(refused.groups["mixed"])
    stage.cluster.wait_condition("mixed", "ProtocolUpgrade", "False", "ProtocolAsWanted")
    assert [_identity(pod) for pod in stage.cluster.pods("mixed")] == [_identity(pod) for pod in refused.pods["mixed"]]


def test_it_goes_on_when_the_stranger_has_left(stage: Stage, refused: Refused) -> None:
    refused.stranger.close()
    arrived = stage.recorder.first(
        "joined on its target",
        "consumergroups",
        lambda obj: bool(obj["metadata"]["name"] == "joined" and has_arrived(obj, "Consumer")),
        refused.asked_at,
        DEADLINE_S,
    )
    assert arrived.obj["status"]["group"]["type"] == "Consumer"


def _identity(pod: Json) -> tuple[str, list[int]]:
    return pod["metadata"]["uid"], [status["restartCount"] for status in pod["status"]["containerStatuses"]]

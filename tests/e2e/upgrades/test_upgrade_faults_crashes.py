"""The operator killed after each write that any strategy makes, to the cluster or to Kafka: all groups get there.

One group for each way, all at once under one operator, which dies after every write once and starts again.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import pytest

from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from tests.e2e.faults.dying import KAFKA_WRITES
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS
from tests.e2e.stage.kafka import Lookout
from tests.e2e.stage.pod_logs import PodLogs
from tests.e2e.stage.progress import incarnations, pods_of
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrade_faults import (
    REFUSED,
    Fault,
    Moment,
    Played,
    Scenario,
    has_ended,
    profiles_together,
    taken_down,
    what_is_seen,
)
from tests.e2e.upgrades.upgrade_ways import WAYS, aiming_at, group_before, profile_of

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(7), pytest.mark.timeout(2700)]

DEADLINE_S: Final = 2400.0
SCENARIOS: Final = tuple(Scenario(way, Moment.STEP_1, Fault.NONE) for way in WAYS)


@dataclass(frozen=True)
class Survived:
    played: dict[str, Played]
    deaths: list[str]
    logs: PodLogs


@pytest.fixture(scope="module")
def survived(stage: Stage) -> Iterator[Survived]:
    groups = {each.name: _group_before(stage, each) for each in SCENARIOS}
    deaths = stage.operator.log.with_name("deaths")
    deaths.unlink(missing_ok=True)
    with ExitStack() as stack:
        logs = stack.enter_context(PodLogs(stage.cluster.api, stage.recorder, stage.cluster.namespace))
        stage.create(*groups.values())
        stage.operator.kill()
        lookouts = {name: stack.enter_context(Lookout(stage.kafka, stage.group_id(name))) for name in groups}
        began = time.time()
        stage.cluster.apply(*(aiming_at(groups[each.name], each.way, each.way.target) for each in SCENARIOS))
        stage.operator.start(DEATHS=str(deaths))
        wait_for("the end of all", lambda: _all_have_ended(stage), DEADLINE_S, lambda: _those_on_their_way(stage))
        stage.operator.kill()
        stage.operator.start()
        stage.operator.wait_ready()
        stage.wait_first_passes(len(SCENARIOS))
        played = {each.name: _played(stage, each, began, lookouts[each.name]) for each in SCENARIOS}
        yield Survived(played, deaths.read_text().splitlines(), logs)


def _group_before(stage: Stage, scenario: Scenario) -> Json:
    """Members that a drain takes out are there until it does, however long an operator that dies all the time takes."""
    group = group_before(stage, scenario.name, scenario.way)
    sessions = {"timeouts": {"session": "20m", "maxPollInterval": "20m"}} if scenario.way.drains else {}
    return {**group, "spec": {**group["spec"], **sessions}}


def _all_have_ended(stage: Stage) -> bool:
    return all(has_ended(stage, each) and _is_parked(stage, each.name) for each in SCENARIOS)


def _is_parked(stage: Stage, name: str) -> bool:
    """The last write of all holds every pod where it is."""
    spec = (stage.cluster.get("sts", name) or {})["spec"]
    return bool(spec["updateStrategy"]["rollingUpdate"]["partition"] == spec["replicas"])


def _those_on_their_way(stage: Stage) -> list[str]:
    return [
        what_is_seen(stage, each)
        for each in SCENARIOS
        if not has_ended(stage, each) or not _is_parked(stage, each.name)
    ]


def _played(stage: Stage, scenario: Scenario, began: float, lookout: Lookout) -> Played:
    return Played(
        scenario,
        began=began,
        ended=time.time(),
        sightings=lookout.sightings(began),
        pods=pods_of(stage.recorder.records("pods"), scenario.name),
        at_the_end=stage.cluster.pods(scenario.name),
    )


def test_every_method_that_writes_to_kafka_is_deadly() -> None:
    """A new one would escape."""
    methods = {name for name, _ in inspect.getmembers(KafkaGroupAdmin, inspect.isfunction) if not name.startswith("_")}
    assert methods == set(KAFKA_WRITES)


@pytest.mark.long  # `make crashes`
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.way.name)
class TestEachWay:
    def test_ends_where_it_was_to_go(self, survived: Survived, scenario: Scenario) -> None:
        played = survived.played[scenario.name]
        assert [profile_of(pod) for pod in played.at_the_end] == [scenario.target] * REPLICAS
        last = played.sightings[-1]
        assert ((last.kind, last.assignor), last.owned) == (scenario.way.shows, PARTITIONS)

    def test_each_pod_is_made_again_once_for_each_step(self, survived: Survived, scenario: Scenario) -> None:
        made = incarnations(survived.played[scenario.name].pods, scenario.name)
        assert {name: len(uids) - 1 for name, uids in made.items()} == {
            f"{scenario.name}-{ordinal}": scenario.way.steps for ordinal in range(REPLICAS)
        }

    def test_no_members_meet_without_a_common_protocol(self, survived: Survived, scenario: Scenario) -> None:
        assert survived.logs.lines(scenario.name, REFUSED) == []
        together = profiles_together(survived.played[scenario.name].pods)
        assert not any(profiles >= {"Eager", "Cooperative"} for profiles in together)

    def test_one_pod_at_a_time(self, survived: Survived, scenario: Scenario) -> None:
        if not scenario.way.drains:
            assert max(len(pods) for pods in taken_down(survived.played[scenario.name])) == 1

    def test_the_operator_died_after_each_of_its_writes(self, survived: Survived, scenario: Scenario) -> None:
        """To the StatefulSet: in each step one that takes the template up and one for each pod, and one that parks it;
        in a drain one that stops and one that starts."""
        name = scenario.name
        writes = [line for line in survived.deaths if line.startswith(f"apply StatefulSet {name} ")]
        assert len(writes) == (3 if scenario.way.drains else scenario.way.steps * (1 + REPLICAS) + 1), writes
        if scenario.way.drains:
            assert [line for line in survived.deaths if line.startswith("remove_members") and name in line]

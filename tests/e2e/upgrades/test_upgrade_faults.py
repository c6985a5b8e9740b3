"""A pod killed, a pod evicted, a scale-up, a scale-down, a template change, a rollback, another target: each in the
middle of every step of every strategy. No members meet that have no protocol in common, and each group ends where it
was to go.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from tests.e2e.stage.pod_logs import PodLogs
from tests.e2e.stage.stage import Stage
from tests.e2e.upgrades.upgrade_faults import (
    REFUSED,
    Fault,
    Moment,
    Played,
    Scenario,
    play,
    profiles_together,
    taken_down,
)
from tests.e2e.upgrades.upgrade_ways import (
    DRAIN,
    ONE_BOUNCE,
    ONLINE,
    ONLINE_BACK,
    TWO_BOUNCE,
    TWO_BOUNCE_BACK,
    profile_of,
)

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(5), pytest.mark.timeout(900)]

LANES: Final = 6
"""Groups at once; more would only wait for processors."""
APART: Final = {"Eager", "Cooperative"}

EVERY_FAULT: Final = tuple(fault for fault in Fault if fault is not Fault.NONE)
BY_SPEC: Final = (Fault.SCALE_UP, Fault.SCALE_DOWN, Fault.TEMPLATE, Fault.ABORT, Fault.TURN)
PLAYED: Final = (
    (TWO_BOUNCE, Moment.STEP_1, EVERY_FAULT),
    (TWO_BOUNCE, Moment.STEP_2, EVERY_FAULT),
    (TWO_BOUNCE_BACK, Moment.STEP_1, (Fault.ABORT, Fault.TURN)),
    (TWO_BOUNCE_BACK, Moment.STEP_2, (Fault.KILL_OLD, Fault.ABORT, Fault.TURN)),
    (ONE_BOUNCE, Moment.STEP_1, EVERY_FAULT),
    (ONLINE, Moment.STEP_1, EVERY_FAULT),
    (ONLINE_BACK, Moment.STEP_1, EVERY_FAULT),
    (DRAIN, Moment.STOPPING, (Fault.KILL_OLD, *BY_SPEC)),
    (DRAIN, Moment.REMOVING, BY_SPEC),
    (DRAIN, Moment.STARTING, (Fault.KILL_NEW, *BY_SPEC)),
)
SCENARIOS: Final = tuple(Scenario(way, moment, fault) for way, moment, faults in PLAYED for fault in faults)
IN_BRIEF: Final = (
    (TWO_BOUNCE, Moment.STEP_1, Fault.KILL_NEW),
    (TWO_BOUNCE, Moment.STEP_2, Fault.TURN),
    (ONE_BOUNCE, Moment.STEP_1, Fault.SCALE_UP),
    (ONLINE, Moment.STEP_1, Fault.TEMPLATE),
    (DRAIN, Moment.REMOVING, Fault.ABORT),
)
"""Each way once; `make faults` and `make long` play all."""


@pytest.fixture(scope="module")
def logs(stage: Stage) -> Iterator[PodLogs]:
    with PodLogs(stage.cluster.api, stage.recorder, stage.cluster.namespace) as following:
        yield following


@pytest.fixture(scope="module")
def plays(request: pytest.FixtureRequest, stage: Stage, logs: PodLogs) -> Iterator[dict[str, Future[Played]]]:
    """All that were selected, several at once: most of the time is waiting."""
    items = [item for item in request.session.items if item.path == request.path]
    chosen = {item.callspec.params["scenario"].name for item in items if hasattr(item, "callspec")}
    with ThreadPoolExecutor(LANES) as pool:
        yield {each.name: pool.submit(play, stage, each) for each in SCENARIOS if each.name in chosen}


@pytest.fixture
def played(plays: dict[str, Future[Played]], scenario: Scenario) -> Played:
    return plays[scenario.name].result()


def _marked(scenario: Scenario) -> ParameterSet:
    brief = (scenario.way, scenario.moment, scenario.fault) in IN_BRIEF
    return pytest.param(scenario, marks=() if brief else pytest.mark.long, id=scenario.name)


@pytest.mark.parametrize("scenario", [_marked(each) for each in SCENARIOS])
def test_an_upgrade_with_a_fault(played: Played, scenario: Scenario, logs: PodLogs) -> None:
    assert profiles_at_the_end(played) == [scenario.target] * scenario.replicas
    assert versions_at_the_end(played) == {"2" if scenario.fault is Fault.TEMPLATE else "1"}
    assert logs.lines(scenario.name, REFUSED) == []
    assert not any(profiles >= APART for profiles in profiles_together(played.pods))
    if not scenario.way.drains:
        *_, when_struck = profiles_together([each for each in played.pods if each.seen_at <= played.struck])
        assert when_struck == {scenario.way.path[scenario.step - 1], scenario.way.path[scenario.step]}
        assert max(len(pods) for pods in taken_down(played)) == 1
    if scenario.fault is Fault.ABORT:
        before = scenario.way.path[scenario.step - 1]
        assert set(played.after_rollback) == {before}
        said = played.said_after_rollback
        assert (said["status"], said["reason"]) == ("False", "RolloutFailed")


def profiles_at_the_end(played: Played) -> list[str]:
    return [profile_of(pod) for pod in played.at_the_end]


def versions_at_the_end(played: Played) -> set[str]:
    env = [entry for pod in played.at_the_end for entry in pod["spec"]["containers"][0]["env"]]
    return {entry["value"] for entry in env if entry["name"] == "VERSION"}

"""Groups taken to another protocol and back, all at once under one operator: Java in bounces, librdkafka online.

None disturbs another: each is judged as strictly as if it were alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS
from tests.e2e.stage.java import java_group
from tests.e2e.stage.pod_logs import PodLogs
from tests.e2e.stage.progress import incarnations
from tests.e2e.stage.stage import Stage
from tests.e2e.upgrades.upgrades import DEADLINE_S, PATIENT, RDKAFKA, Upgraded, upgrade, with_target

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(6), pytest.mark.timeout(900)]

MIXED_UP = "INCONSISTENT_GROUP_PROTOCOL"
JOINED = "partitions_assigned"
"""What VerifiableConsumer prints when it has joined."""
PODS = {"static": REPLICAS, "dynamic": 2, "both": 2, "online": REPLICAS}


@pytest.fixture(scope="module")
def logs(stage: Stage) -> Iterator[PodLogs]:
    with PodLogs(stage.cluster.api, stage.recorder, stage.cluster.namespace) as following:
        yield following


@pytest.fixture(scope="module")
def groups(stage: Stage, logs: PodLogs) -> dict[str, Json]:
    """`both` has no target at first: its consumers offer both assignors by themselves (F5)."""
    made = {
        "static": java_group(stage, "static", protocol={"target": "Eager"}, timeouts=PATIENT),
        "dynamic": java_group(
            stage, "dynamic", protocol={"target": "Eager"}, membership="Dynamic", replicas=PODS["dynamic"]
        ),
        "both": java_group(stage, "both", replicas=PODS["both"], timeouts=PATIENT),
        "online": stage.group("online", client=RDKAFKA, protocol={"target": "Eager"}, timeouts=PATIENT),
    }
    stage.cluster.apply(*made.values())
    for name in made:
        stage.cluster.wait_complete(name, DEADLINE_S)
        stage.cluster.wait_condition(name, "Ready", "True")
    return made


@pytest.fixture(scope="module")
def there(stage: Stage, groups: dict[str, Json]) -> dict[str, Upgraded]:
    java = [with_target(groups[name], "Cooperative") for name in ("static", "dynamic", "both")]
    return upgrade(stage, *java, with_target(groups["online"], "Consumer"))


@pytest.fixture(scope="module")
def back(stage: Stage, groups: dict[str, Json], there: dict[str, Upgraded]) -> dict[str, Upgraded]:
    """For `both` it goes on instead: from cooperative to KIP-848."""
    return upgrade(stage, groups["static"], groups["online"], with_target(groups["both"], "Consumer"))


def test_the_first_bounce_of_static_members_is_no_rebalance(there: dict[str, Upgraded]) -> None:
    """F4: every member still votes for range."""
    way = there["static"]
    second_at = way.step_began("2 of 2")
    assert way.rebalances(until=second_at) == 0
    assert {s.assignor for s in way.sightings if s.seen_at < second_at} == {"range"}


def test_the_second_bounce_is_exactly_one(there: dict[str, Upgraded]) -> None:
    """At its first pod: from then on all members know only one assignor in common."""
    way = there["static"]
    assert way.rebalances(since=way.step_began("2 of 2")) == 1
    assert way.sightings[-1].assignor == "cooperative-sticky"


@pytest.mark.long
def test_back_it_is_one_rebalance_as_well(back: dict[str, Upgraded]) -> None:
    """At the last pod of the first bounce: all know range by then, and vote for it first."""
    way = back["static"]
    assert way.rebalances() == 1
    assert way.sightings[-1].assignor == "range"


@pytest.mark.parametrize("way", ["there", pytest.param("back", marks=pytest.mark.long)])
def test_every_partition_has_its_owner_throughout(way: str, request: pytest.FixtureRequest) -> None:
    """As the coordinator describes it: static members that restart keep what they own."""
    seen: dict[str, Upgraded] = request.getfixturevalue(way)
    assert {name: seen[name].fewest_owned() for name in ("static", "online")} == dict.fromkeys(
        ("static", "online"), PARTITIONS
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["static", "dynamic", "both"])
def test_no_member_is_ever_refused(
    name: str, logs: PodLogs, there: dict[str, Upgraded], back: dict[str, Upgraded]
) -> None:
    assert logs.lines(name, JOINED) != []
    assert logs.lines(name, MIXED_UP) == []


@pytest.mark.long
def test_every_pod_is_restarted_once_in_each_step(
    stage: Stage, there: dict[str, Upgraded], back: dict[str, Upgraded]
) -> None:
    records = stage.recorder.records("pods")
    steps = {"static": 4, "dynamic": 2, "both": 2, "online": 2}
    seen = {name: {len(uids) for uids in incarnations(records, name).values()} for name in steps}
    assert seen == {name: {1 + count} for name, count in steps.items()}


def test_consumers_that_offer_both_need_one_bounce(there: dict[str, Upgraded]) -> None:
    way = there["both"]
    assert way.steps == [("EagerAndCooperative", "Cooperative", "OneBounce", "1 of 1")]
    assert way.rebalances() == 1
    assert way.sightings[-1].assignor == "cooperative-sticky"


@pytest.mark.long
def test_cooperative_java_goes_on_to_the_new_protocol(back: dict[str, Upgraded]) -> None:
    way = back["both"]
    assert way.steps == [("Cooperative", "Consumer", "OnlineMigration", "1 of 1")]
    assert way.moves() == set()
    assert way.sightings[-1].kind == "CONSUMER"


@pytest.mark.long
def test_online_no_partition_ever_changes_its_owner(there: dict[str, Upgraded], back: dict[str, Upgraded]) -> None:
    """F6: not at any step, there and back."""
    for way, kind in ((there["online"], "CONSUMER"), (back["online"], "CLASSIC")):
        assert way.steps[0][2:] == ("OnlineMigration", "1 of 1")
        assert way.moves() == set()
        assert way.sightings[-1].owners == way.before.owners
        assert way.sightings[-1].kind == kind


def test_the_status_tells_where_it_goes_and_how_far_it_is(there: dict[str, Upgraded]) -> None:
    way = there["static"]
    route = ("Eager", "Cooperative", "TwoBounce")
    assert way.steps == [(*route, "1 of 2"), (*route, "2 of 2")]
    waited = {said.get("waitingFor", "") for said in way.protocols}
    assert any("pod static-2" in each for each in waited), waited
    assert way.protocols[-1] == {"current": "Cooperative", "target": "Cooperative"}


def test_events_tell_each_step(there: dict[str, Upgraded]) -> None:
    told = there["static"].events
    milestones = [reason for reason in told if reason.startswith("Upgrade")]
    assert milestones == ["UpgradeStarted", "UpgradeStepDone", "UpgradeComplete"]


@pytest.mark.long
def test_kubectl_get_shows_the_protocol(stage: Stage, back: dict[str, Upgraded]) -> None:
    lines = [line.split() for line in stage.cluster.kubectl("get", "cg").splitlines()]
    column = lines[0].index("PROTOCOL")
    shown = {line[0]: line[column] for line in lines[1:]}
    assert shown == {"static": "Eager", "dynamic": "Cooperative", "both": "Consumer", "online": "Eager"}

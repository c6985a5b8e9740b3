"""A group of franz-go consumers taken from eager to cooperative and back, in two bounces each way, under load."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS
from tests.e2e.stage.pod_logs import PodLogs
from tests.e2e.stage.stage import Stage
from tests.e2e.upgrades.upgrade_faults import REFUSED
from tests.e2e.upgrades.upgrade_ways import TWO_BOUNCE, aiming_at, group_before
from tests.e2e.upgrades.upgrades import Upgraded, upgrade

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(420)]

NAMES = ("static", "dynamic")


@pytest.fixture(scope="module")
def logs(stage: Stage) -> Iterator[PodLogs]:
    with PodLogs(stage.cluster.api, stage.recorder, stage.cluster.namespace) as following:
        yield following


@pytest.fixture(scope="module")
def groups(stage: Stage, logs: PodLogs) -> dict[str, Json]:
    made = {name: group_before(stage, name, TWO_BOUNCE) for name in NAMES}
    made["dynamic"]["spec"]["membership"] = "Dynamic"
    stage.create(*made.values())
    return made


@pytest.fixture(scope="module")
def there(stage: Stage, groups: dict[str, Json]) -> dict[str, Upgraded]:
    return upgrade(stage, *(aiming_at(group, TWO_BOUNCE, "Cooperative") for group in groups.values()))


@pytest.fixture(scope="module")
def back(stage: Stage, groups: dict[str, Json], there: dict[str, Upgraded]) -> dict[str, Upgraded]:
    return upgrade(stage, *groups.values())


def test_static_members_rebalance_only_when_the_assignor_turns(there: dict[str, Upgraded]) -> None:
    """As Java's do (F4): not in the first bounce."""
    way = there["static"]
    second_at = way.step_began("2 of 2")
    assert {s.assignor for s in way.sightings if s.seen_at < second_at} == {"range"}
    assert (way.rebalances(until=second_at), way.rebalances(since=second_at)) == (0, 1)


def test_the_assignor_turns_once_on_the_way_there_and_once_back(
    there: dict[str, Upgraded], back: dict[str, Upgraded]
) -> None:
    for name in NAMES:
        assert _assignors(there[name]) == ["range", "cooperative-sticky"]
        assert _assignors(back[name]) == ["cooperative-sticky", "range"]


def test_no_member_is_ever_refused(there: dict[str, Upgraded], back: dict[str, Upgraded], logs: PodLogs) -> None:
    for name in NAMES:
        assert logs.lines(name, "assigned") != []
        assert logs.lines(name, REFUSED) == []


def test_every_partition_has_its_owner_while_the_group_is_stable(there: dict[str, Upgraded]) -> None:
    whole = [s for s in there["static"].sightings if s.state == "STABLE"]
    assert {len({partition for partition, _ in s.owners}) for s in whole} == {PARTITIONS}


def _assignors(way: Upgraded) -> list[str]:
    """Each once, in order; a group that is rebalancing shows none."""
    return list(dict.fromkeys(s.assignor for s in way.sightings if s.assignor))

"""The series of a real group: at rest, in a rollout, with fewer members, without any, and gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

NAME: Final = "orders"
LATE_S: Final = 20.0


class Series:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def all(self) -> dict[str, dict[str, float]]:
        """Name → value of the further label, empty where there is none → value."""
        found: dict[str, dict[str, float]] = {}
        for family in text_string_to_metric_families(self._stage.operator.metrics()):
            for sample in family.samples:
                if (sample.labels.get("namespace"), sample.labels.get("group")) == (
                    self._stage.cluster.namespace,
                    NAME,
                ):
                    rest = "".join(v for key, v in sample.labels.items() if key not in ("namespace", "group"))
                    found.setdefault(sample.name, {})[rest] = sample.value
        return found

    def value(self, name: str) -> float | None:
        return self.all().get(name, {}).get("")

    def looked_at_again(self, name: str) -> float | None:
        self._stage.look_again(NAME)
        return self.value(name)


@pytest.fixture(scope="module")
def series(stage: Stage) -> Iterator[Series]:
    stage.create(stage.group(NAME))
    yield Series(stage)


def test_at_rest(series: Series) -> None:
    wait_for("all members", lambda: series.value("slackwater_group_members") == REPLICAS)
    wait_for("the age of the lag", lambda: series.looked_at_again("slackwater_group_lag_seconds") is not None)
    now = series.all()
    states = now["slackwater_group_state"]
    assert [state for state, is_so in states.items() if is_so] == ["Stable"]
    assert now["slackwater_group_members_expected"] == {"": REPLICAS}
    assert now["slackwater_group_degraded"] == {"": 0}
    assert now["slackwater_group_lag_seconds"][""] < LATE_S
    assert now["slackwater_actual_timeout_seconds"] == {"session": 45, "heartbeat": 3, "maxPollInterval": 300}
    print({name: found for name, found in now.items() if "bucket" not in name})  # noqa: T201 - figures


def test_a_rollout_is_steps_that_wait_and_partitions_that_nobody_reads_but_no_rebalance(
    stage: Stage, series: Series
) -> None:
    before = series.all()
    stage.cluster.apply(with_env(stage.group(NAME), VERSION="2"))
    stage.cluster.wait_complete(NAME)
    wait_for("the last step", lambda: series.all()["slackwater_rollout_steps_total"]["done"] == REPLICAS)
    after = series.all()
    idle = "slackwater_group_partition_idle_seconds_total"
    assert after[idle][""] > before[idle][""]
    assert after["slackwater_gate_holds_total"]
    assert after["slackwater_rollout_steps_total"]["failed"] == 0
    assert after["slackwater_group_rebalances_total"] == before["slackwater_group_rebalances_total"]
    assert "slackwater_gate_held" not in after
    print({name: found for name, found in after.items() if "bucket" not in name})  # noqa: T201 - figures


def test_a_member_less_is_a_rebalance(stage: Stage, series: Series) -> None:
    before = series.value("slackwater_group_rebalances_total") or 0.0
    stage.cluster.patch("cg", NAME, {"spec": {"replicas": REPLICAS - 1}})
    wait_for(
        "the rebalance", lambda: (series.looked_at_again("slackwater_group_rebalances_total") or 0.0) > before, 90.0
    )
    wait_for("two members", lambda: series.looked_at_again("slackwater_group_members") == REPLICAS - 1, 60.0)
    print(series.all())  # noqa: T201 - figures


def test_a_group_without_members_grows_late_and_is_not_idle(stage: Stage, series: Series) -> None:
    stage.cluster.patch("cg", NAME, {"spec": {"replicas": 0}})
    wait_for("no members", lambda: series.looked_at_again("slackwater_group_members") == 0, 90.0)
    idle = series.value("slackwater_group_partition_idle_seconds_total")

    def is_late() -> bool:
        return (series.looked_at_again("slackwater_group_lag_seconds") or 0.0) > LATE_S

    wait_for("its lag to be old", is_late, 90.0)
    assert series.value("slackwater_group_partition_idle_seconds_total") == idle
    print(series.all())  # noqa: T201 - figures


def test_a_group_that_is_deleted_takes_its_series_with_it(stage: Stage, series: Series) -> None:
    stage.cluster.kubectl("delete", "cg", NAME, "--wait=false")
    wait_for("the series to be gone", lambda: not series.all(), 60.0)

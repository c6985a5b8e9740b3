"""Every query of the chart's dashboard, on a real Prometheus that watched a real operator: no panel is empty."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from slackwater.api.recommendation import Recommendation, RecommendationStatus, RecommendedSetting
from slackwater.core.world.observation import GroupState
from tests.chart.helm import CHART
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_env
from tests.e2e.stage.prometheus import SCRAPE_EVERY_S, Prometheus, Series, prometheus
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for
from tests.e2e.upgrades.upgrades import RDKAFKA

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

NAME: Final = "orders"
FLEET: Final = "platform"
CAMPAIGN: Final = "all-again"
REPLICAS: Final = 2
DASHBOARD: Final = json.loads((CHART / "dashboards" / "slackwater.json").read_text(encoding="utf-8"))
QUERIES: Final = {
    f"{panel['title']} ({panel['id']}{target['refId']})": target
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", ())
}
_LABEL_VALUES: Final = re.compile(r"label_values\((.+), (\w+)\)")


_STABLE: Final = 1 + list(GroupState).index(GroupState.STABLE)


@dataclass(frozen=True)
class Seen:
    """What Grafana would show of the group, with the variables as somebody would choose them."""

    namespace: str
    prometheus: Prometheus

    def filled_in(self, text: str) -> str:
        """`$__rate_interval` is four scrapes, as Grafana has it for a time range this short."""
        values = {"__rate_interval": f"{4 * SCRAPE_EVERY_S}s", "namespace": self.namespace, "group": NAME}
        return re.sub(r"\$(\w+)", lambda found: values[found.group(1)], text)

    def series(self, target: Json) -> Series:
        ask = self.prometheus.now if target["instant"] else self.prometheus.graph
        return ask(self.filled_in(target["expr"]))

    def ever(self, title: str, legend: str) -> set[float]:
        """All values in the line of that legend; of two panels with the same title, in that of the chosen groups."""
        *_, panel = (each for each in DASHBOARD["panels"] if each["title"] == title)
        lines = {}
        for target in panel["targets"]:
            for labels, values in self.series(target):
                lines[_named(target["legendFormat"], labels)] = set(values)
        return lines.get(legend.replace("GROUP", f"{self.namespace}/{NAME}"), set())


def _named(legend: str, labels: Mapping[str, str]) -> str:
    return re.sub(r"{{(\w+)}}", lambda found: labels.get(found.group(1), ""), legend)


def group(stage: Stage) -> Json:
    """Its members hear of a rebalance at their next heartbeat: it lasts long enough to be seen under way."""
    timeouts, protocol = {"mode": "Recommend", "heartbeat": "10s"}, {"target": "Eager"}
    return stage.group(NAME, client=RDKAFKA, replicas=REPLICAS, timeouts=timeouts, protocol=protocol)


def of_fleets(kind: str, name: str, **spec: Any) -> Json:
    return {"apiVersion": "slackwater.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def recommendation(stage: Stage) -> str:
    """A line of a file of them."""

    def exactly(value: int) -> RecommendedSetting:
        return RecommendedSetting(current=None, lower=value, target=value, upper=value, why="so it is")

    return Recommendation(
        cluster="",
        namespace=stage.cluster.namespace,
        name=NAME,
        group_id=stage.group_id(NAME),
        as_of=datetime.now(UTC),
        restarts=120,
        observed_days=30,
        status=RecommendationStatus.RECOMMENDED,
        why="members come back within 20 s",
        session_timeout_ms=exactly(20_000),
        heartbeat_interval_ms=exactly(6_000),
        max_poll_interval_ms=exactly(120_000),
        max_poll_records=exactly(200),
    ).message()


def is_over(stage: Stage) -> bool:
    campaign = stage.cluster.get("fleetcampaign", CAMPAIGN) or {}
    return bool(campaign.get("status", {}).get("phase") == "Succeeded")


@pytest.fixture(scope="module")
def seen(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """Watched by Prometheus: a rollout in a fleet, a rebalance, a campaign, and the beginning of an upgrade, which is
    then held, as its fleet is."""
    folder = tmp_path_factory.mktemp("dashboard")
    recommended = folder / "recommendations"
    recommended.write_text(recommendation(stage))
    stage.operator.kill()
    stage.operator.start(
        SLACKWATER_MOVING_INTERVAL_S="0.5",
        SLACKWATER_TELEMETRY=f"file:{folder / 'telemetry'}",
        SLACKWATER_RECOMMENDATIONS=f"file:{recommended}",
    )
    stage.operator.wait_ready()
    with prometheus(stage.operator.port, folder) as watching:
        found = Seen(stage.cluster.namespace, watching)
        fleet = {"selector": {}, "budgets": [{"name": "all", "max": 1}], "settleFor": "0s"}
        stage.cluster.apply(of_fleets("ConsumerFleet", FLEET, **fleet))
        stage.create(group(stage))
        stage.cluster.apply(with_env(group(stage), VERSION="2"))
        stage.cluster.wait_complete(NAME)
        stage.cluster.patch("cg", NAME, {"spec": {"replicas": REPLICAS + 1}})
        stage.cluster.wait_complete(NAME)
        wait_for("the rebalance", lambda: found.ever("Time of a rebalance", "GROUP half"))
        again = {"fleetRef": {"name": FLEET}, "action": {"restart": {}}, "deadline": "1h"}
        stage.cluster.apply(of_fleets("FleetCampaign", CAMPAIGN, **again))
        wait_for("the campaign", lambda: is_over(stage), 120.0)
        other = {"protocol": {"target": "Consumer"}, "timeouts": {"heartbeat": None}}
        stage.cluster.patch("cg", NAME, {"spec": other})
        wait_for("the upgrade", lambda: stage.cluster.status(NAME).get("protocol", {}).get("step"), 60.0)
        stage.cluster.annotate(NAME, "pause", "to be looked at")
        stage.cluster.wait_condition(NAME, "RolloutGated", "True", "Paused")
        stage.cluster.apply(of_fleets("ConsumerFleet", FLEET, **fleet, pause="to be looked at"))
        yield found


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_finds_something(name: str, seen: Seen) -> None:
    wait_for(f"a value of {QUERIES[name]['expr']}", lambda: bool(seen.series(QUERIES[name])), 30.0)


@pytest.mark.parametrize(
    ("title", "legend", "value"),
    [
        ("Members", "GROUP has", REPLICAS + 1),
        ("State", "GROUP", _STABLE),
        ("What it waits for", "GROUP Paused", 1),
        ("Protocol upgrade", "GROUP step", 1),
        ("Timeouts, and what is recommended", "GROUP session", 45),
        ("Timeouts, and what is recommended", "GROUP session recommended", 20),
        ("Records of a poll, and what is recommended", "GROUP recommended", 200),
        ("Waits by reason", "GROUP Paused", 1),
        ("Telemetry that was dropped", "BufferFull", 0),
    ],
)
def test_it_shows_what_happened(seen: Seen, title: str, legend: str, value: float) -> None:
    wait_for(f"{value} in {title}", lambda: value in seen.ever(title, legend), 30.0, lambda: seen.ever(title, legend))


@pytest.mark.parametrize(
    ("title", "legend"),
    [
        ("Idle partitions", "GROUP"),
        ("Lag in records", "GROUP"),
        ("Time of a pass", "half"),
        ("Passes", "ok"),
        ("Rebalances in the last hour", "GROUP"),
        ("Rollout steps in the last hour", "GROUP done"),
    ],
)
def test_what_happened_made_a_difference(seen: Seen, title: str, legend: str) -> None:
    def grew() -> bool:
        return max(seen.ever(title, legend), default=0.0) > 0

    wait_for(f"anything in {title}", grew, 30.0)


@pytest.mark.parametrize("variable", ["namespace", "group"])
def test_a_variable_offers_what_there_is(seen: Seen, variable: str) -> None:
    (asked,) = (each["query"]["query"] for each in DASHBOARD["templating"]["list"] if each["name"] == variable)
    found = _LABEL_VALUES.fullmatch(asked)
    assert found is not None
    offered = seen.prometheus.label_values(seen.filled_in(found[1]), found[2])
    assert offered == [{"namespace": seen.namespace, "group": NAME}[variable]]

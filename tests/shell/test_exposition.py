"""The text of groups' series is what Prometheus' own library writes of the same numbers; and whose there are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.metrics.figures import figures_of
from slackwater.core.metrics.step_results import StepResult
from slackwater.core.world.world import World
from slackwater.shell.exposition import DURATIONS, DURATIONS_TEXT, text_of
from slackwater.shell.group_series import COUNTERS, GAUGES, GROUP_LABELS, REBALANCE_BUCKETS_S, GroupRecord
from slackwater.shell.metrics import Metrics
from slackwater.shell.shown_groups import has_series, read_shown
from slackwater.shell.store import Key
from tests.core.factories import NOW, group, members, observation, world
from tests.core.telemetry.stories import AT_REST, UNREACHABLE

KEYS = [Key("default", "payments"), Key("shop", "refunds")]


class Reference:
    """The library's way, with an object for each sample."""

    def __init__(self, groups: list[tuple[Key, GroupRecord]]) -> None:
        self.groups = groups

    def collect(self) -> Iterator[Metric]:
        for of_type, families in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
            for family in families:
                metric: Any = of_type(family.name, family.text, labels=family.labels)
                for key, record in self.groups:
                    for values, number in family.read(record):
                        if number is not None:
                            metric.add_metric((*key, *values), number)
                yield metric
        durations = HistogramMetricFamily(DURATIONS, DURATIONS_TEXT, labels=GROUP_LABELS)
        bounds = (*map(str, REBALANCE_BUCKETS_S), "+Inf")
        for key, record in self.groups:
            buckets = list(zip(bounds, accumulate(record.durations_s), strict=True))
            durations.add_metric(tuple(key), buckets, record.duration_sum_s)
        yield durations


def records() -> list[tuple[Key, GroupRecord]]:
    held = Hold(Reason.GROUP_REBALANCING, "it moves")
    kafka = observation(members(0, 1), NOW, lag=12_345_678)
    calm, lost = (world(now=NOW, kafka=each, memory=AT_REST) for each in (kafka, UNREACHABLE))
    first = GroupRecord(figures_of(calm, Decision(AT_REST)), lag_s=0.25, rebalances=3, duration_sum_s=7.5)
    first.durations_s[2], first.durations_s[-1] = 2.0, 1.0
    second = GroupRecord(figures_of(lost, Decision(AT_REST, hold=held)))
    second.holds[held.reason.value] += 2
    second.steps[StepResult.DONE] += 1
    return list(zip(KEYS, (first, second), strict=True))


@pytest.mark.parametrize("number", [0, 1, 2])
def test_it_is_what_the_library_writes(number: int) -> None:
    groups = records()[:number]
    reference: Any = Reference(groups)
    assert b"".join(text_of(groups)).decode() == generate_latest(reference).decode()


@pytest.mark.parametrize(
    ("shown", "labels", "expected"),
    [
        ("All", {}, True),
        ("Summary", {"Summary": "x"}, False),
        ("tier=gold", {"tier": "gold"}, True),
        ("tier=gold", {"tier": "silver"}, False),
        ("tier=gold", {}, False),
        ("tier", {"tier": "any"}, True),
        ("tier=", {"tier": ""}, True),
        ("tier=", {"tier": "gold"}, False),
        ("tier=gold,example.com/team", {"tier": "gold", "example.com/team": "x"}, True),
        ("tier=gold,example.com/team", {"tier": "gold"}, False),
    ],
)
def test_whose_series_there_are(shown: str, labels: dict[str, str], expected: bool) -> None:
    assert read_shown(shown) == shown
    assert has_series(shown, labels) is expected


@pytest.mark.parametrize("shown", ["", "tier=gold,", "tier in (gold)", "=gold", "a b"])
def test_what_is_no_choice_is_refused(shown: str) -> None:
    with pytest.raises(ValueError, match="write All, Summary"):
        read_shown(shown)


def labelled(tier: str) -> World:
    obj = group()
    metadata = obj.metadata.model_copy(update={"labels": {"tier": tier}})
    return world(group=obj.model_copy(update={"metadata": metadata}), kafka=observation(members(0), NOW, lag=5))


def samples(metrics: Metrics) -> dict[str, float]:
    found = text_string_to_metric_families(metrics.text().decode())
    return {f"{s.name}{sorted(s.labels.values())}": s.value for family in found for s in family.samples}


def test_groups_without_series_are_in_the_totals() -> None:
    metrics = Metrics("tier=gold")
    for key, tier in zip(KEYS, ("gold", "silver"), strict=True):
        metrics.decided(key, labelled(tier), Decision(AT_REST, hold=Hold(Reason.PAUSED, "")))
    found = samples(metrics)
    assert found["slackwater_group_lag['default', 'payments']"] == 5
    assert "slackwater_group_lag['refunds', 'shop']" not in found
    assert (found["slackwater_groups_lag[]"], found["slackwater_groups_in_state['Stable']"]) == (10, 2)
    assert found["slackwater_groups_held['Paused']"] == 2


def test_totals_follow_each_group_and_forget_those_that_are_gone() -> None:
    metrics = Metrics("Summary")
    metrics.decided(KEYS[0], labelled("gold"), Decision(AT_REST, hold=Hold(Reason.PAUSED, "")))
    metrics.decided(KEYS[1], labelled("gold"), Decision(AT_REST))
    metrics.decided(KEYS[0], world(kafka=UNREACHABLE), Decision(AT_REST))
    found = samples(metrics)
    assert (found["slackwater_groups_lag[]"], found["slackwater_groups_held['Paused']"]) == (5, 0)
    assert (found["slackwater_groups_in_state['Stable']"], found["slackwater_groups_in_state['Unknown']"]) == (1, 1)
    for key in KEYS:
        metrics.forget(key)
    found = samples(metrics)
    assert found["slackwater_groups_lag[]"] == found["slackwater_groups_degraded[]"] == 0
    assert {found[f"slackwater_groups_in_state['{state}']"] for state in ("Stable", "Unknown")} == {0}


def test_a_label_that_goes_takes_the_series_with_it() -> None:
    metrics = Metrics("tier=gold")
    for tier, has in (("gold", True), ("silver", False)):
        metrics.decided(KEYS[0], labelled(tier), Decision(AT_REST))
        assert ("slackwater_group_lag['default', 'payments']" in samples(metrics)) is has

"""The ConsumerFleet that the chart offers: none by itself, and one that its type and the operator take."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from slackwater.api.parsing import parse_consumer_fleet
from slackwater.api.resources import ConsumerFleet
from tests.chart.helm import CHART, NAMESPACE, RELEASE, helm, only, render, settings

KNOWN = "--api-versions=slackwater.dev/v1alpha1/ConsumerFleet"


def offered() -> dict[str, Any]:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    fleet: dict[str, Any] = values["fleet"]
    return fleet


def parsed(fleet: dict[str, Any]) -> ConsumerFleet:
    metadata = {"name": fleet["name"], "namespace": NAMESPACE}
    return parse_consumer_fleet(
        {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerFleet", "metadata": metadata, "spec": fleet["spec"]}
    )


def test_it_is_one_that_can_be_applied_and_selects_every_group() -> None:
    spec = parsed(offered()).spec
    assert not offered()["create"]
    assert spec.namespaces == ("*",)
    assert spec.selector.matches({})
    assert [(budget.name, budget.max) for budget in spec.budgets] == [("all", "10%"), ("coordinators", 1)]


@pytest.mark.e2e  # Helm is built by the sandbox
def test_by_itself_the_chart_makes_none() -> None:
    assert "ConsumerFleet" not in {each["kind"] for each in render()}


@pytest.mark.e2e
def test_where_the_type_is_there_it_is_made_beside_the_operator_as_the_values_say() -> None:
    given = settings(
        {"fleet__create": "true", "fleet__spec__budgets[0]__name": "few", "fleet__spec__budgets[0]__max": "3"}
    )
    text = helm("template", RELEASE, str(CHART), f"--namespace={NAMESPACE}", KNOWN, *given)
    made = only([each for each in yaml.safe_load_all(text) if each], "ConsumerFleet", "platform")
    assert made["metadata"]["namespace"] == NAMESPACE
    assert [(budget.name, budget.max) for budget in parse_consumer_fleet(made).spec.budgets] == [("few", 3)]

"""Whoever is woken by an alert finds what it means and what to do; and each alert is made of metrics that there are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.docs.test_links import anchors
from tests.rules.files import ALERTS, METRICS, ROOT, RUNBOOKS, RUNBOOKS_URL, SCENES, alerts

BY_NAME = {alert["alert"]: alert for alert in alerts()}


def sections() -> dict[str, str]:
    """Heading → text."""
    parts = re.split(r"^## (.+)$", RUNBOOKS.read_text(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_every_alert_has_its_section_and_every_section_its_alert() -> None:
    assert list(sections()) == list(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_section_says_what_it_means_what_to_look_at_and_what_to_do(name: str) -> None:
    assert re.findall(r"^\*\*(.+?)\*\*", sections()[name], re.MULTILINE) == ["It means", "Look at", "Do"]


@pytest.mark.parametrize("name", BY_NAME)
def test_an_alert_says_how_bad_it_is_and_where_to_read_on(name: str) -> None:
    alert = BY_NAME[name]
    assert alert["labels"]["severity"] in ("warning", "critical")
    assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}


@pytest.mark.parametrize("name", BY_NAME)
def test_its_address_leads_to_the_section_of_the_page_as_the_site_has_it(name: str) -> None:
    site, _, anchor = BY_NAME[name]["annotations"]["runbook_url"].partition("#")
    assert site == RUNBOOKS_URL
    assert anchor in anchors(RUNBOOKS)
    assert anchor == name.lower()


def test_the_site_has_that_page_at_that_address() -> None:
    """`mike` puts the newest release under `latest`, and pages end in .html."""
    chart = yaml.safe_load((ALERTS.parents[1] / "Chart.yaml").read_text(encoding="utf-8"))
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\ntheme:")[0])
    versions = yaml.safe_load((ROOT / "mkdocs.versions.yml").read_text(encoding="utf-8"))
    assert site["use_directory_urls"] is False
    latest = versions["extra"]["version"]["default"]
    assert f"{chart['home']}/{latest}/{RUNBOOKS.stem}.html" == RUNBOOKS_URL


def test_the_chart_can_leave_out_each_alert_and_no_other() -> None:
    schema = json.loads((ALERTS.parents[1] / "values.schema.json").read_text(encoding="utf-8"))
    disabled = schema["properties"]["prometheusRule"]["properties"]["disabled"]
    assert disabled["items"]["enum"] == list(BY_NAME)


@pytest.mark.parametrize("name", BY_NAME)
def test_an_alert_is_made_of_documented_metrics(name: str) -> None:
    used = set(re.findall(r"slackwater_\w+", BY_NAME[name]["expr"]))
    assert used
    assert used <= set(re.findall(r"^\| `(\w+)`", METRICS.read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", BY_NAME)
def test_scenes_show_an_alert_firing_and_silent(name: str) -> None:
    scenes = yaml.safe_load(SCENES.read_text())["tests"]
    expected: list[Any] = [
        rule["exp_alerts"] for scene in scenes for rule in scene["alert_rule_test"] if rule["alertname"] == name
    ]
    assert any(expected)
    assert len({len(each) for each in expected}) > 1

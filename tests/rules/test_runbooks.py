"""Whoever is woken by an alert finds what it means and what to do; and each alert is made of metrics that there are."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.rules.files import METRICS, RUNBOOKS, SCENES, alerts

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
    assert set(alert["annotations"]) == {"summary", "description", "runbook"}
    assert alert["annotations"]["runbook"] == f"docs/runbooks.md#{name.lower()}"


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

"""What Helm says after an install."""

from __future__ import annotations

import pytest

from tests.chart.helm import CHART, RELEASE, helm, settings


def notes(**values: str) -> str:
    said = helm("install", RELEASE, str(CHART), "--dry-run=client", "--namespace=operations", *settings(values))
    return " ".join(said.partition("NOTES:")[2].split())


@pytest.mark.parametrize(
    ("values", "warned", "hurdle"),
    [
        ({}, True, True),
        ({"admission__enabled": "false"}, True, False),
        ({"watchNamespaces": "{team-a,team-b}"}, False, False),
    ],
    ids=["everywhere", "without policies", "watched"],
)
def test_what_its_token_is_worth_is_said_where_it_may_run_pods_everywhere(
    values: dict[str, str], warned: bool, hurdle: bool
) -> None:
    """That it may read no Secret says less: a pod mounts any."""
    said = notes(**values)
    assert ("It may create StatefulSets in every namespace" in said) is warned
    assert ("List its namespaces in watchNamespaces if you can." in said) is warned
    assert ("the admission policies are a hurdle, not a wall" in said) is hurdle
    assert "It may read no Secret by itself" in said


def test_it_says_which_namespaces_it_looks_after() -> None:
    assert "the consumer groups of all namespaces." in notes()
    assert "the consumer groups of team-a, team-b." in notes(watchNamespaces="{team-a,team-b}")


def test_it_says_what_comes_next_and_what_is_off() -> None:
    assert "`kubectl slackwater doctor` says what is missing." in notes()
    assert "Nothing scrapes its metrics or raises alerts" in notes(serviceMonitor__enabled="true")
    assert "Nothing scrapes" not in notes(serviceMonitor__enabled="true", prometheusRule__enabled="true")

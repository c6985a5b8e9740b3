"""The chart brings the CRDs that are checked in, and no others, and keeps them up to date."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chart.helm import CHART, render

CRDS = Path(__file__).parents[2] / "crds"
KEEP = {"helm.sh/resource-policy": "keep"}


def test_the_chart_holds_the_checked_in_crds() -> None:
    assert contents(CHART / "files" / "crds") == contents(CRDS), "run `make crds`"


def test_helm_does_not_take_them_for_what_it_installs_once_and_never_changes() -> None:
    assert not (CHART / "crds").exists()


@pytest.mark.e2e  # Helm is built by the sandbox
def test_they_are_installed_as_they_are_and_outlive_the_release() -> None:
    kept = [{**crd, "metadata": {**crd["metadata"], "annotations": KEEP}} for crd in checked_in()]
    assert rendered() == kept


@pytest.mark.e2e
def test_they_go_with_the_release_where_somebody_says_so() -> None:
    assert rendered(crds__keep="false") == checked_in()


@pytest.mark.e2e
def test_somebody_else_may_look_after_them() -> None:
    assert rendered(crds__install="false") == []


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def checked_in() -> list[Any]:
    return [yaml.load(text, Loader=yaml.CSafeLoader) for _, text in sorted(contents(CRDS).items())]


def rendered(**values: str) -> list[Any]:
    found = [each for each in render(**values) if each["kind"] == "CustomResourceDefinition"]
    return sorted(found, key=lambda crd: str(crd["metadata"]["name"]))

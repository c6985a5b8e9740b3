"""What pages say of what an installation brings into a cluster, and leaves there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from demo.cluster import _RESOURCES
from tests.test_layout import ROOT

CRDS: Final = {yaml.safe_load(path.read_text())["metadata"]["name"] for path in (ROOT / "crds").glob("*.yaml")}
PAGES: Final = (*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "charts" / "slackwater").glob("README.md*"))
NUMBERS: Final = {"two": 2, "three": 3, "four": 4, "five": 5}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_who_deletes_the_resource_types_deletes_all_of_them(page: Path) -> None:
    for command in re.findall(r"kubectl delete crd([^#`\n]*)", page.read_text()):
        assert set(command.split()) == CRDS


def test_the_demo_takes_all_of_them_away_that_it_brought() -> None:
    assert set(_RESOURCES) - {"customresourcedefinitions"} == CRDS


def test_their_number_is_right() -> None:
    types = re.compile(r"(\w+) (?:resource types|CRDs)")
    said = [(page.name, number) for page in PAGES for number in types.findall(page.read_text())]
    counted = [(name, NUMBERS[number]) for name, number in said if number in NUMBERS]
    assert {name for name, _ in counted} >= {"tutorial.md", "README.md", "README.md.gotmpl"}
    assert {number for _, number in counted} == {len(CRDS)}


def test_the_tutorial_says_what_does_not_stay_in_its_namespace() -> None:
    start = (ROOT / "docs" / "tutorial.md").read_text().partition("## 1.")[0]
    for kind in ("resource types", "ValidatingAdmissionPolicies", "ClusterRoles"):
        assert kind in start.partition("## 0.")[0]

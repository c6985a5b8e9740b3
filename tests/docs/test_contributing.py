"""What CONTRIBUTING says of the repository is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import slackwater
from tests.test_layout import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
GUIDES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "restarting.md",
    ROOT / "docs" / "style.md",
    ROOT / "docs" / "errors.md",
]
PACKAGE = Path(slackwater.__file__).parent
_MODULE = re.compile(r"`((?:core|adapters|shell|cli|pipeline|api)/[\w/]+?)(\.py|/)?`")


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


def test_the_map_has_the_floors_that_import_linter_holds() -> None:
    floors = next(each["layers"] for each in CONTRACTS if each.get("containers") == ["slackwater.core"])
    assert drawn(PAGE, "core/__init__.py -->\n```text\n") == floors


@pytest.mark.parametrize(
    ("page", "above"),
    [("CONTRIBUTING.md", "## The map\n```text\n"), ("docs/architecture.md", "## The layers\n\n```text\n")],
)
def test_the_layers_are_those_that_import_linter_holds(page: str, above: str) -> None:
    layers = next(each["layers"] for each in CONTRACTS if each["name"] == "Core decides, shell acts")
    assert drawn((ROOT / page).read_text(encoding="utf-8"), above) == [
        each.replace("slackwater.", "") for each in layers
    ]


def test_every_target_that_is_named_is_one_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    named = {
        target for words in re.findall(r"(?:^|`)make((?: [a-z0-9-]+)+)", PAGE, re.MULTILINE) for target in words.split()
    }
    assert {"check", "test", "explore", "pipeline", "e2e"} <= named
    assert named - targets == set()


def test_modules_that_guides_name_are_there() -> None:
    named = {
        (guide.name, path, ending)
        for guide in GUIDES
        for path, ending in _MODULE.findall(guide.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert [each for each in sorted(named) if not is_there(each[1])] == []


def drawn(page: str, above: str) -> list[str]:
    """What stands in the first column of the text that begins there."""
    return [re.split(r" {2,}", line.strip())[0] for line in page.partition(above)[2].partition("```")[0].splitlines()]


def is_there(path: str) -> bool:
    return (PACKAGE / path).is_dir() or (PACKAGE / f"{path}.py").is_file()

"""Whatever cites a fact can be followed to docs/facts.md, and from there to the test that would notice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.docs.test_links import anchors
from tests.test_layout import ROOT

PAGE = ROOT / "docs" / "facts.md"
READ = {".cfg", ".go", ".java", ".json", ".md", ".py", ".sh", ".svg", ".toml", ".tpl", ".txt", ".yaml", ".yml", ""}
"""What is written by people or made of what they write; the rest of the repository is bytes."""
NOT_OURS = {"build", "dist", "__pycache__"}
_NUMBER = re.compile(r"\bF([1-9]\d?)\b(?:-F([1-9]\d?)\b)?")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@dataclass(frozen=True, slots=True)
class Fact:
    number: str
    text: str
    known: str
    notices: str
    background: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return _TEST.findall(self.notices)


def facts() -> list[Fact]:
    parts = re.split(r"^##+ (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    headed = zip(parts[1::2], parts[2::2], strict=True)
    return [_fact(heading, section) for heading, section in headed if re.fullmatch(r"F\d+", heading)]


def _fact(number: str, section: str) -> Fact:
    text, *points = re.split(r"^- (?=\w+: )", section, flags=re.MULTILINE)
    said = dict(point.split(": ", 1) for point in points)
    assert len(said) == len(points), f"{number} says something twice"
    assert said.keys() <= {"Known", "Notices", "Background"}, f"{number}: {sorted(said)}"
    return Fact(number, text.strip(), *(said.get(name, "").strip() for name in ("Known", "Notices", "Background")))


def numbers(text: str) -> Iterator[str]:
    """Those that a text cites; `F10-F12` cites three."""
    for first, last in _NUMBER.findall(text):
        yield from (f"F{number}" for number in range(int(first), int(last or first) + 1))


@cache
def cited() -> dict[str, set[str]]:
    """Each number that a file of the repository cites, with the files that do."""
    found: dict[str, set[str]] = {}
    for path in _files(ROOT):
        if path.suffix in READ and path not in (PAGE, Path(__file__)):
            for number in numbers(path.read_text(encoding="utf-8", errors="ignore")):
                found.setdefault(number, set()).add(path.relative_to(ROOT).as_posix())
    return found


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in NOT_OURS or path.name.endswith(".egg-info"):
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path


@cache
def functions(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def where_it_is_now(function: str) -> list[str]:
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [f"{path.relative_to(ROOT).as_posix()}::{function}" for path in tests if function in functions(path)]


FACTS = facts()


def test_every_number_that_is_cited_is_explained() -> None:
    explained = {fact.number for fact in FACTS}
    assert {number: sorted(files) for number, files in cited().items() if number not in explained} == {}


def test_numbers_are_given_once_and_can_be_linked_to() -> None:
    assert len({fact.number for fact in FACTS}) == len(FACTS)
    assert {fact.number.lower() for fact in FACTS} <= anchors(PAGE)


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.number)
def test_a_fact_says_how_it_is_known_and_what_would_notice(fact: Fact) -> None:
    assert fact.text
    assert fact.known
    assert fact.tests or fact.notices.startswith("none"), "name a test as `tests/….py::test_…`, or say `none` and why"


@pytest.mark.parametrize("fact", [fact for fact in FACTS if fact.tests], ids=lambda fact: fact.number)
def test_the_tests_that_would_notice_exist(fact: Fact) -> None:
    for path, function in fact.tests:
        there = (ROOT / path).is_file() and function in functions(ROOT / path)
        assert there, f"{path}::{function} is not there; of that name there are {where_it_is_now(function)}"


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.number)
def test_a_fact_is_cited_or_says_why_it_stands_there(fact: Fact) -> None:
    files = sorted(cited().get(fact.number, ()))
    assert bool(files) != bool(fact.background), f"cited by {files}, and its background is {fact.background!r}"


def test_no_test_hides_in_a_spelling_that_is_not_looked_up() -> None:
    named = re.findall(r"tests/\S+?\.py\S*", "\n".join(fact.notices for fact in FACTS))
    assert len(named) == sum(len(fact.tests) for fact in FACTS)


def test_a_range_cites_all_that_lie_between() -> None:
    assert list(numbers("(F10-F12, F41); not F0, 0xF1 or F100")) == ["F10", "F11", "F12", "F41"]

"""Links lead somewhere: within the documentation, to files of the repository, and from texts of the operator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from slackwater.core.decision.reasons import Reason
from tests.test_layout import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TELLING = ("operator", "charts/slackwater", "crds", "examples", "schemas")
"""Where texts stand that people read, and that may send them to a page."""
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_link_leads_to_a_file_and_its_anchor_to_a_heading(page: Path) -> None:
    assert [link for link in links(page) if not is_there(page, link)] == []


def test_every_page_is_in_the_navigation_once() -> None:
    found = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert sorted(named(found)) == [page.relative_to(DOCS).as_posix() for page in PAGES]


def test_every_example_is_described() -> None:
    described = set(links(DOCS / "examples.md"))
    assert {f"../examples/{path.name}" for path in (ROOT / "examples").glob("*.yaml")} <= described


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_can_be_linked_to(reason: Reason) -> None:
    assert reason.value.lower() in anchors(DOCS / "reasons.md")


def test_pages_that_texts_name_are_there() -> None:
    named_pages = {
        (path.relative_to(ROOT).as_posix(), name)
        for folder in TELLING
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml", ".md", ".json", ".txt", ".tpl")
        for name in re.findall(r"docs/[\w/-]+\.md(?:#[\w-]+)?", path.read_text(encoding="utf-8"))
    }
    assert named_pages
    assert [each for each in sorted(named_pages) if not is_there(ROOT / "README.md", each[1])] == []


def links(page: Path) -> list[str]:
    """Those of a page that are no addresses of the web."""
    found = re.findall(r"\]\(([^)\s]+)\)", _CODE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in found if not link.startswith("https://")]


def is_there(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Of its headings, as they become ids."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading.strip().lower()) for heading in headings)
    return frozenset(re.sub(r"[-\s]+", "-", heading) for heading in plain)


def named(part: object) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for below in part.values():
            yield from named(below)
    elif isinstance(part, list):
        for below in part:
            yield from named(below)

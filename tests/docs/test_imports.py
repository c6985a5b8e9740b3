"""Core stands on floors, nowhere does an import lead round in a circle, and the drawing of it is true."""

from __future__ import annotations

import ast
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.docs import imports
from tests.test_layout import ROOT

DRAWN = imports.arrows(imports.imports())


def with_import(importer: str, imported: str) -> dict[str, frozenset[str]]:
    """The code with one more import. Both have to be there."""
    found = dict(imports.imports())
    return {**found, importer: found[importer] | {imported}} | {imported: found[imported]}


def test_no_arrow_runs_up_or_to_a_neighbour() -> None:
    assert imports.not_downward(DRAWN) == []


@pytest.mark.parametrize(
    ("importer", "imported", "arrow"),
    [
        ("slackwater.core.world.memory", "slackwater.core.decision.reasons", ("world", "decision")),
        ("slackwater.core.rollout.gates", "slackwater.core.upkeep", ("rollout", "upkeep")),
        ("slackwater.core.protocol.upgrade", "slackwater.core.handover.steps", ("protocol", "handover")),
    ],
    ids=["up a floor", "up to a module that is a room", "to a neighbour"],
)
def test_an_import_that_runs_up_is_found(importer: str, imported: str, arrow: tuple[str, str]) -> None:
    assert imports.not_downward(imports.arrows(with_import(importer, imported))) == [arrow]


def test_no_import_of_slackwater_leads_round_in_a_circle() -> None:
    assert imports.circle(imports.imports()) == []


def test_a_circle_is_found() -> None:
    found = imports.circle(with_import("slackwater.core.world.pods", "slackwater.core.world.world"))
    assert found[0] == found[-1]
    assert {"slackwater.core.world.pods", "slackwater.core.world.world"} <= set(found)


@pytest.mark.parametrize(
    ("module", "imported"),
    [
        ("slackwater.cli.main", "slackwater.shell.operator"),
        ("slackwater.cli.commands.choosing", "slackwater.cli.reaching.each"),
    ],
    ids=["in a function", "for types"],
)
def test_imports_in_functions_and_for_types_count(module: str, imported: str) -> None:
    source = ROOT / "operator" / Path(*module.split("."))
    at_once = {
        node.module
        for node in ast.parse(source.with_suffix(".py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    }
    assert imported not in at_once, "choose another example"
    assert imported in imports.imports()[module]


def test_every_room_stands_on_a_floor_and_is_drawn_with_what_it_imports() -> None:
    boxes = {
        "".join(each.itertext()) for each in ET.fromstring(imports.drawing()).iter("{http://www.w3.org/2000/svg}text")
    }
    rooms = {room for floor in imports.floors() for room in floor}
    assert rooms == {room for arrow in DRAWN for room in arrow}
    assert rooms <= boxes
    assert {"decision, world", "world"} <= boxes


def test_an_arrow_is_left_out_where_others_lead_there_too() -> None:
    drawn = {("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")}
    assert imports.next_below(drawn) == drawn - {("a", "c")}

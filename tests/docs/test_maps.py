"""The maps that rooms begin with: each names every module of its room, and none that is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

import slackwater
from slackwater.cli.main import app
from tests.test_layout import ROOT

PACKAGE: Final = Path(slackwater.__file__).parent
HOUSES: Final = ("core", "cli", "pipeline")
WITHOUT_A_MAP: Final = ("pipeline",)
"""It is mapped in docs/architecture.md."""
ROOMS: Final = [
    file.parent.relative_to(PACKAGE).as_posix()
    for house in HOUSES
    for file in sorted((PACKAGE / house).rglob("__init__.py"))
    if file.parent.relative_to(PACKAGE).as_posix() not in WITHOUT_A_MAP
]
COMMANDS: Final = {each.name or each.callback.__name__ for each in app.registered_commands if each.callback}
_FIRST: Final = re.compile(r"^ {0,4}(\w+(?: \| \w+)*)(?: {2,}\S.*)?$", re.MULTILINE)
"""`name   what it answers`, or `a | b   what they answer`."""
_IN_TICKS: Final = re.compile(r"`([a-z][a-z_]*)`")
_AFTER_AN_ARROW: Final = re.compile(r"─► ([a-z_]+)")


def modules(room: str) -> set[str]:
    """Folders as well."""
    inside = (PACKAGE / room).iterdir()
    found = {each.stem for each in inside if each.suffix == ".py" or (each / "__init__.py").is_file()}
    return {name for name in found if not name.startswith("__")}


def named(text: str) -> set[str]:
    first = {name for names in _FIRST.findall(text) for name in names.split(" | ")}
    return first | {*_IN_TICKS.findall(text), *_AFTER_AN_ARROW.findall(text)}


def map_of(room: str) -> str:
    return (PACKAGE / room / "__init__.py").read_text(encoding="utf-8").split('"""')[1]


@pytest.mark.parametrize("room", ROOMS)
def test_a_map_names_every_module_of_its_room(room: str) -> None:
    assert modules(room) - named(map_of(room)) == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_map_names_no_module_that_is_not_there(room: str) -> None:
    others = {*COMMANDS, "slackwater"} if room.startswith("cli") else {room.partition("/")[0]}
    assert named(map_of(room)) - modules(room) - others == set()


def test_the_shell_which_is_flat_is_mapped_on_the_architecture_page() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    table = page.partition("**`shell`**")[2].partition("What the shell wants")[0]
    assert modules("shell") - {*_IN_TICKS.findall(table)} == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Of a room.\n\none    what it answers\n    two  and this\n", {"one", "two"}),
        ("    one | two  what they answer\n    alone\n", {"one", "two", "alone"}),
        ("`one` is asked before `two`; `core.three` and `FOUR` are no modules of the room.", {"one", "two"}),
        ("plan ─► one ─► two", {"one", "two"}),
        ("one is only a word here\n", set()),
    ],
)
def test_what_a_map_names(text: str, names: set[str]) -> None:
    assert named(text) == names

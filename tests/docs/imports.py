"""The imports of the code as grimp (import-linter's library) finds them, and core's floors drawn from them.

Every import counts: those in functions, and those for types alone. `make docs-pages` writes the picture.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

import grimp

from tests.docs.drawing import CALM, PLAIN, arrow, box, picture, text
from tests.test_layout import ROOT

CORE: Final = "slackwater.core"
Arrow = tuple[str, str]
"""Who imports, and who is imported."""
Place = tuple[int, int, int]
"""Left and upper edge of a box, and its width."""
_WIDTH: Final = 1080
_HEIGHT: Final = 116
_GAP: Final = 56
"""Between two floors: room for the arrows."""


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """Each module of slackwater, and the modules of slackwater that it imports."""
    graph = grimp.build_graph("slackwater", cache_dir=None)
    return {module: frozenset(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


@cache
def floors() -> tuple[tuple[str, ...], ...]:
    """Core's rooms, the uppermost floor first, as import-linter's contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (contract,) = (each for each in contracts if each.get("containers") == [CORE])
    return tuple(tuple(name.strip() for name in floor.split("|")) for floor in contract["layers"])


def arrows(found: Mapping[str, Collection[str]], package: str = CORE) -> set[Arrow]:
    """Between the rooms of a package: its folders, and the modules that lie beside them."""
    depth = package.count(".") + 1

    def room(module: str) -> str:
        inside = module.startswith(f"{package}.")
        return module.split(".")[depth] if inside else ""

    pairs = {(room(module), room(target)) for module, targets in found.items() for target in targets}
    return {(a, b) for a, b in pairs if a and b and a != b}


def not_downward(drawn: Collection[Arrow]) -> list[Arrow]:
    """Those that run up, or to a room on the same floor."""
    floor = {room: i for i, rooms in enumerate(floors()) for room in rooms}
    return sorted((a, b) for a, b in drawn if floor[a] >= floor[b])


def circle(found: Mapping[str, Collection[str]]) -> list[str]:
    """Modules of which each imports the one before it, and the last is the first again; empty where there are none."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def next_below(drawn: Collection[Arrow]) -> set[Arrow]:
    """Those that no chain of others stands for."""

    def by_a_chain(pair: Arrow) -> bool:
        a, target = pair
        seen, coming = {a}, [b for source, b in drawn if source == a and b != target]
        while coming:
            room = coming.pop()
            seen.add(room)
            coming += [b for source, b in drawn if source == room and b not in seen]
        return target in seen

    return {each for each in drawn if not by_a_chain(each)}


def drawing() -> str:
    """A floor in each row, a box for each room, and in it all that it imports.

    An arrow leads to what is imported, but where a chain of other arrows leads there, too.
    """
    drawn, places = arrows(imports()), _places()
    parts = [arrow(*way) for way in _ways(next_below(drawn), places)]
    for room, (x, y, width) in places.items():
        is_folder = (ROOT / "operator" / "slackwater" / "core" / room).is_dir()
        parts += [box(x, y, width, _HEIGHT, PLAIN if is_folder else CALM), text(x + 12, y + 22, room, 15, bold=True)]
        for size, first, words in (
            (11, y + 40, _what_for(room)),
            (10, y + 84, ", ".join(sorted(b for a, b in drawn if a == room))),
        ):
            lines = textwrap.wrap(words, 10 * (width - 22) // 62, max_lines=3, placeholder=" …")
            parts += [text(x + 12, first + 13 * i, each, size, mono=size == 10) for i, each in enumerate(lines)]
    height = max(y for _, y, _ in places.values()) + _HEIGHT + 20
    return picture("Core's rooms on their floors, and what each imports", _WIDTH, height, parts)


def _ways(drawn: Collection[Arrow], places: Mapping[str, Place]) -> Iterator[list[tuple[int, int]]]:
    """The points of each arrow: side by side at the edges of boxes, and between the boxes of floors that it passes."""

    def middle(room: str) -> int:
        x, _, width = places[room]
        return x + width // 2

    def side_by_side(room: str, others: list[str], other: str) -> int:
        x, _, width = places[room]
        in_order = sorted(others, key=lambda each: (middle(each), each))
        return x + width * (in_order.index(other) + 1) // (len(others) + 1)

    passed: Counter[tuple[int, int]] = Counter()
    for a, b in sorted(drawn):
        start = side_by_side(a, [target for source, target in drawn if source == a], b)
        end = side_by_side(b, [source for source, target in drawn if target == b], a)
        top, bottom = places[a][1] + _HEIGHT, places[b][1] - 2
        points = [(start, top)]
        for y in sorted({y for _, y, _ in places.values() if top < y < bottom}):
            straight = start + (end - start) * (y - top) // (bottom - top)
            x = _between(straight, [place for place in places.values() if place[1] == y])
            passed[x, y] += 1
            x += 5 * (passed[x, y] - 1)
            points += [(x, y - 8), (x, y + _HEIGHT + 8)]
        yield [*points, (end, bottom)]


def _between(x: int, boxes: list[Place]) -> int:
    """The nearest place beside the boxes of a floor."""
    edges = [place for left, _, width in boxes for place in (left - 8, left + width + 8)]
    return min((place for place in edges if 0 < place < _WIDTH), key=lambda place: abs(place - x))


def _places() -> dict[str, Place]:
    places = {}
    for i, floor in enumerate(floors()):
        width = min(330, (_WIDTH - 40) // len(floor) - 16)
        left = (_WIDTH - len(floor) * (width + 16) + 16) // 2
        places.update(
            {room: (left + j * (width + 16), 20 + i * (_HEIGHT + _GAP), width) for j, room in enumerate(floor)}
        )
    return places


def _what_for(room: str) -> str:
    """The first sentence of its docstring."""
    folder = ROOT / "operator" / "slackwater" / "core" / room
    source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    said = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split()).split(". ")[0].rstrip(".").replace("`", "")

"""Write the figures of docs/demo-fleet.md from `build/demo-fleet.json`: `python -m demo.cascade.page`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from demo.cascade.figures import OF_RUNS
from demo.cascade.modes import MODES
from demo.cascade.report import COLUMNS

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "demo-fleet.md"
FIGURES: Final = ROOT / "build" / "demo-fleet.json"
MARK: Final = "<!-- figures: demo-fleet -->\n"
NOT_YET: Final = "Not measured yet."
_BELOW: Final = re.compile(rf"(?P<mark>{re.escape(MARK)})(?:[^\n]+\n)*")

Json = Mapping[str, Any]


def made(page: str, found: Json | None) -> str:
    """The page with its table below the mark; None: nothing was measured."""
    lines = _lines(found["modes"]) if found else [NOT_YET]
    return _BELOW.sub(lambda match: match["mark"] + "".join(f"{line}\n" for line in lines), page)


def _lines(found: Mapping[str, Json]) -> list[str]:
    """A cell has the mode's figure and, where its runs differ, the least and the most of them."""
    headers = [f"{header.replace(chr(10), ' ')} ({OF_RUNS[name][0]})" for name, header in COLUMNS.items()]
    titles = ("Mode", *headers, "Runs", "OK")
    rows = [_row(mode.name, found[mode.name]) for mode in MODES if mode.name in found]
    return [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}", *rows]


def _row(name: str, mode: Json) -> str:
    cells = [_cell(mode[column], [run[column] for run in mode["runs"]]) for column in COLUMNS]
    ok = "yes" if mode["ok"] else "**no**"
    return f"| `{name}` | {' | '.join(cells)} | {len(mode['runs'])} of {mode['wanted']} | {ok} |"


def _cell(figure: float | None, runs: list[float]) -> str:
    if figure is None:
        return "-"
    least, most = min(runs), max(runs)
    return f"{figure:g}" if least == most else f"{figure:g} ({least:g} to {most:g})"


if __name__ == "__main__":
    measured = json.loads(FIGURES.read_text(encoding="utf-8"))
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")

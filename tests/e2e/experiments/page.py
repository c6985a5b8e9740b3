"""Write the tables of docs/experiments.md from what the tests left: `python -m tests.e2e.experiments.page`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[3]
PAGE: Final = ROOT / "docs" / "experiments.md"
FOLDER: Final = ROOT / "build" / "experiments"
_HEAD: Final = "| Event | World | Rebalances | Idle, partition-seconds | Worst gap | Duplicates | Missing | Took |"
_RULE: Final = "|---|---|---|---|---|---|---|---|"
_TABLE: Final = re.compile(r"(?P<mark><!-- figures: (?P<name>[a-z-]+) -->\n)(?:\|.*\n)*")

Row = Mapping[str, Any]


def made(page: str, found: Mapping[str, Sequence[Row]]) -> str:
    """The page with the rows of each experiment below its mark; one that was not played keeps its table."""

    def table(match: re.Match[str]) -> str:
        rows = found.get(match["name"])
        return match["mark"] + "".join(f"{line}\n" for line in _lines(rows)) if rows else match[0]

    return _TABLE.sub(table, page)


def read(folder: Path = FOLDER) -> dict[str, list[Row]]:
    """Experiment → its rows, of those that were played on this machine."""
    return {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}


def _lines(rows: Sequence[Row]) -> list[str]:
    lines = [_HEAD, _RULE]
    order = {row["event"]: number for number, row in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: (order[row["event"]], row["world"]))
    for event, same in groupby(ordered, key=lambda row: str(row["event"])):
        for number, row in enumerate(same):
            lines.append(_line(row, "" if number else event))
    return lines


def _line(row: Row, event: str) -> str:
    world = f"**{row['world']}**" if row["world"].startswith("Slackwater") else row["world"]
    gap, took = f"{row['worst_gap_seconds']:.1f} s", f"{row['seconds']:.0f} s"
    cells = (event, world, row["rebalances"], f"{row['idle_partition_seconds']:.1f}", gap)
    return f"| {' | '.join(map(str, (*cells, row['duplicates'], row['missing'], took)))} |"


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")

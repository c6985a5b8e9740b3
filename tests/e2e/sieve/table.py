"""How often each write met each fault: build/sieve/table.md, made of all scenarios that were run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tests.conftest import ROOT
from tests.e2e.sieve.faults import FAULTS, Fault, Met

FOLDER: Final = ROOT / "build" / "sieve"

Counts = Mapping[str, Mapping[str, int]]
"""Write → fault → how many different ones met it."""


def counted(met: Mapping[Fault, Iterable[Met]]) -> Counts:
    by_fault = {fault: Counter(each.write.row for each in found) for fault, found in met.items()}
    rows = sorted({row for found in by_fault.values() for row in found})
    return {row: {fault: found[row] for fault, found in by_fault.items()} for row in rows}


def keep(scenario: str, met: Mapping[Fault, Iterable[Met]], folder: Path = FOLDER) -> None:
    """Put a scenario into the table, in place of what it had there before."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{scenario}.json").write_text(json.dumps(counted(met)))
    kept = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    (folder / "table.md").write_text(in_markdown(kept))


def in_markdown(scenarios: Mapping[str, Counts]) -> str:
    head = ["Scenario", "Write", "undisturbed", *FAULTS]
    lines = [_line(head), _line(["---", "---", *["---:"] * (1 + len(FAULTS))])]
    total: Counter[str] = Counter()
    for scenario, counts in scenarios.items():
        for row, found in counts.items():
            total.update(found)
            lines.append(_line([scenario, row, *(found.get(fault, "-") for fault in (Fault.NONE, *FAULTS))]))
    lines.append(_line(["all", "", *(total[fault] for fault in (Fault.NONE, *FAULTS))]))
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"

"""The table of the note."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.sieve.faults import FAULTS, Fault, Met
from tests.e2e.sieve.table import keep
from tests.e2e.sieve.writes import Write


def met(fault: Fault, *says: str) -> list[Met]:
    return [Met("orders", fault, Write("apply", "statefulsets", "GROUP", each)) for each in says]


def test_scenarios_stand_side_by_side_and_each_write_is_counted(tmp_path: Path) -> None:
    keep("rollout", {Fault.NONE: met(Fault.NONE, "a", "b"), Fault.LOST: met(Fault.LOST, "a")}, tmp_path)
    keep("rollout", {Fault.NONE: met(Fault.NONE, "a", "b"), Fault.LOST: met(Fault.LOST, "a", "b", "c")}, tmp_path)
    keep("scaling", {Fault.LOST: met(Fault.LOST, "a")}, tmp_path)
    lines = (tmp_path / "table.md").read_text().splitlines()
    lost = 3 + FAULTS.index(Fault.LOST)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [(each[0], each[1], each[2], each[lost]) for each in cells] == [
        ("rollout", "apply statefulsets", "2", "3"),
        ("scaling", "apply statefulsets", "-", "1"),
        ("all", "", "2", "4"),
    ]

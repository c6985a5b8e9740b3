"""Write the table of gates into docs/restarting.md: `python -m tests.docs.gate_table`."""

from __future__ import annotations

import re
from typing import Final

from slackwater.core.rollout.gates import GATES
from tests.docs.gate_reasons import reasons_of
from tests.test_layout import ROOT

PAGE: Final = ROOT / "docs" / "restarting.md"
_HEAD: Final = "| | Gate | What it asks for | It refuses with |\n|---|---|---|---|\n"
_TABLE: Final = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)+")


def made(page: str) -> str:
    """The page with a row for each gate, by its docstring and its reasons. AssertionError: there is no such table."""
    with_rows, tables = _TABLE.subn(lambda _: _HEAD + _rows(), page)
    assert tables == 1
    return with_rows


def _rows() -> str:
    rows = ""
    for gate in GATES:
        number, _, sentence = " ".join((gate.__doc__ or "").partition("\n\n")[0].split()).partition(": ")
        holds = re.sub(r" \((F\d+)\)|\.$", "", sentence)
        reasons = ", ".join(f"[{reason}](reasons.md#{reason.lower()})" for reason in reasons_of(gate.__name__))
        rows += f"| {number.removeprefix('Gate ')} | `{gate.__name__}` | {holds} | {reasons} |\n"
    return rows


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

"""The gates as the page for newcomers and README list them."""

from __future__ import annotations

import re

from slackwater.core.rollout.gates import GATES
from tests.docs import gate_table
from tests.docs.test_links import links
from tests.test_layout import ROOT

README = ROOT / "README.md"


def test_the_page_has_every_gate_in_its_order_with_its_reasons() -> None:
    page = gate_table.PAGE.read_text(encoding="utf-8")
    assert page == gate_table.made(page), "run `make docs-pages`"
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", page, re.MULTILINE)
    assert rows == [(str(n), gate.__name__) for n, gate in enumerate(GATES, 1)]


def test_readme_has_a_line_for_each_gate_and_leads_to_the_page() -> None:
    section = README.read_text(encoding="utf-8").partition("## When is a pod restarted?\n")[2].partition("\n## ")[0]
    numbers = re.findall(r"^(\d+)\. ", section, re.MULTILINE)
    assert numbers == [str(n) for n in range(1, len(GATES) + 1)], "a line for each gate, by hand"
    assert "docs/restarting.md" in section
    assert "docs/restarting.md" in links(README)


def test_a_gate_says_its_number() -> None:
    assert [(gate.__doc__ or "").partition(":")[0] for gate in GATES] == [f"Gate {n}" for n in range(1, len(GATES) + 1)]

"""What limits.md says of memory fits together, and fits the chart."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import pytest
import yaml

from tests.test_layout import ROOT

PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
LIMIT: Final = yaml.safe_load((ROOT / "charts" / "slackwater" / "values.yaml").read_text())["resources"]["limits"]
_ROW: Final = re.compile(
    r"^\| ([\d,]+) \| (\d+) \| (\d+) MiB(?:, calculated)? \| (\d+) MiB \| [^|]+ \| (\d+)Mi(, the chart's default)? \|$",
    re.MULTILINE,
)


class Row(NamedTuple):
    groups: int
    pods: int
    rest_mib: int
    highest_mib: int
    limit_mib: int
    is_default: bool


ROWS = [
    Row(int(groups.replace(",", "")), int(pods), int(rest), int(highest), int(limit), bool(default))
    for groups, pods, rest, highest, limit, default in _ROW.findall(PAGE)
]


def said(pattern: str) -> int:
    found = re.search(pattern, WORDS)
    assert found is not None, pattern
    return int(found[1])


PROGRAM_MIB = said(r"\*\*(\d+) MiB for the program")
EMPTY_MIB = said(r"more than the (\d+) MiB that it takes without any group")
GROUP_KIB = said(r"(\d+) KiB for each group")
POD_KIB = said(r"and (\d+) KiB for each of its pods")
HOSTILE_MIB = said(r"(\d+) MiB more than the")


def test_the_sizes_that_people_ask_about_are_in_the_table() -> None:
    assert {500, 2_000, 10_000} == {row.groups for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_row_at_rest_is_what_the_sentence_above_it_adds_up_to(row: Row) -> None:
    summed_mib = PROGRAM_MIB + row.groups * (GROUP_KIB + row.pods * POD_KIB) / 1024
    assert abs(summed_mib - row.rest_mib) <= 0.03 * row.rest_mib


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_limit_holds_the_highest_and_a_hostile_neighbour(row: Row) -> None:
    assert row.rest_mib <= row.highest_mib
    assert row.highest_mib + HOSTILE_MIB <= row.limit_mib


def test_a_hostile_neighbour_takes_what_the_page_about_security_says() -> None:
    assert f"{EMPTY_MIB + HOSTILE_MIB} MiB" in SECURITY
    assert f"took a process to {EMPTY_MIB + HOSTILE_MIB} MiB" in WORDS


def test_the_charts_default_is_the_row_that_says_so() -> None:
    assert [f"{row.limit_mib}Mi" for row in ROWS if row.is_default] == [LIMIT["memory"]]

"""The pages about fleets say what the code says: its words, its picture's fleet, and how long its groups wait."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import pytest
import yaml

from slackwater.api.consumer_fleet_status import FleetConditionType
from slackwater.api.fleet_budgets import CountedPer, MoveReason
from slackwater.api.fleet_campaign_status import CampaignPhase, Skip
from slackwater.core.fleet.campaign_report import CampaignReason
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.claims import GATES
from slackwater.core.fleet.reasons import FleetReason
from tests.docs import turns
from tests.test_layout import ROOT

WORDS: Final = (FleetReason, FleetConditionType, CampaignReason, CampaignPhase, Skip)


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("vocabulary", WORDS, ids=lambda each: each.__name__)
def test_every_word_of_fleets_and_campaigns_is_on_their_page(vocabulary: type[StrEnum]) -> None:
    said = set(re.findall(r"`(\w+)(?: True| False)?`", page("fleet-reasons.md")))
    assert {str(word) for word in vocabulary} - said == set()


def test_every_way_to_count_is_on_the_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", page("fleets.md").partition("| `per` |")[2], re.MULTILINE)
    assert rows[: len(CountedPer)] == [str(each) for each in CountedPer]
    assert all(f"`{reason}`" in page("fleets.md") for reason in MoveReason)


def test_the_picture_of_budgets_is_of_the_fleet_that_the_page_shows() -> None:
    block = page("fleets.md").partition("pictures/budgets.svg")[2].partition("```yaml\n")[2].partition("```")[0]
    assert yaml.safe_load(block)["spec"]["budgets"] == turns.BUDGETS


def test_the_pictures_leave_nothing_out() -> None:
    life, budgets = turns.life(), turns.budgets()
    assert all(reason in life for reason in MoveReason)
    assert all(gate in life for gate in GATES)
    assert set(turns.COUNTS) == {standing for standing in Standing if standing.counts}
    assert all(f"per {per}" in budgets for per in CountedPer if per is not CountedPer.LABEL)
    assert budgets.count("may begin<") == 3


def test_the_sentences_of_explain_are_those_of_the_page() -> None:
    views = (path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "cli" / "views").glob("turn-*.txt"))
    said = " ".join(" ".join(view.split()) for view in views)
    table = page("fleet-waits.md").partition("| It says |")[2].partition("\n\n")[0]
    spans = [span for row in table.splitlines()[2:] for span in re.findall(r"`([^`]+)`", row.split("|")[1])]
    parts = [
        part.strip(" ,") for span in spans for part in re.split(r"\b(?:B|F|C|GROUP)\b|…", span) if part.strip(" ,")
    ]
    assert len(parts) > 12
    assert [part for part in parts if part not in said] == []

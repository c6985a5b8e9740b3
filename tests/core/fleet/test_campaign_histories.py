"""Whatever happens in whatever order: no wave before its elders, and everybody comes to an end (invariant 11)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slackwater.core.fleet import campaign as campaigns
from slackwater.core.fleet import openings
from slackwater.core.fleet.openings import Check
from tests.core.fleet.campaigns import BrokenRule, play

HISTORIES = 400


@settings(max_examples=HISTORIES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.randoms(use_true_random=False))
def test_no_wave_before_its_elders_and_everybody_comes_to_an_end(draw: Random) -> None:
    play(draw)


@pytest.mark.parametrize("seed", range(300))
def test_the_same_by_other_histories(seed: int) -> None:
    """Hypothesis likes short ones."""
    play(Random(seed), steps=120)


def finds_it() -> str:
    for seed in range(600):
        try:
            play(Random(seed), steps=120)
        except BrokenRule as broken:
            return str(broken)
    return ""


WEAKENED: dict[Check, str] = {
    openings.every_group_is_over: "elder wave is over|of its wave behind|before it was tried",
    openings.every_group_is_calm: "is disturbed",
    openings.it_has_soaked: "has soaked",
}


@pytest.mark.parametrize("check", WEAKENED, ids=lambda check: check.__name__)
def test_without_one_of_the_checks_a_rule_is_broken(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings, "OPENINGS", tuple(each for each in openings.OPENINGS if each is not check))
    found = finds_it()
    assert any(words in found for words in WEAKENED[check].split("|")), found


def nobody_halts(*_: object) -> None:
    return None


def test_without_halts_a_rule_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaigns, "halts", nobody_halts)
    assert "although too many have failed" in finds_it() or "paused" in finds_it()


def no_record(*_: object) -> None:
    return None


def test_without_records_of_groups_a_rule_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a group does not remember, a campaign does again."""
    monkeypatch.setattr("tests.core.fleet.campaigns.record_of", no_record)
    monkeypatch.setattr("slackwater.core.fleet.participants.record_of", no_record)
    assert finds_it()


def test_done_before_the_campaign_is_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slackwater.core.fleet.participants._is_achieved", lambda *_: True)
    assert "has pods from before" in finds_it()

"""Small pieces of sentences."""

from __future__ import annotations

import re
from typing import Final

import pytest

from slackwater.core.decision.words import count, listing, records, rounded, seconds, shown
from tests.test_layout import ROOT


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("", ""),
        ("a", "a"),
        ("abcd", "a, b, c, d"),
        ("abcde", "a, b, c, d and 1 more"),
        ("abcdef", "a, b, c, d and 2 more"),
    ],
)
def test_a_listing_names_the_first_and_counts_the_rest(items: str, words: str) -> None:
    assert listing(items) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("payments-1", "payments-1"),
        ("a\nb\r\n\tc\u2028d", "a b c d"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b2J\u202ex\u200b\ufeff", "\\x9b2J\\u202ex\\u200b\\ufeff"),
        ("größe ☂ 数", "größe ☂ 数"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
    ],
)
def test_what_others_wrote_is_shown_in_one_line_and_steers_no_terminal(text: str, words: str) -> None:
    assert shown(text) == words


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [(0.44, "0.4 s"), (9, "9 s"), (9.96, "10 s"), (12.3, "12 s"), (119, "119 s"), (120, "2 min"), (180, "3 min")],
)
def test_a_duration_is_as_exact_as_people_want_it(duration_s: float, words: str) -> None:
    assert seconds(duration_s) == words


@pytest.mark.parametrize(("number", "words"), [(0, "0"), (7, "7"), (42, "40"), (99, "90"), (12345, "10000")])
def test_a_figure_that_moves_all_the_time_has_one_digit(number: int, words: str) -> None:
    assert rounded(number) == words
    assert records(number) == f"{words} records"


def test_one_of_a_thing_is_not_several() -> None:
    assert (records(1), count(1, "pod"), count(0, "pod"), count(2, "pod")) == ("1 record", "1 pod", "0 pods", "2 pods")


JUDGES_A_SENTENCE: Final = re.compile(
    r"\b(message|why|words)\.(startswith|endswith)\(|[\"'] (not )?in [\w.]*\b(message|why)\b"
)
ROOMS: Final = ("operator", "tests/core/simulation", "tests/core/coordinator")


def test_no_sentence_carries_logic() -> None:
    """What follows from a word is an attribute of the word; a sentence can be written better at any time."""
    code = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    guilty = {path.name: found[0] for path in code if (found := JUDGES_A_SENTENCE.search(path.read_text())) is not None}
    assert guilty == {}

"""Sentences that people read first are short and active, and the script that counts them counts right."""

from __future__ import annotations

import pytest

from tests.docs.sentences import MOST_WORDS, Sentence, complaints, of_markdown, of_prose


def test_no_sentence_of_readme_help_and_crds_is_long_or_passive_without_need() -> None:
    assert complaints() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("One pod at a time.", 5),
        ("Set `timeouts.session` to `45s`.", 4),
        ("Kafka 4.3 with a 2.5 MB answer, well-known.", 8),
        ("", 0),
    ],
)
def test_words_are_counted_as_people_count_them(text: str, words: int) -> None:
    assert Sentence("here", text).words == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It waits. Then it goes on.", ["It waits.", "Then it goes on."]),
        ("Set it: `45s` is the default.", ["Set it:", "`45s` is the default."]),
        ("See e.g. Kafka's pages.", ["See e.g. Kafka's pages."]),
        ("It waits; then it goes on.", ["It waits; then it goes on."]),
    ],
)
def test_a_sentence_ends_with_a_mark_and_a_capital(text: str, sentences: list[str]) -> None:
    assert list(of_prose(text)) == sentences


def test_code_is_no_prose_and_cells_and_items_are_sentences_of_their_own() -> None:
    text = (
        "# Head\n\nOne\ntwo.\n\n```sh\nnot this\n```\n\n- item\n- [link](page.md)\n\n| a | b |\n|---|---|\n| c | d |\n"
    )
    assert list(of_markdown(text)) == ["Head", "One two.", "item", "link", "a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The pod is restarted.", ("is restarted",)),
        ("Members have been removed.", ("been removed",)),
        ("It is not yet known.", ()),
        ("It is never written twice.", ("is never written",)),
        ("A pod that is outdated waits.", ()),
        ("When the rollout is done, it ends.", ()),
        ("The operator restarts the pod.", ()),
        ("`is restarted` is a word.", ()),
    ],
)
def test_a_passive_is_a_form_of_to_be_before_a_participle(text: str, found: tuple[str, ...]) -> None:
    assert Sentence("here", text).passives == found


def test_one_word_more_than_the_most_is_too_long() -> None:
    assert Sentence("here", "word " * (MOST_WORDS + 1)).words > MOST_WORDS

"""Every reason has its page, and everybody who reads a reason gets to it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from slackwater.cli.commands.groups import GIVING
from slackwater.cli.main import app
from slackwater.cli.words import reasons as texts
from slackwater.core.decision.reasons import Reason
from tests.cli.command import typed
from tests.test_layout import ROOT

Capsys = pytest.CaptureFixture[str]

SAID = [text.name for text in texts.parse(texts.source())]
NAMES = [reason.value for reason in Reason]


def test_every_reason_has_one_section_and_every_section_is_a_reasons() -> None:
    assert SAID == NAMES, "sections of texts/reasons.md stand in the order of Reason"


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_means_and_what_to_do_in_a_few_sentences(name: str) -> None:
    text = texts.reason_texts()[name]
    for words in (text.meaning, text.advice):
        assert re.fullmatch(r"[`A-Z].{6,}\.", words), words
    sentences = len(re.findall(r"[.:;](?= |$)", f"{text.meaning} {text.advice}"))
    assert 2 <= sentences <= 8


def test_a_link_is_told_by_the_page_that_it_leads_to() -> None:
    section = "### A\n**What it means.** It waits.\n\n**What to do.** Nothing\n([the way](a-page.md#here)).\n"
    (text,) = texts.parse(f"# Reasons\n\n## Gates\n\n{section}")
    assert text.advice == "Nothing (the way (docs/a-page.md))."
    assert not [name for name, each in texts.reason_texts().items() if "](" in each.meaning + each.advice]


def test_a_section_of_another_shape_is_an_error() -> None:
    with pytest.raises(ValueError, match="not both what it means and what to do"):
        list(texts.parse("# Reasons\n\n## Gates\n\n### Paused\n**What it means.** It is paused.\n"))


def test_its_commands_are_commands_of_ours() -> None:
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    known |= {group.name for group in app.registered_groups if group.name}
    named = set(re.findall(r"`(?:kubectl )?slackwater (\w+)", texts.source()))
    assert named <= known
    assert set(GIVING) - {"restart"} <= named


def test_the_documentation_is_that_very_file() -> None:
    assert (ROOT / "docs" / "reasons.md").read_text() == texts.source()
    assert (ROOT / "docs" / "reasons.md").resolve() == ROOT / "operator" / "slackwater" / "texts" / "reasons.md"


def test_one_is_printed(capsys: Capsys) -> None:
    done = typed(capsys, "reason", "Paused")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "Paused  The gates: why no pod is restarted now"
    said = " ".join(done.out.split())
    assert "What it means Somebody paused the group" in said
    assert "What to do `kubectl slackwater resume GROUP` lets it go on." in said


def test_its_letters_may_be_small(capsys: Capsys) -> None:
    assert typed(capsys, "reason", "podnotready").out.startswith("PodNotReady ")


def test_all_are_listed_with_a_line_each(capsys: Capsys) -> None:
    done = typed(capsys, "reason")
    lines = [line.split()[0] for line in done.out.splitlines() if re.match(r"[A-Z]\w+  +[`A-Z]", line)]
    assert (done.code, lines) == (0, NAMES)


def test_no_line_of_the_list_is_cut(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    listed = typed(capsys, "reason").out
    assert [text.gist for text in texts.reason_texts().values() if text.gist not in listed] == []


def test_as_documents(capsys: Capsys) -> None:
    one = json.loads(typed(capsys, "reason", "Paused", "-o", "json").out)
    assert set(one) == {"name", "part", "meaning", "advice"}
    everything = yaml.safe_load(typed(capsys, "reason", "-o", "yaml").out)
    assert [each["name"] for each in everything] == NAMES
    assert one in everything


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "PodNotRedy",
            "there is no reason 'PodNotRedy', and slackwater reason lists them all: did you mean PodNotReady",
        ),
        ("oversized", "Oversized is the type of a condition, not a reason: its reason stands beside it"),
        ("Degraded", "Degraded is the type of a condition, not a reason: its reason stands beside it"),
        ("x", "there is no reason 'x', and slackwater reason lists them all: see slackwater reason --help."),
    ],
)
def test_one_that_there_is_not(name: str, sentence: str, capsys: Capsys) -> None:
    done = typed(capsys, "reason", name)
    assert sentence in done.sentence
    assert done.code == 2


def test_nothing_that_the_operator_says_is_left_out() -> None:
    """A reason written as a text would have no page."""
    written = re.compile(r"\b(?:Hold|Note|Verdict|Unobserved|Failure)\(\s*\"")
    folder = Path(texts.__file__).parents[2]
    sources = [file for part in ("core", "shell", "adapters") for file in (folder / part).rglob("*.py")]
    assert [str(file) for file in sources if written.search(file.read_text())] == []

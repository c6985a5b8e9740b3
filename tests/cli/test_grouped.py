"""`--help` has each command once, among those that are looked for with it, and cuts no line."""

from __future__ import annotations

import re
import sys

import pytest

from slackwater.cli import main as command
from slackwater.cli.grouped import ALIASES, GROUPS, anywhere, first_sentence
from tests.cli.command import command_line, typed


def test_each_command_stands_in_one_group() -> None:
    placed = [name for names in GROUPS.values() for name in names]
    assert sorted(placed) == sorted(command_line().commands)


@pytest.mark.parametrize(("other", "name"), ALIASES.items())
def test_another_name_is_the_same_command(other: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (usage, *rest), (_, *of_it) = (typed(capsys, each, "--help").out.splitlines() for each in (other, name))
    assert (usage.split()[:3], rest) == (["Usage:", "slackwater", other], of_it)
    assert f"`{other}` does the same." in typed(capsys, name, "--help").out


@pytest.mark.parametrize("words", [(), ("fleet",), ("campaign",), ("pipeline",)], ids=" ".join)
def test_no_line_is_cut(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    shown = typed(capsys, *words, "--help").out
    assert not re.search(r"\w\.\.\.$", shown.replace("COMMAND [ARGS]...", ""), re.MULTILINE)
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_groups_stand_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    shown = typed(capsys, "--help").out
    places = [shown.index(f"\n{title}:") for title in GROUPS]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Show it. And more.", "Show it"),
        ("Show it,\nall of it.\n\nMore.", "Show it, all of it"),
        ("Print it: `x | source`; fish: `... | source`.", "Print it: `x | source`; fish: `... | source`"),
        ("", ""),
    ],
)
def test_of_a_help_the_first_sentence_is_shown(text: str, first: str) -> None:
    assert first_sentence(text) == first


@pytest.mark.parametrize(
    ("called", "name"),
    [("/usr/bin/slackwater", "slackwater"), ("/usr/bin/kubectl-slackwater", "kubectl slackwater")],
)
def test_it_calls_itself_as_people_type_it(
    called: str, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [called, "status", "--help"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"Usage: {name} status ")


def test_a_mistake_in_a_plugin_names_the_plugin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl-slackwater", "version", "--lon"])
    with pytest.raises(SystemExit):
        command.main()
    assert capsys.readouterr().err.endswith(": see kubectl slackwater version --help.\n")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("status payments --kubeconfig f -n shop", "--kubeconfig f status payments -n shop"),
        ("status --kubeconfig=f payments --debug", "--kubeconfig=f --debug status payments"),
        ("--debug list", "--debug list"),
        ("status payments --ask-kafka", "--ask-kafka status payments"),
        ("pause payments --reason -- --kubeconfig f", "pause payments --reason -- --kubeconfig f"),
    ],
)
def test_what_kubectl_takes_anywhere_may_stand_anywhere(typed: str, meant: str) -> None:
    assert anywhere(typed.split()) == meant.split()


def test_a_kubeconfig_is_the_one_that_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/of/the/environment")
    assert "there is no file /of/the/line: set KUBECONFIG" in typed(capsys, "list", "--kubeconfig", "/of/the/line").err


def test_a_kubeconfig_that_is_left_out_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--kubeconfig needs a value: write it after it" in typed(capsys, "list", "--kubeconfig").sentence


@pytest.mark.parametrize(
    ("words", "usual"),
    [
        (("--kubeconfig", ""), "an empty --kubeconfig would be the usual one: write the path of a file"),
        (("--kubeconfig=",), "an empty --kubeconfig would be the usual one"),
        (("--context", ""), "an empty context would be the current one: write its name, or leave --context out"),
        (("--context", " "), "an empty context would be the current one"),
    ],
)
def test_nothing_is_not_taken_for_the_usual_cluster(
    words: tuple[str, ...], usual: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script's variable that is not set: what it says is not for whatever cluster the file at home is of."""
    monkeypatch.setenv("KUBECONFIG", "/of/the/environment")
    done = typed(capsys, "abort", "payments", *words)
    assert (done.code, usual in done.sentence) == (2, True)

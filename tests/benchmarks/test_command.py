from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.scale import command
from benchmarks.scale.beside import Phase, Played
from benchmarks.scale.watched import Watched

PHASE = Phase(4.0, 0.5, 1.0, 300, 0)
NOTHING = ["--neighbours", "--groups"]


def test_without_go_the_rest_is_measured_and_a_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command.run([*NOTHING, "--twin", "5"], tmp_path / "scale.json") == 0
    assert "The twin is left out: Go is not there" in capsys.readouterr().out
    found = json.loads((tmp_path / "scale.json").read_text())
    assert "Go is not there" in found["no_twin"]
    assert not [key for key in found if key.endswith("_ratio")]


def test_who_asks_for_no_twin_gets_no_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run([*NOTHING, "--twin"], tmp_path / "scale.json") == 0
    assert "left out" not in capsys.readouterr().out
    assert "no_twin" not in json.loads((tmp_path / "scale.json").read_text())


def test_what_was_measured_of_the_whole_process_is_shown_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def watched(groups: int, pods: int, rest_s: float) -> Watched:
        return Watched(groups, pods, 104.0, 204.5, 210.0, 102.9, 5.0, 4.0, 0)

    monkeypatch.setattr(command, "watched", watched)
    arguments = [*NOTHING, "--twin", "--watched", "1000", "--pods", "0", "2"]
    assert command.run(arguments, tmp_path / "scale.json") == 0
    assert ["rss", "mib", "204.5"] in [line.split() for line in capsys.readouterr().out.splitlines()]
    found = json.loads((tmp_path / "scale.json").read_text())["watched"]
    assert [(each["groups"], each["pods"]) for each in found] == [(1000, 0), (1000, 2)]


def test_the_two_stand_side_by_side() -> None:
    sides = {"ours": [asdict(Played(PHASE, PHASE, 111.3, {}))], "twin": [asdict(Played(PHASE, PHASE, 40.1, {}))]}
    text = command.twin_table({"twin": [{"groups": 50, "pods": 2, **sides}], "noop_ratio": 0.3})
    rows = [line.split() for line in text.splitlines()]
    assert ["noop", "ratio", "0.3"] in rows
    assert ["created", "cpu", "seconds", "4.0", "4.0"] in rows
    assert ["changed", "p99", "seconds", "1.0", "1.0"] in rows
    assert ["rss", "mib", "111.3", "40.1"] in rows

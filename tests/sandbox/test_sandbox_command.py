"""Whoever mistypes a command gets a sentence, never a traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox.cli import main

COMMAND = Path(__file__).parents[2] / "bin" / "sandbox"


@pytest.fixture(autouse=True)
def a_sandbox_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLACKWATER_SANDBOX_CACHE", f"{tmp_path}/cache")
    monkeypatch.setenv("SLACKWATER_SANDBOX_RUN", f"{tmp_path}/run")


def typed(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """What it exits with."""
    monkeypatch.setattr("sys.argv", ["sandbox", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["kubeconfig"], "The sandbox is down."),
        (["logs", "kafka-7"], "There is no log called 'kafka-7'."),
        (["broker", "kill", "2"], "There is no broker 2"),
        (["broker", "kill", "two"], "should be a valid integer"),
        (["node", "pause"], "node is not running."),
        (["apiserver", "kill"], "kube-apiserver is not running."),
        (["up", "--brokers", "9"], "should be less than or equal to 3"),
        (["upp"], "No such command 'upp'"),
    ],
)
def test_a_mistake_is_answered_by_a_sentence(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, *words) in (1, 2)

    out, err = capsys.readouterr()
    assert sentence in err
    assert "Usage:" not in out + err


def test_nor_by_a_traceback_where_it_is_a_process() -> None:
    done = subprocess.run([COMMAND, "broker", "kill", "2"], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert "There is no broker 2" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_kubeconfig_that_is_not_there_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/no/such/file")

    assert typed(monkeypatch, "up") == 1
    assert "KUBECONFIG names /no/such/file" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_status_of_a_sandbox_that_is_down(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(monkeypatch, "status") == 0
    assert "The sandbox is down." in capsys.readouterr().err

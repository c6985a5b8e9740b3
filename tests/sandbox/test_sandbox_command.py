"""Whoever mistypes a command gets a sentence, never a traceback."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sandbox.cli import main

COMMAND = Path(__file__).parents[2] / "bin" / "sandbox"


def sandbox(tmp_path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folders = {"SLACKWATER_SANDBOX_CACHE": f"{tmp_path}/cache", "SLACKWATER_SANDBOX_RUN": f"{tmp_path}/run"}
    return subprocess.run(
        [COMMAND, *words],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **folders, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


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
    tmp_path: Path,
    words: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("SLACKWATER_SANDBOX_CACHE", f"{tmp_path}/cache")
    monkeypatch.setenv("SLACKWATER_SANDBOX_RUN", f"{tmp_path}/run")
    monkeypatch.setattr("sys.argv", ["sandbox", *words])
    with pytest.raises(SystemExit) as ended:
        main()

    out, err = capsys.readouterr()
    assert ended.value.code in (1, 2)
    assert sentence in err
    assert "Usage:" not in out + err


def test_nor_by_a_traceback_where_it_is_a_process(tmp_path: Path) -> None:
    done = sandbox(tmp_path, "broker", "kill", "2")

    assert done.returncode == 1
    assert "There is no broker 2" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_kubeconfig_that_is_not_there_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    done = sandbox(tmp_path, "up", KUBECONFIG="/no/such/file")

    assert done.returncode == 1
    assert "KUBECONFIG names /no/such/file" in done.stderr
    assert not (tmp_path / "run").exists()


def test_status_of_a_sandbox_that_is_down(tmp_path: Path) -> None:
    done = sandbox(tmp_path, "status")

    assert done.returncode == 0
    assert "The sandbox is down." in done.stderr

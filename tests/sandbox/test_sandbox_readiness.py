"""A server is ready when it says so, not when its socket is there."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from sandbox import readiness


def say(path: Path, *messages: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as speaker:
        for message in messages:
            speaker.sendto(message, str(path))


def test_it_is_ready_once_it_has_said_so(tmp_path: Path) -> None:
    with readiness.told_at(tmp_path / "s") as is_ready:
        assert not is_ready()
        say(tmp_path / "s", b"STATUS=starting", b"MAINPID=7")
        assert not is_ready()
        say(tmp_path / "s", b"STATUS=up\nREADY=1\nMAINPID=7")
        assert is_ready()


def test_a_word_that_only_begins_like_it_is_not_taken_for_it(tmp_path: Path) -> None:
    with readiness.told_at(tmp_path / "s") as is_ready:
        say(tmp_path / "s", b"READY=10", b"NOTREADY=1")
        assert not is_ready()


def test_what_an_earlier_run_left_does_not_disturb(tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    with readiness.told_at(tmp_path / "s") as is_ready:
        say(tmp_path / "s", b"READY=1")
        assert is_ready()
    with pytest.raises(FileNotFoundError):
        say(tmp_path / "s", b"READY=1")

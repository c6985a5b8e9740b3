"""Processes are started detached, found again by pid and start time, and stopped for certain."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import processes, procfs
from sandbox.errors import MissingPrerequisite, NotUp, StartFailed
from sandbox.layout import Layout

SLEEPER = ("sleep", "600")
STUBBORN = ("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done")

HEADLESS = (
    sys.executable,
    "-c",
    "import ctypes, threading, time\n"
    "threading.Thread(target=time.sleep, args=(600,)).start()\n"
    "print('ready', flush=True)\n"
    "ctypes.CDLL(None).pthread_exit(None)",
)
"""Its first thread ends at once, its second one later: so is a killed JVM for a moment."""


def wait_for_line(layout: Layout, name: str, line: str) -> None:
    processes.wait_until(
        layout, f"{name} says {line}", lambda: line in processes.log_tail(layout, name), 10, process=name
    )


def test_a_started_process_is_found_by_another_command(layout: Layout) -> None:
    pid = processes.start(layout, "sleeper", SLEEPER)

    found = processes.find(layout, "sleeper")

    assert found is not None
    assert found.pid == pid
    assert processes.names(layout) == ("sleeper",)


def test_what_is_kept_comes_back_when_it_ends_by_itself(layout: Layout) -> None:
    processes.start_kept(layout, "mortal", ("sh", "-c", "echo born; kill -9 $$"))

    processes.wait_until(
        layout,
        "it is born a second time",
        lambda: processes.log_tail(layout, "mortal").count("born") >= 2,
        30,
        process="mortal",
    )


@pytest.mark.parametrize("end", [processes.stop, processes.kill])
def test_what_is_kept_ends_with_who_keeps_it(layout: Layout, end: Callable[[Layout, str], None]) -> None:
    keeper = processes.start_kept(layout, "sleeper", SLEEPER)

    def names() -> list[str]:
        return [Path(f"/proc/{pid}/comm").read_text().strip() for pid in procfs.descendants(keeper)]

    processes.wait_until(layout, "it sleeps", lambda: names() == ["sleep"], 10, process="sleeper")
    kept = procfs.descendants(keeper)

    end(layout, "sleeper")

    deadline = time.monotonic() + 10
    while any(procfs.state(pid) not in "ZX" for pid in kept):
        assert time.monotonic() < deadline, f"it sleeps on: {kept}"
    assert procfs.started_ticks(keeper) is None


def test_a_name_can_be_used_once(layout: Layout) -> None:
    processes.start(layout, "sleeper", SLEEPER)

    with pytest.raises(NotUp, match="sleeper is already running"):
        processes.start(layout, "sleeper", SLEEPER)


def test_stop_ends_a_process_that_ignores_the_request(layout: Layout) -> None:
    pid = processes.start(layout, "stubborn", STUBBORN)
    wait_for_line(layout, "stubborn", "ready")

    processes.stop(layout, "stubborn", deadline_s=0.2)

    assert procfs.started_ticks(pid) is None
    assert processes.names(layout) == ()


def test_stop_ends_a_frozen_process(layout: Layout) -> None:
    pid = processes.start(layout, "sleeper", SLEEPER)
    os.kill(pid, signal.SIGSTOP)

    processes.stop(layout, "sleeper", deadline_s=5)

    assert procfs.started_ticks(pid) is None


def test_a_process_lives_as_long_as_one_of_its_threads(layout: Layout) -> None:
    pid = processes.start(layout, "headless", HEADLESS)
    wait_for_line(layout, "headless", "ready")
    processes.wait_until(layout, "its first thread has ended", lambda: procfs.state(pid) == "Z", 10)

    assert processes.is_running(layout, "headless"), "its other thread still holds its files and ports"
    processes.kill(layout, "headless")
    assert procfs.started_ticks(pid) is None


def test_a_recycled_pid_is_not_ours_and_is_never_signalled(layout: Layout) -> None:
    pid = processes.start(layout, "someone-else", SLEEPER)
    ticks = procfs.started_ticks(pid)
    assert ticks is not None
    (layout.pids / "ours.pid").write_text(f"{pid} {ticks - 1}\n")

    assert not processes.is_running(layout, "ours")
    processes.stop(layout, "ours")

    assert processes.is_running(layout, "someone-else")


@pytest.mark.parametrize("content", ["", "garbage", "12", "12 34 56"])
def test_a_damaged_pid_file_means_not_running(layout: Layout, content: str) -> None:
    (layout.pids / "damaged.pid").write_text(content)

    assert not processes.is_running(layout, "damaged")


def test_waiting_for_a_process_that_dies_shows_the_end_of_its_log(layout: Layout) -> None:
    processes.start(layout, "dying", ["sh", "-c", "echo first; echo the reason >&2; exit 3"])

    with pytest.raises(StartFailed) as failure:
        processes.wait_until(layout, "it serves", lambda: False, 10, process="dying")

    assert failure.value.what == "dying ended before: it serves."
    assert failure.value.log == ("first", "the reason")
    assert str(processes.log_file(layout, "dying")) in failure.value.todo


def test_waiting_ends_at_the_deadline(layout: Layout) -> None:
    processes.start(layout, "sleeper", SLEEPER)

    with pytest.raises(StartFailed, match=r"Not within 0\.2 s: it serves\."):
        processes.wait_until(layout, "it serves", lambda: False, 0.2, process="sleeper")


def test_a_program_that_is_not_there_is_named(layout: Layout) -> None:
    with pytest.raises(MissingPrerequisite, match="there is no program /no/such"):
        processes.start(layout, "nothing", ["/no/such"])


def test_the_environment_is_added_to(layout: Layout) -> None:
    processes.start(layout, "printer", ["sh", "-c", 'echo "$COLOUR ${PATH:+path}"; sleep 600'], env={"COLOUR": "blue"})

    wait_for_line(layout, "printer", "blue path")


def test_kill_needs_something_to_kill(layout: Layout) -> None:
    with pytest.raises(NotUp, match="kafka-1 is not running"):
        processes.kill(layout, "kafka-1")


def names_below(root: int) -> list[str]:
    """By name a program shows that it was started: before, it is a copy of who starts it."""
    return [name for pid in procfs.descendants(root) if (name := name_of(pid))]


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


STARTS_IN_VAIN = """
import os, sys
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
"""
"""Its child waits for somebody to open the pipe before it can become another program, and so does it itself."""


def test_who_waits_for_a_child_to_become_a_program_is_frozen_with_it(layout: Layout, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    python = f"{sys.executable} -c '{STARTS_IN_VAIN}' {pipe}"
    root = processes.start(layout, "tree", ["sh", "-c", f"{python}; sleep 600"])
    processes.wait_until(layout, "it waits", lambda: "D" in map(procfs.state, procfs.descendants(root)), 10)

    assert processes.freeze_below(layout, "tree") == 2
    assert sorted(map(procfs.state, procfs.descendants(root))) == ["D", "T"]
    for pid in procfs.descendants(root):
        os.kill(pid, signal.SIGKILL)


def test_freezing_stops_all_descendants_and_thawing_lets_them_go_on(layout: Layout) -> None:
    root = processes.start(layout, "tree", ["sh", "-c", "sh -c 'sleep 600 & sleep 600' & sleep 600"])
    processes.wait_until(layout, "the tree has grown", lambda: names_below(root).count("sleep") == 3, 10)

    assert processes.freeze_below(layout, "tree") == 4
    assert {procfs.state(pid) for pid in procfs.descendants(root)} == {"T"}
    assert procfs.state(root) != "T"

    processes.thaw_below(layout, "tree")
    processes.wait_until(
        layout, "all go on", lambda: {procfs.state(pid) for pid in procfs.descendants(root)} <= {"S", "R"}, 10
    )
    for pid in procfs.descendants(root):
        os.kill(pid, signal.SIGKILL)

"""Start, watch and stop the sandbox's long-running processes.

Each has a name, a log file and a pid file. A pid file also holds the process' start time as the kernel counts it, so a
pid that the kernel gave to someone else in the meantime is never taken for ours, and never signalled.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox import procfs
from sandbox.commands import run
from sandbox.errors import MissingPrerequisite, NotUp, StartFailed
from sandbox.layout import Layout

POLL_S = 0.05
LOG_LINES = 20


@dataclass(frozen=True, slots=True)
class Process:
    """One running process: its pid on this machine and its start time in clock ticks since boot."""

    pid: int
    started_ticks: int


def start(
    layout: Layout,
    name: str,
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    netns: str | None = None,
) -> int:
    """Start `argv` detached, in the network namespace `netns` if given, and return its pid.

    Its output is appended to `<logs>/<name>.log`; `env` is added to this process' environment. It is not waited for:
    see `wait_until`. Raises NotUp when a process of that name runs already, MissingPrerequisite when there is no such
    program.
    """
    _refuse_second(layout, name)
    words = [str(word) for word in argv]
    if netns is not None:
        # nsenter replaces itself by the program: the pid stays. `ip netns exec` would also remount /sys.
        words = ["nsenter", f"--net=/run/netns/{netns}", "--", *words]
    with log_file(layout, name).open("ab") as log:
        try:
            child = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(env or {})},
                cwd=cwd or "/",
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise MissingPrerequisite(f"{name} cannot be started: there is no program {words[0]}.") from error
    record(layout, name, child.pid)
    child.returncode = 0  # it outlives this command on purpose: Python must not warn that nobody waits for it
    return child.pid


def start_kept(layout: Layout, name: str, argv: Sequence[str | Path], *, netns: str | None = None) -> int:
    """Start `argv` like `start`, and start it again whenever it ends by itself; returns the pid of who does that.

    For programs that end on purpose when they do not understand the world any more, and count on being started again.
    """
    return start(layout, name, ["sh", "-c", _KEEP, "sh", *argv], netns=netns)


_KEEP = """\
trap 'trap - TERM; kill "$child"; wait "$child"; exit' TERM
while :; do
  setpriv --pdeathsig KILL -- "$@" &
  child=$!
  wait "$child"
  echo "It has ended by itself, with status $?, and is started again."
  sleep 1
done
"""


def start_inside(
    layout: Layout,
    name: str,
    argv: Sequence[str | Path],
    *,
    of: str,
    env: Mapping[str, str] | None = None,
) -> int:
    """Start `argv` like `start`, but in all namespaces of the running process `of`, and return its pid on this machine.

    Raises NotUp when `of` is not running, StartFailed when the program ended at once.
    """
    _refuse_second(layout, name)
    outer = _required(layout, of)
    # The shell leaves at once, so the program becomes a child of process 1 in there, which collects it when it ends.
    script = 'log=$1; shift; exec 3>&1 >>"$log" 2>&1; setsid "$@" 3>&- </dev/null & echo $! >&3'
    enter = ["nsenter", f"--target={outer.pid}", "--mount", "--net", "--pid", "--"]
    done = run([*enter, "sh", "-c", script, "sh", log_file(layout, name), *argv], env=env)
    pid = procfs.pid_outside(outer.pid, int(done.stdout))
    if pid is None:
        raise StartFailed(f"{name} ended at once.", log=log_tail(layout, name))
    record(layout, name, pid)
    return pid


def record(layout: Layout, name: str, pid: int) -> None:
    """Write the pid file of a process that has just been started."""
    ticks = procfs.started_ticks(pid)
    if ticks is not None:
        _pid_file(layout, name).write_text(f"{pid} {ticks}\n")


def stop(layout: Layout, name: str, deadline_s: float = 10) -> None:
    """Ask the process to end (SIGTERM), wait `deadline_s` seconds, then end it (SIGKILL). Nothing to stop is fine."""
    process = find(layout, name)
    if process is not None:
        _signal(process, signal.SIGCONT, signal.SIGTERM)  # a stopped process would not see SIGTERM
        if not _wait_gone(process, deadline_s):
            _signal(process, signal.SIGKILL)
            _wait_gone(process, 10)
    _pid_file(layout, name).unlink(missing_ok=True)


def kill(layout: Layout, name: str) -> None:
    """End the process at once (SIGKILL), as a crash would. Raises NotUp when it is not running."""
    process = _required(layout, name)
    _signal(process, signal.SIGKILL)
    _wait_gone(process, 10)
    _pid_file(layout, name).unlink(missing_ok=True)


def freeze_below(layout: Layout, name: str) -> int:
    """Stop all descendants of the process in their tracks (SIGSTOP) and return their number.

    It goes on until none is left that runs, because a process may start another while its siblings are being stopped.
    One that waits in the kernel (D), as between vfork and exec for a child that is stopped already, stops when it comes
    back from there: it runs no more either. Raises NotUp when the process is not running.
    """
    root = _required(layout, name).pid
    signalled: set[int] = set()
    while running := [pid for pid in procfs.descendants(root) if not _is_stopped(pid, signalled)]:
        _signal_all(running, signal.SIGSTOP)
        signalled.update(running)
    return len(procfs.descendants(root))


def _is_stopped(pid: int, signalled: Container[int]) -> bool:
    state = procfs.state(pid)
    return state in "TZX" or (state == "D" and pid in signalled)


def thaw_below(layout: Layout, name: str) -> None:
    """Let all frozen descendants of the process go on (SIGCONT). Raises NotUp when the process is not running."""
    _signal_all(procfs.descendants(_required(layout, name).pid), signal.SIGCONT)


def find(layout: Layout, name: str) -> Process | None:
    """The running process of that name, or None."""
    try:
        pid, ticks = (int(word) for word in _pid_file(layout, name).read_text().split())
    except (FileNotFoundError, ValueError):
        return None
    process = Process(pid, ticks)
    return process if _is_alive(process) else None


def is_running(layout: Layout, name: str) -> bool:
    """Whether the process of that name lives (a frozen one does)."""
    return find(layout, name) is not None


def names(layout: Layout) -> tuple[str, ...]:
    """The names of all processes that have a pid file, running or not."""
    return tuple(sorted(file.stem for file in layout.pids.glob("*.pid")))


def log_file(layout: Layout, name: str) -> Path:
    return layout.logs / f"{name}.log"


def log_tail(layout: Layout, name: str, lines: int = LOG_LINES) -> list[str]:
    """The last lines of the process' log; empty when it has none."""
    try:
        with log_file(layout, name).open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(0, log.tell() - 400 * lines))
            return log.read().decode(errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []


def wait_until(
    layout: Layout,
    description: str,
    probe: Callable[[], bool],
    deadline_s: float,
    *,
    process: str | None = None,
    poll_s: float = POLL_S,
) -> None:
    """Call `probe` until it is true.

    Raises StartFailed, with the end of `process`' log, when `deadline_s` seconds pass or that process dies first.
    `description` completes the sentence "… did not happen", for example "the API server answers".
    """
    deadline = time.monotonic() + deadline_s
    while not probe():
        if process is not None and not is_running(layout, process):
            raise StartFailed(
                f"{process} ended before: {description}.",
                log=log_tail(layout, process),
                todo=f"The whole log: {log_file(layout, process)}",
            )
        if time.monotonic() > deadline:
            raise StartFailed(
                f"Not within {deadline_s:g} s: {description}.",
                log=log_tail(layout, process) if process else (),
                todo=f"The whole log: {log_file(layout, process)}" if process else "",
            )
        time.sleep(poll_s)


def _refuse_second(layout: Layout, name: str) -> None:
    if is_running(layout, name):
        raise NotUp(f"{name} is already running.", todo=f"Stop it first, or look at it: sandbox logs {name}")
    layout.make()


def _pid_file(layout: Layout, name: str) -> Path:
    return layout.pids / f"{name}.pid"


def _required(layout: Layout, name: str) -> Process:
    process = find(layout, name)
    if process is None:
        raise NotUp(f"{name} is not running.", todo="See what is: sandbox status")
    return process


def _signal_all(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _is_alive(process: Process) -> bool:
    _reap(process.pid)
    return procfs.started_ticks(process.pid) == process.started_ticks


def _reap(pid: int) -> None:
    """Collect the exit status of a child of this very process, so that it does not linger as a zombie."""
    with suppress(ChildProcessError):  # someone else's child: its parent, or init, collects it
        os.waitpid(pid, os.WNOHANG)


def _signal(process: Process, *signals: signal.Signals) -> None:
    for number in signals:
        if _is_alive(process):
            try:
                os.kill(process.pid, number)
            except ProcessLookupError:
                return


def _wait_gone(process: Process, deadline_s: float) -> bool:
    deadline = time.monotonic() + deadline_s
    while _is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True

"""What the kernel tells about processes in /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def all_pids() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def netns_of(pid: int) -> int | None:
    """The number of the process' network namespace; None when there is no such process."""
    try:
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    except OSError:
        return None


def pid_outside(outer: int, inner: int) -> int | None:
    """The pid on this machine of the process that has the pid `inner` in the process namespace that `outer` is in."""
    namespace = Path(f"/proc/{outer}/ns/pid").stat().st_ino
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            status = (folder / "status").read_text()
            pids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
            if pids[-1] == str(inner) and (folder / "ns" / "pid").stat().st_ino == namespace:
                return int(folder.name)
    return None


def descendants(root: int) -> list[int]:
    """All processes that `root` started, and those that they started."""
    children: dict[int, list[int]] = {}
    for pid in all_pids():
        fields = _stat(pid)
        if fields:
            children.setdefault(int(fields[1]), []).append(pid)
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def state(pid: int) -> str:
    """One letter as the kernel has it: R running, S sleeping, T stopped, Z waiting to be reaped; X when it is gone."""
    fields = _stat(pid)
    return fields[0] if fields else "X"


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the third on; empty when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return stat[stat.rindex(")") + 2 :].split()  # the name in brackets may hold spaces


def started_ticks(pid: int) -> int | None:
    """When it started; None when there is no such process or it only waits to be reaped.

    A killed process shows as Z as soon as its first thread has ended, while the others still hold its files and ports.
    """
    fields = _stat(pid)
    ended = not fields or fields[0] == "X" or (fields[0] == "Z" and not _other_threads(pid))
    return None if ended else int(fields[19])


def _other_threads(pid: int) -> bool:
    return any(task.name != str(pid) for task in Path(f"/proc/{pid}/task").glob("[0-9]*"))

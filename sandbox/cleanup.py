"""Remove all that the sandbox leaves on a machine, after a `down` as after a crash, and tell what could not be removed.

It trusts no record alone: a process counts as the sandbox's own when its pid file says so (with its start time), or
when it lives in one of the sandbox's network namespaces. The pods and the node's mounts need no list: they end with the
node's first process.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

from sandbox import cluster, machine, network, processes, procfs
from sandbox.control_groups import POD_CGROUP, pod_groups
from sandbox.errors import LeftBehind
from sandbox.layout import Layout

GONE_DEADLINE_S = 10


def claim(layout: Layout) -> None:
    """Make the run folder and note what the machine looks like, before anything is changed. Raises SandboxError."""
    layout.make()
    machine.note(layout)


def forget(layout: Layout) -> None:
    """Remove the run folder, if it is the sandbox's."""
    if layout.is_ours:
        shutil.rmtree(layout.run)


def sweep(layout: Layout) -> None:
    """Remove everything but the cache. Raises LeftBehind with a list when something stays."""
    _end_processes(layout)
    network.delete_everything()
    _remove_cgroups(layout)
    machine.put_back(layout)
    remaining = leftovers(layout)
    if remaining:
        raise LeftBehind(
            "The sandbox could not remove all that it had made. Still there: " + "; ".join(remaining) + ".",
            todo="Run `sandbox down` again; if that does not help, restart the machine.",
        )
    forget(layout)


def leftovers(layout: Layout) -> list[str]:
    """What of the sandbox is on this machine, in words; empty after a good `down` (the cache does not count)."""
    found = [f"process {name}" for name in processes.names(layout) if processes.is_running(layout, name)]
    found += [f"process {pid} in a namespace of the sandbox" for pid in _pids_in_our_namespaces()]
    found += network.leftovers()
    found += [f"mount {mount}" for mount in _mounts(layout)]
    found += [f"control group {path}" for path in _cgroups(layout)]
    return found


def _end_processes(layout: Layout) -> None:
    cluster.stop(layout)
    for name in processes.names(layout):
        processes.stop(layout, name)
    deadline = time.monotonic() + GONE_DEADLINE_S
    while (pids := _pids_in_our_namespaces()) and time.monotonic() < deadline:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(processes.POLL_S)


def _pids_in_our_namespaces() -> list[int]:
    ours = {(network.NETNS_FOLDER / name).stat().st_ino for name in network.netns_names()}
    return [pid for pid in procfs.all_pids() if procfs.netns_of(pid) in ours]


def _mounts(layout: Layout) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    targets = [Path(line.split()[4]) for line in lines]
    ours = (layout.run, layout.containerd_root)
    return [str(target) for target in targets if any(target.is_relative_to(folder) for folder in ours)]


def _cgroups(layout: Layout) -> list[Path]:
    """The control groups of the sandbox's containers, as runc's own records name them, the innermost first.

    Other groups beside them may belong to another container runtime on this machine. With cgroup v1 there is one tree
    for each controller.
    """
    records = layout.run / "runc" / POD_CGROUP
    ours = [record.name for record in records.iterdir()] if records.is_dir() else []
    tops = [root / container for root in pod_groups() for container in ours]
    groups = {Path(folder) for top in tops for folder, _, _ in os.walk(top)}
    return sorted(groups, key=lambda path: -len(path.parts))


def _remove_cgroups(layout: Layout) -> None:
    deadline = time.monotonic() + GONE_DEADLINE_S
    while (paths := _cgroups(layout)) and time.monotonic() < deadline:
        for path in paths:
            with suppress(OSError):  # busy until the kernel has taken its last process apart
                path.rmdir()
        time.sleep(processes.POLL_S)
    for root in pod_groups():
        with suppress(OSError):  # another runtime's groups are in it
            root.rmdir()

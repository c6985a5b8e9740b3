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

from sandbox import cluster, network, node, processes, procfs
from sandbox.errors import LeftBehind
from sandbox.layout import Layout, read_state, update_state

CGROUPS = Path("/sys/fs/cgroup")
SYSCTLS = Path("/proc/sys")
POD_CGROUP = "k8s.io"  # containerd's own choice where the kubelet makes no groups for pods (`cgroupsPerQOS: false`)
GONE_DEADLINE_S = 10

# The kubelet sets these for the whole machine.
CHANGED_SYSCTLS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)


def claim(layout: Layout) -> None:
    """Make the run folder and note what the machine looks like, before anything is changed. Raises SandboxError."""
    layout.make()
    if "sysctls" not in read_state(layout):
        present = [name for name in CHANGED_SYSCTLS if (SYSCTLS / name).exists()]
        folders = [str(folder) for folder in node.HARD_CODED.values() if not folder.exists()]
        update_state(
            layout, sysctls={name: (SYSCTLS / name).read_text().strip() for name in present}, made_folders=folders
        )


def was_here(layout: Layout) -> bool:
    """Whether the run folder is there and the sandbox's."""
    return layout.marker.exists()


def forget(layout: Layout) -> None:
    """Remove the run folder, if it is the sandbox's."""
    if was_here(layout):
        shutil.rmtree(layout.run)


def sweep(layout: Layout) -> None:
    """Remove everything but the cache. Raises LeftBehind with a list when something stays."""
    _end_processes(layout)
    network.delete_everything()
    _remove_cgroups()
    _restore_machine(layout)
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
    found += [f"control group {path}" for path in _cgroups()]
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


def _cgroups() -> list[Path]:
    """The pods' empty control groups, the innermost first; with cgroup v1 there is one tree for each controller.

    Groups with processes in them belong to another container runtime: when this is asked, the sandbox's pods are dead.
    """
    roots = [root for root in (CGROUPS / POD_CGROUP, *CGROUPS.glob(f"*/{POD_CGROUP}")) if root.is_dir()]
    trees = [tree for root in roots for tree in (*(child for child in root.iterdir() if child.is_dir()), root)]
    empty = [tree for tree in trees if not any(_has_processes(group) for group in _below(tree))]
    return sorted({group for tree in empty for group in _below(tree)}, key=lambda path: -len(path.parts))


def _below(tree: Path) -> list[Path]:
    return [Path(folder) for folder, _, _ in os.walk(tree)]


def _has_processes(group: Path) -> bool:
    try:
        return bool((group / "cgroup.procs").read_text())
    except OSError:  # it has just gone
        return False


def _remove_cgroups() -> None:
    deadline = time.monotonic() + GONE_DEADLINE_S
    while (paths := _cgroups()) and time.monotonic() < deadline:
        for path in paths:
            with suppress(OSError):  # busy until the kernel has taken its last process apart
                path.rmdir()
        time.sleep(processes.POLL_S)


def _restore_machine(layout: Layout) -> None:
    """Set the kernel's settings back, and remove the folders that `up` had to make outside of its own."""
    state = read_state(layout)
    settings, folders = state.get("sysctls"), state.get("made_folders")
    if isinstance(settings, dict):
        for name, value in settings.items():
            (SYSCTLS / name).write_text(f"{value}\n")
    if isinstance(folders, list):
        for folder in folders:
            with suppress(OSError):  # someone else has put something into it
                Path(folder).rmdir()

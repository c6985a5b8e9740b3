"""The control groups of pods, and how much of the processors they get while everything wants some.

On a node that only runs pods, all of them together weigh as much as its processors. Here tests, brokers and the control
plane run beside them, where each thread weighs as much as all pods together: they would starve.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

CGROUPS: Final = Path("/sys/fs/cgroup")
POD_CGROUP: Final = "k8s.io"
"""containerd's own choice where the kubelet makes no groups for pods (`cgroupsPerQOS: false`)."""

_WEIGHT: Final = {"cpu.shares": "16384", "cpu.weight": "1600"}
"""Sixteen times the usual, of control groups version 1 and version 2."""


def pod_groups(cgroups: Path = CGROUPS) -> list[Path]:
    """With version 1 there is one tree for each controller."""
    return [root for root in (cgroups / POD_CGROUP, *cgroups.glob(f"*/{POD_CGROUP}")) if root.is_dir()]


def weigh_pods(cgroups: Path = CGROUPS) -> None:
    """Make the group that all pods will be in, before the first of them, and weigh it.

    One that is there stays as it is: it may be another container runtime's.
    """
    for tree in (cgroups, cgroups / "cpu", cgroups / "cpu,cpuacct"):
        group = tree / POD_CGROUP
        if tree.is_symlink() or not _weighs_processes(tree) or group.is_dir():
            continue
        group.mkdir()
        for name, weight in _WEIGHT.items():
            if (group / name).exists():
                (group / name).write_text(weight)


def _weighs_processes(tree: Path) -> bool:
    """Whether groups below this one have a weight for processors."""
    controllers = tree / "cgroup.subtree_control"
    if controllers.exists():
        return "cpu" in controllers.read_text().split()
    return (tree / "cpu.shares").exists()

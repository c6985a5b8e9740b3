"""Pods get their part of the processors, and no other runtime's groups are touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.control_groups import pod_groups, weigh_pods


@pytest.fixture
def cgroups(tmp_path: Path) -> Path:
    return tmp_path


def version_1(cgroups: Path) -> Path:
    tree = cgroups / "cpu"
    tree.mkdir()
    (tree / "cpu.shares").write_text("1024")
    return tree


def version_2(cgroups: Path, controllers: str) -> Path:
    (cgroups / "cgroup.subtree_control").write_text(controllers)
    return cgroups


def test_the_pods_group_is_made_once_and_an_earlier_one_stays(cgroups: Path) -> None:
    tree = version_1(cgroups)
    weigh_pods(cgroups)
    group = tree / "k8s.io"
    assert pod_groups(cgroups) == [group]

    (group / "cpu.shares").write_text("2")
    weigh_pods(cgroups)
    assert (group / "cpu.shares").read_text() == "2"


@pytest.mark.parametrize(("controllers", "made"), [("cpuset cpu io", True), ("cpuset io", False), ("", False)])
def test_version_2_is_weighed_where_it_weighs_processes(cgroups: Path, controllers: str, made: bool) -> None:
    tree = version_2(cgroups, controllers)
    weigh_pods(cgroups)
    assert (tree / "k8s.io").is_dir() == made


def test_a_machine_without_control_groups_is_left_as_it_is(cgroups: Path) -> None:
    weigh_pods(cgroups)
    assert list(cgroups.iterdir()) == []

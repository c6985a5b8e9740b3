"""What is missing on a machine is found, brought along, or named in a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import binaries, cluster, packages, toolchain
from sandbox.errors import MissingPrerequisite
from sandbox.layout import Layout

Finder = Callable[[Layout], Path]

WITHOUT_RELEASES = ("k8s.io/kube-openapi", "k8s.io/utils")
"""Kubernetes' modules that have no versions: it names a commit of each."""


def put_program(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("find", "name", "says"),
    [
        (toolchain.java, "java", 'openjdk version "17.0.15" 2025-04-15'),
        (toolchain.java, "java", 'openjdk version "21" 2023-09-19'),
        (toolchain.go, "go", "go version go1.26.8 linux/amd64"),
        (toolchain.go, "go", "go version go1.26.0 linux/amd64"),
        (toolchain.go, "go", "go version go1.27 linux/amd64"),
        (toolchain.go, "go", "go version go2.0 linux/amd64"),
        (toolchain.kubectl, "kubectl", "Client Version: v1.32.4-dispatcher"),
    ],
)
def test_a_tool_on_the_path_is_used_when_its_version_does(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, find: Finder, name: str, says: str
) -> None:
    program = put_program(tmp_path / "path", name, says)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")

    assert find(layout) == program


@pytest.mark.parametrize(
    ("find", "name", "says"),
    [
        (toolchain.java, "java", 'java version "1.8.0_402"'),
        (toolchain.java, "java", 'openjdk version "11.0.2"'),
        (toolchain.go, "go", "go version go1.22.0 linux/amd64"),
        (toolchain.go, "go", "go version go1.25.9 linux/amd64"),
        (toolchain.kubectl, "kubectl", "no idea"),
    ],
)
def test_an_unsuitable_tool_is_replaced_by_a_wheels(
    layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, find: Finder, name: str, says: str
) -> None:
    put_program(tmp_path / "path", name, says)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    good = {
        "java": 'openjdk version "21.0.8"',
        "go": "go version go1.27.3 linux/amd64",
        "kubectl": "Client Version: v1.36.4",
    }
    in_wheel = put_program(layout.cache / "wheels" / name / "package" / "bin", name, good[name])

    assert find(layout) == in_wheel


def test_packages_that_are_there_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_install", lambda names: pytest.fail(f"installed {names}"))

    packages.ensure_packages([packages.Package("coreutils", "ls", "lists files")])


def test_without_apt_the_missing_packages_are_named_with_their_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(MissingPrerequisite, match=r"needs buildah \(builds the images\).* no apt here"):
        packages.ensure_packages([packages.Package("buildah", "no-such-program", "builds the images")])


def test_without_root_the_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    with pytest.raises(MissingPrerequisite, match="needs root") as failure:
        cluster.refuse_impossible()

    assert "sudo" in failure.value.todo


def test_the_go_module_builds_the_version_that_the_sandbox_names() -> None:
    module = (binaries.GO_SOURCE / "go.mod").read_text()

    staging = binaries.KUBERNETES_VERSION.replace("1.", "0.", 1)
    assert f"k8s.io/kubernetes v{binaries.KUBERNETES_VERSION}" in module
    replaced = dict(re.findall(r"(k8s\.io/\S+) => \1 (\S+)", module))
    assert {version for name, version in replaced.items() if name not in WITHOUT_RELEASES} == {f"v{staging}"}


def test_the_go_version_asked_for_is_the_modules() -> None:
    module = (binaries.GO_SOURCE / "go.mod").read_text()

    (wanted,) = re.findall(r"^go (\S+)$", module, re.MULTILINE)
    assert toolchain.GO.wanted == f"Go {wanted} or newer"


@pytest.mark.parametrize("package", [binaries.HELM, binaries.HELM_UNITTEST])
def test_every_program_that_is_built_is_a_tool_of_the_module(package: str) -> None:
    """Or `go mod tidy` would drop what it requires."""
    assert f"\t{package}\n" in (binaries.GO_SOURCE / "go.mod").read_text()

"""What the operator's image holds and what it does not, read from the archive that the node's was loaded from."""

from __future__ import annotations

import filecmp
import json
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from sandbox.images import OPERATOR
from sandbox.layout import Layout

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(660)]

ROOT = Path(__file__).parents[2]
BUILD_TOOLS = frozenset(
    {
        "as",
        "c++",
        "cargo",
        "cc",
        "clang",
        "cmake",
        "g++",
        "gcc",
        "git",
        "go",
        "javac",
        "ld",
        "make",
        "pip",
        "pip3",
        "uv",
    }
)
PROGRAM_FOLDERS = frozenset({"bin", "sbin"})
HOME = PurePosixPath("opt/slackwater")


@dataclass(frozen=True)
class Image:
    config: dict[str, Any]
    files: dict[PurePosixPath, int]
    """Path → bytes, of all layers together."""


@pytest.fixture(scope="module")
def archive(sandbox_up: None) -> Path:
    stem = OPERATOR.replace("/", "-").replace(":", "-")
    archives = list(Layout.from_environment().images.glob(f"{stem}-*.tar"))
    if not archives:
        pytest.skip("the sandbox has built no image here: the cluster is not its own")
    (archive,) = archives
    return archive


@pytest.fixture(scope="module")
def image(archive: Path) -> Image:
    with tarfile.open(archive) as outer:
        (manifest,) = json.load(_member(outer, "manifest.json"))
        config = json.load(_member(outer, manifest["Config"]))["config"]
        files: dict[PurePosixPath, int] = {}
        for layer in manifest["Layers"]:
            with tarfile.open(fileobj=_member(outer, layer)) as inner:
                files |= {PurePosixPath(each.name): each.size for each in inner if not each.isdir()}
    return Image(config, files)


def _member(archive: tarfile.TarFile, name: str) -> Any:
    found = archive.extractfile(name)
    assert found is not None, name
    return found


def test_make_image_writes_the_one_that_the_node_has(archive: Path) -> None:
    written = ROOT / "build" / "operator.tar"
    written.unlink(missing_ok=True)
    done = subprocess.run(["make", "image"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    if written.exists():  # no docker or podman runs here
        assert filecmp.cmp(written, archive, shallow=False)


def test_it_runs_as_nobody_in_particular(image: Image) -> None:
    assert image.config["User"] == "65532:65532"
    assert image.config["Entrypoint"] == ["slackwater"]


def test_nothing_can_be_built_or_installed_in_it(image: Image) -> None:
    programs = {path for path in image.files if path.parent.name in PROGRAM_FOLDERS}
    assert HOME / "bin/slackwater" in programs
    assert {str(path) for path in programs if path.name in BUILD_TOOLS} == set()
    assert [str(path) for path in image.files if "/.cache/pip" in str(path) or path.match("root/.cache/*")] == []
    assert [str(path) for path in image.files if HOME in path.parents and path.suffix == ".whl"] == []


def test_it_holds_the_operator_and_what_that_depends_on_and_nothing_else(image: Image) -> None:
    lock = (ROOT / "requirements" / "operator.txt").read_text()
    locked = re.findall(r"^([a-z0-9][a-z0-9._-]*)(?:\[.*\])?==", lock, re.MULTILINE)
    assert installed(image) == {_canonical(name) for name in locked} | {"slackwater"}
    assert "pyspark" not in installed(image)


def installed(image: Image) -> set[str]:
    """Names of the Python packages in the operator's environment."""
    folders = {path.parent.name for path in image.files if path.name == "METADATA" and HOME in path.parents}
    names = (name.removesuffix(".dist-info") for name in folders if name.endswith(".dist-info"))
    return {_canonical(name.rpartition("-")[0]) for name in names}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_it_is_small(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    """As the base that the sandbox makes, 123 MB of it; the limit is there to notice a mistake by."""
    own = sum(size for path, size in image.files.items() if HOME in path.parents)
    with capsys.disabled():
        sys.stdout.write(f"\n{OPERATOR}: {sum(image.files.values()) / 1e6:.0f} MB, {own / 1e6:.0f} MB above the base\n")
    assert own < 300e6

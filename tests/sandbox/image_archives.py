"""What an image holds, read from a docker archive."""

from __future__ import annotations

import json
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[2]
HOME = PurePosixPath("opt/slackwater")
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
_PROGRAM_FOLDERS = frozenset({"bin", "sbin"})


@dataclass(frozen=True)
class Image:
    config: dict[str, Any]
    files: dict[PurePosixPath, int]
    """Path → bytes, of all layers together."""

    @property
    def programs(self) -> set[PurePosixPath]:
        return {path for path in self.files if path.parent.name in _PROGRAM_FOLDERS}

    @property
    def build_tools(self) -> set[str]:
        return {str(path) for path in self.programs if path.name in BUILD_TOOLS}

    @property
    def left_by_pip(self) -> list[str]:
        """Its cache, and wheels."""
        cached = [path for path in self.files if "/.cache/pip" in str(path) or path.match("root/.cache/*")]
        wheels = [path for path in self.files if HOME in path.parents and path.suffix == ".whl"]
        return [str(path) for path in [*cached, *wheels]]

    @property
    def packages(self) -> set[str]:
        """Names of the Python packages in the image's environment."""
        folders = {path.parent.name for path in self.files if path.name == "METADATA" and HOME in path.parents}
        names = (name.removesuffix(".dist-info") for name in folders if name.endswith(".dist-info"))
        return {_canonical(name.rpartition("-")[0]) for name in names}

    @property
    def above_base(self) -> int:
        """Bytes."""
        return sum(size for path, size in self.files.items() if HOME in path.parents)


def read_archive(archive: Path) -> Image:
    with tarfile.open(archive) as outer:
        (manifest,) = json.load(_member(outer, "manifest.json"))
        config = json.load(_member(outer, manifest["Config"]))["config"]
        files: dict[PurePosixPath, int] = {}
        for layer in manifest["Layers"]:
            with tarfile.open(fileobj=_member(outer, layer)) as inner:
                files |= {PurePosixPath(each.name): each.size for each in inner if not each.isdir()}
    return Image(config, files)


def locked(name: str) -> set[str]:
    """Names of the packages in one of `requirements/`."""
    lock = (ROOT / "requirements" / f"{name}.txt").read_text()
    found = re.findall(r"^([a-z0-9][a-z0-9._-]*)(?:\[.*\])?==", lock, re.MULTILINE)
    return {_canonical(each) for each in found}


def _member(archive: tarfile.TarFile, name: str) -> Any:
    found = archive.extractfile(name)
    assert found is not None, name
    return found


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

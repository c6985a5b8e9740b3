"""Folders of wheels, so that images are built without a network and without this machine's settings for pip."""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.commands import run
from sandbox.console import step
from sandbox.layout import Layout

_DOWNLOAD_S = 900.0
# No wheel of it is published: the image's build makes one.
_SOURCE_ONLY = "pyspark"
# The images' Python, whichever one runs the sandbox. These platforms are what Debian 12's glibc 2.36 can load.
_PYTHON = "3.11"
_PLATFORMS = ("manylinux2014", *(f"manylinux_2_{minor}" for minor in (17, 24, 27, 28, 31, 34)))


def ensure_wheels(layout: Layout, requirements: Sequence[Path]) -> Path:
    """A folder with the wheels of all hashed `requirements` files, filled on first use. Raises CommandFailed."""
    key = hashlib.sha256(b"\0".join(path.read_bytes() for path in requirements)).hexdigest()[:16]
    wheels = layout.cache / f"wheels-{key}"
    if wheels.exists():
        return wheels
    partial = layout.cache / f"wheels-{key}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    target = ["--only-binary=:all:", f"--no-binary={_SOURCE_ONLY}"]
    target += ["--python-version", _PYTHON, "--implementation", "cp"]
    target += [word for name in _PLATFORMS for word in ("--platform", f"{name}_{platform.machine()}")]
    for path in requirements:
        with step(f"Fetch the wheels that {path.name} names", "once, checked against its hashes"):
            words = ["download", "--quiet", "--require-hashes", "--no-deps", "-r", str(path), "-d", str(partial)]
            run([*_pip(), *words, *target], deadline_s=_DOWNLOAD_S)
    partial.rename(wheels)
    return wheels


def _pip() -> list[str]:
    """pip for this machine: the environment's own, or the one that uv brings, where an environment has none."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    return [uv, "tool", "run", "pip"] if uv else [sys.executable, "-m", "pip"]

"""A Java application of the sandbox's own, compiled by Maven on this machine, once for each version of its sources."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from sandbox import commands
from sandbox.console import step
from sandbox.errors import CommandFailed
from sandbox.layout import Layout
from sandbox.packages import MAVEN, ensure_packages

_BUILD_S = 540.0


def ensure_application(layout: Layout, project: Path) -> Path:
    """The directory that holds the application's jar and all that it needs, filled on first use.

    `project`: the folder with its pom.xml. Installs Maven where apt is there, and raises MissingPrerequisite where
    it is not; CommandFailed when Maven cannot build it.
    """
    jars = layout.cache / f"{project.name}-{_key(project)}"
    if jars.exists():
        return jars
    ensure_packages(MAVEN)
    layout.cache.mkdir(parents=True, exist_ok=True)
    # Maven writes beside its sources: it gets a copy.
    building = Path(tempfile.mkdtemp(prefix=f"{jars.name}.", dir=layout.cache))
    try:
        copy = shutil.copytree(project, building / "project")
        goals = [
            "package",
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={copy}/target",
        ]
        with step(f"Build {project.name} with Maven", "once: 90 MB, kept in the cache"):
            commands.run(["mvn", "-q", "-B", "-f", copy / "pom.xml", *goals], deadline_s=_BUILD_S)
        made = building / "jars"
        made.mkdir(mode=0o755)
        for jar in (copy / "target").glob("*.jar"):
            jar.rename(made / jar.name)
        made.rename(jars)
    except (CommandFailed, OSError):
        if not jars.exists():  # else another process has built the same meanwhile
            raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return jars


def _key(project: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(each for each in project.rglob("*") if each.suffix in (".java", ".xml")):
        digest.update(f"{path.relative_to(project)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]

"""Kafka's jars, from Maven, once for each version of pom.xml."""

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

_POM = Path(__file__).with_name("pom.xml")
_DOWNLOAD_S = 540.0


def ensure_libraries(layout: Layout, version: str | None = None) -> Path:
    """The directory that holds Kafka's jars, filled on first use. `version`: another one than the sandbox's.

    Installs Maven where apt is there, and raises MissingPrerequisite where it is not; CommandFailed when Maven cannot
    fetch the jars.
    """
    key = hashlib.sha256(_POM.read_bytes()).hexdigest()[:16] + (f"-{version}" if version else "")
    libraries = layout.cache / f"kafka-{key}"
    if libraries.exists():
        return libraries
    ensure_packages(MAVEN)
    layout.cache.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f"kafka-{key}.", dir=layout.cache))
    partial.chmod(0o755)
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
    if version:
        # Kafka 3 brings what joins SLF4J and Log4j 1: with it there were two that join, of which either may win.
        copy += [f"-Dkafka.version={version}", "-DexcludeArtifactIds=slf4j-reload4j"]
    try:
        with step("Fetch Kafka's jars with Maven", "once: 54 MB, kept in the cache"):
            commands.run(["mvn", "-q", "-B", "-f", _POM, *copy], deadline_s=_DOWNLOAD_S)
        partial.rename(libraries)
    except (CommandFailed, OSError):
        shutil.rmtree(partial, ignore_errors=True)
        if not libraries.exists():  # else another process has fetched the same meanwhile
            raise
    return libraries


def class_path(libraries: Path) -> str:
    """What `java -cp` takes; a trailing `*` means every jar of the directory."""
    return f"{libraries}/*"

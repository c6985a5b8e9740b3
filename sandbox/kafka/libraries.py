"""Kafka's jars, from Maven, once for each version of pom.xml."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from sandbox import commands
from sandbox.console import step
from sandbox.errors import MissingPrerequisite
from sandbox.layout import Layout

_POM = Path(__file__).with_name("pom.xml")
_DOWNLOAD_S = 540.0


def ensure_libraries(layout: Layout) -> Path:
    """The directory that holds Kafka's jars, filled on first use.

    Raises MissingPrerequisite without Maven, CommandFailed when Maven cannot fetch them.
    """
    key = hashlib.sha256(_POM.read_bytes()).hexdigest()[:16]
    libraries = layout.cache / f"kafka-{key}"
    if libraries.exists():
        return libraries
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingPrerequisite(
            "Kafka's jars come from Maven, and there is no mvn on the PATH.",
            todo="Install Maven (on Debian: apt-get install maven) and try again.",
        )
    partial = layout.cache / f"kafka-{key}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
    with step("Fetch Kafka's jars with Maven", "once: 54 MB, kept in the cache"):
        commands.run([maven, "-q", "-B", "-f", _POM, *copy], deadline_s=_DOWNLOAD_S)
    partial.rename(libraries)
    return libraries


def class_path(libraries: Path) -> str:
    """What `java -cp` takes; a trailing `*` means every jar of the directory."""
    return f"{libraries}/*"

"""A Maven repository of its own for an image's jars, so that its build fetches none: see `wheels`."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from sandbox.commands import run
from sandbox.console import step
from sandbox.layout import Layout
from sandbox.packages import MAVEN, ensure_packages

_DOWNLOAD_S = 540.0
# Older ones choose among the versions of a dependency otherwise than Spark does.
_GET = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"


def ensure_repository(layout: Layout, artifact: str) -> Path:
    """A repository with `artifact` (group:name:version) and all that it needs, filled on first use.

    Raises MissingPrerequisite, and CommandFailed when Maven cannot fetch them.
    """
    repository = layout.cache / f"maven-{hashlib.sha256(f'{_GET} {artifact}'.encode()).hexdigest()[:16]}"
    if repository.exists():
        return repository
    ensure_packages(MAVEN)
    partial = repository.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    with step(f"Fetch {artifact} with Maven", "once: 90 MB, kept in the cache"):
        words = [_GET, f"-Dartifact={artifact}", f"-Dmaven.repo.local={partial}"]
        run(["mvn", "-q", "-B", *words], deadline_s=_DOWNLOAD_S)
    partial.rename(repository)
    return repository

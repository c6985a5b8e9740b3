"""The jars that Spark fetches, as the image's build is held to them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tests.conftest import ROOT


def listed_jars() -> dict[str, str]:
    """SHA-256 by name."""
    lines = (ROOT / "requirements" / "jars.sha256").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def fetched_jars(folder: Path) -> dict[str, str]:
    """The same of what is there."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.jar")}

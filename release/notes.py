"""The changelog's section of one version. `python -m release.notes 1.2.3` prints it."""

from __future__ import annotations

import re
import sys

from release.version import CHANGELOG


def notes(version: str, changelog: str) -> str:
    """Without its heading. Raises ValueError where the version has none."""
    heading = rf"^## \[{re.escape(version)}\].*?$\n(?P<text>.*?)(?=^## \[|\Z)"
    found = re.search(heading, changelog, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no section [{version}]")
    return found["text"].strip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(notes(sys.argv[1], CHANGELOG.read_text(encoding="utf-8")))

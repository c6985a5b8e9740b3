"""Golden logs: what a simulation writes now, compared with what it wrote before.

SLACKWATER_UPDATE_GOLDEN=1 rewrites them; read the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

UPDATE: Final = os.environ.get("SLACKWATER_UPDATE_GOLDEN") == "1"


def compare(path: Path, now: Iterable[str]) -> None:
    """Equal, line by line."""
    lines = list(now)
    if UPDATE:
        path.write_text("\n".join([*lines, ""]))
    assert path.read_text().splitlines() == lines


def names_in(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.txt"))

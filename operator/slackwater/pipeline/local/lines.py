"""The lines of a folder of telemetry: files `*.jsonl` and `*.jsonl.gz`, with those below it, in the order of names."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from slackwater.pipeline.errors import SourceUnreadable


def lines_in(folder: Path) -> Iterator[bytes]:
    """Raises SourceUnreadable where there is no such folder, or a file cannot be read."""
    if not folder.is_dir():
        raise SourceUnreadable(f"the folder {folder} cannot be read: there is no such folder. Correct --files")
    for path in sorted(each for each in folder.rglob("*.jsonl*") if _is_whole(each)):
        try:
            with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
                yield from file
        except (OSError, EOFError, zlib.error) as error:
            raise SourceUnreadable(f"{path} cannot be read ({error}): correct it, or take it away") from error


def _is_whole(path: Path) -> bool:
    """The operator writes under a name that begins with a dot, and renames the file when it is done."""
    return path.is_file() and not path.name.startswith(".") and path.suffix in (".jsonl", ".gz")

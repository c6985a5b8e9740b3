"""What an image is built from: named files, gathered into a build context, with one key for all of their contents."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_IGNORED = ("__pycache__",)


@dataclass(frozen=True, slots=True)
class Context:
    """Maps each place in the build context to the file or folder that goes there."""

    inputs: Mapping[str, Path]

    def key(self, *also: str) -> str:
        """A hash of all names, contents and execute bits, and of the words given."""
        digest = hashlib.sha256("\0".join(also).encode())
        for place, source in sorted(self._files()):
            digest.update(f"\0{place}\0{os.access(source, os.X_OK)}\0{source.stat().st_size}\0".encode())
            digest.update(source.read_bytes())
        return digest.hexdigest()[:16]

    def stage(self, directory: Path) -> None:
        """Copy everything into the empty `directory`."""
        for place, source in self._files():
            target = directory / place
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def _files(self) -> Iterator[tuple[str, Path]]:
        for place, source in self.inputs.items():
            if source.is_file():
                yield place, source
                continue
            for path in source.rglob("*"):
                if path.is_file() and not any(part in _IGNORED for part in path.parts):
                    yield f"{place}/{path.relative_to(source)}", path

"""The image that stands for `python:3.11-slim-bookworm` where no image can be pulled: Debian's own Python 3.11."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from sandbox.commands import run
from sandbox.console import step
from sandbox.images import buildah
from sandbox.layout import Layout

_RELEASE = "bookworm"
_PACKAGES = ("ca-certificates", "python3", "python3-venv")
# What a slim image does without.
_TRIMMED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "var/lib/apt/lists", "var/cache/apt", "var/log")
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DOWNLOAD_S = 900.0


def ensure_base(layout: Layout) -> str:
    """The name of the base image in buildah's storage, made on first use. Raises CommandFailed."""
    recipe = repr((_RELEASE, _PACKAGES, _TRIMMED, _PATH))
    name = f"localhost/slackwater-python:{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    if not buildah.has(layout, name):
        with (
            step(f"Make a Debian {_RELEASE} with Python as the images' base", "once, about a minute"),
            tempfile.TemporaryDirectory(prefix="base-", dir=layout.cache) as directory,
        ):
            root = Path(directory) / "root"
            _bootstrap(root)
            buildah.import_root(layout, name, root, {"env": _PATH, "cmd": "python3"})
    return name


def _bootstrap(root: Path) -> None:
    options = ["--variant=minbase", f"--include={','.join(_PACKAGES)}"]
    run(["nice", "debootstrap", *options, _RELEASE, root], deadline_s=_DOWNLOAD_S)
    for trimmed in _TRIMMED:
        for entry in (root / trimmed).iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    # apt insists on these two.
    (root / "var/lib/apt/lists/partial").mkdir()
    (root / "var/cache/apt/archives/partial").mkdir(parents=True)

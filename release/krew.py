"""The manifest by which krew installs `kubectl slackwater`.

`python -m release.krew 1.2.3 https://host/owner/name FOLDER` writes slackwater.yaml beside FOLDER's archives, with
their hashes.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from release.command import PROGRAM

MANIFEST: Final = "slackwater.yaml"
_ARCHIVE: Final = re.compile(rf"{PROGRAM}-(?P<os>[a-z]+)-(?P<arch>[a-z0-9]+)\.tar\.gz")
_DESCRIPTION: Final = """\
Shows, plans and steers the rollouts of Kafka consumer groups that the Slackwater operator runs.

  kubectl slackwater status payments --watch   pods, members and gates, live
  kubectl slackwater explain payments          why a rollout waits
  kubectl slackwater plan -f group.yaml        what applying a manifest would do
"""
_CAVEATS: Final = """\
The operator has to run in the cluster. `kubectl slackwater doctor` says whether anything is missing.
"""


def manifest(version: str, repository: str, folder: Path) -> dict[str, Any]:
    """The manifest for the archives in `folder`. Raises ValueError where there is none."""
    archives = sorted(path for path in folder.iterdir() if _ARCHIVE.fullmatch(path.name))
    if not archives:
        raise ValueError(f"{folder} has no {PROGRAM}-OS-ARCH.tar.gz")
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "slackwater"},
        "spec": {
            "version": f"v{version}",
            "homepage": repository,
            "shortDescription": "Roll Kafka consumer groups safely",
            "description": _DESCRIPTION,
            "caveats": _CAVEATS,
            "platforms": [_platform(path, f"{repository}/releases/download/v{version}") for path in archives],
        },
    }


def _platform(archive: Path, address: str) -> dict[str, Any]:
    found = _ARCHIVE.fullmatch(archive.name)
    assert found is not None
    return {
        "selector": {"matchLabels": {"os": found["os"], "arch": found["arch"]}},
        "uri": f"{address}/{archive.name}",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "bin": PROGRAM,
        "files": [{"from": PROGRAM, "to": "."}, {"from": "LICENSE", "to": "."}],
    }


if __name__ == "__main__":
    into = Path(sys.argv[3])
    text = yaml.safe_dump(manifest(sys.argv[1], sys.argv[2], into), sort_keys=False)
    (into / MANIFEST).write_text(text, encoding="utf-8")

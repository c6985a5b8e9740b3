"""The version of a release. `python -m release.version v1.2.3` prints it, or says what names another one."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).resolve().parents[1]
CHANGELOG: Final = ROOT / "CHANGELOG.md"
CHART: Final = ROOT / "charts" / "slackwater" / "Chart.yaml"
_TAG: Final = re.compile(r"v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?)")


def versions() -> dict[str, str]:
    """What each part says that it is, by the file that says it."""
    chart = yaml.safe_load(CHART.read_text(encoding="utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        "pyproject.toml": str(package["project"]["version"]),
        "Chart.yaml version": str(chart["version"]),
        "Chart.yaml appVersion": str(chart["appVersion"]),
    }


def released(tag: str) -> str:
    """The version of a tag `v1.2.3`. Raises ValueError where the tag is none, or a part names another version."""
    found = _TAG.fullmatch(tag)
    if found is None:
        raise ValueError(f"{tag} is no tag of a release: write it as v1.2.3")
    version = found[1]
    others = [f"{part} says {said}" for part, said in versions().items() if said != version]
    if f"## [{version}]" not in CHANGELOG.read_text(encoding="utf-8"):
        others.append(f"CHANGELOG.md has no section [{version}]")
    if others:
        raise ValueError(f"the tag is {tag}, but {'; '.join(others)}")
    return version


if __name__ == "__main__":
    try:
        sys.stdout.write(released(sys.argv[1]) + "\n")
    except ValueError as error:
        sys.exit(str(error))

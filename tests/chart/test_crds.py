"""The chart brings the CRDs that are checked in, and no others."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_chart_holds_the_checked_in_crds() -> None:
    assert contents(ROOT / "charts" / "slackwater" / "crds") == contents(ROOT / "crds"), "run `make crds`"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}

"""The alerts, what tests them, and the pages that explain them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[2]
ALERTS: Final = ROOT / "charts" / "slackwater" / "rules" / "alerts.yaml"
SCENES: Final = Path(__file__).with_name("alerts_test.yaml")
RUNBOOKS: Final = ROOT / "docs" / "runbooks.md"
RUNBOOKS_URL: Final = "https://slackwater.dev/latest/runbooks.html"
"""Where the newest release's site has that page."""
METRICS: Final = ROOT / "docs" / "metrics.md"


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]

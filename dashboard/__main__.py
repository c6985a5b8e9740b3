"""Write the chart's dashboard: `python -m dashboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dashboard import fleet, group, operators, turns
from dashboard.grafana import as_json, dashboard

FILE: Final = Path(__file__).parents[1] / "charts" / "slackwater" / "dashboards" / "slackwater.json"


def made() -> str:
    return as_json(dashboard((fleet.SECTION, turns.SECTION, operators.SECTION, group.SECTION)))


if __name__ == "__main__":
    FILE.write_text(made(), encoding="utf-8")

"""Write the chart's dashboard: `python -m dashboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dashboard import campaigns, deploys, fleet, group, operators, totals, turns
from dashboard.grafana import as_json, dashboard

FILE: Final = Path(__file__).parents[1] / "charts" / "slackwater" / "dashboards" / "slackwater.json"

SECTIONS: Final = (fleet.SECTION, turns.SECTION, campaigns.SECTION, totals.SECTION, operators.SECTION, group.SECTION)


def made() -> str:
    return as_json(dashboard(SECTIONS, deploys.ANNOTATIONS))


if __name__ == "__main__":
    FILE.write_text(made(), encoding="utf-8")

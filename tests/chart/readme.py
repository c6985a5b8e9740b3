"""Write the chart's README from its values and its template: `python -m tests.chart.readme`."""

from __future__ import annotations

from tests.chart import tools
from tests.chart.helm import CHART

README = CHART / "README.md"


def made() -> str:
    words = ("--dry-run", "--sort-values-order=file", f"--chart-search-root={CHART}")
    return tools.run(tools.go_program(*tools.HELM_DOCS), *words).strip() + "\n"


if __name__ == "__main__":
    README.write_text(made(), encoding="utf-8")

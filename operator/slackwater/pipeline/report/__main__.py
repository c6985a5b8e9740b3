"""`spark-submit …/slackwater/pipeline/report/__main__.py --lake PATH --out report.html`."""

from __future__ import annotations

from slackwater.pipeline.main import main
from slackwater.pipeline.report.command import command

if __name__ == "__main__":
    main(command)

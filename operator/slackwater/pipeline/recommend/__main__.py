"""`spark-submit …/slackwater/pipeline/recommend/__main__.py --lake PATH --out-file recommendations.jsonl`."""

from __future__ import annotations

from slackwater.pipeline.main import main
from slackwater.pipeline.recommend.command import command

if __name__ == "__main__":
    main(command)

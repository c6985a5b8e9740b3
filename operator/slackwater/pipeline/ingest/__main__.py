"""`spark-submit …/ingest/__main__.py --lake …`, or `python -m slackwater.pipeline.ingest`."""

from slackwater.pipeline.ingest.command import command
from slackwater.pipeline.main import main

if __name__ == "__main__":
    main(command)

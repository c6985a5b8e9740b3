"""`spark-submit …/slackwater/pipeline/audit/__main__.py`, or `python -m slackwater.pipeline.audit`."""

from slackwater.pipeline.audit.command import command
from slackwater.pipeline.main import main

if __name__ == "__main__":
    main(command)

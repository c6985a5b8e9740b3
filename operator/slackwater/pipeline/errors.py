"""What can go wrong between a job and Spark, Java, Kafka or the lake, as sentences for people.

    SlackwaterError
    └── PipelineError
        ├── DependencyMissing  pyspark, Java or a connector is missing
        ├── SourceUnreadable   a topic or a folder that cannot be read
        ├── LakeUnusable       the lake cannot be read or written, or lacks the table asked for
        └── JobFailed          Spark gave up for another reason

Imports no pyspark, so that the sentence "pyspark is not installed" can be said without it.
"""

from __future__ import annotations

from slackwater.api.errors import SlackwaterError


class PipelineError(SlackwaterError):
    """A job cannot go on."""


class DependencyMissing(PipelineError):
    """A program or package that a job needs is not there."""


class SourceUnreadable(PipelineError):
    """What a job is to read cannot be read."""


class LakeUnusable(PipelineError):
    """The lake cannot be read or written."""


class JobFailed(PipelineError):
    """Spark gave up, for a reason that slackwater has no better sentence for."""

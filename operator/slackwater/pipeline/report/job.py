"""The report's job: read the lake, make the page, write it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pyspark.sql import SparkSession

from slackwater.pipeline.failures import in_sentences
from slackwater.pipeline.progress import stage
from slackwater.pipeline.report.fleet import read_fleet
from slackwater.pipeline.report.page import page
from slackwater.pipeline.report.sources import read_sources
from slackwater.pipeline.report.writing import write_page

DETAILED: Final = 50


@dataclass(frozen=True, slots=True)
class Options:
    """`out`: a local file, or a Hadoop path with its scheme. `as_of`: leave out what is newer; None: nothing."""

    lake: str
    out: str
    detailed: int = DETAILED
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What was written; `bytes_written` as UTF-8."""

    out: str
    groups: int
    detailed: int
    bytes_written: int


def run(spark: SparkSession, options: Options) -> Summary:
    """Raises LakeUnusable where there is no lake or it cannot be read, PageUnwritable where `out` cannot be written,
    JobFailed where Spark gives up."""
    with stage("Report: read the lake", spark), in_sentences(f"the lake {options.lake}", options.lake):
        fleet = read_fleet(spark, read_sources(spark, options.lake, options.as_of), options.detailed)
    with stage("Report: draw and write the page", spark):
        size = write_page(spark, page(fleet), options.out)
    return Summary(options.out, fleet.totals.groups, len(fleet.details), size)

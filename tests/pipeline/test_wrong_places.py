"""What a job says of a path that leads nowhere, on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.pipeline.commands import ran

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOWHERE: Final = {
    "ingest": (["--lake", "{lake}", "--files", "{nowhere}"], "nowhere cannot be read: there is no such path."),
    "audit": (["--lake", "{lake}", "--dump", "{nowhere}"], "there is no Parquet at "),
    "recommend": (["--lake", "{nowhere}"], "run `slackwater pipeline ingest` first"),
    "report": (["--lake", "{nowhere}", "--out", "{lake}.html"], "nowhere: correct --lake"),
}


@pytest.mark.parametrize("job", NOWHERE)
def test_a_path_that_leads_nowhere(job: str, spark: SparkSession, tmp_path: Path) -> None:
    options, words = NOWHERE[job]
    filled = [option.format(lake=tmp_path / "lake", nowhere=tmp_path / "nowhere") for option in options]
    done = ran("pipeline", job, *filled)
    assert words in done.complaint
    assert done.stdout == ""
    assert done.stderr.count("Error") == 1

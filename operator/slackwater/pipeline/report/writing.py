"""Writing the page: to this machine's disk, or to wherever a Hadoop path leads. Spark, for the latter."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from slackwater.pipeline.errors import PipelineError


class PageUnwritable(PipelineError):
    """The report cannot be written where it was asked for."""


def write_page(spark: SparkSession, page: str, out: str) -> int:
    """Write it whole or not at all; the number of bytes. PageUnwritable when that place cannot be written."""
    content = page.encode()
    if "://" in out:
        _write_by_hadoop(spark, content, out)
    else:
        _write_here(content, Path(out))
    return len(content)


def _write_here(content: bytes, out: Path) -> None:
    try:
        with NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as draft:
            try:
                draft.write(content)
                draft.close()
                Path(draft.name).chmod(0o644)
                Path(draft.name).replace(out)
            except OSError:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise PageUnwritable(
            f"cannot write the report to {out} ({os.strerror(error.errno or 0)}): choose --out"
        ) from error


def _write_by_hadoop(spark: SparkSession, content: bytes, out: str) -> None:
    jvm = spark.sparkContext._jvm  # noqa: SLF001 - pyspark's own way to Hadoop's file systems has no public name
    assert jvm is not None
    try:
        path = jvm.org.apache.hadoop.fs.Path(out)
        stream = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).create(path, True)  # noqa: SLF001
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
    except Py4JJavaError as error:
        said = str(error.java_exception).partition("\n")[0]
        raise PageUnwritable(f"cannot write the report to {out} ({said}): choose another --out") from error

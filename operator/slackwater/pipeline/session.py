"""The door to Spark: one function that gives every job its session, whoever started Spark.

Three cases. A session that lives in this process already (a notebook, the tests) is adopted and left running. Under
`spark-submit` there is a driver already: its master and its settings hold. Else Spark is started here, on this machine
unless a master is given. Nothing in a job may depend on which it was.

pyspark is imported inside the functions, so that its absence can be told in a sentence.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from slackwater.pipeline.errors import NotInstalled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KAFKA_CONNECTOR: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
"""The newest whose dependencies resolve whole (F30)."""
_KAFKA_CLASS: Final = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_NEEDED: Final = ("pyspark", "numpy", "pandas", "pyarrow", "scipy")

RUNTIME_SETTINGS: Final = {"spark.sql.session.timeZone": "UTC"}
"""What every job's results rest on; set in adopted sessions too."""
_STARTED_HERE: Final = {
    "spark.ui.enabled": "false",  # it would listen on every interface; `--conf spark.ui.enabled=true` brings it back
    "spark.ui.showConsoleProgress": "false",  # progress.py shows it in our own words
    "spark.log.level": "OFF",  # what it would log comes back as an error, once
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_ON_THIS_MACHINE: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""Driver and executor are one process then: nothing need be reachable from outside."""


@contextmanager
def spark_session(
    job: str, *, kafka: bool = False, master: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Spark for one job; stopped at the end unless it was adopted.

    `kafka`: the job reads or writes topics, so the connector must be there. `master`: only for a Spark that is started
    here; Spark's own default (`local[*]`, or spark-defaults.conf) when not given. `settings`: Spark's, as with
    `--conf`. Raises NotInstalled when pyspark, Java or the connector is missing.
    """
    require_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # pyspark has no public name for "is there one already, and a Java to talk to?"
    adopted = SparkContext._active_spark_context is not None  # noqa: SLF001
    if adopted or "PYSPARK_GATEWAY_PORT" in os.environ or SparkContext._gateway is not None:  # noqa: SLF001
        _use_this_python(master)
        spark = SparkSession.builder.appName(f"slackwater {job}").config(map=dict(settings or {})).getOrCreate()
    else:
        spark = _start(job, _settings_of_a_new_one(kafka, master, settings or {}))
    try:
        for name, value in RUNTIME_SETTINGS.items():
            spark.conf.set(name, value)
        if kafka:
            _require_kafka(spark)
        yield spark
    finally:
        if not adopted:
            spark.stop()


def require_pyspark() -> None:
    """NotInstalled unless the packages of the extra `pipeline` are there."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    if missing:
        raise NotInstalled(
            f"the pipeline needs {', '.join(missing)}, which the operator does without and which is not installed here:"
            " run pip install 'slackwater[pipeline]'"
        )


def _settings_of_a_new_one(kafka: bool, master: str | None, settings: Mapping[str, str]) -> dict[str, str]:
    chosen = {**_STARTED_HERE, **RUNTIME_SETTINGS}
    if master is not None:
        chosen["spark.master"] = master
    if _is_local(chosen.get("spark.master")):
        chosen |= _ON_THIS_MACHINE
    chosen |= settings
    if kafka and not _brings_kafka(chosen):
        packages = chosen.get("spark.jars.packages")
        chosen["spark.jars.packages"] = f"{packages},{KAFKA_CONNECTOR}" if packages else KAFKA_CONNECTOR
    _use_this_python(chosen.get("spark.master"))
    return chosen


def _is_local(master: str | None) -> bool:
    chosen = master or os.environ.get("MASTER") or "local"
    return chosen.startswith("local")


def _use_this_python(master: str | None) -> None:
    """Spark's Python workers are `python3` of the PATH unless told, and miss every package of ours (F43).

    Not for a cluster: its machines have paths of their own.
    """
    if _is_local(master):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _brings_kafka(settings: Mapping[str, str]) -> bool:
    import pyspark

    named = ",".join(settings.get(name, "") for name in ("spark.jars", "spark.jars.packages"))
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    return "spark-sql-kafka" in named or any((home / "jars").glob("spark-sql-kafka*.jar"))


def _start(job: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(f"slackwater {job}").config(map=dict(settings)).getOrCreate()


def _require_kafka(spark: SparkSession) -> None:
    from py4j.protocol import Py4JJavaError

    jvm = spark.sparkContext._jvm  # noqa: SLF001 - pyspark's own way to Java has no public name
    assert jvm is not None
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(_KAFKA_CLASS)
    except Py4JJavaError as error:
        raise NotInstalled(
            f"this Spark has no connector for Kafka: start it with --packages {KAFKA_CONNECTOR}"
        ) from error

"""The door to Spark: one function that gives every job its session, whoever started Spark.

Three cases. A session that lives in this process already (a notebook, the tests) is adopted and left running. Under
`spark-submit` there is a driver already: its master and its settings hold. Else Spark is started here, on this machine
unless a master is given. Nothing in a job may depend on which it was.

pyspark is imported inside the functions, so that its absence can be told in a sentence.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

from slackwater.pipeline.errors import DependencyMissing, JobFailed
from slackwater.pipeline.packages import KAFKA_CONNECTOR, fetching_alone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KAFKA_CLASS: Final = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_JAVA: Final = "Java 17 or 21"
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
    `--conf`. Raises DependencyMissing when pyspark, Java or the connector is missing.
    """
    require_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    _hush()
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
    """DependencyMissing unless the packages of the extra `pipeline` are there."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    if missing:
        raise DependencyMissing(
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
    """A Java of our own with Spark in it. What it says at its start goes to a file, and matters when it fails."""
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf().setAppName(f"slackwater {job}").setAll(list(settings.items()))
    with TemporaryFile() as said, fetching_alone(settings):
        streams = {} if _debugging() else {"stdout": said, "stderr": said}
        try:
            gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call] # pyspark leaves it bare
            SparkContext(conf=conf, gateway=gateway)
        except PySparkRuntimeError as error:
            said.seek(0)
            raise DependencyMissing(_why_no_java(said.read().decode(errors="replace"), settings)) from error
        except Py4JJavaError as error:
            cause = str(error.java_exception).partition("\n")[0]
            raise JobFailed(f"Spark cannot be started ({cause}): correct --master or --conf") from error
    return SparkSession.builder.getOrCreate()


def _why_no_java(said: str, settings: Mapping[str, str]) -> str:
    if "UnsupportedClassVersionError" in said:
        return f"this Java is too old for Spark: install {_JAVA}, or set JAVA_HOME to where it is"
    if "unresolved dependenc" in said or "RuntimeException: [" in said:
        packages = settings.get("spark.jars.packages", "its packages")
        return (
            f"Spark could not fetch {packages}: see that the Maven repository can be reached from here, or give the"
            " connector's jars with --conf spark.jars=FILE,FILE"
        )
    if "JAVA_HOME" in said or "not found" in said or "No such file" in said:
        return f"Spark needs {_JAVA}, and there is none here: install it, or set JAVA_HOME to where it is"
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it does not say why")
    return f"Java does not start ({last}): see that java -version works here"


def _debugging() -> bool:
    return os.environ.get("SLACKWATER_DEBUG", "") not in ("", "0")


def _hush() -> None:
    """pyspark logs, as JSON, every error that it raises as well."""
    from pyspark.logger import PySparkLogger

    if not _debugging():
        PySparkLogger.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL + 1)


def _require_kafka(spark: SparkSession) -> None:
    from py4j.protocol import Py4JJavaError

    jvm = spark.sparkContext._jvm  # noqa: SLF001 - pyspark's own way to Java has no public name
    assert jvm is not None
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(_KAFKA_CLASS)
    except Py4JJavaError as error:
        raise DependencyMissing(
            f"this Spark has no connector for Kafka: start it with --packages {KAFKA_CONNECTOR}"
        ) from error

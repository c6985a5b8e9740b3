"""Every job gets its Spark from one place, as its results need it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slackwater.pipeline.session import _why_no_java, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_session_that_is_there_is_adopted_and_left_running(spark: SparkSession) -> None:
    with spark_session("another") as adopted:
        assert adopted.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


def test_times_are_in_utc(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def test_python_workers_are_this_python(spark: SparkSession) -> None:
    """F43: else they are the PATH's python3, which has none of our packages."""
    seen = spark.sparkContext.parallelize([1], 1).map(lambda _: sys.executable).collect()
    assert seen == [sys.executable]


NO_JAVA = {
    "JAVA_HOME is not set": "Spark needs Java 17 or 21, and there is none here: install it,",
    "/opt/no/bin/java: No such file or directory": "Spark needs Java 17 or 21, and there is none here: install it,",
    "java.lang.UnsupportedClassVersionError: x": "this Java is too old for Spark: install Java 17 or 21,",
    "RuntimeException: [unresolved dependency: a#b;1: not found]": "Spark could not fetch a:b:1: see that the Maven",
    "\nUnrecognized option: -Xbad\n\n": "Java does not start (Unrecognized option: -Xbad): see that java -version",
}


@pytest.mark.parametrize("said", NO_JAVA)
def test_what_java_said_when_it_did_not_start(said: str) -> None:
    assert _why_no_java(said, {"spark.jars.packages": "a:b:1"}).startswith(NO_JAVA[said])


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    """As a process of its own: in this one there may be a Java already."""
    command = [sys.executable, "-m", "slackwater.pipeline.ingest", f"--lake={tmp_path}", f"--files={tmp_path}"]
    environment = {**os.environ, "JAVA_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    sentence = "Error: Spark needs Java 17 or 21, and there is none here: install it, or set JAVA_HOME to where it is\n"
    assert done.stderr == sentence

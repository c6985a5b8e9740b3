"""One Spark for all tests that need one: started once, small, on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from slackwater.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SOCKETS_OF_PY4J = "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
"""py4j leaves sockets to Java for the garbage collector to close. They are none of ours."""
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Most of a test's time Java compiles what it will run once."""
QUICK_START = {"SPARK_SUBMIT_OPTS": QUICK_JAVA}
"""The same for a Spark that is a process of its own, by its environment."""
SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": QUICK_JAVA,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for the session is a test that starts Spark."""
    for item in items:
        if {"spark", "kafka_spark"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.filterwarnings(_SOCKETS_OF_PY4J))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session as the jobs get it; they adopt it (`spark_session` inside a test gives this one)."""
    with spark_session("tests", master="local[2]", settings=SMALL) as session:
        yield session


@pytest.fixture(scope="session")
def kafka_spark() -> Iterator[SparkSession]:
    """The same with the connector for Kafka. Only where no session without it was started before: Spark loads it when
    it starts. So tests that need a broker ask for this one, and never for the other."""
    with spark_session("tests", kafka=True, master="local[2]", settings=SMALL) as session:
        yield session

"""Spark fetches its packages with Ivy, whose cache breaks when two processes fill it at the same time.

Imports nothing of ours: the Dockerfile reads the connector's name here before the rest is there.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

KAFKA_CONNECTOR: Final = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
"""The newest whose dependencies resolve whole (F30)."""
_IVY_HOME: Final = "~/.ivy2.5.2"
"""Spark 4's own default for `spark.jars.ivy`."""


@contextmanager
def fetching_alone(settings: Mapping[str, str]) -> Iterator[None]:
    """While a Spark of these settings starts, no other one that uses the same cache does, where packages are asked for.

    To the end of the start: the next one puts the files there again, from which this one's executors are given theirs.
    A folder that cannot be written is left for Spark to tell of: it is where the packages would go.
    """
    if "spark.jars.packages" not in settings:
        yield
        return
    folder = Path(settings.get("spark.jars.ivy", _IVY_HOME)).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "slackwater.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)

"""Groups of Kafka's own Java consumer, `VerifiableConsumer`, which an operator runs like any other.

Its pods are Ready once they have partitions: the client says so itself.
"""

from __future__ import annotations

from typing import Any, Final

from sandbox.images import KAFKA_TOOLS
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_env, with_image
from tests.e2e.stage.stage import Stage

VERSION: Final = "4.3"
"""Of the client library in the image: it could have offered both assignors by itself (F5)."""


def java_group(stage: Stage, name: str, **settings: Any) -> Json:
    """A ConsumerGroup on the loaded topic, not applied yet. A Java process takes its time to start by itself."""
    group = stage.group(name, **{"client": {"library": "Java", "version": VERSION}, **settings})
    return with_env(with_image(group, KAFKA_TOOLS), START_DELAY_SECONDS=None)

"""What Kafka's own tool prints of the groups in `__consumer_offsets`: an eye other than ours."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from sandbox.kafka.libraries import class_path, ensure_libraries
from sandbox.layout import Layout
from sandbox.toolchain import java

_IDLE_MS = 15_000


def printed_groups(bootstrap: str) -> list[dict[str, Any]]:
    """`{"key": …, "value": …}` for each record of a classic group, in order.

    The tool prints group records of the classic protocol only, one JSON object after the other, and ends with an error
    of its own when nothing came for a while.
    """
    layout = Layout.from_environment()
    command = [
        *(str(java(layout)), "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-cp", class_path(ensure_libraries(layout)), "org.apache.kafka.tools.consumer.ConsoleConsumer"),
        *("--bootstrap-server", bootstrap, "--topic", "__consumer_offsets", "--from-beginning"),
        *("--formatter", "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter"),
        *("--timeout-ms", str(_IDLE_MS)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "Processed a total of" in done.stderr, done.stderr
    return list(_objects(done.stdout))


def _objects(text: str) -> list[dict[str, Any]]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while (at := text.find("{", at)) >= 0:
        told, at = decoder.raw_decode(text, at)
        found.append(told)
    return found

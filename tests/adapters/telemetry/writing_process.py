"""Writes events into a folder until it is killed; the id of each that was written, on its standard output."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from slackwater.adapters.telemetry.files import FileSink
from slackwater.adapters.telemetry.sinks import Line
from slackwater.api.telemetry.events import write_line
from tests.adapters.telemetry.events import event


async def write_for_ever(folder: Path) -> None:
    sink, number = FileSink(folder, time.time), 0
    while True:
        await sink.write([Line("shop/payments", write_line(event(number)))])
        print(f"event-{number}", flush=True)  # noqa: T201
        number += 1


if __name__ == "__main__":
    asyncio.run(write_for_ever(Path(sys.argv[1])))

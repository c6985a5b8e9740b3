"""Kafka's own Java consumer under the contract of `consumer`: readiness, behaviour, and a log of its deliveries.

Starts `VerifiableConsumer` as a child, whose client properties come from `KAFKA_*`, and reads the events that it prints
as JSON. Ready means more here than with `consumer`: it has joined, for the client itself says so. Ends with 0 after
SIGTERM, and as `consumer` does otherwise; of the behaviour, POLL_WORK_MS and EXIT_ON_FATAL are beyond it.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from sandbox.workload.consumer import EXIT_FATAL, EXIT_REFUSED, crashes_now
from sandbox.workload.delivery_log import DeliveryLog
from sandbox.workload.ending import Ending, by_signals
from sandbox.workload.misbehaviour import EXIT_CRASH
from sandbox.workload.probe import serve_readiness
from sandbox.workload.settings import Behaviour, InvalidSetting, connection, properties

LOG = logging.getLogger("java consumer")
CLIENT = ("python3", "/opt/kafka/run.py", "VerifiableConsumer")

# By itself VerifiableConsumer commits after every poll, and polls for every single record: much work for nothing.
_DEFAULTS = {
    "KAFKA_ENABLE_AUTO_COMMIT": "true",
    "KAFKA_AUTO_COMMIT_INTERVAL_MS": "1000",
    "KAFKA_FETCH_MIN_BYTES": "1000000",
    "KAFKA_FETCH_MAX_WAIT_MS": "100",
}
_LINE_S = 0.05


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one partition that one poll returned: the first and the last offset, and when (unix milliseconds).

    There may be fewer records than offsets: transaction markers and compacted records take offsets as well.
    """

    partition: int
    first: int
    last: int
    at_ms: int


def batches(event: Mapping[str, Any]) -> list[Batch]:
    """What an event tells of deliveries: nothing, unless it is of records."""
    if event["name"] != "records_consumed":
        return []
    return [
        Batch(each["partition"], each["minOffset"], each["maxOffset"], event["timestamp"])
        for each in event["partitions"]
    ]


def parse_event(line: str) -> dict[str, Any] | None:
    """An event that VerifiableConsumer printed, or None for a line of its log."""
    if not line.startswith("{"):
        return None
    try:
        event: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return event if "name" in event else None


def main(command: Iterable[str] = CLIENT) -> int:
    """Run until SIGTERM or until the client ends; the result is the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    stop = by_signals()
    try:
        behaviour = Behaviour.from_environment(os.environ)
    except InvalidSetting as error:
        LOG.error("%s", error)  # noqa: TRY400 - a sentence for a person; a traceback adds nothing
        return EXIT_REFUSED
    if crashes_now(behaviour):
        LOG.error("crashing, as CRASH_TIMES asks")
        return EXIT_CRASH
    ready = threading.Event()
    serve_readiness(behaviour.ready_port, ready)
    if stop.wait(behaviour.start_delay_s):
        return 0
    if behaviour.never_join:
        LOG.info("ready, and never joining, as NEVER_JOIN asks")
        ready.set()
        stop.wait()
        return 0
    return _run(list(command), behaviour, ready, stop)


def _run(command: list[str], behaviour: Behaviour, ready: threading.Event, stop: Ending) -> int:
    client = properties(os.environ)
    log = None
    if behaviour.deliveries_topic:
        instance = client.get("group.instance.id", "")
        log = DeliveryLog(
            behaviour.deliveries_topic,
            connection(client),
            behaviour.pod,
            instance,
            outlives_brokers=behaviour.brokers_go_down,
        )
    with subprocess.Popen(command, env={**_DEFAULTS, **os.environ}, stdout=subprocess.PIPE, text=True) as process:
        _follow(process, log, ready, stop)
        code = process.wait()
    if log:
        log.close()
    if stop.is_set():
        return 0
    LOG.error("the client has ended by itself with %s", code)
    return EXIT_FATAL


def _follow(process: subprocess.Popen[str], log: DeliveryLog | None, ready: threading.Event, stop: Ending) -> None:
    """Log what the client prints until it has ended; pass on that it is to end."""
    assert process.stdout is not None
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(process.stdout, lines), name="client's output", daemon=True).start()
    told = False
    while True:
        if stop.is_set() and not told:
            process.terminate()
            told = True
        try:
            line = lines.get(timeout=_LINE_S)
        except queue.Empty:
            line = ""
        if line is None:
            return
        _take(line, log, ready)
        if log:
            log.send_if_due()


def _take(line: str, log: DeliveryLog | None, ready: threading.Event) -> None:
    event = parse_event(line)
    if event is not None and event["name"] == "partitions_assigned":
        ready.set()
    delivered = batches(event) if event is not None else []
    for batch in delivered:
        for offset in range(batch.first, batch.last + 1):
            if log:
                log.add(batch.partition, offset, batch.at_ms)
    if line and not delivered:  # deliveries are too many for a pod's log
        sys.stdout.write(line)
        sys.stdout.flush()


def _read(output: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    for line in output:
        lines.put(line)
    lines.put(None)


if __name__ == "__main__":
    sys.exit(main())

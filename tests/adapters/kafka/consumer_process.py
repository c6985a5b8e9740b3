"""A confluent-kafka consumer as a process of its own, so that it can be killed as the kernel does; it tells its story.

Run as a program it consumes until SIGTERM and prints one line for each thing that happens to it. Imported, it starts,
watches and ends such programs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Told:
    """One line: `what` is assigned, revoked, lost, records, error or closed; `partitions` those it is about."""

    at: float
    what: str
    partitions: tuple[int, ...] = ()
    message: str = ""


class ConsumerProcess:
    """One member; `told` grows as it tells."""

    def __init__(
        self, bootstrap: str, group_id: str, topic: str, protocol: Mapping[str, Any], instance_id: str | None = None
    ) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "group.id": group_id,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 500,
            **protocol,
        }
        if instance_id is not None:
            settings["group.instance.id"] = instance_id
        self.instance_id = instance_id
        self.started_at = time.time()
        self.told: list[Told] = []
        command = [sys.executable, "-m", "tests.adapters.kafka.consumer_process", topic, json.dumps(settings)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def owned(self) -> set[int]:
        """The partitions that it believes to own."""
        owned: set[int] = set()
        for line in list(self.told):
            if line.what == "assigned":
                owned.update(line.partitions)
            elif line.what in {"revoked", "lost"}:
                owned.difference_update(line.partitions)
        return owned

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def errors(self) -> list[str]:
        return [line.message for line in list(self.told) if line.what == "error"]

    def moves_since(self, at: float) -> list[Told]:
        """Every assignment, revocation and loss after `at`, seconds since the epoch."""
        return [t for t in list(self.told) if t.at > at and t.what in {"assigned", "revoked", "lost"} and t.partitions]

    def kill(self) -> float:
        """SIGKILL; returns when, seconds since the epoch."""
        at = time.time()
        self._end(signal.SIGKILL)
        return at

    def freeze(self) -> None:
        """SIGSTOP: it is there, and hears of nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """SIGTERM, and wait until it has closed its consumer."""
        self._end(signal.SIGTERM)

    def _end(self, signal_number: int) -> None:
        if self.runs:
            self._process.send_signal(signal_number)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        self._reader.join(5)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            self.told.append(Told(told["at"], told["what"], tuple(told["partitions"]), told["message"]))


def main(topic: str, settings: Mapping[str, Any]) -> None:
    """Consume until SIGTERM, or until whoever started this is gone."""
    parent = os.getppid()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    consumer = Consumer({**settings, "error_cb": lambda error: _tell("error", message=error.str())})

    def tells(what: str) -> Callable[[Consumer, list[TopicPartition]], None]:
        return lambda _, partitions: _tell(what, [partition.partition for partition in partitions])

    consumer.subscribe([topic], on_assign=tells("assigned"), on_revoke=tells("revoked"), on_lost=tells("lost"))
    while not ended.is_set() and os.getppid() == parent:
        message = consumer.poll(0.1)
        if message is not None and (error := message.error()) is not None:
            _tell("fatal" if error.fatal() else "error", message=f"{_name(error)}: {error.str()}")
        elif message is not None:
            _tell("records", [message.partition()])
    consumer.close()
    _tell("closed")


def _name(error: KafkaError) -> str:
    return str(error.name())


def _tell(what: str, partitions: list[int] | None = None, message: str = "") -> None:
    line = {"at": time.time(), "what": what, "partitions": partitions or [], "message": message}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))

"""A consumer's process, and what it says of itself."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from tests.consumers.broker import until

WORKS_WITHIN_S = 300.0
ENDS_WITHIN_S = 120.0
_PROCESSED = re.compile(r"processed (\S+-\d+@\d+)")


class Running:
    """One process of a consumer."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, port: int) -> None:
        self._process, self._log, self._port = process, log, port

    def says(self) -> str:
        return self._log.read_text(errors="replace")

    def processed(self) -> Counter[str]:
        """How often each record was: `topic-partition@offset`."""
        return Counter(_PROCESSED.findall(self.says()))

    def lives(self) -> bool:
        return self._process.poll() is None

    def probe(self, path: str) -> int:
        """The status of `/livez` or `/readyz`; 0 where nobody answers."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def until(self, what: str, happened: object) -> None:
        """Wait for it; where it does not happen, the process' last words are in the error."""
        assert callable(happened)
        try:
            until(what, lambda: happened() or not self.lives(), WORKS_WITHIN_S)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; it said: {self.says()[-3000:]}") from None
        assert happened(), f"{what}: it ended with {self._process.poll()} and said: {self.says()[-3000:]}"

    def stop(self) -> int:
        """SIGTERM, as the kubelet sends it; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"it did not end after SIGTERM; it said: {self.says()[-3000:]}") from None


@contextmanager
def running(command: Sequence[str], folder: Path, settings: dict[str, str], topics: str) -> Iterator[Running]:
    """Start it with the variables that a pod would have; killed at the end where it lives still."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {**settings, "TOPICS": topics, "HEALTH_PORT": str(port)}
    log = folder / f"{len(list(folder.glob('*.log')))}.log"
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("KAFKA_")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**inherited, **given},
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )
    try:
        yield Running(process, log, port)
    finally:
        process.kill()
        process.wait()

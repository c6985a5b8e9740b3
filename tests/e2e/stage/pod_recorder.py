"""Every pod that there ever was in a namespace, by uid: whether one was restarted twice cannot be seen afterwards."""

from __future__ import annotations

import json
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_AGAIN_S = 0.2


class PodRecorder:
    """Watches pods of one namespace, and goes on watching when the API server comes back."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self._command = ["kubectl", f"--kubeconfig={kubeconfig}", f"--namespace={namespace}", "get", "pods"]
        self._command += ["--watch", "--output-watch-events", "--output=json"]
        self._uids: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._ended = threading.Event()
        self._watch: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def uids(self, pod: str) -> list[str]:
        """In the order in which the pods of that name were made."""
        return list(self._uids[pod])

    def restarts(self, since: dict[str, list[str]]) -> dict[str, int]:
        """How often each pod was made again since `snapshot`."""
        return {pod: len(self._uids[pod]) - len(before) for pod, before in since.items()}

    def snapshot(self) -> dict[str, list[str]]:
        return {pod: list(uids) for pod, uids in self._uids.items()}

    @contextmanager
    def recording(self) -> Iterator[PodRecorder]:
        self._thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            if self._watch is not None:
                self._watch.kill()
            self._thread.join(10)

    def _run(self) -> None:
        while not self._ended.is_set():
            with subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as watch:
                self._watch = watch
                if self._ended.is_set():
                    watch.kill()
                assert watch.stdout is not None
                for event in _objects(watch.stdout):
                    metadata = event["object"]["metadata"]
                    self._uids[metadata["name"]].setdefault(metadata["uid"])
            self._ended.wait(_AGAIN_S)


def _objects(stream: IO[str]) -> Iterator[dict[str, Any]]:
    """JSON objects one after the other: each in one line, or over many with only its braces at the margin."""
    lines: list[str] = []
    for line in stream:
        lines.append(line)
        if line[0] in "{}" and line.rstrip().endswith("}"):
            yield json.loads("".join(lines))
            lines = []

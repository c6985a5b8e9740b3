"""Everything that the pods of a namespace log, those included that are gone by the time that it is read."""

from __future__ import annotations

import threading
from typing import Final, Self

import urllib3

from tests.e2e.stage.api import Api
from tests.e2e.stage.recorder import Record, Recorder

_LOOK_AGAIN_S: Final = 0.2
_LASTING_S: Final = 600


class PodLogs:
    """Follows each container from its start to its end, those that are restarted as well, while its block runs."""

    def __init__(self, api: Api, recorder: Recorder, namespace: str) -> None:
        self._api = api
        self._recorder = recorder
        self._namespace = namespace
        self._lines: list[tuple[str, str]] = []
        self._followed: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._find, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def followed(self) -> int:
        """How many containers were followed."""
        return len(self._followed)

    def lines(self, group: str, text: str) -> list[str]:
        """Lines of the group's pods with this text in them."""
        return [line for pod, line in list(self._lines) if pod.startswith(f"{group}-") and text in line]

    def _find(self) -> None:
        looked_at = 0
        while not self._stop.wait(_LOOK_AGAIN_S):
            records = self._recorder.records("pods")
            new, looked_at = records[looked_at:], len(records)
            for record in new:
                container = _container_of(record)
                if container and container not in self._followed:
                    self._followed.add(container)
                    threading.Thread(target=self._follow, args=(record.name,), daemon=True).start()

    def _follow(self, pod: str) -> None:
        try:
            for line in self._api.follow_log(self._namespace, pod, _LASTING_S):
                self._lines.append((pod, line))
        except (AssertionError, OSError, urllib3.exceptions.HTTPError) as error:
            self._lines.append((pod, f"the log broke off: {error}"))


def _container_of(record: Record) -> str:
    """The id of the container that has started last, or nothing."""
    statuses = () if record.deleted else record.obj["status"].get("containerStatuses", ())
    started = (status for status in statuses if not status.get("state", {}).get("waiting"))
    return next((str(status.get("containerID", "")) for status in started), "")

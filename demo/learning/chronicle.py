"""The operator's telemetry, read while it grows: which restarts it has recorded so far."""

from __future__ import annotations

from collections import Counter, defaultdict
from types import TracebackType

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from pydantic import ValidationError

from slackwater.api.telemetry.events import MemberRestartedEvent, read_line
from slackwater.api.telemetry.words import Outcome

_POLL_S = 0.05
_REQUEST_S = 5.0


class Chronicle:
    """Of one group; a context manager. It only watches: what is learned comes from the pipeline."""

    def __init__(self, bootstrap_servers: str, topic: str, group: str) -> None:
        settings = {"bootstrap.servers": bootstrap_servers, "group.id": "never-joins", "log_level": 0}
        self._consumer = Consumer(settings)
        self._topic, self._group = topic, group
        self._assigned = False
        self._returned: defaultdict[str, set[str]] = defaultdict(set)

    def __enter__(self) -> Chronicle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._consumer.close()

    def returned(self) -> Counter[str]:
        """How many times each pod's member was away and is back, by pod."""
        self._read_on()
        return Counter({pod: len(episodes) for pod, episodes in self._returned.items()})

    def _read_on(self) -> None:
        if not self._assigned and not self._assign():
            return
        while messages := self._consumer.consume(500, _POLL_S):
            for message in messages:
                if not message.error():
                    self._take(message.value() or b"")

    def _assign(self) -> bool:
        """The operator makes the topic when it has something to tell."""
        found = self._consumer.list_topics(self._topic, timeout=_REQUEST_S).topics[self._topic]
        if found.error is None:
            self._consumer.assign([TopicPartition(self._topic, each, OFFSET_BEGINNING) for each in found.partitions])
            self._assigned = True
        return self._assigned

    def _take(self, line: bytes) -> None:
        try:
            event = read_line(line)
        except ValidationError:  # the pipeline sets it aside, and says so
            return
        if not isinstance(event, MemberRestartedEvent) or event.name != self._group:
            return
        restart = event.member_restarted
        if restart.outcome is Outcome.RETURNED:
            self._returned[restart.pod].add(restart.episode)

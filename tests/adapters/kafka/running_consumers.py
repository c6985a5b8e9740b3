"""Real confluent-kafka consumers in threads, and the questions that tests ask until the answer is right."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer

from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.core.world.observation import GroupObservation, KafkaView

CLASSIC: Mapping[str, str | int] = {"group.protocol": "classic", "session.timeout.ms": 10_000}
CONSUMER: Mapping[str, str | int] = {"group.protocol": "consumer"}


class RunningConsumer:
    """One member that polls, and commits as it goes, until it is stopped."""

    def __init__(
        self,
        bootstrap: str,
        group_id: str,
        topic: str,
        protocol: Mapping[str, str | int],
        instance_id: str | None = None,
    ) -> None:
        settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap,
            "group.id": group_id,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 500,
            **protocol,
        }
        if instance_id is not None:
            settings["group.instance.id"] = instance_id
        self._consumer = Consumer(settings)
        self._consumer.subscribe([topic])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close in good order: a dynamic member leaves, a classic static one does not (F10)."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._thread.join(30)
            self._consumer.close()

    def _poll(self) -> None:
        while not self._stopped.is_set():
            self._consumer.poll(0.1)


@contextmanager
def running(*consumers: RunningConsumer) -> Iterator[None]:
    try:
        yield
    finally:
        for consumer in consumers:
            consumer.stop()


async def view_until(
    reader: KafkaGroupReader,
    group_id: str,
    topic: str,
    is_right: Callable[[KafkaView], bool],
    within_s: float = 45.0,
) -> KafkaView:
    """Observe until the view is as wanted; fails with the last view at the deadline."""
    deadline = time.monotonic() + within_s
    while True:
        view = (await reader.observe({group_id: frozenset({topic})}))[group_id]
        if is_right(view):
            return view
        assert time.monotonic() < deadline, f"after {within_s:g} s: {view}"
        await asyncio.sleep(0.1)


def settled(members: int, partitions: int) -> Callable[[KafkaView], bool]:
    """Calm, with so many members, and so many partitions owned once each."""

    def is_settled(view: KafkaView) -> bool:
        if not isinstance(view, GroupObservation) or not view.calm or len(view.members) != members:
            return False
        owned = [partition for member in view.members for partition in member.assignment]
        return len(owned) == len(set(owned)) == partitions

    return is_settled

"""Asks for many things by as few requests as the answers' length allows.

A shared connection asks for what all its tenants have, and an answer is read up to a length. What makes one too long,
many topics or one that is huge, takes nothing else out of sight: it is asked for in halves.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final, Generic, TypeVar

from slackwater.adapters.kafka.errors import AnswerTooLong, Failure, KafkaFailed, NoRoom
from slackwater.core.decision.reasons import Reason

TOO_LONG_AGAIN_S: Final = 300.0
"""Such an answer is megabytes, which are read for nothing. It may end the connection, too, and whoever else waits there
has to ask again: it is provoked this seldom."""
PATIENCE_S: Final = 30.0
"""For all parts together, after which no further one is asked for: a broker may take its time for each answer that is
too long, and there are as many as things."""

Thing = TypeVar("Thing", bound=Any)
Answer = TypeVar("Answer")
Asks = Callable[[list[Thing]], Awaitable[Answer]]
"""Asks for these, and raises AnswerTooLong; other failures are its own."""


class Parts(Generic[Thing]):
    """Remembers which things alone are too long, and how many of the others fitted into one answer."""

    def __init__(self, name: Callable[[Thing], str]) -> None:
        """`name` says what one thing is, as in `group orders`."""
        self._name = name
        self._alone: dict[Thing, tuple[float, Failure]] = {}
        self._fitted: tuple[float, int] | None = None

    async def ask(
        self, things: Collection[Thing], ask: Asks[Thing, Answer]
    ) -> tuple[list[Answer], dict[Thing, Failure]]:
        """Return the answers, none where nothing is asked for, and the things whose answer alone is too long."""
        now = time.monotonic()
        self._alone = {thing: kept for thing, kept in self._alone.items() if now < kept[0]}
        if self._fitted is not None and now >= self._fitted[0]:
            self._fitted = None
        failures = {thing: self._alone[thing][1] for thing in things if thing in self._alone}
        wanted = sorted(thing for thing in things if thing not in failures)
        size = len(wanted) if self._fitted is None else self._fitted[1]
        answers: list[Answer] = []
        until = now + PATIENCE_S
        for begin in range(0, len(wanted), max(size, 1)):
            answers += await self._ask(wanted[begin : begin + size], ask, failures, until)
        return answers, failures

    async def ask_each(
        self, things: Collection[Thing], ask: Asks[Thing, Mapping[Thing, Answer]]
    ) -> dict[Thing, Answer | Failure]:
        """The same where answers are by thing; what fails is the failure of each that was asked for. Never raises."""

        async def asked(some: list[Thing]) -> Mapping[Thing, Answer | Failure]:
            try:
                found = await ask(some)
            except AnswerTooLong:
                raise
            except KafkaFailed as error:
                return dict.fromkeys(some, error.failure)
            self._remember(found)
            return found

        answers, failures = await self.ask(things, asked)
        return {thing: answer for each in (*answers, failures) for thing, answer in each.items()}

    def _remember(self, found: Mapping[Thing, object]) -> None:
        """Those of which there turned out to be too much."""
        again_at = time.monotonic() + TOO_LONG_AGAIN_S
        for thing, answer in found.items():
            too_long = isinstance(answer, Failure) and answer.reason is Reason.ANSWER_TOO_LONG
            if isinstance(answer, Failure) and too_long and not isinstance(answer, NoRoom):
                self._alone[thing] = again_at, answer

    async def _ask(
        self, things: list[Thing], ask: Asks[Thing, Answer], failures: dict[Thing, Failure], until: float
    ) -> list[Answer]:
        """One part after the other, since each that is too long ends the connection; none after `until`, monotonic."""
        if time.monotonic() > until:
            failures |= {thing: self._late(thing) for thing in things}
            return []
        try:
            return [await ask(things)]
        except AnswerTooLong as error:
            again_at, message = time.monotonic() + TOO_LONG_AGAIN_S, str(error)
        if len(things) == 1:
            (thing,) = things
            failures[thing] = Failure(Reason.ANSWER_TOO_LONG, f"{self._name(thing)}: {message}")
            self._alone[thing] = again_at, failures[thing]
            return []
        half, before = len(things) // 2, len(failures)
        answers = await self._ask(things[:half], ask, failures, until)
        answers += await self._ask(things[half:], ask, failures, until)
        if len(failures) == before and (self._fitted is None or half < self._fitted[1]):  # no one of them is to blame
            self._fitted = again_at, half
        return answers

    def _late(self, thing: Thing) -> Failure:
        message = f"{self._name(thing)}: Kafka took too long over what was asked with it; it is asked again"
        return Failure(Reason.OBSERVATION_INCOMPLETE, message)


def group_parts() -> Parts[str]:
    return Parts("group {}".format)

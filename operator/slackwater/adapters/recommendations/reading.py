"""Recommendations as text. What cannot be read is told once, and never stops what can."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import structlog
from pydantic import ValidationError

from slackwater.api.recommendation import LONGEST_MESSAGE, MOST_VALUES, Recommendation
from slackwater.core.timeouts.reading import advice_of
from slackwater.core.world.advice import Advice

OnAdvice = Callable[[str, str, Advice | None], None]
"""Called with namespace, name and what is recommended now; None: nothing any more."""

MOST_TOLD: Final = 1_000
"""Places that the log names; the metric counts them all."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Read:
    namespace: str
    name: str
    advice: Advice


class Reader:
    """Reads messages, and counts those that it could not read."""

    def __init__(self) -> None:
        self.unreadable = 0
        self._told: set[str] = set()

    def read(self, text: str | bytes, where: str) -> Read | None:
        """None for what cannot be read; said in the log, once for each `where`."""
        if len(text) > LONGEST_MESSAGE:
            self._tell(where, "", f"it is longer than {LONGEST_MESSAGE} bytes")
            return None
        if _values_in(text) > MOST_VALUES:
            self._tell(where, "", f"it has more than {MOST_VALUES} values")
            return None
        try:
            found = Recommendation.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_input=False, include_context=False, include_url=False)[0]
            self._tell(where, ".".join(str(part) for part in first["loc"]), first["msg"])
            return None
        return Read(found.namespace, found.name, advice_of(found))

    def read_lines(self, lines: Iterable[str], where: str) -> list[Read]:
        found = [self.read(line, f"{where}, line {n}") for n, line in enumerate(lines, 1) if line.strip()]
        return [each for each in found if each is not None]

    def _tell(self, where: str, field: str, problem: str) -> None:
        self.unreadable += 1
        if where not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(where)
            _log.warning("recommendation_unreadable", where=where, field=field, problem=problem)


def _values_in(text: str | bytes) -> int:
    """About how many there are; a hundredth of the time that parsing takes."""
    if isinstance(text, bytes):
        return sum(map(text.count, (b"{", b"[", b",")))
    return sum(map(text.count, "{[,"))

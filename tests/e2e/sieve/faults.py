"""The faults, which group's writes meet which, and what has met what."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tests.e2e.sieve.writes import Write


class Fault(StrEnum):
    """What becomes of a write, once."""

    NONE = "none"
    KILLED_BEFORE = "killed-before"
    """The operator is killed, and the API server never sees the request."""
    KILLED_AFTER = "killed-after"
    """It is done, and then the operator is killed."""
    LOST = "lost"
    """It is done, and the connection ends without an answer."""
    CONFLICT = "conflict"
    """409: not done."""
    THROTTLED = "throttled"
    """429 with Retry-After: not done."""
    FAILING = "failing"
    """500: not done."""

    @property
    def kills(self) -> bool:
        return self in (Fault.KILLED_BEFORE, Fault.KILLED_AFTER)

    @property
    def code(self) -> int | None:
        """The HTTP status of a refusal."""
        return _CODES.get(self)


_CODES: Final = {Fault.CONFLICT: 409, Fault.THROTTLED: 429, Fault.FAILING: 500}
_REASONS: Final = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError"}
FAULTS: Final = tuple(each for each in Fault if each is not Fault.NONE)
ANSWERED: Final = tuple(each for each in FAULTS if not each.kills)
RETRY_AFTER_S: Final = 1

_PRIVATE: Final = re.compile(r"#(\S+)")
_REVISION: Final = re.compile(r"(?<=GROUP-)([bcdfghjklmnpqrstvwxz2456789]{8,10})(?![\w-])")
"""The hash in the name of a StatefulSet's revision: another one in each group."""


def refusal(code: int) -> bytes:
    """A Status as the API server writes it."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code}
    return json.dumps({**status, "reason": _REASONS[code], "message": f"this write meets {code}, once"}).encode()


@dataclass(frozen=True, slots=True)
class Met:
    """A write that was seen, and what it met."""

    group: str
    fault: Fault
    write: Write


class Strikes:
    """Decides for each write whether it meets its group's fault: each one does once, or no scenario would end."""

    def __init__(self) -> None:
        self._faults: dict[str, Fault] = {}
        self._letters: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        self.met: list[Met] = []

    def arm(self, group: str, fault: Fault) -> None:
        """From now on the writes to this group, and to all that is called after it, meet this fault."""
        self._faults[group] = fault

    def disarm(self) -> None:
        """From now on no write meets anything."""
        self._faults.clear()

    def judge(self, write: Write) -> Fault:
        """What this one meets. Called once for each request."""
        group = next((each for each in self._faults if f"{write.name}-".startswith(f"{each}-")), None)
        if group is None:
            return Fault.NONE
        seen = self._common(group, write)
        if self._faults[group].kills:  # a life for each condition that changes, too, would take many minutes
            seen = replace(seen, shows="")
        before = [each.write for each in self.of(group) if (each.write.row, each.write.name) == (seen.row, seen.name)]
        if seen in (before[-1:] if seen.comes_back else before):
            return Fault.NONE
        self.met.append(Met(group, self._faults[group], seen))
        return self._faults[group]

    def of(self, group: str) -> list[Met]:
        return [each for each in self.met if each.group == group]

    def counts(self, group: str) -> Counter[str]:
        """How many different writes of each kind met the group's fault."""
        return Counter(each.write.row for each in self.of(group))

    def _common(self, group: str, write: Write) -> Write:
        """The same with names that are the same in every group."""
        letters = self._letters[group, write.row]

        def letter(found: re.Match[str]) -> str:
            return letters.setdefault(found[1], f"#{len(letters) + 1}")

        return Write(
            write.verb,
            write.resource,
            write.name.replace(group, "GROUP", 1),
            _REVISION.sub(letter, _PRIVATE.sub(letter, write.says).replace(group, "GROUP")),
            write.shows,
        )

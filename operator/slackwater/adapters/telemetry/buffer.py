"""What waits to be written, with a fair share for each namespace: the groups of one may have thousands of members, or
brokers that make them up."""

from __future__ import annotations

from collections import deque

from slackwater.adapters.telemetry.sinks import Line


class Buffer:
    """So many lines, and so many bytes of them, at the most. What happened to one group stays in order."""

    def __init__(self, capacity: int, largest: int) -> None:
        self._capacity = capacity
        self._largest = largest
        self._waiting: dict[str, deque[Line]] = {}
        """By namespace; whose turn is next is first."""
        self._sizes: dict[str, int] = {}
        """Bytes of each."""
        self._number = 0
        self._size = 0

    def __len__(self) -> int:
        return self._number

    def add(self, line: Line, in_hand: int = 0) -> int:
        """Returns how many lines had to be left out for want of room: the newest of whoever has most, be it this one.
        `in_hand`: lines that are no longer here, and have to be written still."""
        namespace, size, left_out = _namespace(line), len(line.text), 0
        while self._number + in_hand >= self._capacity or self._size + size > self._largest:
            if not self._make_room(namespace, size, by_number=self._number + in_hand >= self._capacity):
                return left_out + 1
            left_out += 1
        self._waiting.setdefault(namespace, deque()).append(line)
        self._count(namespace, 1, size)
        return left_out

    def next(self, most: int) -> tuple[Line, ...]:
        """Take out what is to be written now, of each namespace in turn."""
        taken: list[Line] = []
        while self._waiting and len(taken) < most:
            namespace = next(iter(self._waiting))
            lines = self._waiting.pop(namespace)
            taken.append(lines.popleft())
            if lines:
                self._waiting[namespace] = lines
            self._count(namespace, -1, -len(taken[-1].text))
        return tuple(taken)

    def _make_room(self, namespace: str, size: int, *, by_number: bool) -> bool:
        """Leave out one line of who has most; whether it is another than this one, with a line more, would be."""
        has = {name: len(lines) if by_number else self._sizes[name] for name, lines in self._waiting.items()}
        most = max(has, key=has.__getitem__, default=namespace)
        if most == namespace or has[most] <= has.get(namespace, 0) + (1 if by_number else size):
            return False
        lines = self._waiting[most]
        self._count(most, -1, -len(lines.pop().text))
        return True

    def _count(self, namespace: str, number: int, size: int) -> None:
        self._number += number
        self._size += size
        self._sizes[namespace] = self._sizes.get(namespace, 0) + size
        if namespace in self._waiting and not self._waiting[namespace]:
            del self._waiting[namespace]
        if namespace not in self._waiting:
            del self._sizes[namespace]


def _namespace(line: Line) -> str:
    return line.key.partition("/")[0]

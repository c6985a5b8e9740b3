"""Which generations of a group left a record, and whether those go back to the group's beginning. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Numbering:
    """The numbers of one group, classic generations and KIP-848 epochs alike: going over keeps the number."""

    known: bool = False
    """The group's beginning is in the history."""
    _newest: int | None = None
    _told: bool = False
    _unrecorded: int = 0

    @property
    def unrecorded(self) -> int | None:
        """How many left no record since the last one that was told; None when nothing before it is known."""
        return self._unrecorded if self.known or self._told else None

    def reach(self, number: int, *, begins: bool) -> bool:
        """A record has this number. False: it belongs to another group of the same name, which begins here.

        `begins`: a group's first record can look like this one.
        """
        continues = self._newest is None or number >= self._newest
        if not continues:
            self.forget(known=False)
        if self._newest is None:
            self.known = self.known or begins
        else:
            self._unrecorded += max(0, number - self._newest - 1)
        self._newest = number
        return continues

    def told(self) -> None:
        """The newest number has its row."""
        self._told, self._unrecorded = True, 0

    def forget(self, *, known: bool) -> None:
        """What follows is another group; `known`: it was seen that this one ended."""
        self.known, self._newest, self._told, self._unrecorded = known, None, False, 0

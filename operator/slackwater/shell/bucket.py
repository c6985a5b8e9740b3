"""A token bucket: so much at once, then so much in a time."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Bucket:
    """Holds `at_once` tokens at first and at most, and gets one more every `again_s` seconds."""

    at_once: int
    again_s: float
    at: float
    """The moment up to which it is filled, by whatever clock `now` is."""
    left: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.left = self.at_once

    def take(self, now: float) -> bool:
        """Whether there was one left."""
        self._fill(now)
        if self.left < 1:
            return False
        self.left -= 1
        return True

    def in_s(self, now: float) -> float:
        """In how many seconds there is one; 0 where there is one now."""
        self._fill(now)
        return 0.0 if self.left >= 1 else (1 - self.left) * self.again_s

    def lacks(self, now: float) -> float:
        """How many were taken and have not come back; 0 of one that is like new."""
        self._fill(now)
        return self.at_once - self.left

    def _fill(self, now: float) -> None:
        """A clock that is set back fills nothing."""
        filled = max(0.0, now - self.at) / self.again_s
        self.at, self.left = now, min(self.at_once, self.left + filled)

"""What a row of observations tells of one member of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slackwater.core.world.observation import TopicPartition


@dataclass(frozen=True, slots=True)
class MemberSighting:
    """The member that holds an instance id (or, for dynamic members, a member id), and since when we know it."""

    member_id: str
    since: float
    """When the first look began that saw it. It may have come later, while that look was under way (`came_by`)."""
    absent_at: float | None
    """The last moment at which we saw it *not* there, or away; None when it was there at our first look: its age is
    unknown."""
    assignment: frozenset[TopicPartition] = frozenset()
    assigned_since: float = 0.0
    """When we first had seen it with this assignment: commits from before that may be another member's."""
    found_waiting: Mapping[TopicPartition, float] | None = None
    """Of its partitions, those whose records waited by then, and since when (`unread_since`); None: it had them at our
    first look, and what was before is not known."""
    takeovers: tuple[float, ...] = ()
    """The last times at which we saw the instance id change hands, oldest first."""
    taken_from: tuple[str, float | None, str] | None = None
    """Who had its id and partitions in the look before, when that one was not there yet (`absent_at`), and where."""
    there_by: float | None = None
    """When the second look that saw it began: by then it was there for certain; None before that look."""
    away: bool = False
    """The newest look shows that it has left for a while (F12): who is back after that has joined again."""
    away_since: float | None = None
    """The first look that showed that; None while it is there, and where it was away at our first look."""
    left_after: float | None = None
    """The look before, which showed it there."""
    places: tuple[str, ...] = ()
    """By what its pod is known: its address; of a dynamic member its client id as well."""
    first_look_ended_at: float | None = None
    """None: at once."""
    stood_s: float = 0.0
    """For how long it had committed nothing, with records to read, when the group gave it other partitions; 0 once it
    has got on in such as it was given then."""

    @property
    def came_by(self) -> float:
        """By then it had come: what a process that started later does is not its doing."""
        return self.since if self.first_look_ended_at is None else self.first_look_ended_at

    @property
    def after_nobody(self) -> bool:
        """The look before the first one that saw it showed nobody under its id; False where there was none before."""
        return self.absent_at is not None and self.since not in self.takeovers

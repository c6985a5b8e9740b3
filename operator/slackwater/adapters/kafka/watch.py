"""What the observer knows about one watched group: the newest view, and what the row of views tells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved


@dataclass(slots=True)
class Watch:
    """One group that somebody watches under a key of their own."""

    group_id: str
    topics: frozenset[str]
    settings: bool = False
    """Whether the group's own settings are wanted too."""
    in_motion: bool = False
    view: KafkaView | None = None
    history: GroupHistory = field(default_factory=GroupHistory)

    @property
    def is_hurried(self) -> bool:
        """Whether to look often: in motion, or not seen for a cause that passes by itself."""
        return self.in_motion or (isinstance(self.view, Unobserved) and self.view.reason.passes)

    def fold(self, seen: KafkaView) -> bool:
        """Take in a view of the group; returns whether anything but offsets changed."""
        before, earlier = self.view, self.history
        if isinstance(seen, Unobserved):
            since = before.since if isinstance(before, Unobserved) else seen.since
            self.view = replace(seen, since=since)
            self.history = interrupted(earlier)
            return self.view != before
        self.view = self._narrowed(seen)
        self.history = advance(earlier, self.view)
        return (
            not isinstance(before, GroupObservation)
            or self.history.fingerprint != earlier.fingerprint
            or (self.view.partitions, self.view.settings) != (before.partitions, before.settings)
        )

    def _narrowed(self, observation: GroupObservation) -> GroupObservation:
        """Leave out what only another watch of the same group asked for, in another namespace perhaps."""
        if observation.blind_in:
            ours = (observation.blind_in[topic] for topic in sorted(self.topics) if topic in observation.blind_in)
            observation = replace(observation, blind_to=next(ours, None), blind_in={})
        if not self.settings and observation.settings is not None:
            observation = replace(observation, settings=None)
        partitions = frozenset(p for p in observation.partitions if p.topic in self.topics)
        if partitions == observation.partitions:
            return observation
        offsets = {p: o for p, o in observation.offsets.items() if p in partitions}
        return replace(observation, partitions=partitions, offsets=offsets)

"""What the observer knows about one watched group: the newest view, and what the row of views tells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from slackwater.adapters.kafka.remembered import Remembered, size_of
from slackwater.adapters.kafka.sharing import shared
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.observation import GroupObservation, KafkaView, Unobserved
from slackwater.core.world.reasons import Reason
from slackwater.core.world.streams import internal_topics


class Folded(NamedTuple):
    view: KafkaView
    history: GroupHistory
    changed: bool
    """Whether anything but offsets did."""
    size: int
    """Of who has left."""
    gone: frozenset[str] = frozenset()
    """Internal topics that are not there: who resets a Streams application deletes them."""


@dataclass(slots=True)
class Watch:
    """One group that somebody watches under a key of their own."""

    group_id: str
    topics: frozenset[str]
    settings: bool = False
    """Whether the group's own settings are wanted too."""
    in_motion: bool = False
    internal: frozenset[str] = frozenset()
    """Topics that its members read as well, since Kafka Streams made them; as far as they have said."""
    view: KafkaView | None = None
    history: GroupHistory = field(default_factory=GroupHistory)
    number: int = 0
    """Who came first has the lowest."""
    remembered: Remembered | None = None
    """What is kept of who has left; None: nobody counts."""

    @property
    def asked(self) -> frozenset[str]:
        """The topics to look at."""
        return self.topics | self.internal

    @property
    def is_hurried(self) -> bool:
        """Whether to look often: in motion, or not seen for a cause that passes by itself."""
        return self.in_motion or (isinstance(self.view, Unobserved) and self.view.reason.passes)

    @property
    def weight(self) -> int:
        """Of what a look is folded into, in partitions: who has left is gone through with each."""
        return len(self.history.departures) + len(self.history.left)

    def end(self) -> None:
        """Nobody looks at it any more."""
        if self.remembered is not None:
            self.remembered.end()

    def fold(self, seen: KafkaView) -> bool:
        """Take in a view of the group; returns whether anything but offsets changed."""
        return self.take(self.folded(seen))

    def folded(self, seen: KafkaView) -> Folded:
        """What a view makes of this, which stays as it is. For any thread."""
        before, earlier = self.view, self.history
        if isinstance(seen, Unobserved):
            since = before.since if isinstance(before, Unobserved) else seen.since
            view = replace(seen, since=since)
            return Folded(view, interrupted(earlier), view != before, size_of(earlier))
        earlier_look = before if isinstance(before, GroupObservation) else None
        observed = shared(self._narrowed(seen), earlier_look, earlier.end)
        history = advance(earlier, observed)
        history = history if self.remembered is None else self.remembered.fitted(history)
        changed = (
            earlier_look is None
            or history.fingerprint != earlier.fingerprint
            or (observed.partitions, observed.settings) != (earlier_look.partitions, earlier_look.settings)
        )
        return Folded(observed, history, changed, size_of(history), self._gone(seen))

    def take(self, folded: Folded) -> bool:
        """Returns whether anything but offsets changed."""
        self.view, self.history = folded.view, folded.history
        if self.remembered is not None:
            self.remembered.take(folded.size)
        known = self.internal
        self.internal = internal_topics(self.group_id, folded.view, known - folded.gone)
        return folded.changed or self.internal != known

    def _narrowed(self, observation: GroupObservation) -> GroupObservation:
        """Leave out what only another watch of the same group asked for, in another namespace perhaps."""
        if observation.blind_in:
            asked = sorted(self.asked - self._gone(observation))
            ours = (observation.blind_in[topic] for topic in asked if topic in observation.blind_in)
            observation = replace(observation, blind_to=next(ours, None), blind_in={})
        if not self.settings and observation.settings is not None:
            observation = replace(observation, settings=None)
        partitions = frozenset(p for p in observation.partitions if p.topic in self.asked)
        if partitions == observation.partitions:
            return observation
        offsets = {p: o for p, o in observation.offsets.items() if p in partitions}
        return replace(observation, partitions=partitions, offsets=offsets)

    def _gone(self, observation: GroupObservation) -> frozenset[str]:
        unread = observation.blind_in.items()
        missing = frozenset(topic for topic, why in unread if why.reason is Reason.TOPIC_MISSING)
        return missing & self.internal - self.topics

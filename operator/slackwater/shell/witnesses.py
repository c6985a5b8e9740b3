"""Who is shown what passes decide and do, to publish it. Nothing that a witness does may delay or fail a pass."""

from __future__ import annotations

from slackwater.core.decision.acts import Act
from slackwater.core.decision.decision import Decision
from slackwater.core.world.world import World
from slackwater.shell.store import Key


class Witness:
    """Its moments, in their order. A witness overrides those that it has a use for."""

    def decided(self, key: Key, world: World, decision: Decision) -> None:
        """The decision is remembered, and not carried out yet: else what cannot be carried out would not show."""

    def acted(self, key: Key, act: Act) -> None:
        """An act was carried out, be it the deletion's."""

    def saw(self, key: Key, world: World, decision: Decision, done: Act | None) -> None:
        """A pass has come to its end. `done`: what it did, None when that was nothing or was refused."""

    def forget(self, key: Key) -> None:
        """The group is gone."""

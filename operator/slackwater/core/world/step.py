"""The restart in hand, or the last one: `status.rollout.step`. Several pods may be let go by one step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.timestamps import Moment
from slackwater.core.world.pods import Pod


@dataclass(frozen=True, slots=True)
class Step:
    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    ordinal: int
    """Of the pod, or of the first of several."""
    started_at: Moment
    members_before: Mapping[str, str] = field(default_factory=dict)
    """Instance id → member id of the pods' members before they were restarted, so that a return can be told (F41)."""
    made: bool = False
    """The pod that replaces it was seen: should it vanish later, that is not the new version's doing."""
    taken_out: Mapping[str, str] = field(default_factory=dict)
    """Instance id → member id: taken out while they lived, so that the group rebalances for another topic."""
    halted: tuple[str, ...] = ()
    """The partitions for which its version failed, since they stood by its doing: a second try is held against that."""
    down: tuple[int, ...] = ()
    """The highest ordinals of pods that were down when it began: who is since then may have been felled by it."""
    also: tuple[int, ...] = ()
    """Ordinals of the pods that were let go together with it."""
    made_also: tuple[int, ...] = ()
    """Those of them whose replacement was seen."""

    uid_before: str = ""
    """Of the pod of `ordinal` that it restarts; empty: not known, or there was none."""
    taken_at_epoch: int | None = None
    """Of a KIP-848 group, the epoch at which `taken_out` was to be: who joins again there keeps the member id."""

    def is_followed_by(self, pod: Pod) -> bool:
        """A pod of its ordinals was made since it began; where that is not known, by the API server's clock."""
        if self.uid_before and pod.ordinal == self.ordinal:
            return pod.uid != self.uid_before
        return pod.created_at >= int(self.started_at)

    @property
    def ordinals(self) -> tuple[int, ...]:
        """Of all pods that it let go."""
        return (self.ordinal, *self.also)

    @property
    def unmade(self) -> frozenset[int]:
        """Ordinals whose replacement was not seen yet."""
        first = () if self.made else (self.ordinal,)
        return frozenset((*first, *self.also)).difference(self.made_also)

    def with_made(self, ordinals: Collection[int]) -> Step:
        """Replacements of these were seen."""
        also = tuple(ordinal for ordinal in self.also if ordinal in self.made_also or ordinal in ordinals)
        return replace(self, made=self.made or self.ordinal in ordinals, made_also=also)

    def led_by(self, ordinal: int) -> Step:
        """The same step, with this one of its pods as the first; unchanged where it is none of them."""
        if ordinal not in self.also:
            return self
        unmade = self.unmade
        also = tuple(each for each in self.ordinals if each != ordinal)
        made_also = tuple(each for each in also if each not in unmade)
        return replace(self, ordinal=ordinal, made=ordinal not in unmade, also=also, made_also=made_also, uid_before="")

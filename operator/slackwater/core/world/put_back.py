"""What is remembered of somebody else who scales the StatefulSet."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.timestamps import Moment


@dataclass(frozen=True, slots=True)
class PutBack:
    """The number of pods that somebody else wrote into the StatefulSet was put back to the one that is asked for."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    replicas: int
    """The number that was asked for."""
    generation: int
    """The StatefulSet's, as the other one had left it: one write counts once, however often ours is refused at once."""
    at: Moment
    """When it was last counted."""
    times: int = 1
    """How often somebody wrote it by then, without a longer pause."""
    in_vain: int = 0
    """How often our own write had come to nothing by then: it was refused, the operator died before it, or it changed
    nothing, as where a webhook sets the number."""
    by: str = ""
    """Who wrote it last, as the API server knows it."""

    @property
    def count(self) -> int:
        """How often there was cause to put it back."""
        return self.times + self.in_vain

    @property
    def is_known(self) -> bool:
        """No mistake of a moment, and no write of ours that came to nothing once: people hear of who it is."""
        return self.times > 1 or self.in_vain > 1

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
    """The StatefulSet's, as the other one had left it: one write counts once, however often ours is refused."""
    at: Moment
    times: int = 1
    """How often by then, without a longer pause."""

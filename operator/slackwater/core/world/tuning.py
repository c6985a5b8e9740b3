"""What the operator took over of recommended timeouts, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from slackwater.api.timestamps import Moment
from slackwater.core.world.settings import Setting


@dataclass(frozen=True, slots=True)
class Tuning:
    """Recommended timeouts that the operator took over, or will; in milliseconds, or records."""

    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    values: Mapping[Setting, int] = field(default_factory=dict)
    """In force where the spec says nothing itself."""
    as_of: Moment | None = None
    """Of the recommendation that they came from last."""
    came_from: Mapping[Setting, int] = field(default_factory=dict)
    """What was in force before each of them."""
    turned: tuple[Setting, ...] = ()
    """Those that went back the way they came once: the operator does not do it a second time on its own."""
    queued: Mapping[Setting, int] = field(default_factory=dict)
    """To come with the next rollout."""
    queued_as_of: Moment | None = None
    good: Mapping[Setting, int] = field(default_factory=dict)
    """What the last good version has."""
    failed_as_of: Moment | None = None
    """A version with what was recommended then failed; it is not tried again unless a person approves it."""

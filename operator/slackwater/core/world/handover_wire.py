"""`status.rollout.handover`: a handover as flat fields, the same since they were first written.

What an operator of another version has written can be read, and what this one writes can be read by the one before it,
so that an upgrade of the operator in the middle of a handover can be taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import ConfigDict, GetPydanticSchema
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

from slackwater.api.timestamps import Moment
from slackwater.core.world.handover import Begun, Handover, Held, Over, Reached, Replacement, TakenOver, Undone
from slackwater.core.world.pods import Run


@dataclass(frozen=True, slots=True)
class FlatHandover:
    __pydantic_config__ = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")

    ordinal: int
    to: str
    started_at: Moment
    before: Mapping[str, str] = field(default_factory=dict)
    """The old pod's members."""
    holder_uid: str = ""
    """The run of the pod that has the ordinal; an empty uid: not known."""
    holder_started_at: Moment | None = None
    holder_restarts: int = 0
    holder_down: bool = False
    holder_idle: bool = False
    after: Mapping[str, str] = field(default_factory=dict)
    """The replacement's members; empty until it has taken over."""
    undone: bool = False
    over: bool = False
    alone_since: Moment | None = None
    fenced: int = 0
    cold: bool = False
    not_come: int = 0
    returned: int = 0
    version: str = ""
    running_since: Moment | None = None
    joined_after_s: tuple[float, ...] = ()


def from_flat(flat: FlatHandover) -> Handover:
    reached = _reached(flat)
    return Handover(
        flat.ordinal,
        flat.to,
        flat.started_at,
        Over(reached) if flat.over else reached,
        Replacement(flat.version, flat.running_since, flat.joined_after_s),
        flat.alone_since,
        flat.fenced,
        flat.cold,
        flat.not_come,
        flat.returned,
    )


def to_flat(handover: Handover) -> FlatHandover:
    reached, held, replacement = handover.reached, handover.held, handover.replacement
    run = held.run or _NO_RUN
    return FlatHandover(
        handover.ordinal,
        handover.to,
        handover.started_at,
        before=handover.before,
        holder_uid=run.uid,
        holder_started_at=run.started_at,
        holder_restarts=run.restarts,
        holder_down=held.down,
        holder_idle=held.idle,
        after=held.ids if isinstance(reached, TakenOver) else {},
        undone=isinstance(reached, Undone),
        over=handover.over,
        alone_since=handover.alone_since,
        fenced=handover.fenced,
        cold=handover.cold,
        not_come=handover.not_come,
        returned=handover.returned,
        version=replacement.version,
        running_since=replacement.running_since,
        joined_after_s=replacement.joined_after_s,
    )


_NO_RUN = Run("", None, 0)


def _reached(flat: FlatHandover) -> Reached:
    run = Run(flat.holder_uid, flat.holder_started_at, flat.holder_restarts) if flat.holder_uid else None
    if flat.undone:
        return Undone(Held(flat.before, run, flat.holder_down, flat.holder_idle))
    if flat.after:
        return TakenOver(Held(flat.after, run), flat.before)
    return Begun(Held(flat.before, run, flat.holder_down, flat.holder_idle))


WireHandover = Annotated[
    Handover,
    GetPydanticSchema(
        lambda _, handler: core_schema.no_info_after_validator_function(
            from_flat,
            handler.generate_schema(FlatHandover),
            serialization=core_schema.plain_serializer_function_ser_schema(
                to_flat, return_schema=handler.generate_schema(FlatHandover)
            ),
        )
    ),
]
"""A Handover inside, flat fields outside."""

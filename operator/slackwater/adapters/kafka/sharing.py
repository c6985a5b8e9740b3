"""Keeps what stays the same from look to look once: each answer names its partitions and members in objects of its own,
and of all that is made of them Python would keep four for each partition, and look for garbage in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from slackwater.core.world.observation import GroupObservation, Member, TopicPartition

Names = dict[TopicPartition, TopicPartition]


def shared(
    seen: GroupObservation, before: GroupObservation | None, known: Iterable[TopicPartition] = ()
) -> GroupObservation:
    """An equal observation, made of the objects of the look before where they are equal. `known`: names to go on with
    where that look failed."""
    names: Names = {each: each for each in (before.partitions if before is not None else known)}
    for partition in seen.partitions:
        names.setdefault(partition, partition)
    members = {} if before is None else {member.member_id: member for member in before.members}
    offsets = {} if before is None else before.offsets
    return replace(
        seen,
        members=tuple(_member(each, members.get(each.member_id), names) for each in seen.members),
        partitions=_partitions(seen.partitions, None if before is None else before.partitions, names),
        offsets={names.get(p, p): offsets[p] if offsets.get(p) == o else o for p, o in seen.offsets.items()},
    )


def _member(seen: Member, before: Member | None, names: Names) -> Member:
    if seen == before and before is not None:
        return before
    assignment = _partitions(seen.assignment, None if before is None else before.assignment, names)
    target = seen.target
    if target is not None:
        target = assignment if target == assignment else _partitions(target, None, names)
    return replace(seen, assignment=assignment, target=target)


def _partitions(
    seen: frozenset[TopicPartition], before: frozenset[TopicPartition] | None, names: Names
) -> frozenset[TopicPartition]:
    if seen == before and before is not None:
        return before
    return frozenset(names.setdefault(each, each) for each in seen)

"""Two memberships of a group compared: what a rebalance did, and why it took place. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slackwater.pipeline.audit.facts import GroupType, Member, Partitions
from slackwater.pipeline.audit.rows import Cause, Generation, Rebalance


def rebalance_between(
    before: tuple[Member, ...], last: Generation | None, now: Generation, known: Partitions | None
) -> Rebalance:
    """The rebalance that led to `now`.

    `before`: the members as they were just before it; `last`: the generation that they were in, None at the group's
    beginning; `known`: every partition that the group ever had until then, None where the history does not say.
    """
    earlier, later = _by_identity(before), _by_identity(now.members)
    joined, left = later.keys() - earlier.keys(), earlier.keys() - later.keys()
    returned = [who for who in later.keys() & earlier.keys() if later[who].member_id != earlier[who].member_id]
    return Rebalance(
        position=now.position,
        from_generation=last.generation if last is not None else None,
        to_generation=now.generation,
        group_type=now.group_type,
        assignor=now.assignor,
        members_before=len(before),
        members_after=len(now.members),
        joined=len(joined),
        left=len(left),
        returned=len(returned),
        partitions_moved=partitions_moved(before, now.members),
        duration_ms=None,
        cause=_cause(bool(joined), bool(left), bool(returned), _Change(before, last, now, known)),
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """What `rebalance_between` compares."""

    before: tuple[Member, ...]
    last: Generation | None
    now: Generation
    known: Partitions | None

    def of_assignor(self) -> bool:
        names = {self.now.assignor, self.last.assignor if self.last is not None else None}
        return None not in names and len(names) > 1

    def of_metadata(self) -> bool:
        if _subscriptions(self.before) != _subscriptions(self.now.members):
            return True
        return self.known is not None and bool(owned(self.now.members) - self.known)

    def gives_what_was_taken(self) -> bool:
        fresh = owned(self.now.members) - owned(self.before)
        return self.now.group_type is GroupType.CLASSIC and bool(fresh) and self.known is not None


def _cause(joined: bool, left: bool, returned: bool, change: _Change) -> Cause:
    ordered = (
        (joined, Cause.MEMBER_JOINED),
        (left, Cause.MEMBER_LEFT),
        (change.of_assignor(), Cause.ASSIGNOR),
        (change.of_metadata(), Cause.METADATA),
        (returned, Cause.STATIC_RETURN),
        (change.gives_what_was_taken(), Cause.COOPERATIVE),
    )
    return next((cause for applies, cause in ordered if applies), Cause.UNKNOWN)


def partitions_moved(before: Iterable[Member], after: Iterable[Member]) -> int | None:
    """Partitions that have an owner whom they did not have before; None where it is not known who owned what.

    One that is taken away now and given to another in the next step (cooperative) counts once, when it is given.
    """
    owners, owned_by = _owners(before), _owners(after)
    if owners is None or owned_by is None:
        return None
    return sum(owners.get(partition) != owner for partition, owner in owned_by.items())


def _owners(members: Iterable[Member]) -> dict[tuple[str, int], str] | None:
    owners: dict[tuple[str, int], str] = {}
    for member in members:
        if member.partitions is None:
            return None
        owners.update(dict.fromkeys(member.partitions, member.identity))
    return owners


def _by_identity(members: Iterable[Member]) -> dict[str, Member]:
    return {member.identity: member for member in members}


def _subscriptions(members: Iterable[Member]) -> frozenset[str]:
    return frozenset(topic for member in members for topic in member.subscription)


def owned(members: Iterable[Member]) -> Partitions:
    """The partitions that have an owner."""
    return frozenset(partition for member in members for partition in member.partitions or ())

"""A StatefulSet of somebody else that has one of the group's names."""

from __future__ import annotations

from slackwater.core.decision.reasons import Hold, Reason


def in_the_way(name: str, owner: str, *, adoptable: bool = False) -> Hold:
    """A StatefulSet under one of our names that is not ours. `owner`: its controller, empty where it has none."""
    adopt = f"kubectl slackwater adopt {name} takes it over without a restart; else " if adoptable else ""
    theirs, nobodys = f"belongs to {owner}: give one of the two", f"is not ours: {adopt}delete it, or give this group"
    message = f"StatefulSet {name} is there already and {theirs if owner else nobodys} another name"
    return Hold(Reason.FOREIGN_STATEFUL_SET, message, 60.0)

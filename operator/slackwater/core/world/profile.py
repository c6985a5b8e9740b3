"""Profiles: the sets of client settings, as far as they decide how members rebalance, that pods are made with.

Every pod carries its profile as an annotation, so that what runs can be told from what is wanted. Which profiles may
be together in one group is said here, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from slackwater.api.annotations import PROTOCOL
from slackwater.api.protocol import ProtocolTarget


class Profile(StrEnum):
    """The values stand in annotations and in statuses."""

    OWN_CHOICE = ""
    """The consumers choose for themselves: no setting is made."""
    EAGER = "Eager"
    EAGER_AND_COOPERATIVE = "EagerAndCooperative"
    """The bridge between the two, for libraries that can offer both: the group stays eager (F4, F9)."""
    COOPERATIVE = "Cooperative"
    CONSUMER = "Consumer"
    """KIP-848."""

    @property
    def words(self) -> str:
        """For a sentence."""
        return self.value or "the consumers' own choice"


_APART: Final = frozenset({Profile.EAGER, Profile.COOPERATIVE})


def can_mix(one: Profile, other: Profile) -> bool:
    """Whether members of both may be in one group: members of a classic group need an assignor in common (F2).

    What consumers choose for themselves is judged when an upgrade is chosen, by the assignor that is seen.
    """
    return {one, other} != _APART


def profile_of(target: ProtocolTarget) -> Profile:
    """Where a target leads."""
    return Profile(target.value)


def profile_in(template: Mapping[str, Any]) -> Profile:
    """The profile that a pod template, or a pod, was made with. One that no slackwater made has none of ours."""
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    try:
        return Profile(annotations.get(PROTOCOL, ""))
    except ValueError:
        return Profile.OWN_CHOICE


class StrategyName(StrEnum):
    """The values stand in statuses."""

    ONE_BOUNCE = "OneBounce"
    TWO_BOUNCE = "TwoBounce"
    DRAIN_CUTOVER = "DrainCutover"
    ONLINE_MIGRATION = "OnlineMigration"


RANGE = "range"

COOPERATIVE_STICKY = "cooperative-sticky"

STREAM = "stream"
"""Assignors, as a group's description names them."""

ASSIGNOR_SEEN: Final[Mapping[Profile, str]] = {
    Profile.EAGER: RANGE,
    Profile.EAGER_AND_COOPERATIVE: RANGE,
    Profile.COOPERATIVE: COOPERATIVE_STICKY,
}
"""What a settled classic group shows when all its members have a profile (F4): the proof of a step."""


def profile_shown(assignor: str) -> Profile | None:
    """What a classic group shows by its assignor, where the bridge looks eager; None: an assignor that is not ours."""
    return next((profile for profile, seen in ASSIGNOR_SEEN.items() if seen == assignor), None)

"""What a running group really has, as far as Kafka shows it: where an upgrade begins, and whether a step is done."""

from __future__ import annotations

from typing import Final

from slackwater.api.client import Library
from slackwater.api.owned_settings import OwnedSetting
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.protocol.strategies import COOPERATIVE_SINCE, Version, parse_version
from slackwater.core.world.observation import GroupObservation, GroupType
from slackwater.core.world.profile import ASSIGNOR_SEEN, COOPERATIVE_STICKY, RANGE, STREAM, Profile
from slackwater.core.world.world import World

_AGAIN_S: Final = 30.0
_JAVA_OFFERS_BOTH_SINCE: Final[Version] = (3, 0)


def group_shows(kafka: GroupObservation, profile: Profile, library: Library) -> bool:
    """Whether the group is, as seen in Kafka, what it is when every member has the profile."""
    if profile is Profile.CONSUMER:
        return kafka.type is GroupType.CONSUMER
    if kafka.type is not GroupType.CLASSIC:
        return False
    if library is Library.KAFKA_STREAMS:
        return kafka.assignor == STREAM
    return library is Library.OTHER or kafka.assignor == ASSIGNOR_SEEN.get(profile, kafka.assignor)


def find_origin(world: World, kafka: GroupObservation, has: Profile, target: Profile) -> Profile | Hold:
    """The profile that the pods have in fact, where they were made with `has`; a Hold when that cannot be told."""
    if kafka.members and not kafka.calm:
        message = f"the group is {kafka.state}: what it is can be told once it is calm"
        return Hold(Reason.GROUP_REBALANCING, message, 1.0)
    if has is Profile.OWN_CHOICE and kafka.type is GroupType.CONSUMER:
        return Profile.CONSUMER
    if target is Profile.CONSUMER:
        return has  # whatever assignor a classic group has, KIP-848 takes it over (F6)
    if has is Profile.OWN_CHOICE:
        return _own_choice(world, kafka)
    if not kafka.members or has is Profile.CONSUMER or group_shows(kafka, has, world.group.spec.client.library):
        return has
    return _unexpected(kafka, f"its pods are made for {has.words}, which shows as {ASSIGNOR_SEEN.get(has, STREAM)}")


def _own_choice(world: World, kafka: GroupObservation) -> Profile | Hold:
    """What consumers chose for themselves is told by the assignor that is seen (F5)."""
    client = world.group.spec.client
    version = parse_version(client.version)
    if client.library is Library.KAFKA_STREAMS and kafka.assignor == STREAM:
        eager = version < COOPERATIVE_SINCE or world.group.spec.protocol.upgrade_from
        return Profile.EAGER if eager else Profile.COOPERATIVE
    if kafka.assignor == COOPERATIVE_STICKY:
        return Profile.COOPERATIVE
    if kafka.assignor != RANGE:
        return _unexpected(kafka, "only range and cooperative-sticky have a way into each other")
    knows_both = client.library is Library.JAVA and version >= _JAVA_OFFERS_BOTH_SINCE
    return Profile.EAGER_AND_COOPERATIVE if knows_both and not _sets_assignor(world) else Profile.EAGER


def _sets_assignor(world: World) -> bool:
    setting = OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY.variable(world.group.spec.client.env_prefix)
    return any(entry.name == setting for entry in world.group.spec.consumer_container.env)


def _unexpected(kafka: GroupObservation, why: str) -> Hold:
    seen = kafka.assignor or "no assignor"
    message = f"the group shows {seen} as a {kafka.type} group, and {why}: see which assignor its consumers set"
    return Hold(Reason.ASSIGNOR_UNEXPECTED, message, _AGAIN_S)

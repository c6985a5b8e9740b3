"""May a group be taken to a target, and how? Asked before anything is touched; a refusal names the way out.

An ordered chain of pure checks: the first refusal wins. What is not known refuses as well, and says what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from slackwater.api.client import Library
from slackwater.api.settings_profiles import ProfileName
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.members.ownership import find_strangers, strangers_in_words
from slackwater.core.protocol.origin import find_origin
from slackwater.core.protocol.strategies import (
    COOPERATIVE_SINCE,
    STRATEGIES,
    STREAMS_EAGER_BEFORE,
    Strategy,
    Version,
    parse_version,
)
from slackwater.core.world.broker import BrokerFacts, MigrationPolicy
from slackwater.core.world.observation import GroupObservation
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World

_AGAIN_S: Final = 30.0
_CONSUMER_SINCE: Final = {Library.JAVA: (4, 0), Library.LIBRDKAFKA: (2, 12)}
_UPGRADES: Final = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)
_DOWNGRADES: Final = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


@dataclass(frozen=True, slots=True)
class Way:
    """How to get there: from what the pods really have, by a strategy."""

    origin: Profile
    strategy: Strategy


def find_way(world: World, has: Profile, target: Profile) -> Way | Hold:
    """For a running group whose pods were made with `has`."""
    kafka = world.kafka
    if not isinstance(kafka, GroupObservation):
        return Hold(kafka.reason, kafka.message, _AGAIN_S)
    if refusal := _would_leave_members_behind(world, kafka) or can_make(world, target):
        return refusal
    nobody = not world.pods and not kafka.members
    origin = has if nobody else find_origin(world, kafka, has, target)
    if isinstance(origin, Hold):
        return origin
    if origin is target:
        return Way(origin, Strategy(StrategyName.ONE_BOUNCE, (target,), frozenset(), frozenset()))
    candidates = [s for s in STRATEGIES if s.fits(world.group.spec.client.library, origin, target)]
    open_ones = (s for s in candidates if _has_profiles(world, s) and (nobody or _is_open(world, kafka, s)))
    chosen = next(open_ones, None)
    return _checked(world, origin, chosen) if chosen is not None else _no_way(world, origin, target, candidates)


def _would_leave_members_behind(world: World, kafka: GroupObservation) -> Hold | None:
    strangers = find_strangers(world, kafka)
    if not strangers:
        return None
    who = strangers_in_words(world, strangers)
    message = f"members that we do not run would be left behind: {who}. Stop them, or give them another group.id"
    return Hold(Reason.FOREIGN_MEMBERS, message, _AGAIN_S)


def can_make(world: World, profile: Profile) -> Hold | None:
    """Can pods with this profile work at all, with this library on these brokers?"""
    client = world.group.spec.client
    library, version = client.library, parse_version(client.version)
    if library is Library.OTHER and profile is not Profile.OWN_CHOICE:
        return None if _spelled_out(world, profile) else _missing_profiles((profile,))
    if profile is Profile.CONSUMER:
        return next((hold for check in CONSUMER_OBSTACLES if (hold := check(world)) is not None), None)
    if library is Library.KAFKA_STREAMS and profile in (Profile.EAGER, Profile.EAGER_AND_COOPERATIVE):
        return _streams_can_be_eager(world, version)
    if profile is Profile.COOPERATIVE and library is Library.JAVA and version and version < COOPERATIVE_SINCE:
        return _too_old(world, "2.4", "cooperative rebalancing")
    if profile is Profile.COOPERATIVE and library is Library.LIBRDKAFKA and version and version < (1, 6):
        return _too_old(world, "1.6", "cooperative rebalancing")
    return None


def _is_open(world: World, kafka: GroupObservation, strategy: Strategy) -> bool:
    """While there are members in the group."""
    if strategy.name is StrategyName.DRAIN_CUTOVER:
        return world.group.spec.protocol.allow_downtime
    carries_over = strategy.name is StrategyName.ONLINE_MIGRATION and strategy.path[-1] is Profile.CONSUMER
    return not (carries_over and any(member.assignor_data for member in kafka.members))


def _checked(world: World, origin: Profile, strategy: Strategy) -> Way | Hold:
    refusal = next((hold for check in OBSTACLES if (hold := check(world, strategy)) is not None), None)
    return refusal or Way(origin, strategy)


def version_is_unknown(world: World, strategy: Strategy) -> Hold | None:
    """Whether the library can do it depends on its version, and nobody gave that."""
    if parse_version(world.group.spec.client.version) or not (strategy.since or strategy.before):
        return None
    message = "whether the client library can do it depends on its version: set client.version"
    return Hold(Reason.CLIENT_VERSION_UNKNOWN, message, _AGAIN_S)


def client_is_too_old(world: World, strategy: Strategy) -> Hold | None:
    """The library learned it in a later version."""
    if not strategy.since or parse_version(world.group.spec.client.version) >= strategy.since:
        return None
    return _too_old(world, ".".join(map(str, strategy.since)), f"{strategy.path[-1].words} by {strategy.name}")


def client_is_too_new(world: World, strategy: Strategy) -> Hold | None:
    """Kafka Streams 4.0 has no eager rebalancing any more."""
    client = world.group.spec.client
    if not strategy.before or parse_version(client.version) < strategy.before:
        return None
    message = f"{client.library} {client.version} has no eager rebalancing any more: use a 2.4 to 3.9 in between"
    return Hold(Reason.CLIENT_CANNOT, message, _AGAIN_S)


def a_step_cannot_be_made(world: World, strategy: Strategy) -> Hold | None:
    """Pods with one of the profiles on the way would not work."""
    return next((hold for profile in strategy.path if (hold := can_make(world, profile)) is not None), None)


def brokers_forbid_it(world: World, strategy: Strategy) -> Hold | None:
    """A group crosses over to KIP-848, or back, while it runs."""
    return _may_migrate(world, strategy.path[-1]) if strategy.name is StrategyName.ONLINE_MIGRATION else None


OBSTACLES: Final[tuple[Callable[[World, Strategy], Hold | None], ...]] = (
    version_is_unknown,
    client_is_too_old,
    client_is_too_new,
    a_step_cannot_be_made,
    brokers_forbid_it,
)
"""On the way of a strategy. The version comes first: the two after it need one."""


def _may_migrate(world: World, target: Profile) -> Hold | None:
    """A member that the brokers do not let cross over would be stranded outside of its own group."""
    if world.broker is None:
        return _broker_unknown(None)
    policy = world.broker.migration_policy
    if policy is None:
        return _broker_unknown(world.broker)
    allowed = _UPGRADES if target is Profile.CONSUMER else _DOWNGRADES
    if policy in allowed:
        return None
    wanted = allowed[1].value
    message = (
        f"the brokers have group.consumer.migration.policy={policy}, which would strand members: set it to {wanted} or"
        " bidirectional"
    )
    return Hold(Reason.MIGRATION_POLICY_FORBIDS, message, _AGAIN_S)


def library_cannot(world: World) -> Hold | None:
    """The library has no consumer for KIP-848 groups."""
    library = world.group.spec.client.library
    if library in _CONSUMER_SINCE:
        return None
    message = f"{library} cannot be rebalanced by KIP-848 groups: set protocol.target to Eager or Cooperative"
    return Hold(Reason.CLIENT_CANNOT, message, _AGAIN_S)


def library_is_too_old(world: World) -> Hold | None:
    """Where its version is not known, the brokers decide alone."""
    client = world.group.spec.client
    version, since = parse_version(client.version), _CONSUMER_SINCE.get(client.library, ())
    return _too_old(world, ".".join(map(str, since)), "KIP-848") if version and version < since else None


def brokers_are_unknown(world: World) -> Hold | None:
    """They have not been asked, or have not answered."""
    return _broker_unknown(None) if world.broker is None else None


def brokers_are_too_old(world: World) -> Hold | None:
    """One of them does not offer the new group protocol."""
    if world.broker is None or world.broker.serves_consumer_protocol:
        return None
    message = "not every broker offers KIP-848 groups: bring all to Kafka 4.0 or newer"
    return Hold(Reason.BROKER_CANNOT, message, _AGAIN_S)


def feature_is_not_raised(world: World) -> Hold | None:
    """The brokers are new enough, and nobody has finished their upgrade (F6, F58)."""
    if world.broker is None or world.broker.group_version >= 1:
        return None
    message = (
        f"the cluster's feature group.version is {world.broker.group_version}, and KIP-848 groups need 1: raise it with"
        " kafka-features.sh upgrade --feature group.version=1"
    )
    return Hold(Reason.BROKER_CANNOT, message, _AGAIN_S)


CONSUMER_OBSTACLES: Final = (
    library_cannot,
    library_is_too_old,
    brokers_are_unknown,
    brokers_are_too_old,
    feature_is_not_raised,
)
"""Why pods cannot be members of a KIP-848 group: what concerns the client comes first."""


def _streams_can_be_eager(world: World, version: Version) -> Hold | None:
    if version >= STREAMS_EAGER_BEFORE:
        message = f"Kafka Streams {world.group.spec.client.version} has no eager rebalancing: set protocol.target to"
        return Hold(Reason.CLIENT_CANNOT, f"{message} Cooperative", _AGAIN_S)
    if version >= COOPERATIVE_SINCE and not world.group.spec.protocol.upgrade_from:
        message = "Kafka Streams is eager only with upgrade.from: set protocol.upgradeFrom, to 2.3 for example"
        return Hold(Reason.CLIENT_CANNOT, message, _AGAIN_S)
    return None


def _too_old(world: World, since: str, what: str) -> Hold:
    client = world.group.spec.client
    message = f"{client.library} {client.version} cannot do {what}, {since} or newer can: upgrade it and client.version"
    return Hold(Reason.CLIENT_CANNOT, message, _AGAIN_S)


def _broker_unknown(broker: BrokerFacts | None) -> Hold:
    why = broker.problem if broker is not None and broker.problem else "the brokers have not told yet what they can do"
    return Hold(Reason.BROKER_UNKNOWN, why, 5.0)


def _spelled_out(world: World, profile: Profile) -> bool:
    return bool(world.group.spec.protocol.profiles.get(ProfileName(profile.value)))


def _has_profiles(world: World, strategy: Strategy) -> bool:
    other = world.group.spec.client.library is Library.OTHER
    return not other or all(_spelled_out(world, profile) for profile in strategy.path)


def _missing_profiles(profiles: tuple[Profile, ...]) -> Hold:
    names = listing(profile.value for profile in profiles)
    message = (
        f"what a client of library Other needs for it only you know: give its settings in protocol.profiles: {names}"
    )
    return Hold(Reason.SETTINGS_PROFILE_MISSING, message, _AGAIN_S)


def _no_way(world: World, origin: Profile, target: Profile, candidates: list[Strategy]) -> Hold:
    library = world.group.spec.client.library
    if library is Library.OTHER and candidates:
        missing = [p for p in candidates[0].path if not _spelled_out(world, p)]
        if missing:
            return _missing_profiles(tuple(missing))
    if any(strategy.name is StrategyName.ONLINE_MIGRATION for strategy in candidates):
        message = (
            "the members' assignments hold data of their assignor (librdkafka's cooperative-sticky adds it as soon as a"
            " group rebalances again), and brokers refuse to take such a group to KIP-848 while anybody is in it: set"
            " protocol.allowDowntime to true to stop all consumers for a moment"
        )
        return Hold(Reason.ASSIGNOR_KEEPS_DATA, message, _AGAIN_S)
    if candidates:
        message = (
            f"{library} cannot have {origin.words} and {target.words} in one group, so no pod can change while another"
            " runs: set protocol.target to Consumer to go on without a stop, or protocol.allowDowntime to true to stop"
            " all consumers for a moment"
        )
        return Hold(Reason.MIXED_ASSIGNORS_UNSUPPORTED, message, _AGAIN_S)
    message = f"no way is known for {library} from {origin.words} to {target.words}: set protocol.target back"
    return Hold(Reason.CLIENT_CANNOT, message, _AGAIN_S)

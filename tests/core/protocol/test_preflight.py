"""Which way leads where, and what is refused with which way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.protocol import preflight
from slackwater.core.protocol.origin import find_origin
from slackwater.core.protocol.preflight import Way, can_make, find_way
from slackwater.core.protocol.strategies import STRATEGIES, Strategy, parse_version
from slackwater.core.world.broker import MigrationPolicy
from slackwater.core.world.observation import GroupState, GroupType, Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World
from tests.core.factories import BROKER, NOW, group, members, observation, stranger, world

OWN, EAGER, BOTH = Profile.OWN_CHOICE, Profile.EAGER, Profile.EAGER_AND_COOPERATIVE
COOPERATIVE, CONSUMER = Profile.COOPERATIVE, Profile.CONSUMER
TWO, ONE = StrategyName.TWO_BOUNCE, StrategyName.ONE_BOUNCE
DRAIN, ONLINE = StrategyName.DRAIN_CUTOVER, StrategyName.ONLINE_MIGRATION

JAVA = {"library": "Java", "version": "4.3"}
OLD_JAVA = {"library": "Java", "version": "2.8.1"}
STREAMS = {"library": "KafkaStreams", "version": "3.9"}
RDKAFKA = {"library": "Librdkafka", "version": "2.12.1"}
GO = {"library": "FranzGo", "version": "1.20"}
OTHER = {"library": "Other"}
SEEN = {EAGER: "range", BOTH: "range", COOPERATIVE: "cooperative-sticky"}
BRIDGED = {
    "Eager": {"assignor": "a"},
    "EagerAndCooperative": {"assignor": "a,b"},
    "Cooperative": {"assignor": "b"},
    "Consumer": {"group.protocol": "consumer"},
}


def running(
    client: dict[str, str], has: Profile, assignor: str = "", protocol: dict[str, Any] | None = None, **changes: Any
) -> World:
    """A calm group of pods with the profile `has`, as Kafka shows it."""
    seen = assignor or ("stream" if client["library"] == "KafkaStreams" else SEEN.get(has, "range"))
    kind = GroupType.CONSUMER if has is CONSUMER else GroupType.CLASSIC
    kafka = observation(type=kind, assignor="uniform" if has is CONSUMER else seen)
    return world(**({"group": group(client=client, protocol=protocol or {}), "kafka": kafka} | changes))


WAYS: list[tuple[dict[str, str], Profile, str, dict[str, Any], Profile, StrategyName, tuple[Profile, ...]]] = [
    (JAVA, EAGER, "", {}, COOPERATIVE, TWO, (BOTH, COOPERATIVE)),
    (JAVA, COOPERATIVE, "", {}, EAGER, TWO, (BOTH, EAGER)),
    (JAVA, BOTH, "", {}, COOPERATIVE, ONE, (COOPERATIVE,)),
    (JAVA, BOTH, "", {}, EAGER, ONE, (EAGER,)),
    (JAVA, OWN, "range", {}, COOPERATIVE, ONE, (COOPERATIVE,)),
    (OLD_JAVA, OWN, "range", {}, COOPERATIVE, TWO, (BOTH, COOPERATIVE)),
    (JAVA, OWN, "range", {}, EAGER, ONE, (EAGER,)),
    (JAVA, OWN, "cooperative-sticky", {}, COOPERATIVE, ONE, (COOPERATIVE,)),
    (JAVA, OWN, "cooperative-sticky", {}, EAGER, TWO, (BOTH, EAGER)),
    (GO, EAGER, "", {}, COOPERATIVE, TWO, (BOTH, COOPERATIVE)),
    (STREAMS, EAGER, "", {"target": "Cooperative", "upgradeFrom": "2.3"}, COOPERATIVE, TWO, (BOTH, COOPERATIVE)),
    (STREAMS, COOPERATIVE, "", {"target": "Eager", "upgradeFrom": "2.3"}, EAGER, TWO, (BOTH, EAGER)),
    (RDKAFKA, EAGER, "", {"allowDowntime": True}, COOPERATIVE, DRAIN, (COOPERATIVE,)),
    (RDKAFKA, COOPERATIVE, "", {"allowDowntime": True}, EAGER, DRAIN, (EAGER,)),
    (RDKAFKA, OWN, "range", {"allowDowntime": True}, COOPERATIVE, DRAIN, (COOPERATIVE,)),
    (RDKAFKA, EAGER, "", {}, CONSUMER, ONLINE, (CONSUMER,)),
    (RDKAFKA, OWN, "roundrobin", {}, CONSUMER, ONLINE, (CONSUMER,)),
    (RDKAFKA, CONSUMER, "", {}, COOPERATIVE, ONLINE, (COOPERATIVE,)),
    (JAVA, COOPERATIVE, "", {}, CONSUMER, ONLINE, (CONSUMER,)),
    (JAVA, BOTH, "", {}, CONSUMER, ONLINE, (CONSUMER,)),
    (JAVA, CONSUMER, "", {}, EAGER, ONLINE, (EAGER,)),
    (OTHER, EAGER, "own", {"profiles": BRIDGED}, COOPERATIVE, TWO, (BOTH, COOPERATIVE)),
    (OTHER, EAGER, "own", {"profiles": BRIDGED}, CONSUMER, ONLINE, (CONSUMER,)),
    (
        OTHER,
        EAGER,
        "own",
        {"profiles": {"Cooperative": {"assignor": "b"}}, "allowDowntime": True},
        COOPERATIVE,
        DRAIN,
        (COOPERATIVE,),
    ),
]


@pytest.mark.parametrize(("client", "has", "assignor", "protocol", "target", "name", "path"), WAYS)
def test_a_way_is_found(
    client: dict[str, str],
    has: Profile,
    assignor: str,
    protocol: dict[str, Any],
    target: Profile,
    name: StrategyName,
    path: tuple[Profile, ...],
) -> None:
    found = find_way(running(client, has, assignor, protocol), has, target)
    assert isinstance(found, Way), found
    assert (found.strategy.name, found.strategy.path) == (name, path)


def keeping_data(client: dict[str, str], has: Profile, protocol: dict[str, Any] | None = None) -> World:
    """A group whose assignor has put data of its own into one of the assignments."""
    one, *others = members(0, 1, 2)
    kafka = observation((replace(one, assignor_data=True), *others), assignor="cooperative-sticky")
    return running(client, has, protocol=protocol, kafka=kafka)


REFUSALS: list[tuple[str, World, Profile, Profile, Reason, str]] = [
    ("mixed", running(RDKAFKA, EAGER), EAGER, COOPERATIVE, Reason.MIXED_ASSIGNORS_UNSUPPORTED, "allowDowntime"),
    ("mixed back", running(RDKAFKA, COOPERATIVE), COOPERATIVE, EAGER, Reason.MIXED_ASSIGNORS_UNSUPPORTED, "Consumer"),
    (
        "assignor with data",
        keeping_data(RDKAFKA, COOPERATIVE),
        COOPERATIVE,
        CONSUMER,
        Reason.ASSIGNOR_KEEPS_DATA,
        "allowDowntime",
    ),
    (
        "old Java",
        running({"library": "Java", "version": "2.3"}, EAGER),
        EAGER,
        COOPERATIVE,
        Reason.CLIENT_CANNOT,
        "2.4 or newer",
    ),
    (
        "Java of no version",
        running({"library": "Java"}, EAGER),
        EAGER,
        COOPERATIVE,
        Reason.CLIENT_VERSION_UNKNOWN,
        "client.version",
    ),
    (
        "old librdkafka",
        running({"library": "Librdkafka", "version": "2.11.1"}, EAGER),
        EAGER,
        CONSUMER,
        Reason.CLIENT_CANNOT,
        "2.12 or newer",
    ),
    ("FranzGo to KIP-848", running(GO, EAGER), EAGER, CONSUMER, Reason.CLIENT_CANNOT, "Eager or Cooperative"),
    ("Streams to KIP-848", running(STREAMS, EAGER), EAGER, CONSUMER, Reason.CLIENT_CANNOT, "Eager or Cooperative"),
    (
        "Streams without eager rebalancing",
        running(
            {"library": "KafkaStreams", "version": "4.1"}, EAGER, protocol={"target": "Eager", "upgradeFrom": "2.3"}
        ),
        EAGER,
        COOPERATIVE,
        Reason.CLIENT_CANNOT,
        "3.9",
    ),
    ("Streams without upgradeFrom", running(STREAMS, EAGER), EAGER, COOPERATIVE, Reason.CLIENT_CANNOT, "upgradeFrom"),
    ("Other without profiles", running(OTHER, EAGER), EAGER, COOPERATIVE, Reason.SETTINGS_PROFILE_MISSING, "profiles"),
    (
        "Other without a bridge",
        running(OTHER, EAGER, "own", {"profiles": {"Cooperative": {"assignor": "b"}}}),
        EAGER,
        COOPERATIVE,
        Reason.SETTINGS_PROFILE_MISSING,
        "EagerAndCooperative",
    ),
    (
        "brokers before KIP-848",
        running(RDKAFKA, EAGER, broker=replace(BROKER, serves_consumer_protocol=False)),
        EAGER,
        CONSUMER,
        Reason.BROKER_CANNOT,
        "4.0 or newer",
    ),
    (
        "feature not raised",
        running(RDKAFKA, EAGER, broker=replace(BROKER, group_version=0)),
        EAGER,
        CONSUMER,
        Reason.BROKER_CANNOT,
        "group.version=1",
    ),
    (
        "brokers not asked yet",
        running(RDKAFKA, EAGER, broker=None),
        EAGER,
        CONSUMER,
        Reason.BROKER_UNKNOWN,
        "not told yet",
    ),
    (
        "policy not readable",
        running(RDKAFKA, EAGER, broker=replace(BROKER, migration_policy=None, problem="grant DescribeConfigs")),
        EAGER,
        CONSUMER,
        Reason.BROKER_UNKNOWN,
        "grant DescribeConfigs",
    ),
    (
        "no way up",
        running(RDKAFKA, EAGER, broker=replace(BROKER, migration_policy=MigrationPolicy.DOWNGRADE)),
        EAGER,
        CONSUMER,
        Reason.MIGRATION_POLICY_FORBIDS,
        "upgrade",
    ),
    (
        "no way down",
        running(RDKAFKA, CONSUMER, broker=replace(BROKER, migration_policy=MigrationPolicy.UPGRADE)),
        CONSUMER,
        EAGER,
        Reason.MIGRATION_POLICY_FORBIDS,
        "downgrade",
    ),
    (
        "another assignor than the pods were given",
        running(JAVA, EAGER, "roundrobin"),
        EAGER,
        COOPERATIVE,
        Reason.ASSIGNOR_UNEXPECTED,
        "roundrobin",
    ),
    (
        "an own choice without a way",
        running(JAVA, OWN, "sticky"),
        OWN,
        COOPERATIVE,
        Reason.ASSIGNOR_UNEXPECTED,
        "sticky",
    ),
    (
        "a group in motion",
        running(JAVA, EAGER, kafka=observation(state=GroupState.PREPARING_REBALANCE, assignor="")),
        EAGER,
        COOPERATIVE,
        Reason.GROUP_REBALANCING,
        "calm",
    ),
    (
        "a stranger in the group",
        running(JAVA, EAGER, kafka=observation((*members(0, 1, 2), stranger()))),
        EAGER,
        COOPERATIVE,
        Reason.FOREIGN_MEMBERS,
        "console at 10.9.9.9",
    ),
    (
        "Kafka away",
        running(JAVA, EAGER, kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)),
        EAGER,
        COOPERATIVE,
        Reason.KAFKA_UNREACHABLE,
        "no broker answers",
    ),
]


@pytest.mark.parametrize(
    ("seen", "has", "target", "reason", "way_out"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_a_refusal_names_the_way_out(seen: World, has: Profile, target: Profile, reason: Reason, way_out: str) -> None:
    found = find_way(seen, has, target)
    assert isinstance(found, Hold), found
    assert found.reason == reason
    assert way_out in found.message


def test_nobody_is_stopped_where_nobody_runs() -> None:
    empty = running(RDKAFKA, EAGER, kafka=observation((), state=GroupState.EMPTY), pods=())
    found = find_way(empty, EAGER, COOPERATIVE)
    assert isinstance(found, Way)
    assert found.strategy.name is DRAIN


def test_an_assignor_that_the_template_sets_is_not_a_default() -> None:
    template = {
        "spec": {
            "containers": [
                {
                    "name": "consumer",
                    "image": "consumer:1",
                    "env": [{"name": "KAFKA_PARTITION_ASSIGNMENT_STRATEGY", "value": "Range"}],
                }
            ]
        }
    }
    found = find_way(running(JAVA, OWN, group=group(client=JAVA, template=template)), OWN, COOPERATIVE)
    assert isinstance(found, Way)
    assert found.strategy.name is TWO


@pytest.mark.parametrize("profile", [OWN, EAGER, COOPERATIVE, CONSUMER])
def test_a_new_group_of_a_library_that_can_is_made(profile: Profile) -> None:
    assert can_make(running(RDKAFKA, OWN), profile) is None


def test_neighbours_on_every_path_differ_and_no_path_has_a_gap() -> None:
    """F2: only a drain leads from eager to cooperative without the bridge."""
    for strategy in STRATEGIES:
        for origin in strategy.origins:
            steps = list(zip((origin, *strategy.path), strategy.path, strict=False))
            assert all(one is not other for one, other in steps)
            if strategy.name is not DRAIN:
                assert {EAGER, COOPERATIVE} not in [set(step) for step in steps]


def test_versions() -> None:
    texts = ["2.12.1", "v1.20", "4.0.0-rc1", None, "3"]
    assert [parse_version(text) for text in texts] == [(2, 12, 1), (1, 20), (4, 0, 0), (), (3, 0)]


def test_a_version_of_one_number_is_that_of_its_first_release() -> None:
    java, streams = {"library": "Java", "version": "4"}, {"library": "KafkaStreams", "version": "4"}
    assert can_make(running(java, OWN), CONSUMER) is None
    found = find_way(running(java, EAGER), EAGER, CONSUMER)
    assert isinstance(found, Way), found
    refusal = can_make(running(streams, OWN, protocol={"target": "Eager", "upgradeFrom": "2.3"}), EAGER)
    assert refusal is not None
    assert "no eager rebalancing" in refusal.message


def test_java_3_offers_both_kinds_as_3_0_does() -> None:
    """F5."""
    found = find_way(running({"library": "Java", "version": "3"}, OWN, "range"), OWN, COOPERATIVE)
    assert isinstance(found, Way), found
    assert found.strategy.name is ONE


@pytest.mark.parametrize("client", [RDKAFKA, OTHER], ids=["Librdkafka", "Other"])
def test_a_group_whose_assignor_keeps_data_stops_for_the_new_protocol(client: dict[str, str]) -> None:
    """The brokers would refuse the first new member, whichever pod it is in."""
    allowed = {"allowDowntime": True, **({"profiles": BRIDGED} if client is OTHER else {})}
    way = find_way(keeping_data(client, COOPERATIVE, allowed), COOPERATIVE, CONSUMER)

    assert isinstance(way, Way), way
    assert (way.strategy.name, way.strategy.path) == (DRAIN, (CONSUMER,))


def way(name: StrategyName, *path: Profile, **versions: tuple[int, ...]) -> Strategy:
    return Strategy(name, path, frozenset(), frozenset(), **versions)


def of(client: dict[str, str], **changes: Any) -> World:
    return world(group=group(client=client), **changes)


UNVERSIONED = {"library": "Java"}
FORBIDDING = replace(BROKER, migration_policy=MigrationPolicy.DISABLED)
OBSTACLES: list[tuple[str, World, Strategy]] = [
    ("version_is_unknown", of(UNVERSIONED), way(ONE, EAGER, before=(9, 9))),
    ("client_is_too_old", of(OLD_JAVA), way(ONE, EAGER, since=(3, 0))),
    ("client_is_too_new", of(JAVA), way(ONE, EAGER, before=(4, 0))),
    ("a_step_cannot_be_made", of(OLD_JAVA), way(DRAIN, CONSUMER)),
    ("brokers_forbid_it", of(JAVA, broker=FORBIDDING), way(ONLINE, CONSUMER)),
]
CONSUMER_OBSTACLES: list[tuple[str, World]] = [
    ("library_cannot", of(GO)),
    ("library_is_too_old", of(OLD_JAVA)),
    ("brokers_are_unknown", of(JAVA, broker=None)),
    ("brokers_are_too_old", of(JAVA, broker=replace(BROKER, serves_consumer_protocol=False))),
    ("feature_is_not_raised", of(JAVA, broker=replace(BROKER, group_version=0))),
]


@pytest.mark.parametrize(("check", "given", "strategy"), OBSTACLES, ids=[row[0] for row in OBSTACLES])
def test_each_obstacle_is_found_by_its_own_check_only(check: str, given: World, strategy: Strategy) -> None:
    assert [each.__name__ for each in preflight.OBSTACLES if each(given, strategy)] == [check]


@pytest.mark.parametrize(("check", "given"), CONSUMER_OBSTACLES, ids=[row[0] for row in CONSUMER_OBSTACLES])
def test_each_obstacle_to_kip_848_is_found_by_its_own_check_only(check: str, given: World) -> None:
    assert [each.__name__ for each in preflight.CONSUMER_OBSTACLES if each(given)] == [check]


def test_every_obstacle_has_its_row_in_the_order_in_which_they_are_asked() -> None:
    assert [each.__name__ for each in preflight.OBSTACLES] == [row[0] for row in OBSTACLES]
    assert [each.__name__ for each in preflight.CONSUMER_OBSTACLES] == [row[0] for row in CONSUMER_OBSTACLES]


def test_the_client_is_named_before_the_brokers() -> None:
    """Whoever has both to upgrade begins with what is his own."""
    refusal = can_make(of(OLD_JAVA, broker=None), CONSUMER)
    assert refusal is not None
    assert refusal.reason is Reason.CLIENT_CANNOT


def test_of_pods_that_have_yet_to_join_an_empty_group_it_is_known_what_they_have() -> None:
    """An empty group is never calm."""
    empty = observation((), state=GroupState.EMPTY)
    assert find_origin(world(kafka=empty), empty, Profile.EAGER, Profile.COOPERATIVE) is Profile.EAGER

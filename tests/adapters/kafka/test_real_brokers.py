"""What real brokers say of themselves, which group settings they take, and what has to be granted for either."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest
from confluent_kafka.admin import (
    AclOperation,
    ResourceType,
)

from slackwater.adapters.kafka.broker_reader import BrokerReader
from slackwater.adapters.kafka.errors import Failure, KafkaFailed, KafkaRefused
from slackwater.adapters.kafka.granted import Granted, Operation, read_features, read_granted
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.adapters.kafka.wire import KafkaWire
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION
from slackwater.core.world.broker import Bounds, BrokerFacts, MigrationPolicy
from slackwater.core.world.observation import MemberRef, Unobserved
from tests.adapters.kafka.own_broker import own_broker
from tests.adapters.kafka.running_consumers import settled, view_until
from tests.adapters.kafka.static_group import CONSUMER, StaticGroup, refs
from tests.adapters.kafka.strict_broker import OPERATOR, ROOT, StrictBroker, strict_broker

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

T = TypeVar("T")


async def test_a_broker_of_today_tells_everything(wire: KafkaWire) -> None:
    """F22, F23: the defaults of Kafka 4.3."""
    facts = await BrokerReader(wire, now=lambda: 7.0).read()

    assert facts == BrokerFacts(
        read_at=7.0,
        serves_consumer_protocol=True,
        group_version=1,
        migration_policy=MigrationPolicy.BIDIRECTIONAL,
        classic_session=Bounds(6_000, 1_800_000),
        consumer_session=Bounds(45_000, 60_000),
        consumer_heartbeat=Bounds(5_000, 15_000),
    )


async def test_settings_are_set_read_and_given_back(
    wire: KafkaWire, reader: KafkaGroupReader, admin: KafkaGroupAdmin, topic: str, group_id: str
) -> None:
    """F23: for a group that nobody has joined yet, too. The broker that answers learns of a change a moment later."""

    async def settings() -> object:
        view = (await reader.observe({group_id: frozenset({topic})}, {group_id}))[group_id]
        return getattr(view, "settings", view)

    async def become(expected: object) -> None:
        await eventually(settings, lambda answer: answer == expected)

    await become({})  # a broker that has just started does not coordinate every group at once
    await admin.alter_group_settings(group_id, {SESSION: "50000", HEARTBEAT: "6000"})
    await become({SESSION: "50000", HEARTBEAT: "6000"})
    await admin.alter_group_settings(group_id, {SESSION: None})
    await become({HEARTBEAT: "6000"})
    with pytest.raises(KafkaRefused, match=r"must be greater than or equal to group\.consumer\.min\.session"):
        await admin.alter_group_settings(group_id, {SESSION: "44999", HEARTBEAT: "7000"})
    assert await settings() == {HEARTBEAT: "6000"}
    await admin.alter_group_settings(group_id, {HEARTBEAT: None})
    await admin.alter_group_settings(group_id, {HEARTBEAT: None})
    await become({})


async def eventually(ask: Callable[[], Awaitable[T]], is_right: Callable[[T], bool], within_s: float = 30.0) -> T:
    """Ask until the answer is right: what was granted, or made, is known to the broker a moment later."""
    deadline = time.monotonic() + within_s
    while not is_right(answer := await ask()):
        assert time.monotonic() < deadline, f"after {within_s:g} s: {answer}"
        await asyncio.sleep(0.05)
    return answer


async def done(change: Awaitable[object]) -> bool:
    try:
        await change
    except KafkaFailed:
        return False
    return True


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrictBroker]:
    """One that allows short sessions, and lets no group back."""
    settings = {
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.min.heartbeat.interval.ms": "500",
        "group.consumer.migration.policy": "upgrade",
    }
    with strict_broker(tmp_path_factory.mktemp("strict"), settings) as broker:
        yield broker


@pytest.fixture(scope="module")
def unfinalized(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker of 4.3 in a cluster that still has the group.version of before 4.0 (F6, Strimzi#12406)."""
    with own_broker(tmp_path_factory.mktemp("unfinalized"), {}, features={"group.version": 0}) as bootstrap:
        yield bootstrap


async def test_facts_that_are_denied_say_what_to_grant_and_that_is_enough(strict: StrictBroker) -> None:
    async with strict.wire(OPERATOR) as wire:
        reader = BrokerReader(wire)
        facts = await reader.read()
        assert (facts.serves_consumer_protocol, facts.group_version) == (True, 1)
        assert (facts.migration_policy, facts.classic_session) == (None, None)
        assert facts.problem.endswith("grant it DescribeConfigs on the cluster")

        strict.grant(ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE_CONFIGS)
        facts = await eventually(reader.read, lambda facts: not facts.problem)
        assert facts.migration_policy is MigrationPolicy.UPGRADE
        assert facts.consumer_session == Bounds(1_000, 60_000)


async def test_changes_that_are_denied_say_what_to_grant_and_that_is_enough(
    strict: StrictBroker, group_id: str
) -> None:
    topic, member = f"{group_id}-orders", MemberRef(f"{group_id}-0", "nobody")
    strict.make_topic(topic)
    strict.grant(ResourceType.TOPIC, topic, AclOperation.DESCRIBE)
    strict.grant(ResourceType.GROUP, group_id, AclOperation.DESCRIBE)
    async with strict.wire(OPERATOR) as wire:
        reader, admin = KafkaGroupReader(wire), KafkaGroupAdmin(wire)

        async def settings() -> object:
            view = (await reader.observe({group_id: frozenset({topic})}, {group_id}))[group_id]
            return getattr(view, "settings", view)

        assert await eventually(settings, lambda seen: not isinstance(seen, Unobserved)) is None
        strict.grant(ResourceType.GROUP, group_id, AclOperation.DESCRIBE_CONFIGS)
        await eventually(settings, lambda seen: seen == {})

        with pytest.raises(KafkaRefused, match="grant it AlterConfigs on the group"):
            await admin.alter_group_settings(group_id, {SESSION: "20000"})
        for change in (admin.remove_members, admin.release_members):
            with pytest.raises(KafkaRefused, match="grant it Read"):
                await change(group_id, [member])
        strict.grant(ResourceType.GROUP, group_id, AclOperation.ALTER_CONFIGS, AclOperation.READ)
        await eventually(lambda: done(admin.remove_members(group_id, [member])), bool)
        assert await admin.release_members(group_id, [member]) == ()
        await admin.alter_group_settings(group_id, {SESSION: "20000"})
        await eventually(settings, lambda seen: seen == {SESSION: "20000"})


async def test_a_user_is_told_what_it_may_do_with_a_group(strict: StrictBroker, group_id: str) -> None:
    """KIP-430, for a group that nobody has joined. Read includes Describe, AlterConfigs includes DescribeConfigs."""
    async with strict.wire(OPERATOR) as wire:

        async def granted() -> Granted:
            return (await read_granted(wire, [group_id]))[group_id]

        denied = await granted()
        assert isinstance(denied, Failure)
        assert denied.message.endswith("grant it Describe on the group")
        strict.grant(ResourceType.GROUP, group_id, AclOperation.READ)
        await eventually(granted, lambda told: told == frozenset({Operation.DESCRIBE, Operation.READ}))
        strict.grant(ResourceType.GROUP, group_id, AclOperation.DELETE, AclOperation.ALTER_CONFIGS)
        await eventually(granted, lambda told: told == frozenset(Operation))
        assert (await read_features(wire))["group.version"] == 1


async def test_a_new_session_timeout_holds_for_members_that_run(strict: StrictBroker, group_id: str) -> None:
    """F23: no restart; 45 s before, 2 s after the members' next heartbeat."""
    topic = f"{group_id}-orders"
    strict.make_topic(topic)
    async with strict.wire(ROOT) as wire:
        reader, admin = KafkaGroupReader(wire), KafkaGroupAdmin(wire)
        scene = StaticGroup(strict.bootstrap, topic, group_id, reader)
        protocol = {**CONSUMER, **strict.confluent(ROOT)}
        try:
            seen = await scene.started(2, protocol)
            await admin.alter_group_settings(group_id, {SESSION: "2000", HEARTBEAT: "500"})
            # A removed third member moves partitions: when they have moved, both others have had a heartbeat since.
            scene.start(2, protocol)
            view = await scene.until(settled(3, 6))
            scene.members[2].kill()
            await admin.remove_members(group_id, [refs(view)[scene.instance_id(2)]])
            await scene.until(settled(2, 6))
            assert refs(await scene.until(settled(2, 6))) == seen

            killed_at = scene.members[1].kill()
            await view_until(reader, group_id, topic, settled(1, 6), within_s=20.0)
            assert time.time() - killed_at < 20.0
        finally:
            scene.end()


async def test_a_cluster_that_has_not_finalized_the_new_protocol_says_so(unfinalized: str, group_id: str) -> None:
    """F6: its brokers know the requests, but there are no such groups."""
    wire = KafkaWire({"bootstrap_servers": unfinalized})
    facts = await BrokerReader(wire).read()
    admin, nobody = KafkaGroupAdmin(wire), [MemberRef(f"{group_id}-0", "nobody")]
    await eventually(lambda: done(admin.remove_members(group_id, nobody)), bool)
    released = await admin.release_members(group_id, nobody)
    await wire.close()

    assert facts.group_version == 0
    assert released == ()

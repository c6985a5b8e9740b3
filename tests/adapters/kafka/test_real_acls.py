"""The rights in docs/security.md are enough, and none of them is too many."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.adapters.kafka.group_reader import KafkaGroupReader
from slackwater.core.world.observation import GroupObservation, GroupState
from tests.adapters.kafka.operator_rights import Names, Right, documented, refusals
from tests.adapters.kafka.running_consumers import settled, view_until
from tests.adapters.kafka.static_group import CONSUMER, StaticGroup, refs
from tests.adapters.kafka.strict_broker import OPERATOR, ROOT, StrictBroker, strict_broker
from tests.adapters.recommendations.messages import recommendation

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

RIGHTS = documented()
WITHIN_S = 30.0


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StrictBroker]:
    with strict_broker(tmp_path_factory.mktemp("strict")) as broker:
        yield broker


@pytest.fixture(scope="module")
def names(strict: StrictBroker) -> Names:
    """A group's topic, and the operator's own two with a recommendation; all that is documented is granted."""
    mark = uuid.uuid4().hex[:8]
    made = Names(f"payments-{mark}", f"orders-{mark}", f"telemetry-{mark}", f"recommendations-{mark}")
    for topic in (made.topic, made.telemetry, made.recommendations):
        strict.make_topic(topic)
    producer = Producer(strict.confluent(ROOT))
    producer.produce(made.recommendations, recommendation("payments").model_dump_json(by_alias=True), "shop/payments")
    assert producer.flush(30) == 0
    for right in RIGHTS:
        strict.grant(*right.resource(made), right.operation)
    return made


async def until(strict: StrictBroker, names: Names, is_right: Callable[[dict[str, str]], bool]) -> dict[str, str]:
    """Do everything again and again: what was granted, or taken away, is known to the broker a moment later."""
    deadline = time.monotonic() + WITHIN_S
    while not is_right(said := await refusals(strict.kafka_python(OPERATOR), strict.confluent(OPERATOR), names)):
        assert time.monotonic() < deadline, said
    return said


async def test_all_of_them_are_enough(strict: StrictBroker, names: Names) -> None:
    assert await until(strict, names, lambda said: not said) == {}


@pytest.mark.parametrize("right", RIGHTS, ids=lambda right: f"{right.name}-on-{right.on}".replace(" ", "-"))
async def test_without_any_one_of_them_something_is_refused_and_names_it(
    strict: StrictBroker, names: Names, right: Right
) -> None:
    await until(strict, names, lambda said: not said)
    resource = right.resource(names)
    strict.take_away(*resource, right.operation)
    try:
        # A broker that gets no turn answers late: that is said too, and not for long.
        await until(strict, names, lambda said: bool(said) and all(map(right.is_asked_for_in, said.values())))
    finally:
        strict.grant(*resource, right.operation)


async def test_a_group_with_members_is_seen_changed_and_deleted_with_them(strict: StrictBroker, names: Names) -> None:
    await until(strict, names, lambda said: not said)
    async with strict.wire(OPERATOR) as wire:
        reader, admin = KafkaGroupReader(wire), KafkaGroupAdmin(wire)
        scene = StaticGroup(strict.bootstrap, names.topic, names.group_id, reader)
        protocol = {**CONSUMER, **strict.confluent(ROOT)}
        try:
            seen = await scene.started(2, protocol)
            scene.members[1].kill()
            gone, stays = scene.instance_id(1), scene.instance_id(0)
            assert await admin.release_members(names.group_id, [seen[gone]]) == (gone,)
            assert await admin.remove_members(names.group_id, [seen[gone]]) == (gone,)
            left = refs(await scene.until(settled(1, 6)))
            assert left.keys() == {stays}
            scene.members[0].kill()
            assert await admin.remove_members(names.group_id, left.values()) == (stays,)
            await view_until(reader, names.group_id, names.topic, lambda view: is_in(view, GroupState.EMPTY))
            await admin.delete_group(names.group_id)
            await view_until(reader, names.group_id, names.topic, lambda view: is_in(view, GroupState.DEAD))
        finally:
            await asyncio.to_thread(scene.end)


def is_in(view: object, state: GroupState) -> bool:
    return isinstance(view, GroupObservation) and view.state is state

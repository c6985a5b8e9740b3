"""A ConsumerGroup that a tool deletes and makes again, while somebody else's waits for its group in Kafka."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, KAFKA_CONNECTION, STATEFUL_SET
from slackwater.core.members.sharing import MADE_AGAIN_WITHIN_S
from slackwater.shell.elapsed import elapsed_s
from slackwater.shell.store import Key, Store
from tests.shell.fakes import KEY, connection_object, group_object
from tests.shell.reconciler_stage import Stage

NEIGHBOUR: Final = Key("neighbour", "x")
CLAIMED: Final = {"rollout": {"claimed": {"clusterId": "A", "at": "2026-01-01T00:00:00Z"}}}


def made(obj: dict[str, Any], at: str, uid: str) -> dict[str, Any]:
    obj["metadata"] |= {"creationTimestamp": at, "uid": uid}
    return obj


async def passes(stage: Stage, key: Key) -> str:
    """Some, each by what the one before has written; returns why the group is held."""
    for _ in range(6):
        await stage.reconciler.reconcile(key)
    obj = stage.api.objects["ConsumerGroup", *key]
    stage.store.put(CONSUMER_GROUP, obj)
    gated = [each for each in obj["status"]["conditions"] if each["type"] == "RolloutGated"]
    return str(gated[0]["reason"])


def deleted(stage: Stage) -> None:
    """With its pods, as by its finalizer."""
    for kind in ("ConsumerGroup", "StatefulSet"):
        stage.api.objects.pop((kind, *KEY))
    for known_kind in (CONSUMER_GROUP, STATEFUL_SET):
        if (known := stage.store.get(known_kind, KEY)) is not None:
            stage.store.drop(known_kind, known)


@pytest.mark.parametrize("servers", ["", "liar.evil:9092"], ids=["by the same brokers", "by the same cluster id"])
async def test_it_has_its_group_still(servers: str) -> None:
    stage = Stage()
    stage.connections.cluster_ids = {KEY: "A", NEIGHBOUR: "A"}
    made(stage.api.objects["ConsumerGroup", *KEY], "2026-01-01T00:00:00Z", "first")
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY))
    theirs = connection_object()
    theirs["metadata"]["namespace"] = NEIGHBOUR.namespace
    if servers:
        theirs["spec"] = {**theirs["spec"], "bootstrapServers": servers}
    stage.store.put(KAFKA_CONNECTION, stage.api.add(KAFKA_CONNECTION, theirs))
    await passes(stage, KEY)
    other = made(group_object(name=NEIGHBOUR.name, groupId=KEY.name), "2026-06-01T00:00:00Z", "theirs")
    other["metadata"]["namespace"] = NEIGHBOUR.namespace
    stage.store.put(CONSUMER_GROUP, stage.api.add(CONSUMER_GROUP, other))
    assert await passes(stage, NEIGHBOUR) == "GroupIdShared"

    claimed = stage.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]["claimed"]
    deleted(stage)
    assert await passes(stage, NEIGHBOUR) == "GroupIdShared", "it may be made again"
    stage.api.version = 600
    stage.see(stage.api.add(CONSUMER_GROUP, made(group_object(version=500), "2026-11-28T00:00:00Z", "second")))
    stage.later_s = 8
    assert await passes(stage, KEY) != "GroupIdShared"
    assert stage.api.objects["ConsumerGroup", *KEY]["status"]["rollout"]["claimed"] == claimed
    stage.later_s = 2 * MADE_AGAIN_WITHIN_S
    assert await passes(stage, NEIGHBOUR) == "GroupIdShared"
    assert ("StatefulSet", *NEIGHBOUR) not in stage.api.objects


@pytest.mark.parametrize(
    ("spec", "later_s", "has"),
    [({}, 119, True), ({}, 121, False), ({"groupId": "another"}, 1, False)],
    ids=["at once", "too late", "another group in Kafka"],
)
@pytest.mark.parametrize("seen", [True, False], ids=["its deletion is seen", "its deletion is missed"])
def test_what_the_one_before_had_is_its_own(spec: Any, later_s: float, has: bool, seen: bool) -> None:
    now = [1000.0]
    store = Store(lambda: now[0])
    first = made(group_object() | {"status": CLAIMED}, "2026-01-01T00:00:00Z", "first")
    store.put(CONSUMER_GROUP, first)
    if seen:
        store.drop(CONSUMER_GROUP, first)
    second = made(group_object(version=500, **spec), "2026-11-28T00:00:00Z", "second")
    store.put(CONSUMER_GROUP, second)
    now[0] += later_s
    group_id = spec.get("groupId", KEY.name)
    assert (store.claimed_before(KEY, group_id) is not None) is has


def test_of_many_that_are_deleted_nothing_stays() -> None:
    now = [1000.0]
    store = Store(lambda: now[0])
    for number in range(50):
        obj = made(group_object(name=f"g{number}") | {"status": CLAIMED}, "2026-01-01T00:00:00Z", f"{number}")
        store.put(CONSUMER_GROUP, obj)
        store.drop(CONSUMER_GROUP, obj)
        now[0] += 10
    assert len(store._gone_claims) <= MADE_AGAIN_WITHIN_S / 10 + 1


def test_a_list_that_lacks_thousands_looks_at_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They went in one turn of the event loop, as when the watch was away, and each looked at all before it."""
    looks = 0

    def counted(since: float, now: float) -> float:
        nonlocal looks
        looks += 1
        return elapsed_s(since, now)

    monkeypatch.setattr("slackwater.shell.gone_claims.elapsed_s", counted)
    many, now = 1_000, 0.0
    store = Store(now=lambda: now)
    for number in range(many):
        obj = group_object(number + 10, name=f"g{number}")
        store.put(CONSUMER_GROUP, {**made(obj, "2026-01-01T00:00:00Z", "u"), "status": CLAIMED})
    store.replace(CONSUMER_GROUP, [], many + 10)
    assert store.claimed_before(Key("default", "g0"), "g0") is not None
    assert looks <= many + 1
    now = MADE_AGAIN_WITHIN_S + 1
    last = made(group_object(many + 20, name="last"), "2026-01-01T00:00:00Z", "u")
    store.put(CONSUMER_GROUP, {**last, "status": CLAIMED})
    store.drop(CONSUMER_GROUP, last)
    assert (len(store._gone_claims), looks <= 2 * many + 3) == (1, True)

"""What is kept of the large specs of one namespace together."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, FLEET_CAMPAIGN, KAFKA_CONNECTION
from slackwater.api.errors import InvalidSpec
from slackwater.api.kept import FREE, PackedJson, cut_to_size, excess_of
from slackwater.api.parsing import (
    parse_consumer_fleet,
    parse_consumer_group,
    parse_fleet_campaign,
    parse_kafka_connection,
)
from slackwater.ports import Kind
from slackwater.shell.listing import take_in
from slackwater.shell.room import NoRoom, Room
from slackwater.shell.store import Key, Store
from tests.api.manifests import template
from tests.shell.fakes import KEY, group_object
from tests.shell.reconciler_stage import Stage

LARGE: Final = template(x=[{"a": {"b": 0}}] * 1_000)
LARGER: Final = template(x=[{"a": {"b": 0}}] * 3_000)


def group(name: str, namespace: str = "evil", version: int = 1, *, of: Any = LARGE, made: str = "") -> dict[str, Any]:
    obj = group_object(version, name=name, template=of)
    obj["metadata"]["namespace"] = namespace
    return obj | {"metadata": obj["metadata"] | ({"creationTimestamp": made} if made else {})}


def excess(obj: dict[str, Any]) -> int:
    spec = cut_to_size(obj)["spec"]
    assert isinstance(spec, PackedJson)
    return excess_of(obj["metadata"], spec, stays_read=False)


TWO: Final = 2 * excess(group("a"))
"""Room for two of them."""


def kept(store: Store, namespace: str = "evil") -> list[str]:
    """The names of those whose specs are kept."""
    keys = [key for key in store.keys(CONSUMER_GROUP) if key.namespace == namespace]
    found = [(key.name, store.get(CONSUMER_GROUP, key)) for key in keys]
    return [name for name, obj in found if obj is not None and not isinstance(obj["spec"], NoRoom)]


def filled() -> Store:
    store = Store(room=Room(TWO))
    for name in "abc":
        store.put(CONSUMER_GROUP, group(name))
    return store


def test_of_more_than_there_is_room_for_what_names_them_is_kept() -> None:
    store = filled()
    assert kept(store) == ["a", "b"]
    found = store.get(CONSUMER_GROUP, Key("evil", "c"))
    assert found is not None
    assert found["spec"] == {"connectionRef": {"name": "main"}}
    with pytest.raises(InvalidSpec, match=r"large objects of this namespace .* together take all of the [\d,]+"):
        parse_consumer_group(found)


def test_no_other_namespace_and_no_small_spec_notices() -> None:
    store = filled()
    for name in "de":
        store.put(CONSUMER_GROUP, group(name, "good"))
    for number in range(100):
        store.put(CONSUMER_GROUP, group(f"small-{number}", of=template()))
    assert kept(store, "good") == ["d", "e"]
    assert len(kept(store)) == 102


def test_labels_and_annotations_count_as_well() -> None:
    objects = [group(name, of=template()) for name in "abcd"]
    for obj in objects:
        obj["metadata"]["annotations"] = {str(number): "x" * 240 for number in range(400)}
    store = Store(room=Room(2 * excess_of(objects[0]["metadata"], cut_to_size(objects[0])["spec"], stays_read=False)))
    for obj in objects:
        store.put(CONSUMER_GROUP, obj)
    assert kept(store) == ["a", "b"]
    found = store.get(CONSUMER_GROUP, Key("evil", "d"))
    assert found is not None
    assert "annotations" not in found["metadata"]


def test_a_new_version_has_the_place_of_the_one_before() -> None:
    store = filled()
    for version in range(2, 5):
        store.put(CONSUMER_GROUP, group("a", version=version))
        store.put(CONSUMER_GROUP, group("c", version=version))
    assert kept(store) == ["a", "b"]


@pytest.mark.parametrize("how", ["deleted", "made smaller", "grown out of it"])
def test_who_had_no_room_has_it_with_the_next_list(how: str) -> None:
    store = filled()
    listed = [group(name) for name in "abc"]
    if how == "deleted":
        store.drop(CONSUMER_GROUP, listed.pop(0))
    else:
        listed[0] = group("a", version=2, of=LARGER if how == "grown out of it" else template())
        store.put(CONSUMER_GROUP, listed[0])
    assert store.replace(CONSUMER_GROUP, listed, 2) == {Key("evil", "c")}
    assert {"b", "c"} <= set(kept(store))
    assert store.replace(CONSUMER_GROUP, listed, 2) == set()


def test_an_older_list_brings_nobody_back() -> None:
    store = filled()
    store.put(CONSUMER_GROUP, group("c", version=5))
    store.drop(CONSUMER_GROUP, group("a"))
    assert store.put(CONSUMER_GROUP, group("c", version=4)) == ()


AGES: Final = {"a": "2026-03-01T00:00:00Z", "b": "2026-01-01T00:00:00Z", "c": "2026-02-01T00:00:00Z"}


def test_after_a_restart_the_oldest_have_their_room_again() -> None:
    store = Store(room=Room(TWO))
    store.replace(CONSUMER_GROUP, [group(name, made=made) for name, made in AGES.items()], 1)
    assert kept(store) == ["b", "c"]


@pytest.mark.parametrize("order", ["abc", "cab", "bca", "cba"])
def test_in_whichever_order_they_come(order: str) -> None:
    """A list is taken in a part at a time, by name, and one kind comes after the other."""
    store = Store(room=Room(TWO))
    woken = [set(store.put(CONSUMER_GROUP, group(name, made=AGES[name]))) for name in order]
    assert sorted(kept(store)) == ["b", "c"]
    assert Key("evil", "a") in (woken[-1] if order != "cba" else woken[1] | woken[2])


SIZES: Final = {"small": template(), "large": LARGE, "larger": LARGER}
WRITES: Final = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([*SIZES, ""])), min_size=1, max_size=4)


@given(st.lists(st.tuples(st.booleans(), WRITES), max_size=6))
def test_whatever_was_written_who_has_room_is_the_same_as_after_a_restart(parts: list[tuple[bool, Any]]) -> None:
    store, there, version = Store(room=Room(5 * excess(group("a")))), dict[str, dict[str, Any]](), 0
    for is_listed, writes in parts:
        for name, size in writes:
            version += 1
            if size:
                there[name] = group(name, version=version, of=SIZES[size], made=f"2026-01-01T00:00:0{ord(name) % 3}Z")
            elif name in there:
                store.drop(CONSUMER_GROUP, there.pop(name))
            if not is_listed and name in there:
                store.put(CONSUMER_GROUP, there[name])
        store.put_all(CONSUMER_GROUP, there.values() if is_listed else ())
    afresh = Store(room=Room(5 * excess(group("a"))))
    for known in (store, afresh):
        for _ in range(2):  # as `take_in` does
            known.replace(CONSUMER_GROUP, there.values(), version)
    assert sorted(kept(store)) == sorted(kept(afresh))
    wants, without = store._room._wants.get("evil", {}), store._room._without.get("evil", frozenset())
    assert store._room._taken.get("evil", 0) == sum(
        want.weight for place, want in wants.items() if place not in without
    )


async def test_a_list_finds_out_once_a_part_who_is_older(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand large objects are sorted: were that done for each, all would stand still."""
    sorted_at: list[int] = []
    store, judge = Store(room=Room(TWO)), Room._judge

    def counted(room: Room, namespace: str) -> None:
        sorted_at.append(len(room._wants.get(namespace, {})))
        judge(room, namespace)

    monkeypatch.setattr(Room, "_judge", counted)
    listed = [group(f"g{number:03}", made=f"2026-01-01T00:{99 - number:02}:00Z") for number in range(100)]
    await take_in(store, CONSUMER_GROUP, listed, 1)
    assert sorted(kept(store)) == ["g098", "g099"]
    assert len(sorted_at) == 1
    store.put(CONSUMER_GROUP, group("older", made="2025-01-01T00:00:00Z"))
    assert sorted(kept(store)) == ["g099", "older"]


def connection(name: str, groups: int = 100) -> dict[str, Any]:
    prefixes = [f"{number:03}" + "\N{GRINNING FACE}" * 200 for number in range(groups)]
    return other(KAFKA_CONNECTION, name, {"bootstrapServers": "kafka:9092", "groups": prefixes})


def fleet(name: str, freezes: int = 64) -> dict[str, Any]:
    known = {"schedule": "0 0 1 1 *", "duration": "1h"}
    spec = {"selector": {}, "timeZone": "UTC", "freezes": [{"name": f"f-{n}", **known} for n in range(freezes)]}
    return other(CONSUMER_FLEET, name, spec)


def campaign(name: str, waves: int = 4) -> dict[str, Any]:
    labels = {f"label-{number}": "x" * 60 for number in range(32)}
    spec = {"fleetRef": {"name": "fleet"}, "action": {"restart": {}}}
    found = [{"name": f"w-{number}", "selector": {"matchLabels": labels}} for number in range(waves)]
    return other(FLEET_CAMPAIGN, name, spec | {"waves": found})


def other(kind: Kind, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "evil", "uid": name, "generation": 1, "resourceVersion": "1"}
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}


READ: Final = {
    KAFKA_CONNECTION: (connection, parse_kafka_connection),
    CONSUMER_FLEET: (fleet, parse_consumer_fleet),
    FLEET_CAMPAIGN: (campaign, parse_fleet_campaign),
}


@pytest.mark.parametrize("kind", READ)
def test_objects_of_every_kind_share_the_room(kind: Kind) -> None:
    make, read = READ[kind]
    large = lean(kind, make("z"))
    read(large)
    most = excess(group("a")) + excess_of(large["metadata"], large["spec"], stays_read=True)
    store = Store(room=Room(most))
    store.put(CONSUMER_GROUP, group("a"))
    store.put(kind, make("b"))
    store.put(kind, make("c"))
    store.put(kind, {**make("d", 1), "metadata": {**make("d")["metadata"], "namespace": "good"}})
    store.put(CONSUMER_GROUP, group("e"))
    assert kept(store) == ["a"]
    found = {name: store.get(kind, Key("evil", name)) for name in "bc"}
    assert found["b"] is not None
    assert found["c"] is not None
    read(found["b"])
    with pytest.raises(InvalidSpec, match=r"large objects of this namespace .* together take all of the [\d,]+"):
        read(found["c"])
    store.drop(kind, make("b"))
    store.put(kind, make("c"))
    found["c"] = store.get(kind, Key("evil", "c"))
    assert found["c"] is not None
    read(found["c"])


def test_of_a_connection_without_room_stays_where_its_brokers_are_and_its_groups_look_again_once_it_has_some() -> None:
    store = Store(room=Room(0))
    store.put(CONSUMER_GROUP, group("g", of=template()))
    large = connection("main")
    assert store.put(KAFKA_CONNECTION, large) == (Key("evil", "g"),)
    found = store.get(KAFKA_CONNECTION, Key("evil", "main"))
    assert found is not None
    assert found["spec"] == {"bootstrapServers": "kafka:9092"}
    store._room._most = 10**6
    store.put(KAFKA_CONNECTION, connection("else", 99))
    assert store.put(KAFKA_CONNECTION, large) == (Key("evil", "g"),)


def test_a_fleet_that_is_not_small_is_kept_as_its_text() -> None:
    """A list of them is read before anybody counts: as Python has them, 150 would end the process."""
    large = fleet("large", 64) | {"spec": fleet("large", 64)["spec"] | {"pause": "x" * 512}}
    large["spec"]["order"] = [{"selector": {"matchLabels": dict.fromkeys("abcdef", "x")}, "headStart": "1m"}] * 60
    spec = lean(CONSUMER_FLEET, large)["spec"]
    assert isinstance(spec, PackedJson)
    assert spec == {"pause": "x" * 512}


def test_what_is_just_under_the_size_that_is_kept_as_text_counts() -> None:
    """Outside its pods, which are text in any case."""
    objects = [group(f"g{number:02}", of=template()) for number in range(40)]
    for obj in objects:
        obj["spec"]["topics"] = [f"topic-{number}" for number in range(500)]
    assert not isinstance(cut_to_size(objects[0])["spec"], PackedJson)
    store = Store(room=Room(20 * 100_000))
    for obj in objects:
        store.put(CONSUMER_GROUP, obj)
    assert len(kept(store)) < 25


def test_large_pods_take_what_their_text_takes() -> None:
    store = Store(room=Room(0))
    pods = template(x=[{"a": {"b": 0}}] * 150)
    store.put(CONSUMER_GROUP, group("g", of=pods))
    assert kept(store) == ["g"]
    assert excess_of({}, pods, stays_read=False) > FREE


async def test_a_group_without_room_is_invalid_and_its_own_pass_reads_no_more() -> None:
    stage = Stage()
    stage.store._room = Room(0)
    stage.see(stage.api.add(CONSUMER_GROUP, group(KEY.name, KEY.namespace, version=50)))
    assert await stage.run() is None
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"
    assert "large objects of this namespace" in stage.condition("Degraded")["message"]
    stage.ask_nothing_more()
    assert await stage.run() is None
    assert stage.api.writes() == []


async def test_what_is_read_for_an_act_is_read_no_further_than_it_is_kept() -> None:
    """A large spec that came while its group was looked at."""
    stage = Stage()
    stage.store._room = Room(0)
    stage.api.add(CONSUMER_GROUP, group(KEY.name, KEY.namespace, version=50))
    assert await stage.run() is None
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"
    assert stage.acts() == []
    assert stage.reconciler._gathering._parsed == {}


async def test_one_that_loses_its_room_is_invalid_from_then_on() -> None:
    """An older one has grown; the version of this one is the same."""
    stage = Stage()
    stage.store._room = Room(excess(group("a")))
    stage.see(stage.api.add(CONSUMER_GROUP, group(KEY.name, KEY.namespace, version=50, made=AGES["a"])))
    for _ in range(4):  # until its newest version is the one that was parsed
        await stage.run()
    assert stage.condition("Degraded")["reason"] != "InvalidSpec"
    stage.store.put(CONSUMER_GROUP, group("b", KEY.namespace, version=51, made=AGES["b"]))
    await stage.run()
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"

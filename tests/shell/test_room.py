"""What is kept of the large specs of one namespace together."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.api.errors import InvalidSpec
from slackwater.api.kept import SMALL, PackedJson, cut_to_size, weight_of_metadata
from slackwater.api.parsing import parse_consumer_group
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
    return spec.weight + weight_of_metadata(obj["metadata"]) - SMALL


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
    with pytest.raises(InvalidSpec, match=r"large ConsumerGroups of this namespace together take all of the [\d,]+"):
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
    store = Store(room=Room(SMALL))
    for name in "abcd":
        obj = group(name, of=template())
        obj["metadata"]["annotations"] = {str(number): "x" * 240 for number in range(400)}
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


def test_after_a_restart_the_oldest_have_their_room_again() -> None:
    ages = {"a": "2026-03-01T00:00:00Z", "b": "2026-01-01T00:00:00Z", "c": "2026-02-01T00:00:00Z"}
    store = Store(room=Room(TWO))
    store.replace(CONSUMER_GROUP, [group(name, made=made) for name, made in ages.items()], 1)
    assert kept(store) == ["b", "c"]


async def test_a_group_without_room_is_invalid_and_its_own_pass_reads_no_more() -> None:
    stage = Stage()
    stage.store._room = Room(0)
    stage.see(stage.api.add(CONSUMER_GROUP, group(KEY.name, KEY.namespace, version=50)))
    assert await stage.run() is None
    assert stage.condition("Degraded")["reason"] == "InvalidSpec"
    assert "large ConsumerGroups of this namespace" in stage.condition("Degraded")["message"]
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

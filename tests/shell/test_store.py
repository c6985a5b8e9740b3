"""The store: the newest version of everything, and whom a change concerns."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from slackwater.adapters.cluster.paths import (
    CLUSTER_KAFKA_CONNECTION,
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    POD,
    STATEFUL_SET,
)
from slackwater.api.annotations import GROUP_LABEL
from slackwater.shell.store import RIVALS, Key, Store
from tests.shell.fakes import CONNECTION, KEY, connection_object, group_object

OTHER = Key(KEY.namespace, "refunds")


def labelled(name: str, version: int, uid: str = "", group: Key = KEY) -> dict[str, Any]:
    labels = {GROUP_LABEL: group.name}
    return {
        "metadata": {
            "namespace": KEY.namespace,
            "name": name,
            "uid": uid or name,
            "resourceVersion": str(version),
            "labels": labels,
        }
    }


def test_an_older_version_never_replaces_a_newer_one() -> None:
    store = Store()
    assert store.put(CONSUMER_GROUP, group_object(9)) == (KEY,)
    assert store.put(CONSUMER_GROUP, group_object(10)) == (KEY,)
    assert store.put(CONSUMER_GROUP, group_object(9)) == ()
    known = store.get(CONSUMER_GROUP, KEY)
    assert known is not None
    assert known["metadata"]["resourceVersion"] == "10"


def test_pods_and_statefulsets_concern_the_group_of_their_label() -> None:
    store = Store()
    assert store.put(STATEFUL_SET, labelled(KEY.name, 1)) == (KEY,)
    assert store.put(POD, labelled("payments-0", 2)) == (KEY,)
    assert [pod["metadata"]["name"] for pod in store.pods_of(KEY)] == ["payments-0"]
    assert store.drop(POD, labelled("payments-0", 3)) == (KEY,)
    assert store.pods_of(KEY) == []


def test_a_pod_that_was_made_again_is_not_forgotten_with_its_predecessor() -> None:
    store = Store()
    store.put(POD, labelled("payments-0", 5, uid="new"))
    assert store.drop(POD, labelled("payments-0", 4, uid="old")) == ()
    assert len(store.pods_of(KEY)) == 1


@pytest.mark.parametrize("uid", ["", "made again"])
def test_a_pod_that_changes_its_group_leaves_the_old_one_and_concerns_both(uid: str) -> None:
    store = Store()
    store.put(POD, labelled("payments-0", 1))
    assert store.put(POD, labelled("payments-0", 2, uid, group=OTHER)) == (KEY, OTHER)
    assert store.pods_of(KEY) == []
    assert len(store.pods_of(OTHER)) == 1
    assert store.drop(POD, labelled("payments-0", 3, uid, group=OTHER)) == (OTHER,)
    assert store.pods_of(KEY) == store.pods_of(OTHER) == []


def test_a_pod_that_loses_its_label_leaves_its_group() -> None:
    store = Store()
    store.put(POD, labelled("payments-0", 1))
    unlabelled = labelled("payments-0", 2)
    unlabelled["metadata"]["labels"] = {}
    assert store.put(POD, unlabelled) == (KEY,)
    assert store.pods_of(KEY) == []


def test_a_pod_whose_group_changes_as_it_is_deleted_leaves_the_one_that_had_it() -> None:
    store = Store()
    store.put(POD, labelled("payments-0", 1))
    assert store.drop(POD, labelled("payments-0", 2, group=OTHER)) == (KEY,)
    assert store.pods_of(KEY) == []


def test_a_changed_connection_concerns_the_groups_that_use_it() -> None:
    store = Store()
    store.put(CONSUMER_GROUP, group_object())
    store.put(CONSUMER_GROUP, group_object(name="other", connectionRef={"name": "another"}))
    assert store.put(KAFKA_CONNECTION, connection_object(1)) == (KEY,)
    assert store.put(KAFKA_CONNECTION, connection_object(2, generation=2)) == (KEY,)
    assert store.drop(KAFKA_CONNECTION, connection_object(3)) == (KEY,)


def test_a_changed_cluster_connection_concerns_the_groups_of_all_namespaces_that_use_it() -> None:
    store = Store()
    shared = {"name": CONNECTION.name, "kind": "ClusterKafkaConnection"}
    store.put(CONSUMER_GROUP, group_object(name="own"))
    for namespace in ("shop", "ops"):
        obj = group_object(name="shared", connectionRef=shared)
        store.put(CONSUMER_GROUP, obj | {"metadata": obj["metadata"] | {"namespace": namespace}})
    connection = connection_object(1)
    del connection["metadata"]["namespace"]
    assert set(store.put(CLUSTER_KAFKA_CONNECTION, connection)) == {Key("shop", "shared"), Key("ops", "shared")}
    assert store.put(KAFKA_CONNECTION, connection_object(1)) == (Key("default", "own"),)


def test_what_we_write_to_a_connection_s_status_is_no_reason_to_look_at_its_groups() -> None:
    store = Store()
    store.put(CONSUMER_GROUP, group_object())
    store.put(KAFKA_CONNECTION, connection_object(1))
    told = connection_object(2) | {"status": {"conditions": []}}
    assert store.put(KAFKA_CONNECTION, told) == ()
    assert store.get(KAFKA_CONNECTION, CONNECTION) == told


def test_a_list_forgets_what_it_lacks_but_not_what_is_newer_than_it() -> None:
    store = Store()
    store.put(POD, labelled("payments-0", 5))
    store.put(POD, labelled("payments-1", 12))
    assert store.replace(POD, [], listed_version=10) == {KEY}
    assert [pod["metadata"]["name"] for pod in store.pods_of(KEY)] == ["payments-1"]


def test_a_list_that_brings_nothing_new_concerns_nobody() -> None:
    store = Store()
    store.put(POD, labelled("payments-0", 5))
    assert store.replace(POD, [labelled("payments-0", 5)], listed_version=10) == set()


def running(version: int, *containers: str) -> dict[str, Any]:
    """Of the first pod, with these containers running."""
    statuses = [{"containerID": each, "state": {"running": {}}} for each in containers]
    ended = {"containerID": "ended", "state": {"terminated": {}}}
    created: dict[str, Any] = {"state": {"waiting": {}}}
    return labelled("payments-0", version) | {"status": {"containerStatuses": [*statuses, ended, created]}}


def test_a_container_runs_since_the_first_version_that_tells_so() -> None:
    clock = count(100.0)
    store = Store(lambda: next(clock))
    store.put(POD, running(1))
    assert store.told_running(KEY) == {}
    store.put(POD, running(2, "a"))
    store.put(POD, running(3, "a", "b"))
    store.put(POD, running(2))  # told late
    assert store.told_running(KEY) == {"a": 101.0, "b": 102.0}
    store.put(POD, running(4, "b"))
    assert store.told_running(KEY) == {"b": 102.0}
    store.drop(POD, running(4))
    store.put(POD, running(5))
    assert store.told_running(KEY) == {}


def test_whoever_claims_the_same_kafka_group_hears_of_a_consumer_group_that_comes_or_is_to_go() -> None:
    store = Store()
    assert store.put(CONSUMER_GROUP, group_object(1)) == (KEY,)
    assert store.put(CONSUMER_GROUP, group_object(2, name=OTHER.name, groupId=KEY.name)) == (OTHER, KEY)
    assert store.claimants(KEY.name) == {KEY, OTHER}
    assert store.put(CONSUMER_GROUP, group_object(3, name=OTHER.name, groupId=KEY.name, replicas=7)) == (OTHER,)
    ending = group_object(4, name=OTHER.name, groupId=KEY.name, deletionPolicy="DeleteGroup")
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert store.put(CONSUMER_GROUP, ending) == (OTHER, KEY)
    assert store.claimants(KEY.name) == {KEY}
    assert store.drop(CONSUMER_GROUP, ending) == (OTHER,)
    assert store.drop(CONSUMER_GROUP, group_object(1)) == (KEY,)
    assert not store.claimants(KEY.name)


def test_one_that_is_deleted_and_retains_its_group_claims_it_until_it_is_gone() -> None:
    """It may be made again, and go on with its offsets."""
    store = Store()
    ending = group_object(1)
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    store.put(CONSUMER_GROUP, ending)
    assert store.claimants(KEY.name) == {KEY}
    store.drop(CONSUMER_GROUP, ending)
    assert not store.claimants(KEY.name)


def test_of_the_tenants_with_a_group_of_that_name_only_those_beside_it_hear_of_it_at_once() -> None:
    store = Store()
    store.put(CONSUMER_GROUP, group_object(1))
    elsewhere = group_object(2)
    elsewhere["metadata"]["namespace"] = "another"
    assert store.put(CONSUMER_GROUP, elsewhere) == (Key("another", KEY.name),)
    assert store.claimants(KEY.name) == {KEY, Key("another", KEY.name)}


def test_a_consumer_group_that_was_made_again_claims_what_it_asks_for_now() -> None:
    store = Store()
    store.put(CONSUMER_GROUP, group_object(1))
    store.put(CONSUMER_GROUP, group_object(1, name=OTHER.name, groupId="another"))
    again = group_object(2, groupId="another")
    again["metadata"]["uid"] = "again"
    assert store.put(CONSUMER_GROUP, again) == (KEY, OTHER)
    assert (store.claimants(KEY.name), store.claimants("another")) == (set(), {KEY, OTHER})


def test_of_very_many_in_one_namespace_each_learns_of_the_others_in_its_next_pass() -> None:
    """A tenant who makes thousands with one groupId would have all of them looked at for each."""
    store = Store()
    for number in range(RIVALS):
        store.put(CONSUMER_GROUP, group_object(1, name=f"reports-{number}", groupId=KEY.name))
    assert len(store.put(CONSUMER_GROUP, group_object(1, name="the-last", groupId=KEY.name))) == 1
    assert len(store.claimants(KEY.name)) == RIVALS + 1
    assert len(store.drop(CONSUMER_GROUP, group_object(1, name="the-last", groupId=KEY.name))) == 1 + RIVALS


def test_of_groups_that_are_gone_nothing_stays() -> None:
    """Whoever makes and deletes them for months must not fill the operator's memory."""
    store = Store()
    store.put(CONSUMER_GROUP, group_object(1, groupId="one"))
    store.put(CONSUMER_GROUP, group_object(2, groupId="two", connectionRef={"name": "another"}))
    store.drop(CONSUMER_GROUP, group_object(2))
    assert (store._claimants, store._claimants_in, store._users) == ({}, {}, {})


def test_pods_that_come_and_go_leave_nothing() -> None:
    store = Store()
    store.put(POD, running(1))
    store.drop(POD, running(2))
    assert store._pods_of == {}


def test_the_newest_version_is_that_of_all_that_ever_was_there() -> None:
    store = Store()
    store.put(CONSUMER_GROUP, group_object(7))
    store.put(CONSUMER_GROUP, group_object(9, name=OTHER.name))
    store.drop(CONSUMER_GROUP, group_object(9, name=OTHER.name))
    assert (store.newest(CONSUMER_GROUP), store.newest(POD)) == (9, 0)

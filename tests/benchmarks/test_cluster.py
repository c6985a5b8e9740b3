from __future__ import annotations

from typing import Any

import pytest

from benchmarks.scale.around import record
from benchmarks.scale.cluster import Change, Cluster, Refused, merged, patched, without
from benchmarks.scale.recorded import NAMESPACE, name_of
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, EVENT, KAFKA_CONNECTION, POD, SERVICE, STATEFUL_SET
from slackwater.api.annotations import FIELD_MANAGER, FINALIZER, GROUP_LABEL

NAME = name_of(0)
PLACE = (NAMESPACE, NAME)


def service(**spec: Any) -> dict[str, Any]:
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": {GROUP_LABEL: NAME}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def stateful_set(replicas: int) -> dict[str, Any]:
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": {GROUP_LABEL: NAME}}
    container = {"name": "consumer", "image": "consumer:1"}
    template = {"metadata": {"labels": {GROUP_LABEL: NAME}, "annotations": {}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}


def group_with(cluster: Cluster, pods: int = 0) -> dict[str, Any]:
    cluster.make_groups(1, pods)
    found = cluster.get(CONSUMER_GROUP, PLACE)
    assert found is not None
    return found


def status_of(group: dict[str, Any], **status: Any) -> dict[str, Any]:
    known = {part: group["metadata"][part] for part in ("name", "namespace", "uid", "resourceVersion")}
    return {"apiVersion": group["apiVersion"], "kind": "ConsumerGroup", "metadata": known, "status": status}


def test_what_is_applied_for_the_first_time_is_made() -> None:
    cluster = Cluster()
    made = cluster.apply(SERVICE, PLACE, service(clusterIP="None"), FIELD_MANAGER)
    assert made["spec"] == {"clusterIP": "None"}
    assert (made["metadata"]["generation"], bool(made["metadata"]["uid"])) == (1, True)
    assert [each.type for each in cluster.changes] == ["ADDED"]


def test_to_apply_the_same_again_makes_no_new_version() -> None:
    cluster = Cluster()
    first = cluster.apply(SERVICE, PLACE, service(clusterIP="None"), FIELD_MANAGER)
    assert cluster.apply(SERVICE, PLACE, service(clusterIP="None"), FIELD_MANAGER) == first
    assert len(cluster.changes) == 1


def test_a_changed_spec_is_another_generation_and_another_label_is_not() -> None:
    cluster = Cluster()
    cluster.apply(SERVICE, PLACE, service(clusterIP="None"), FIELD_MANAGER)
    labelled = service(clusterIP="None")
    labelled["metadata"]["labels"]["more"] = "1"
    assert cluster.apply(SERVICE, PLACE, labelled, FIELD_MANAGER)["metadata"]["generation"] == 1
    assert cluster.apply(SERVICE, PLACE, service(clusterIP=""), FIELD_MANAGER)["metadata"]["generation"] == 2


def test_a_field_that_its_manager_applies_no_more_is_gone_and_one_of_another_manager_stays() -> None:
    cluster = Cluster()
    cluster.apply(SERVICE, PLACE, service(clusterIP="None", type="ClusterIP"), FIELD_MANAGER)
    cluster.apply(SERVICE, PLACE, service(sessionAffinity="None"), "somebody")
    found = cluster.apply(SERVICE, PLACE, service(clusterIP="None"), FIELD_MANAGER)
    assert found["spec"] == {"clusterIP": "None", "sessionAffinity": "None"}


def test_managed_fields_say_who_wrote_which_part() -> None:
    cluster = Cluster()
    made = group_with(cluster)
    found = cluster.apply(CONSUMER_GROUP, PLACE, status_of(made, phase="Ready"), FIELD_MANAGER, "status")
    (entry,) = found["metadata"]["managedFields"]
    assert (entry["manager"], entry["subresource"]) == (FIELD_MANAGER, "status")
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}}}


@pytest.mark.parametrize("part", ["uid", "resourceVersion"])
def test_a_write_to_another_version_or_another_object_is_refused(part: str) -> None:
    cluster = Cluster()
    body = status_of(group_with(cluster), phase="Ready")
    body["metadata"][part] = "another"
    with pytest.raises(Refused) as refused:
        cluster.apply(CONSUMER_GROUP, PLACE, body, FIELD_MANAGER, "status")
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")


def test_a_status_of_nothing_is_refused() -> None:
    body: dict[str, Any] = {"metadata": {}, "status": {}}
    with pytest.raises(Refused, match="there is no ConsumerGroup"):
        Cluster().apply(CONSUMER_GROUP, PLACE, body, FIELD_MANAGER, "status")


def test_a_status_comes_by_its_own_way_only() -> None:
    cluster = Cluster()
    made = cluster.apply(SERVICE, PLACE, service(clusterIP="None") | {"status": {"loadBalancer": {}}}, FIELD_MANAGER)
    assert "status" not in made


def test_a_group_that_is_deleted_goes_with_its_last_finalizer() -> None:
    cluster = Cluster()
    group_with(cluster)
    cluster.merge(CONSUMER_GROUP, PLACE, {"metadata": {"finalizers": [FINALIZER]}}, "somebody")
    assert "deletionTimestamp" in cluster.delete(CONSUMER_GROUP, PLACE)["metadata"]
    cluster.merge(CONSUMER_GROUP, PLACE, {"metadata": {"finalizers": None}}, "somebody")
    assert cluster.get(CONSUMER_GROUP, PLACE) is None
    assert cluster.changes[-1].type == "DELETED"


def test_a_stateful_set_gets_its_pods_and_a_status() -> None:
    cluster = Cluster()
    cluster.apply(STATEFUL_SET, PLACE, stateful_set(2), FIELD_MANAGER)
    found = cluster.get(STATEFUL_SET, PLACE)
    assert found is not None
    assert found["status"]["readyReplicas"] == 2
    pods = cluster.select(POD, NAMESPACE, f"{GROUP_LABEL}={NAME}")
    assert [pod["metadata"]["name"] for pod in pods] == [f"{NAME}-0", f"{NAME}-1"]
    assert {pod["metadata"]["ownerReferences"][0]["uid"] for pod in pods} == {found["metadata"]["uid"]}


def test_a_group_is_whole_when_its_stateful_set_is_there_and_its_status_has_seen_its_spec() -> None:
    clock = iter(range(1_000))
    cluster = Cluster(now=lambda: float(next(clock)))
    made = group_with(cluster)
    group = cluster.groups[NAME]
    cluster.apply(CONSUMER_GROUP, PLACE, status_of(made, observedGeneration=0), FIELD_MANAGER, "status")
    assert (group.made_at, group.observed_at) == (None, None)
    cluster.apply(STATEFUL_SET, PLACE, stateful_set(0), FIELD_MANAGER)
    newest = cluster.get(CONSUMER_GROUP, PLACE)
    assert newest is not None
    cluster.apply(CONSUMER_GROUP, PLACE, status_of(newest, observedGeneration=1), FIELD_MANAGER, "status")
    assert group.made_at is not None
    assert group.observed_at is not None
    assert group.asked_at < group.made_at < group.observed_at


def test_all_groups_are_changed_at_once_and_have_yet_to_be_observed() -> None:
    cluster = Cluster()
    cluster.make_groups(2, 0)
    cluster.apply(STATEFUL_SET, PLACE, stateful_set(0), FIELD_MANAGER)
    cluster.change_groups(stable_for_s=2)
    groups = cluster.select(CONSUMER_GROUP)
    assert {(each["spec"]["rollout"]["stableFor"], each["metadata"]["generation"]) for each in groups} == {("2s", 2)}
    assert [group.observed_at for group in cluster.groups.values()] == [None, None]
    assert [group.made_at is not None for group in cluster.groups.values()] == [True, False]


async def test_what_is_filled_in_is_at_rest_and_has_all_that_belongs_to_it() -> None:
    cluster = Cluster()
    cluster.fill(await record(2), 3)
    assert cluster.counts() == {
        "ConsumerGroup": 3,
        "KafkaConnection": 1,
        "StatefulSet": 3,
        "Pod": 6,
        "Service": 3,
        "PodDisruptionBudget": 3,
    }
    assert {group["status"]["phase"] for group in cluster.select(CONSUMER_GROUP)} == {"Ready"}


def test_groups_share_one_connection_and_differ_in_name() -> None:
    cluster = Cluster()
    cluster.make_groups(3, 2)
    assert cluster.counts() == {CONSUMER_GROUP.name: 3, KAFKA_CONNECTION.name: 1}
    assert {each["spec"]["groupId"] for each in cluster.select(CONSUMER_GROUP)} == {name_of(n) for n in range(3)}
    assert len({each["metadata"]["uid"] for each in cluster.select(CONSUMER_GROUP)}) == 3


def test_a_watch_begins_after_the_version_that_it_names() -> None:
    cluster, heard = Cluster(), list[Change]()
    cluster.listener = heard.append
    first = cluster.apply(SERVICE, PLACE, service(clusterIP="None"), FIELD_MANAGER)
    cluster.create(EVENT, NAMESPACE, {"metadata": {"name": "said"}})
    cluster.apply(SERVICE, PLACE, service(clusterIP=""), FIELD_MANAGER)
    since = list(cluster.since(SERVICE, int(first["metadata"]["resourceVersion"])))
    assert [(each.kind, each.type) for each in since] == [(SERVICE, "MODIFIED")]
    assert [each.type for each in heard] == ["ADDED", "ADDED", "MODIFIED"]


def test_what_is_too_long_ago_has_to_be_listed() -> None:
    cluster = Cluster()
    cluster.changes = type(cluster.changes)(maxlen=1)
    for ip in ("1", "2", "3"):
        cluster.apply(SERVICE, PLACE, service(clusterIP=ip), FIELD_MANAGER)
    with pytest.raises(Refused) as refused:
        cluster.since(SERVICE, 1)
    assert refused.value.code == 410


def test_what_is_there_is_not_created_again() -> None:
    cluster = Cluster()
    cluster.create(EVENT, NAMESPACE, {"metadata": {"name": "said"}})
    with pytest.raises(Refused, match="is there"):
        cluster.create(EVENT, NAMESPACE, {"metadata": {"name": "said"}})


def test_mappings_are_merged_and_lists_replaced() -> None:
    assert merged({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}}) == {"a": {"b": 1, "c": [2]}}


def test_what_was_applied_before_and_is_no_more_goes_at_any_depth() -> None:
    there = {"a": {"b": 1, "c": 2, "d": 3}, "e": 4}
    assert without(there, {"a": {"b": 1, "c": 2}, "e": 4}, {"a": {"b": 1}}) == {"a": {"b": 1, "d": 3}}


def test_a_patch_sets_removes_and_leaves() -> None:
    assert patched({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": None, "e": 5}}) == {"a": {"c": 2, "e": 5}, "d": 3}

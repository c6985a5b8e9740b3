"""What is kept of objects, however large somebody makes them; and that what is read of them stays."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import (
    CONSUMER_FLEET,
    CONSUMER_GROUP,
    CONTROLLER_REVISION,
    EVENT,
    FLEET_CAMPAIGN,
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.adapters.cluster.runs import running_containers
from slackwater.adapters.cluster.translation import (
    controller_uid,
    group_of,
    has_run,
    to_pod,
    to_workload,
)
from slackwater.adapters.telemetry.pod_ends import PodEnds
from slackwater.api.annotations import GROUP_LABEL, PROMOTE, RESUME, TEMPLATE_HASH
from slackwater.api.compact import compact
from slackwater.api.errors import InvalidSpec
from slackwater.api.kept import PackedJson
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.core.fleet.campaign_object import read_campaign
from slackwater.ports import Kind
from slackwater.shell.fleet_objects import read_fleet
from tests.api.manifests import consumer_fleet
from tests.shell.campaign_stage import campaign_object
from tests.shell.fakes import connection_object, group_object

NAMED: Final = {"name": "payments-0", "namespace": "shop", "uid": "u", "resourceVersion": "7"}
OURS: Final = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "ConsumerGroup", "name": "payments", "uid": "g"}
MANY: Final = 60_000
WIDE: Final[dict[str, Any]] = {
    "labels": {GROUP_LABEL: "payments", **{f"a{number}": "" for number in range(MANY)}},
    "annotations": {f"a{number}": "" for number in range(MANY)},
    "managedFields": [{"fieldsV1": {f"f:a{number}": {} for number in range(MANY)}}],
    "ownerReferences": [{"uid": str(number)} for number in range(MANY)] + [{**OURS, "controller": True}],
}
LONG: Final = [{"name": "a"} for _ in range(90_000)]
SPECS: Final[list[tuple[Kind, dict[str, Any]]]] = [
    (CONSUMER_GROUP, {"groupId": "x", "template": {"spec": {"unknown": LONG}}}),
    (CONSUMER_FLEET, {"namespaces": ["*"], "selector": {"matchExpressions": LONG}}),
    (FLEET_CAMPAIGN, {"fleetRef": {"name": "platform"}, "waves": LONG}),
    (KAFKA_CONNECTION, {"bootstrapServers": "a:9092"}),
    (POD, {"containers": [{"name": "c", "env": LONG}], "readinessGates": LONG}),
    (STATEFUL_SET, {"replicas": 2, "selector": {"matchExpressions": LONG}, "template": {"spec": {"volumes": LONG}}}),
    (SERVICE, {"ports": LONG}),
    (POD_DISRUPTION_BUDGET, {"selector": {"matchExpressions": LONG}}),
]


@pytest.mark.parametrize(("kind", "spec"), SPECS, ids=[kind.name for kind, _ in SPECS])
def test_little_is_kept_of_what_is_large(kind: Kind, spec: dict[str, Any]) -> None:
    """Of fifteen of these the memory of a process would be full, and again after each start."""
    kept = lean(kind, {"kind": kind.name, "metadata": {**NAMED, **WIDE}, "spec": spec})
    assert len(json.dumps(kept)) < 3_000
    assert kept["metadata"].items() >= NAMED.items()
    if kind in (POD, STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET):
        assert group_of(kept) == "payments"


SMALL: Final[list[tuple[Kind, dict[str, Any]]]] = [
    (CONSUMER_GROUP, group_object()["spec"]),
    (CONSUMER_FLEET, consumer_fleet()["spec"]),
    (FLEET_CAMPAIGN, campaign_object(1)["spec"]),
    (KAFKA_CONNECTION, connection_object()["spec"]),
    (POD, {"containers": [{"name": "c"}]}),
    (STATEFUL_SET, {"replicas": 2, "template": {"metadata": {}, "spec": {"containers": [{"name": "c"}]}}}),
    (STATEFUL_SET, {"replicas": 2, "template": {"spec": {"containers": [{"name": "c", "env": LONG[:9_000]}]}}}),
    (SERVICE, {"ports": [{"port": 1}]}),
    (POD_DISRUPTION_BUDGET, {"maxUnavailable": 1}),
    (EVENT, {}),
    (CONTROLLER_REVISION, {}),
]


@pytest.mark.parametrize(("kind", "spec"), [*SPECS, *SMALL], ids=lambda each: getattr(each, "name", ""))
def test_what_is_kept_is_kept_again(kind: Kind, spec: dict[str, Any]) -> None:
    """kopf gets it of a list, and gives it to a handler as the object of an event: with a Packed in it, and no Lean."""
    kept = lean(kind, {"kind": kind.name, "metadata": NAMED, "spec": spec})
    assert lean(kind, {**kept}) == kept
    assert {**lean(kind, {**kept})} == {**kept}


def test_a_pod_is_read_as_before() -> None:
    pod: dict[str, Any] = {
        "metadata": {
            **NAMED,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {GROUP_LABEL: "payments", "controller-revision-hash": "payments-1", "app": "x"},
            "annotations": {TEMPLATE_HASH: "abc", "slackwater.dev/protocol": "Eager", "other": "y"},
            "ownerReferences": [{**OURS, "controller": True}],
        },
        "spec": {"readinessGates": [{"conditionType": "slackwater.dev/rejoined"}], "containers": [{"name": "c"}]},
        "status": {"conditions": [{"type": "slackwater.dev/rejoined", "status": "True"}], "podIP": "10.0.0.1"},
    }
    kept = lean(POD, pod)
    assert to_pod(kept, "c", "payments", 0, {}) == to_pod(pod, "c", "payments", 0, {})
    assert lean(POD, kept) is kept
    assert controller_uid(kept) == "g"
    assert lean(POD, kept) == kept


@pytest.mark.parametrize("kind", [SERVICE, POD_DISRUPTION_BUDGET], ids=lambda kind: kind.name)
def test_of_companions_that_are_not_small_little_is_kept(kind: Kind) -> None:
    """What we make has ten values; of forty thousand seven megabytes would be kept."""
    made = {"metadata": NAMED, "spec": {"selector": {f"a{number}": "" for number in range(1_000)}}}
    assert lean(kind, made)["spec"] == {}


@pytest.mark.parametrize("kind", [STATEFUL_SET, SERVICE, POD_DISRUPTION_BUDGET], ids=lambda kind: kind.name)
def test_what_the_operator_makes_is_kept_whole(kind: Kind) -> None:
    made = {
        "metadata": {**NAMED, "labels": {GROUP_LABEL: "payments"}, "ownerReferences": [OURS]},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "env": LONG[:300]}]}}},
    }
    assert lean(kind, made) == made


def test_a_large_template_is_kept_as_its_text_and_read_as_it_was() -> None:
    """Whoever may make StatefulSets may give ours as many fellows as he likes."""
    template = {
        "metadata": {"annotations": {TEMPLATE_HASH: "abc"}},
        "spec": {"containers": [{"name": "c", "env": LONG[:9_000]}]},
    }
    made = {"metadata": NAMED, "spec": {"replicas": 1, "template": template}}
    kept = lean(STATEFUL_SET, made)
    assert isinstance(kept["spec"]["template"], PackedJson)
    assert to_workload(kept) == to_workload(made)
    assert lean(STATEFUL_SET, kept) == kept


def test_who_writes_replicas_stays_known() -> None:
    others: dict[str, dict[str, str]] = {f"f:a{number}": {} for number in range(1_000)}
    managed = [
        {"manager": "slackwater", "fieldsV1": {"f:spec": others}},
        {"manager": "hpa", "fieldsV1": {"f:spec": {"f:replicas": {}, **others}}},
        {"manager": "nobody", "fieldsV1": None},
    ]
    made: dict[str, Any] = {"metadata": {**NAMED, "managedFields": managed}, "spec": {"template": {}}}
    kept = lean(STATEFUL_SET, made)
    assert to_workload(kept).replicas_by == to_workload(made).replicas_by == "hpa"
    assert len(json.dumps(kept)) < 500
    only = {"metadata": {**NAMED, "managedFields": managed[1:2]}, "spec": {"template": {}}}
    assert lean(STATEFUL_SET, made) == lean(STATEFUL_SET, only)
    assert "managedFields" not in lean(SERVICE, made)["metadata"]


ENDED: Final = {"terminated": {"startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:01:00Z"}}
STATUSES: Final[list[dict[str, Any]]] = [
    {},
    {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"},
    {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}]},
    {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]},
    {"initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 3}}}]},
    {"containerStatuses": None},
    {
        "phase": "Running",
        "podIP": "10.0.0.1",
        "hostIP": "10.1.0.1",
        "conditions": [
            {"type": each, "status": "True", "lastProbeTime": None, "lastTransitionTime": "2026-01-01T00:00:00Z"}
            for each in ("Ready", "ContainersReady", "PodScheduled")
        ],
        "containerStatuses": [
            {
                "name": name,
                "image": "long",
                "imageID": "longer",
                "ready": True,
                "started": False,
                "restartCount": 2,
                "containerID": f"containerd://{name}",
                "state": {"running": {"startedAt": "2026-01-01T00:02:00Z"}},
                "lastState": ENDED,
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
            }
            for name in ("c", "sidecar")
        ],
    },
]


@pytest.mark.parametrize("status", STATUSES)
def test_of_a_pod_s_status_all_stays_that_is_read(status: dict[str, Any]) -> None:
    pod = {"metadata": {**NAMED, "creationTimestamp": "2026-01-01T00:00:00Z"}, "status": status}
    kept = lean(POD, pod)
    told = {"containerd://c": 5.0}
    if status.get("containerStatuses", ()) is not None:
        assert to_pod(kept, "c", "payments", 0, told) == to_pod(pod, "c", "payments", 0, told)
        assert (has_run(kept), running_containers(kept)) == (has_run(pod), running_containers(pod))
    ends = []
    for seen in (pod, kept):
        known = PodEnds()
        known.take("group", seen)
        ends.append(known.of("group", "c"))
    assert ends[0] == ends[1]


def test_texts_that_are_said_again_are_kept_once() -> None:
    first, second = (lean(CONSUMER_GROUP, json.loads(json.dumps(group_object()))) for _ in range(2))
    assert first == second == group_object()
    assert first["spec"]["connectionRef"]["name"] is second["spec"]["connectionRef"]["name"]
    assert all(a is b for a, b in zip(first["spec"], second["spec"], strict=True))


def test_what_is_deeper_than_python_goes_is_kept_as_it_is() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    assert compact(deep) is deep


def test_a_connection_is_read_as_before() -> None:
    connection = connection_object()
    assert parse_kafka_connection(lean(KAFKA_CONNECTION, connection)).spec == parse_kafka_connection(connection).spec


def test_a_fleet_and_its_commands_are_read_as_before() -> None:
    fleet = consumer_fleet(pause="audit", selector={"matchLabels": {"team": "pay"}})
    fleet["metadata"] |= {**NAMED, "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"}
    fleet["metadata"]["annotations"] = {RESUME: "token", "other": "y"}
    kept = lean(CONSUMER_FLEET, fleet)
    assert read_fleet(kept, "slackwater") == read_fleet(fleet, "slackwater")
    assert (lean(CONSUMER_FLEET, kept), "other" in kept["metadata"]["annotations"]) == (kept, False)


def test_a_campaign_and_its_commands_are_read_as_before() -> None:
    campaign = campaign_object(7, paused=True)
    campaign["metadata"] |= {"generation": 3, "annotations": {PROMOTE: "token"}}
    kept = lean(FLEET_CAMPAIGN, campaign | {"status": {"phase": "Running"}})
    assert read_campaign(kept) == read_campaign(campaign | {"status": {"phase": "Running"}})
    assert lean(FLEET_CAMPAIGN, kept) == kept


def test_a_fleet_that_is_too_large_to_be_read_holds_whom_it_may_select() -> None:
    """As one with a slip in it: else more of it would lift a freeze."""
    fleet = consumer_fleet(namespaces=["shop"], selector={"matchExpressions": LONG})
    fleet["metadata"] |= NAMED
    for seen in (fleet, lean(CONSUMER_FLEET, fleet)):
        read = read_fleet(seen, own_namespace="shop")
        assert read.fleet.spec.namespaces == ("shop",)
        assert read.unread is not None
        assert "keep it to 262,144; select groups by fewer labels and values." in read.unread.message


@pytest.mark.parametrize("field", ["labels", "annotations", "finalizers", "ownerReferences"])
def test_a_group_of_many_entries_says_so(field: str) -> None:
    group = group_object()
    plain = dict.fromkeys(map(str, range(1_001)), "")
    owners = [{"apiVersion": "v1", "kind": "x", "name": "x", "uid": each} for each in plain]
    group["metadata"][field] = {"finalizers": list(plain), "ownerReferences": owners}.get(field, plain)
    for read in (group, lean(CONSUMER_GROUP, group)):
        with pytest.raises(InvalidSpec, match=rf"metadata\.{field} has 1,001 entries: keep it to 1,000\."):
            parse_consumer_group(read)

"""What is kept of objects, however large somebody makes them; and that what is read of them stays."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.lean import lean
from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    POD,
    POD_DISRUPTION_BUDGET,
    SERVICE,
    STATEFUL_SET,
)
from slackwater.adapters.cluster.translation import controller_uid, group_of, to_pod, to_workload
from slackwater.api.annotations import GROUP_LABEL, TEMPLATE_HASH
from slackwater.api.errors import InvalidSpec
from slackwater.api.kept import PackedJson
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.ports import Kind
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
    managed = [{"manager": "hpa", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    made: dict[str, Any] = {"metadata": {**NAMED, "managedFields": managed}, "spec": {"template": {}}}
    assert to_workload(lean(STATEFUL_SET, made)).replicas_by == "hpa"
    many = [{"manager": "m", "fieldsV1": {"f:spec": {f"f:{number}": {} for number in range(5_000)}}}]
    assert lean(STATEFUL_SET, {**made, "metadata": {**made["metadata"], "managedFields": many + managed}}) == made
    assert "managedFields" not in lean(SERVICE, made)["metadata"]


def test_a_connection_is_read_as_before() -> None:
    connection = connection_object()
    assert parse_kafka_connection(lean(KAFKA_CONNECTION, connection)).spec == parse_kafka_connection(connection).spec


@pytest.mark.parametrize("field", ["labels", "annotations", "finalizers", "ownerReferences"])
def test_a_group_of_many_entries_says_so(field: str) -> None:
    group = group_object()
    plain = dict.fromkeys(map(str, range(1_001)), "")
    owners = [{"apiVersion": "v1", "kind": "x", "name": "x", "uid": each} for each in plain]
    group["metadata"][field] = {"finalizers": list(plain), "ownerReferences": owners}.get(field, plain)
    for read in (group, lean(CONSUMER_GROUP, group)):
        with pytest.raises(InvalidSpec, match=rf"metadata\.{field} has 1,001 entries: keep it to 1,000\."):
            parse_consumer_group(read)

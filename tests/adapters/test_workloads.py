"""Whose a StatefulSet is, as the API server says it."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.translation import to_workload

CONTROLLER = {"kind": "ConsumerGroup", "name": "payments-alt", "uid": "u", "controller": True}
BYSTANDER = {"kind": "Application", "name": "shop", "uid": "a"}


@pytest.mark.parametrize(
    ("owners", "found"),
    [([BYSTANDER, CONTROLLER], ("u", "ConsumerGroup payments-alt")), ([BYSTANDER], ("", "")), ([], ("", ""))],
    ids=["a controller", "an owner that is none", "nobody"],
)
def test_it_belongs_to_its_controller(owners: list[dict[str, Any]], found: tuple[str, str]) -> None:
    metadata = {"name": "payments-alt", "uid": "s", "resourceVersion": "1", "ownerReferences": owners}
    workload = to_workload({"metadata": metadata, "spec": {"template": {}}})
    assert (workload.owner_uid, workload.owner) == found


def field_of(manager: str, *fields: str, subresource: str = "") -> dict[str, Any]:
    owned: dict[str, Any] = {"f:spec": {f"f:{each}": {} for each in fields}} if fields else {}
    return {"manager": manager, "subresource": subresource, "fieldsV1": owned}


@pytest.mark.parametrize(
    ("entries", "by"),
    [
        ([field_of("slackwater", "replicas", "template")], ""),
        (
            [field_of("slackwater", "template"), field_of("kube-controller-manager", "replicas")],
            "kube-controller-manager",
        ),
        ([field_of("slackwater", "replicas"), field_of("kubectl", "replicas")], ""),
        ([field_of("slackwater", "template"), field_of("kube-controller-manager")], ""),
        ([{"fieldsV1": field_of("", "replicas")["fieldsV1"]}], "somebody"),
        ([], ""),
        (None, ""),
    ],
    ids=["ours", "an autoscaler's", "both say the same", "nobody's", "no name", "not known", "not there"],
)
def test_who_wrote_the_number_of_pods(entries: list[dict[str, Any]] | None, by: str) -> None:
    metadata = {"name": "payments", "uid": "s", "resourceVersion": "1", "managedFields": entries}
    assert to_workload({"metadata": metadata, "spec": {"template": {}}}).replicas_by == by

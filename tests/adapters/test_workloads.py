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

"""What the API server refuses, by its answer: what passes by itself, and what somebody has to mend."""

from __future__ import annotations

import json

import pytest

from slackwater.adapters.cluster.errors import (
    ClusterFailed,
    ClusterRefused,
    ClusterUnreachable,
    Conflict,
    Forbidden,
    WebhookFailed,
)
from slackwater.adapters.cluster.refusals import refusal

MISSPELT = (
    "failed to create typed patch object (shop/orders; apps/v1, Kind=StatefulSet): "
    '.spec.template.spec.containers[name="consumer"].readynessProbe: field not declared in schema'
)
WEBHOOK = (
    'Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": failed to call webhook: Post '
    '"https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": dial tcp 10.96.1.2:443: connect: '
    "connection refused"
)


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (500, "etcdserver: leader changed", ClusterUnreachable),
        (500, MISSPELT, ClusterRefused),
        (500, WEBHOOK, WebhookFailed),
        (503, "not ready", ClusterUnreachable),
        (429, "too many requests", ClusterUnreachable),
        (422, "replicas: Invalid value", ClusterRefused),
        (409, "it has changed", Conflict),
        (403, "pods is forbidden", Forbidden),
    ],
)
def test_an_answer_is_a_fault_that_passes_or_a_refusal(status: int, message: str, error: type[ClusterFailed]) -> None:
    refused = refusal("PATCH …/statefulsets/orders", status, json.dumps({"message": message}).encode())
    assert type(refused) is error
    assert message in str(refused)

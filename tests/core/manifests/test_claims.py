"""Volume claims: what a StatefulSet is made with, what is the same, and what outlives what."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.manifests.claims import KEPT, claims_asked_for, has_the_claims_asked_for
from slackwater.core.manifests.objects import stateful_set
from slackwater.core.world.workload import UpdateStrategy
from tests.api.refusals import CLAIM
from tests.core.factories import group, workload

DELETE = {"whenDeleted": "Delete", "whenScaled": "Delete"}
LIVE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {**CLAIM["metadata"], "creationTimestamp": None},
    "spec": {**CLAIM["spec"], "volumeMode": "Filesystem"},
    "status": {"phase": "Pending"},
}
"""As the API server keeps it."""


def made(replicas: int = 3, fixed: dict[str, Any] | None = None, purpose: Purpose = Purpose.SCALE, **spec: Any) -> Any:
    version = "7" if fixed else ""
    act = WriteWorkload(purpose, {"spec": {}}, replicas, UpdateStrategy.ROLLING_UPDATE, 0, version)
    return stateful_set(group(**spec), act, fixed)["spec"]


def claim(name: str = "state", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {**CLAIM["spec"], **spec}}


def test_a_group_without_claims_has_a_stateful_set_without_a_word_of_them() -> None:
    assert not {"volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy"} & made().keys()


def test_a_stateful_set_is_made_with_the_claims_as_they_were_written() -> None:
    spec = made(volumeClaimTemplates=[CLAIM])
    assert spec["volumeClaimTemplates"] == [CLAIM]
    assert spec["persistentVolumeClaimRetentionPolicy"] == KEPT


def test_one_that_is_there_keeps_its_own() -> None:
    """Kubernetes refuses every write that would change them."""
    fixed = {"serviceName": "payments", "volumeClaimTemplates": [LIVE]}
    assert made(fixed=fixed, volumeClaimTemplates=[claim(storageClassName="fast")])["volumeClaimTemplates"] == [LIVE]


def test_one_that_was_made_without_gets_none() -> None:
    assert "volumeClaimTemplates" not in made(fixed={"serviceName": "payments"}, volumeClaimTemplates=[CLAIM])


@pytest.mark.parametrize(
    ("replicas", "purpose", "policy"),
    [
        (3, Purpose.RESTART, DELETE),
        (4, Purpose.SCALE, DELETE),
        (0, Purpose.DRAIN, {"whenDeleted": "Delete", "whenScaled": "Retain"}),
        (2, Purpose.SCALE, {"whenDeleted": "Delete", "whenScaled": "Retain"}),
        (3, Purpose.KEEP_CLAIMS, KEPT),
    ],
    ids=["at rest", "before a scale-down", "in a drain", "around an orphan", "before it is made again"],
)
def test_claims_of_pods_that_are_asked_for_outlive_them(replicas: int, purpose: Purpose, policy: Any) -> None:
    """A drain stops every pod for a moment: `whenScaled: Delete` means pods that people do not want any more."""
    spec = made(replicas, purpose=purpose, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=DELETE)
    assert spec["persistentVolumeClaimRetentionPolicy"] == policy


@pytest.mark.parametrize(
    ("live", "asked", "same"),
    [
        ([LIVE], [CLAIM], True),
        ([], [], True),
        ([], [CLAIM], False),
        ([LIVE], [], False),
        ([LIVE], [claim(storageClassName="fast")], False),
        ([LIVE], [claim(resources={"requests": {"storage": "2Gi"}})], False),
        ([LIVE, claim("cache")], [claim("cache"), CLAIM], True),
        ([LIVE, claim("cache")], [CLAIM], False),
    ],
    ids=["as filled in", "none", "one more", "one less", "of another class", "larger", "in another order", "fewer"],
)
def test_claims_are_the_same_whatever_the_api_server_filled_in(live: Any, asked: Any, same: bool) -> None:
    found = workload(fixed={"volumeClaimTemplates": live} if live else {})
    assert has_the_claims_asked_for(found, group(volumeClaimTemplates=asked)) is same
    assert claims_asked_for(group(volumeClaimTemplates=asked)) == asked

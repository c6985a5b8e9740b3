"""Giving a group's StatefulSet back: the ConsumerGroup goes, and StatefulSet, pods and members stay as they are.

It is `kubectl delete --cascade=orphan`, after a look at what would be left: in the middle of a rollout, pods of two
versions; in the middle of a warm handover, two StatefulSets.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import Snapshot
from slackwater.adapters.cluster.translation import REVISION_LABEL, controller_uid
from slackwater.api.annotations import REJOINED
from slackwater.cli.errors import CannotBeReleased, NotTakenUp
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import read_group
from slackwater.core.decision.words import count, listing, seconds
from slackwater.core.world.memory import read_memory

Json = Mapping[str, Any]

POLL_S: Final = 0.2
_LOOK_AGAIN: Final = 10
"""How often the group may change under our eyes: each write of its status does."""


async def release(api: KubernetesApi, place: Place, timeout_s: float) -> str:
    """An `Order`: delete the ConsumerGroup, and nothing else. Raises CannotBeReleased, and as `Order`."""
    for _ in range(_LOOK_AGAIN):
        snapshot = await read_group(api, *place)
        workload = the_one_that_stays(snapshot)
        metadata = snapshot.group["metadata"]
        try:
            await api.delete(
                CONSUMER_GROUP, *place, metadata["uid"], orphan=True, resource_version=metadata["resourceVersion"]
            )
        except Conflict:
            continue  # a rollout may just have begun: look again
        stays = f"{place.name}: StatefulSet {place.name} {_with_its_pods(workload)}"
        if timeout_s <= 0:
            return f"{stays} will be nobody's as soon as the operator lets the ConsumerGroup go"
        await _until_it_is_gone(api, place, metadata["uid"], timeout_s)
        await _check_it_stayed(api, place, workload)
        return f"{stays} is yours again, and runs on; it updates no pod until you lower its partition"
    raise Conflict(f"ConsumerGroup {place.name} changes all the time: try again once it is calm")


def the_one_that_stays(snapshot: Snapshot) -> Json:
    """The group's StatefulSet. Raises CannotBeReleased where something else than one whole version would be left."""
    group = snapshot.group
    metadata, status = group["metadata"], group.get("status") or {}
    name, where = metadata["name"], f"{metadata['name']} -n {metadata['namespace']}"
    theirs = [each for each in snapshot.workloads if controller_uid(each) == metadata["uid"]]
    if "deletionTimestamp" in metadata:
        raise CannotBeReleased(f"ConsumerGroup {name} is being deleted already: see kubectl describe cg {where}")
    if not theirs:
        raise CannotBeReleased(
            f"ConsumerGroup {name} has no StatefulSet that could stay: kubectl delete cg {where} removes it"
        )
    if status.get("observedGeneration") != metadata.get("generation"):
        raise CannotBeReleased(
            f"the operator has yet to look at the last change of ConsumerGroup {name}: wait until it is rolled out"
        )
    if read_memory(status).phase.under_way or len(theirs) > 1:
        raise CannotBeReleased(
            f"a rollout of ConsumerGroup {name} is under way, and pods of two versions would stay: wait for it with"
            f" kubectl slackwater status {where} --wait, or go back first with abort"
        )
    _check_one_version(snapshot, theirs[0])
    _check_gates(theirs[0])
    if (called := theirs[0]["metadata"]["name"]) != name:
        raise CannotBeReleased(
            f"the StatefulSet is called {called} after a warm handover, and nothing could adopt it again: roll out"
            f" once more with kubectl slackwater restart {where}, then release it"
        )
    return theirs[0]


def _check_gates(workload: Json) -> None:
    """Raises CannotBeReleased."""
    gates: Sequence[Json] = (workload["spec"]["template"].get("spec") or {}).get("readinessGates") or ()
    if any(each.get("conditionType") == REJOINED for each in gates):
        raise CannotBeReleased(
            f"its pods have the readiness gate {REJOINED}, which only the operator opens: none that starts later would"
            " be Ready; set spec.readinessGate to false, and release it once that is rolled out"
        )


def _check_one_version(snapshot: Snapshot, workload: Json) -> None:
    """A rollout that has failed stands still, with pods of both. Raises CannotBeReleased."""
    metadata, newest = snapshot.group["metadata"], (workload.get("status") or {}).get("updateRevision")
    mine = [each["metadata"] for each in snapshot.pods if controller_uid(each) == workload["metadata"]["uid"]]
    made_of = {each["name"]: (each.get("labels") or {}).get(REVISION_LABEL) for each in mine}
    versions = {*made_of.values()} | ({newest} if newest and mine else set())
    if len(versions) <= 1:
        return
    left = listing(sorted(name for name, version in made_of.items() if version != newest))
    raise CannotBeReleased(
        f"pods of two versions would stay ({left} not of the newest): wait until they are replaced, or go back first"
        f" with kubectl slackwater abort {metadata['name']} -n {metadata['namespace']}"
    )


def _with_its_pods(workload: Json) -> str:
    return f"with its {count(int(workload['spec'].get('replicas', 1)), 'pod')}"


async def _until_it_is_gone(api: KubernetesApi, place: Place, uid: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while (group := await api.read(CONSUMER_GROUP, *place)) is not None and group["metadata"]["uid"] == uid:
        if time.monotonic() >= deadline:
            raise NotTakenUp(
                f"ConsumerGroup {place.name} is to go, but the operator has not let go of it within"
                f" {seconds(timeout_s)}: see that it runs; StatefulSet and pods stay when it does"
            )
        await asyncio.sleep(POLL_S)


async def _check_it_stayed(api: KubernetesApi, place: Place, before: Json) -> None:
    """Raises Conflict where somebody deletes it, too: nobody should believe that it runs on."""
    now = await api.read(STATEFUL_SET, *place)
    if now is None or now["metadata"]["uid"] != before["metadata"]["uid"] or "deletionTimestamp" in now["metadata"]:
        raise Conflict(f"ConsumerGroup {place.name} is gone, and somebody has deleted its StatefulSet, too")

"""Going back to a version that the cluster still keeps: `spec.template` gets what that version's pods had.

What the operator puts into each template is taken out again. Other fields of the spec (topics, timeouts, membership,
protocol) stay as they are: as with `kubectl rollout undo`, it is the template that goes back.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION
from slackwater.adapters.cluster.snapshot import to_world
from slackwater.adapters.cluster.translation import revision_template
from slackwater.api.annotations import GROUP_LABEL, PAUSE
from slackwater.cli.errors import NothingToDo
from slackwater.cli.giving.one import Order
from slackwater.cli.giving.written import merge_unedited
from slackwater.cli.pictures.history import Version, versions_of
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import read_group
from slackwater.cli.undoing.template import merge_patch
from slackwater.cli.undoing.versions import Kept, chosen
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import gave_the_same
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import Unobserved

Json = Mapping[str, Any]

_MOST_SHOWN: Final = 4
_NOT_LOOKED: Final = "Kafka is not asked for this"


def undo(number: int | None) -> Order:
    """To revision `number`; None: to the newest that has another template than is asked for, and has not failed."""

    async def order(api: KubernetesApi, place: Place, timeout_s: float) -> str:
        group, kept = await _read(api, place)
        version = chosen(kept, number)
        differs, body = kept.differences(version), {"template": merge_patch(kept.before, kept.own(version))}
        await merge_unedited(api, CONSUMER_GROUP, group, {"spec": body})
        return (
            f"{place.name}: spec.template is that of revision {version.revision} again ({_in_words(version, differs)}),"
            f" and is rolled out{_when(group)}; what a GitOps tool keeps elsewhere is to go back there, too"
        )

    return order


def _when(group: Json) -> str:
    return " once you resume it" if PAUSE in (group["metadata"].get("annotations") or {}) else ""


async def _read(api: KubernetesApi, place: Place) -> tuple[Json, Kept]:
    """The group, and its versions. Raises NothingToDo, InvalidSpec and ClusterFailed."""
    snapshot = await read_group(api, *place)
    group = snapshot.group
    if "deletionTimestamp" in group["metadata"]:
        raise NothingToDo(f"ConsumerGroup {place.name} is being deleted: there is nothing to undo")
    revisions, _ = await api.list_all(CONTROLLER_REVISION, place.namespace, f"{GROUP_LABEL}={place.name}")
    versions = versions_of(group, snapshot.workloads, snapshot.pods, revisions)
    templates = {each["metadata"]["name"]: revision_template(each) for each in revisions}
    now = time.time()
    world = to_world(snapshot, Unobserved(Reason.OBSERVATION_INCOMPLETE, _NOT_LOOKED, now), GroupHistory(), now)
    return group, Kept(group["spec"]["template"], versions, templates, gave_the_same(world), _is_seen(group))


def _is_seen(group: Json) -> bool:
    status = group.get("status") or {}
    return status.get("observedGeneration") == group["metadata"]["generation"] and status.get("phase") != "Invalid"


def _in_words(version: Version, differs: Sequence[str]) -> str:
    fields = [field.removeprefix("spec.template.") for field in differs]
    more = f" and {len(fields) - _MOST_SHOWN} more" if len(fields) > _MOST_SHOWN else ""
    return f"image {version.image}; {', '.join(fields[:_MOST_SHOWN])}{more}"

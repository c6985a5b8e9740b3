"""Going back to a version that the cluster still keeps: `spec.template` gets what that version's pods had.

What the operator puts into each template is taken out again. Other fields of the spec (topics, timeouts, membership,
protocol) stay as they are: as with `kubectl rollout undo`, it is the template that goes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION
from slackwater.adapters.cluster.translation import revision_template
from slackwater.api.annotations import GROUP_LABEL
from slackwater.cli.errors import NoSuchRevision, NothingToDo
from slackwater.cli.giving.one import Order
from slackwater.cli.pictures.history import Version, Versions, versions_of
from slackwater.cli.planning.changes import changes
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import read_group
from slackwater.cli.undoing.template import merge_patch, own_part, without_defaults
from slackwater.core.decision.words import listing

Json = Mapping[str, Any]

_MOST_SHOWN: Final = 4


def undo(number: int | None) -> Order:
    """To revision `number`; None: to the one before what is asked for, of those that have not failed."""

    async def order(api: KubernetesApi, place: Place, timeout_s: float) -> str:
        snapshot = await read_group(api, *place)
        if "deletionTimestamp" in snapshot.group["metadata"]:
            raise NothingToDo(f"ConsumerGroup {place.name} is being deleted: there is nothing to undo")
        revisions, _ = await api.list_all(CONTROLLER_REVISION, place.namespace, f"{GROUP_LABEL}={place.name}")
        versions = versions_of(snapshot.group, snapshot.workloads, snapshot.pods, revisions)
        version = chosen(versions, number)
        kept = {each["metadata"]["name"]: revision_template(each) for each in revisions}
        before: Json = snapshot.group["spec"]["template"]
        now = next((kept[each.name] for each in versions.versions if each.wanted), {})
        template = without_defaults(own_part(kept[version.name], versions.group, before), before, now)
        differs = [each.field for each in changes(before, template, "spec.template")]
        if not differs:
            raise NothingToDo(
                f"{place.name} is as it was: spec.template is that of revision {version.revision} already"
            )
        body = {"spec": {"template": merge_patch(before, template)}}
        if await api.merge(CONSUMER_GROUP, snapshot.group, body, exact=True) is None:
            raise Conflict(f"ConsumerGroup {place.name} has just been deleted: there is nothing to undo")
        return (
            f"{place.name}: spec.template is that of revision {version.revision} again ({_in_words(version, differs)}),"
            " and is rolled out; what a GitOps tool keeps elsewhere is to go back there, too"
        )

    return order


def chosen(versions: Versions, number: int | None) -> Version:
    """Raises NothingToDo and NoSuchRevision."""
    name, kept = versions.group.name, versions.versions
    if number is not None:
        found = [each for each in kept if each.revision == number]
        if not found:
            numbers = listing(str(each.revision) for each in kept) or "none"
            raise NoSuchRevision(f"the cluster keeps no revision {number} of {name}, but {numbers}")
        version = found[-1]  # after a warm handover both StatefulSets may have one: the newer
    else:
        wanted = next((at for at, each in enumerate(kept) if each.wanted), len(kept))
        earlier = [each for each in kept[:wanted] if not each.failed]
        if not earlier:
            raise NoSuchRevision(f"the cluster keeps no earlier version of {name}: apply a manifest that works")
        version = earlier[-1]
    if version.wanted:
        raise NothingToDo(f"{name} is as it was: revision {version.revision} is what is asked for")
    return version


def _in_words(version: Version, differs: Sequence[str]) -> str:
    fields = [field.removeprefix("spec.template.") for field in differs]
    more = f" and {len(fields) - _MOST_SHOWN} more" if len(fields) > _MOST_SHOWN else ""
    return f"image {version.image}; {', '.join(fields[:_MOST_SHOWN])}{more}"

"""`slackwater history`: a group's versions, as the cluster keeps them. Pure.

A version is a ControllerRevision of the group's StatefulSet. Kubernetes keeps when it was made, not when it was rolled
out again after another one; of a StatefulSet that is gone, such as one handed over from, it keeps nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slackwater.adapters.cluster.translation import REVISION_LABEL, controller_uid, revision_template
from slackwater.api.annotations import TEMPLATE_HASH
from slackwater.api.parsing import parse_consumer_group
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timestamps import timestamp
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory
from slackwater.core.world.profile import profile_in

Json = Mapping[str, Any]


_NO_MORE: Final = """\
Of versions that no pod runs Kubernetes keeps 10 for each StatefulSet. When one of them was rolled out again,
and what a StatefulSet had that is gone, it does not keep."""


@dataclass(frozen=True, slots=True)
class Version:
    revision: int
    """Counted by the StatefulSet; a version that comes back gets the next number."""
    name: str
    """Of the ControllerRevision."""
    stateful_set: str
    made_at: str
    image: str
    protocol: str
    hash: str
    pods: int
    """How many run it."""
    wanted: bool
    """What the spec asks for."""
    last_good: bool
    """Where `abort` and a rollback go."""
    failed: bool


@dataclass(frozen=True, slots=True)
class Versions:
    group: ConsumerGroup
    memory: RolloutMemory
    versions: tuple[Version, ...]
    """The oldest first."""


def versions_of(group: Json, workloads: Sequence[Json], pods: Sequence[Json], revisions: Sequence[Json]) -> Versions:
    """From the API's objects. Raises InvalidSpec."""
    parsed, memory = parse_consumer_group(group), read_memory(group.get("status") or {})
    sets = {each["metadata"]["uid"]: each for each in workloads if controller_uid(each) == parsed.metadata.uid}
    running = Counter((controller_uid(pod), (pod["metadata"].get("labels") or {}).get(REVISION_LABEL)) for pod in pods)
    kept = [each for each in revisions if controller_uid(each) in sets]
    kept.sort(key=lambda each: (_made_at(sets[controller_uid(each)]), each["revision"]))
    versions = tuple(
        _version(
            each,
            sets[controller_uid(each)]["metadata"]["name"],
            running[controller_uid(each), each["metadata"]["name"]],
            parsed.spec.consumer_container.name,
            memory,
        )
        for each in kept
    )
    return Versions(parsed, memory, versions)


def history_document(found: Versions) -> dict[str, Any]:
    """Fields are added to it, never renamed. `rollout.startedAt`: of the last one, null where it is not known."""
    memory = found.memory
    return {
        "version": 1,
        "namespace": found.group.namespace,
        "name": found.group.name,
        "rollout": {
            "phase": memory.phase.value,
            "startedAt": None if memory.started_at is None else timestamp(memory.started_at),
            "message": memory.message,
        },
        "versions": [
            {
                "revision": each.revision,
                "name": each.name,
                "statefulSet": each.stateful_set,
                "madeAt": each.made_at,
                "image": each.image,
                "protocol": each.protocol,
                "templateHash": each.hash,
                "pods": each.pods,
                "wanted": each.wanted,
                "lastGood": each.last_good,
                "failed": each.failed,
            }
            for each in found.versions
        ],
    }


def history_picture(found: Versions) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("Revision", no_wrap=True, justify="right")
    for header in ("Name", "Made", "Image", "Protocol"):
        table.add_column(header, no_wrap=True)
    table.add_column("Pods", no_wrap=True, justify="right")
    table.add_column("", no_wrap=True)
    for each in found.versions:
        style = "red" if each.failed else "green" if each.last_good else ""
        cells = (str(each.revision), each.name, each.made_at, each.image, each.protocol or "own choice")
        table.add_row(*cells, str(each.pods or ""), Text(", ".join(_marks(each)), style))
    below = [Text(sentence, "dim") for sentence in _remarks(found)]
    return Group(*((table, Text()) if found.versions else ()), *below)


def _marks(version: Version) -> Iterator[str]:
    if version.wanted:
        yield "wanted"
    if version.last_good:
        yield "last good"
    if version.failed:
        yield "failed"


def _remarks(found: Versions) -> Iterator[str]:
    memory = found.memory
    if memory.phase is RolloutPhase.NONE:
        yield "The operator has rolled nothing out yet."
    else:
        began = f", begun {timestamp(int(memory.started_at))}" if memory.started_at is not None else ""
        why = f": {memory.message}" if memory.message else ""
        yield f"The last rollout is {memory.phase.value}{began}{why}."
    if memory.last_good_revision and not any(each.last_good for each in found.versions):
        yield f"The last good version, {memory.last_good_revision}, is not there any more: nothing can go back to it."
    if found.versions:
        yield _NO_MORE


def _version(revision: Json, stateful_set: str, pods: int, container: str, memory: RolloutMemory) -> Version:
    template, name = revision_template(revision), revision["metadata"]["name"]
    digest = ((template.get("metadata") or {}).get("annotations") or {}).get(TEMPLATE_HASH, "")
    image = next((c.get("image", "") for c in template["spec"]["containers"] if c["name"] == container), "")
    return Version(
        revision=revision["revision"],
        name=name,
        stateful_set=stateful_set,
        made_at=_made_at(revision),
        image=image,
        protocol=profile_in(template).value,
        hash=digest,
        pods=pods,
        wanted=bool(digest) and digest == memory.target_hash,
        last_good=name == memory.last_good_revision,
        failed=bool(digest) and digest in (memory.failed_hash, memory.given_up_before),
    )


def _made_at(obj: Json) -> str:
    """RFC 3339, which is sorted as time is."""
    return str(obj["metadata"].get("creationTimestamp", ""))

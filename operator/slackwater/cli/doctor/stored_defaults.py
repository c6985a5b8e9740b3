"""Values that nobody wrote: an earlier resource type put them into ConsumerGroups, where they pass for a team's own.

What a fleet gives does not count for such a field. Pure: from objects as the API server gives them, to findings.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slackwater.cli.doctor.findings import Finding, Mark
from slackwater.core.decision.words import listing
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.layers import said_by
from slackwater.core.fleet.seen import FleetSeen

Json = Mapping[str, Any]

OLD_DEFAULTS: Final[Mapping[str, Any]] = {
    "protocol.allowDowntime": False,
    "timeouts.mode": "Off",
    "rollout.strategy": "InPlace",
    "rollout.stableFor": "10s",
    "rollout.rejoinTimeout": "5m",
    "rollout.handover": "Overlapping",
    "rollout.onFailure": "Pause",
}
"""What the type wrote below `spec`, up to decision 18."""
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What an object has by a type's doing, by path below `spec`."""

    surely: tuple[str, ...]
    """Whoever applies the object does not say it."""
    perhaps: tuple[str, ...]
    """Nothing tells what was said by whoever made the object."""


def unsaid(obj: Json) -> Unsaid:
    """A value other than the type's was written by somebody. `managedFields` of updates prove nothing: whoever made the
    object is named there for all that was filled in, too."""
    found = [path for path, value in OLD_DEFAULTS.items() if _at(obj.get("spec") or {}, path) == value]
    said = _said(obj)
    if not said:
        return Unsaid((), tuple(found))
    return Unsaid(tuple(path for path in found if not any(_has(each, path) for each in said)), ())


def patch_of(paths: Iterable[str]) -> Json:
    """A merge patch that takes the values away. No pod changes by it: without them the same holds."""
    spec: dict[str, Any] = {}
    for path in paths:
        part, _, name = path.partition(".")
        spec.setdefault(part, {})[name] = None
    return {"spec": spec}


def stored_defaults(objects: Sequence[Json], given: Mapping[str, Sequence[str]]) -> list[Finding]:
    """`given`: by a group's `namespace/name`, the paths of which fleets that select it say something. Where none does,
    there is nothing to say: a group behaves the same with the value and without."""
    findings = []
    for obj in objects:
        namespace, name = obj["metadata"].get("namespace", "default"), obj["metadata"]["name"]
        fleets_say, found = set(given.get(f"{namespace}/{name}", ())), unsaid(obj)
        surely = [path for path in found.surely if path in fleets_say]
        perhaps = [path for path in found.perhaps if path in fleets_say]
        if surely or perhaps:
            findings.append(_finding(namespace, name, surely, perhaps))
    return findings


def given_to(objects: Sequence[Json], fleets: Iterable[FleetSeen]) -> dict[str, tuple[str, ...]]:
    """By a group's `namespace/name`, the paths of which fleets that select it say something."""
    says = [(each.fleet, tuple(said_by(each.fleet.spec.defaults))) for each in fleets if each.fleet.spec.defaults]
    given = dict[str, tuple[str, ...]]()
    for obj in objects if says else ():
        metadata = obj["metadata"]
        facts = GroupFacts(metadata["namespace"], metadata["name"], labels=metadata.get("labels") or {})
        if paths := tuple(path for fleet, said in says if fleet.selects(facts) for path in said):
            given[facts.key] = paths
    return given


def _finding(namespace: str, name: str, surely: Sequence[str], perhaps: Sequence[str]) -> Finding:
    paths = [*surely, *perhaps]
    values = listing(f"{path} {_in_words(OLD_DEFAULTS[path])}" for path in paths)
    whose = "which nobody wrote: an earlier resource type did" if surely else "as an earlier resource type wrote it"
    message = f"it has {values}, {whose}; what its fleets give there does not count for it"
    patch = shlex.quote(json.dumps(patch_of(paths), separators=(",", ":")))
    command = f"kubectl patch cg {name} -n {namespace} --type merge -p {patch}"
    remedy = f"take it away, which restarts no pod: {command}"
    remedy = remedy if surely else f"if its team does not mean to say so, {remedy}"
    return Finding(Mark.WARNING, f"ConsumerGroup {namespace}/{name}", message, remedy)


def _said(obj: Json) -> list[Json]:
    """What those say who apply the object; empty: nobody is known to."""
    metadata = obj["metadata"]
    applied = (metadata.get("annotations") or {}).get(_LAST_APPLIED)
    said: list[Json] = []
    if applied is not None:
        said.append(json.loads(applied).get("spec") or {})
    for entry in metadata.get("managedFields") or ():
        fields = (entry.get("fieldsV1") or {}).get("f:spec")
        if entry.get("operation") == "Apply" and not entry.get("subresource") and fields:
            said.append(_plain(fields))
    return said


def _plain(fields: Json) -> Json:
    """`{"f:rollout": {"f:stableFor": {}}}` as `{"rollout": {"stableFor": {}}}`."""
    return {key[2:]: _plain(value) for key, value in fields.items() if key.startswith("f:")}


def _at(spec: Json, path: str) -> Any:
    part, _, name = path.partition(".")
    return (spec.get(part) or {}).get(name)


def _has(spec: Json, path: str) -> bool:
    part, _, name = path.partition(".")
    return name in (spec.get(part) or {})


def _in_words(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)

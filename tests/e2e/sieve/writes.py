"""Which write a request to the API server is: its verb and resource, whose it is, and what it says.

Moments, versions and sentences for people are left out of what it says: a write that is tried again says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Mapping[str, Any]

_PLACE: Final = re.compile(r"/(?:api/v1|apis/[^/]+/[^/]+)/namespaces/[^/]+/([^/]+)(?:/([^/]+))?(?:/([^/]+))?")
_VERBS: Final = {"POST": "create", "PUT": "update", "DELETE": "delete"}
_PATCHES: Final = {"application/apply-patch+yaml": "apply", "application/merge-patch+json": "merge"}
_OF_A_HANDOVER: Final = ("ordinal", "to", "undone", "over", "cold", "fenced")


@dataclass(frozen=True, slots=True)
class Write:
    verb: str
    """create, update or delete; of a patch its type: apply or merge."""
    resource: str
    """With its subresource, such as consumergroups/status."""
    name: str
    says: str
    """What is remembered, made or taken away; `#` stands before what is another one in each group."""
    shows: str = ""
    """What a status says beside that: its conditions, by their reasons."""

    @property
    def row(self) -> str:
        return f"{self.verb} {self.resource}"

    @property
    def comes_back(self) -> bool:
        """A StatefulSet may become again what it was some steps before."""
        return self.resource == "statefulsets"


def recognised(method: str, path: str, content_type: str, body: bytes) -> Write | None:
    """None where nothing is written."""
    place = _PLACE.fullmatch(path)
    verb = _PATCHES.get(content_type, "patch") if method == "PATCH" else _VERBS.get(method)
    if place is None or verb is None:
        return None
    plural, name, subresource = place.groups(default="")
    said: Json = json.loads(body) if body else {}
    resource = f"{plural}/{subresource}" if subresource else plural
    if plural == "events":
        return Write(verb, resource, str(said["involvedObject"]["name"]), str(said["reason"]))
    if resource == "consumergroups/status":
        return Write(verb, resource, name, *_group_status(said["status"]))
    if subresource == "status":
        return Write(verb, resource, name, _conditions(said["status"]))
    if verb == "apply" and plural == "statefulsets":
        return Write(verb, resource, name, _stateful_set(said["spec"]))
    return Write(verb, resource, name or _name(said), _anything(said))


def _name(said: Json) -> str:
    return str((said.get("metadata") or {}).get("name", ""))


def _group_status(status: Json) -> tuple[str, str]:
    memory = status.get("rollout") or {}
    step, upgrade, handover = (memory.get(part) or {} for part in ("step", "upgrade", "handover"))
    said = [memory.get("phase"), f"#{memory.get('targetHash')}", memory.get("protocol"), upgrade.get("step")]
    said += [step.get("ordinal"), sorted(memory.get("released") or {}), memory.get("groupSettings")]
    said += [handover.get(each) for each in _OF_A_HANDOVER]
    said += [bool(handover.get("after")), sorted(status.get("commands") or {})]
    return " ".join(map(str, said)), f"{status.get('phase')} {_conditions(status)}"


def _conditions(status: Json) -> str:
    return " ".join(f"{c['type']}={c['status']}:{c['reason']}" for c in status.get("conditions") or ())


def _stateful_set(spec: Json) -> str:
    template = (spec["template"]["metadata"].get("annotations") or {}).get("slackwater.dev/template-hash")
    partition = (spec["updateStrategy"].get("rollingUpdate") or {}).get("partition")
    start = (spec.get("ordinals") or {}).get("start", 0)
    return f"{spec['replicas']} #{template} {partition} from {start}"


def _anything(said: Json) -> str:
    """A merge patch or the precondition of a deletion; of an object that is applied whole nothing."""
    if "preconditions" in said:
        return f"#{said['preconditions'].get('uid')}"
    if "kind" in said:
        return ""
    metadata = {key: value for key, value in (said.get("metadata") or {}).items() if key not in _OF_ONE_VERSION}
    return json.dumps({**said, "metadata": metadata}, sort_keys=True)


_OF_ONE_VERSION: Final = ("uid", "resourceVersion", "managedFields", "ownerReferences")

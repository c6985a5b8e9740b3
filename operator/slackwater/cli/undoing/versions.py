"""Which version to go back to, and what people wrote of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slackwater.cli.errors import NoSuchRevision, NothingToDo
from slackwater.cli.pictures.history import Version, Versions
from slackwater.cli.planning.changes import changes
from slackwater.cli.undoing.template import own_part, without_defaults
from slackwater.core.decision.words import listing

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a group asks for, and the versions of it that the cluster keeps."""

    before: Json
    """Its spec.template."""
    versions: Versions
    templates: Mapping[str, Json]
    """By the names of ControllerRevisions, as the API server keeps them."""
    is_begun: bool
    """The version that is `wanted` is known to be of that very spec: nobody has edited it since."""
    is_seen: bool
    """The operator has looked at that very spec, and refuses nothing in it."""

    def own(self, version: Version) -> Json:
        """What people wrote of its template. Raises NoSuchRevision."""
        now = next((self.templates[each.name] for each in self.versions.versions if each.wanted), {})
        found = own_part(self.templates[version.name], self.versions.group, self.before)
        own: Json = without_defaults(found, self.before, now if self.is_begun else {})
        return own

    def differences(self, version: Version) -> list[str]:
        """The fields in which its template is another than spec.template. Raises NoSuchRevision."""
        if version.wanted and self.is_begun:
            return []
        found = list(changes(self.before, self.own(version), "spec.template"))
        # What a fleet gives, or an operator that did not note it, hides whether that one is begun. What it has more is
        # what admission put into the StatefulSet, then.
        if version.wanted and self.is_seen and all(each.before is None for each in found):
            return []
        return [each.field for each in found]


def chosen(kept: Kept, number: int | None) -> Version:
    """That has this number; None: the newest whose template is another than spec.template, of those that have not
    failed. Kubernetes numbers a version that comes back anew, so that the one to go back to may be newer than the one
    that is asked for. Raises NothingToDo and NoSuchRevision."""
    name, there = kept.versions.group.name, kept.versions.versions
    if number is None:
        for each in reversed(there):
            if not each.failed and kept.differences(each):
                return each
        raise NoSuchRevision(f"the cluster keeps no earlier version of {name}: apply a manifest that works")
    found = [each for each in there if each.revision == number]
    if not found:
        numbers = listing(str(each.revision) for each in there) or "none"
        raise NoSuchRevision(f"the cluster keeps no revision {number} of {name}, but {numbers}")
    version = found[-1]  # after a warm handover both StatefulSets may have one: the newer
    if not kept.differences(version):
        revision = f"revision {number}"
        same = f"{revision} is what is asked for" if version.wanted else f"spec.template is that of {revision} already"
        raise NothingToDo(f"{name} is as it was: {same}")
    return version

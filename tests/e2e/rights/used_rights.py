"""What a release of the chart may do in Kubernetes, and what its operators did, in the same words."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from tests.chart.helm import Manifest, helm
from tests.e2e.stage.audit_log import Event

_ROLES: Final = ("Role", "ClusterRole")
_FORBIDDEN: Final = 403
_CREATED: Final = 201


class Right(NamedTuple):
    verb: str
    resource: str
    """With its sub-resource, and its API group behind it: consumergroups/status.slackwater.dev."""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


OF_ADMISSION: Final = Right("update", "consumergroups/finalizers.slackwater.dev")
"""No request: the admission plugin OwnerReferencesPermissionEnforcement asks whether it is granted, where it is on."""


def granted(release: str, namespace: str, kubeconfig: Path) -> set[Right]:
    """By all roles of an installed release together."""
    words = ("get", "manifest", release, f"--namespace={namespace}")
    return rights_of(yaml.safe_load_all(helm(*words, kubeconfig=kubeconfig)))


def rights_of(manifests: Iterable[Manifest | None]) -> set[Right]:
    """Of the roles that somebody is given; those for people are not the operator's."""
    there = [each for each in manifests if each]
    bound = {each["roleRef"]["name"] for each in there if each["kind"].endswith("RoleBinding")}
    roles = [each for each in there if each["kind"] in _ROLES and each["metadata"]["name"] in bound]
    assert roles, "no role is granted"
    return {
        Right(verb, _qualified(resource, group))
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def used(events: Iterable[Event]) -> set[Right]:
    """Every right that these requests took. What is no resource (versions and kinds of the API) is open to anyone."""
    return {right for event in events if "resource" in event.get("objectRef", {}) for right in _taken_by(event)}


def forbidden(events: Iterable[Event]) -> list[str]:
    """A sentence for each request that was."""
    return [f"{event['verb']} {event['requestURI']}" for event in events if _code(event) == _FORBIDDEN]


def _taken_by(event: Event) -> set[Right]:
    """To apply what is not there takes the right to create it as well; the log has it as a patch that created."""
    right = _right(event)
    applied_new = right.verb == "patch" and _code(event) == _CREATED
    return {right, right._replace(verb="create")} if applied_new else {right}


def _right(event: Event) -> Right:
    target = event["objectRef"]
    name = "/".join(part for part in (target["resource"], target.get("subresource")) if part)
    return Right(event["verb"], _qualified(name, target.get("apiGroup", "")))


def _qualified(resource: str, group: str) -> str:
    return f"{resource}.{group}" if group else resource


def _code(event: Event) -> int:
    code: int = event["responseStatus"]["code"]
    return code

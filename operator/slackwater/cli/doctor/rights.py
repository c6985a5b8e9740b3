"""Who may do what in Kubernetes: what the operator's service account needs, what the plugin's commands need. Pure.

The operator's needs are those of the chart's role; a test holds both equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from slackwater.api.annotations import GROUP
from slackwater.cli.doctor.findings import Finding, Mark, Unread, not_checked
from slackwater.core.decision.words import listing

_SOMEBODY_ELSE: Final = "have somebody run doctor who may create SubjectAccessReviews"


@dataclass(frozen=True, slots=True, order=True)
class Right:
    verb: str
    api_group: str
    """Empty for the core group."""
    resource: str
    subresource: str = ""

    @property
    def what(self) -> str:
        """`consumergroups/status.slackwater.dev`."""
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{resource}.{self.api_group}" if self.api_group else resource

    def attributes(self, namespace: str | None) -> dict[str, str]:
        """As an access review names it; None means in every namespace."""
        asked = {"verb": self.verb, "group": self.api_group, "resource": self.resource}
        if self.subresource:
            asked["subresource"] = self.subresource
        return asked | ({"namespace": namespace} if namespace else {})


def _rights(api_group: str, resource: str, verbs: str) -> tuple[Right, ...]:
    name, _, subresource = resource.partition("/")
    return tuple(Right(verb, api_group, name, subresource) for verb in verbs.split())


OPERATOR: Final = (
    *_rights(GROUP, "consumergroups", "get list watch patch"),
    *_rights(GROUP, "consumergroups/status", "patch"),
    *_rights(GROUP, "consumergroups/finalizers", "update"),
    *_rights(GROUP, "kafkaconnections", "get list watch"),
    *_rights(GROUP, "kafkaconnections/status", "patch"),
    *_rights(GROUP, "consumerfleets", "list watch"),
    *_rights(GROUP, "consumerfleets/status", "patch"),
    *_rights(GROUP, "fleetcampaigns", "list watch"),
    *_rights(GROUP, "fleetcampaigns/status", "patch"),
    *_rights("apps", "statefulsets", "get list watch create patch delete"),
    *_rights("apps", "controllerrevisions", "get"),
    *_rights("policy", "poddisruptionbudgets", "list watch create patch delete"),
    *_rights("", "services", "list watch create patch"),
    *_rights("", "pods", "get list watch delete"),
    *_rights("", "pods/status", "patch"),
    *_rights("", "events", "create list"),
)
"""In every namespace that it watches; equal to the chart's rules. Secrets are apart: it may be granted them by name."""
EVERYWHERE: Final = (
    *_rights(GROUP, "clusterkafkaconnections", "get list watch"),
    *_rights(GROUP, "clusterkafkaconnections/status", "patch"),
)
"""Besides, of the operator that watches all namespaces."""
(READ_SECRET,) = _rights("", "secrets", "get")


class Secret(NamedTuple):
    """One that a KafkaConnection names."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Purpose:
    """Commands that need the same rights, and how bad it is to lack them."""

    commands: str
    rights: tuple[Right, ...]
    lacking: Mark
    without: str
    """What does not work without them."""


PLUGIN: Final = (
    Purpose(
        "looking",
        (
            *_rights(GROUP, "consumergroups", "get list"),
            *_rights(GROUP, "kafkaconnections", "get"),
            *_rights("apps", "statefulsets", "get"),
            *_rights("apps", "controllerrevisions", "get"),
            *_rights("", "pods", "list"),
        ),
        Mark.MISSING,
        "list, status, why, members, lag, plan and observe do not work",
    ),
    Purpose(
        "steering",
        _rights(GROUP, "consumergroups", "patch"),
        Mark.MISSING,
        "pause, resume, promote, abort, retry, restart, force and approve do not work",
    ),
    Purpose(
        "asking Kafka from here",
        (READ_SECRET,),
        Mark.WARNING,
        "where a KafkaConnection names a Secret, members, lag and doctor --kafka do not work, and status, why and"
        " plan show only what the operator sees",
    ),
)


Allowed = Mapping[Right, bool]


def plugin_findings(allowed: Allowed | Unread, namespace: str | None) -> list[Finding]:
    """A line for each purpose. `allowed`: every right of PLUGIN."""
    if isinstance(allowed, Unread):
        return [not_checked("your rights", allowed)]
    return [_of_purpose(purpose, allowed, namespace) for purpose in PLUGIN]


def _of_purpose(purpose: Purpose, allowed: Allowed, namespace: str | None) -> Finding:
    subject, where = f"your rights: {purpose.commands}", place(namespace)
    lacking = [right for right in purpose.rights if not allowed[right]]
    if not lacking:
        return Finding(Mark.OK, subject, f"you may {in_words(purpose.rights)} {where}")
    message = f"you may not {in_words(lacking, 'or')} {where}: {purpose.without}"
    return Finding(purpose.lacking, subject, message, "ask for a role that allows it, or use another --context")


def operator_findings(account: str, allowed: Allowed | Unread, namespace: str | None) -> Finding:
    """The line about the operator's service account `<namespace>/<name>`, in one namespace it watches, or in all."""
    subject = f"rights of service account {account}"
    if isinstance(allowed, Unread):
        return not_checked(subject, allowed, _SOMEBODY_ELSE)
    lacking = [right for right, may in allowed.items() if not may]
    if not lacking:
        return Finding(Mark.OK, subject, f"it may do all that the operator does {place(namespace)}")
    message = f"it may not {in_words(lacking, 'or')} {place(namespace)}: the operator fails where it needs to"
    return Finding(Mark.MISSING, subject, message, "install the chart of this version again, or mend the role's rules")


def secrets_finding(account: str, allowed: Mapping[Secret, bool] | Unread) -> Finding:
    """Whether the operator may read what the KafkaConnections name."""
    subject = f"Secrets for service account {account}"
    if isinstance(allowed, Unread):
        return not_checked(subject, allowed, _SOMEBODY_ELSE)
    lacking = [secret for secret, may in allowed.items() if not may]
    if not lacking:
        return Finding(Mark.OK, subject, f"it may read those that KafkaConnections name: {_named(allowed)}")
    message = f"it may not read {_named(lacking)}, which a KafkaConnection names: the operator cannot log in to Kafka"
    return Finding(Mark.MISSING, subject, message, "let the operator's role get it: see the chart's values for Secrets")


def _named(secrets: Iterable[Secret]) -> str:
    return listing(f"{secret.namespace}/{secret.name}" for secret in secrets)


def in_words(rights: Iterable[Right], joint: str = "and") -> str:
    """`get and list consumergroups.slackwater.dev, list pods`."""
    verbs: dict[str, list[str]] = {}
    for right in rights:
        verbs.setdefault(right.what, []).append(right.verb)
    return listing((f"{_joined(each, joint)} {what}" for what, each in verbs.items()), most=8)


def place(namespace: str | None) -> str:
    return f"in namespace {namespace}" if namespace else "in every namespace"


def _joined(words: Sequence[str], joint: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"

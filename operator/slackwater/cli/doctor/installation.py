"""Whether what was installed is there, runs, and is of this version: the cluster, the CRDs, the operator. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.annotations import VERSION
from slackwater.api.crd import RESOURCES, Resource, custom_resource_definition
from slackwater.cli.doctor.findings import Finding, Mark, Unread, not_checked
from slackwater.core.decision.words import listing

Json = Mapping[str, Any]

OLDEST_KUBERNETES: Final = (1, 31)
"""The chart's `kubeVersion`, and F38: from here on `ordinals.start` of StatefulSets is stable."""
OPERATOR_SELECTOR: Final = "app.kubernetes.io/name=slackwater"
"""The chart's label on its Deployment."""
_VERSION_LABEL: Final = "app.kubernetes.io/version"
_NAMESPACE_VARIABLE: Final = "SLACKWATER_NAMESPACE"
_LEASE_VARIABLE: Final = "SLACKWATER_LEASE"
_INSTALL: Final = "install the chart"
_UPGRADE_CRDS: Final = (
    "bring them to this version: helm upgrade with its chart, or, where that has crds.install false, kubectl apply"
    " --server-side -f charts/slackwater/files/crds"
)


def cluster_finding(version: Json, host: str) -> Finding:
    """From the answer to `/version`."""
    named = str(version.get("gitVersion") or "an unnamed version")
    numbers = [re.match(r"\d+", str(version.get(part) or "")) for part in ("major", "minor")]  # a minor may be "31+"
    known = tuple(int(number.group()) for number in numbers if number is not None)
    what = f"Kubernetes {named} answers at {host}"
    if len(known) < len(OLDEST_KUBERNETES):
        why = Unread(f"Kubernetes at {host} does not say which version it is")
        return not_checked("cluster", why)
    if known < OLDEST_KUBERNETES:
        oldest = ".".join(map(str, OLDEST_KUBERNETES))
        message = f"{what}, which is older than {oldest}: warm handovers and some rules of the CRDs do not work there"
        return Finding(Mark.MISSING, "cluster", message, f"upgrade Kubernetes to {oldest} or newer")
    return Finding(Mark.OK, "cluster", what)


def crd_finding(resource: Resource, found: Json | Unread | None) -> Finding:
    """Whether the CRD that is there has all that this version writes and reads. None: there is none."""
    ours = custom_resource_definition(resource)
    subject = f"CRD {ours['metadata']['name']}"
    if isinstance(found, Unread):
        return not_checked(subject, found)
    if found is None:
        return Finding(Mark.MISSING, subject, f"it is not there: the cluster knows no {resource.kind}", _INSTALL)
    versions = {each["name"]: each for each in found["spec"]["versions"]}
    served = sorted(name for name, each in versions.items() if each.get("served"))
    if VERSION not in served:
        message = f"it serves {listing(served) or 'no version'}, and this slackwater speaks {VERSION}"
        return Finding(Mark.MISSING, subject, message, _UPGRADE_CRDS)
    lacking = sorted(
        set(field_paths(_schema(ours["spec"]["versions"][0]))) - set(field_paths(_schema(versions[VERSION])))
    )
    if lacking:
        message = f"it is of another version, for it lacks {listing(lacking)}: what one writes there is dropped"
        return Finding(Mark.MISSING, subject, message, _UPGRADE_CRDS)
    return Finding(Mark.OK, subject, f"it serves {listing(served)}, with every field that this version knows")


def crd_findings(found: Mapping[str, Json | Unread | None]) -> list[Finding]:
    """`found` by plural."""
    return [crd_finding(resource, found[resource.plural]) for resource in RESOURCES]


def _schema(version: Json) -> Json:
    schema: Json = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


def field_paths(schema: Json, prefix: str = "") -> Iterator[str]:
    """`spec.client.library`, ... of every field that a schema names, in lists and in maps as well."""
    for name, field in (schema.get("properties") or {}).items():
        path = f"{prefix}{name}"
        yield path
        yield from field_paths(field, f"{path}.")
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(inner, Mapping):
            yield from field_paths(inner, prefix)


@dataclass(frozen=True, slots=True)
class Operator:
    """One installation of the operator, as its Deployment says it."""

    name: str
    namespace: str
    service_account: str
    watched: tuple[str, ...]
    """Namespaces; empty when it is all of them."""
    lease: str
    """Of those that have the same one, only its holder acts."""
    version: str
    wanted: int
    ready: int

    def watches(self, namespace: str | None) -> bool:
        """All namespaces are watched only by one that watches all."""
        return not self.watched or namespace in self.watched

    def uses(self, connection: Json) -> bool:
        """What no namespace holds is used only by one that watches all of them."""
        return not self.watched or "namespace" in connection["metadata"]

    def contends_with(self, other: Operator) -> bool:
        """Both act on a group that both see, neither knowing of the other."""
        if (self.namespace, self.name) == (other.namespace, other.name) or (self.lease and self.lease == other.lease):
            return False
        return not self.watched or not other.watched or not set(self.watched).isdisjoint(other.watched)


def operators_in(deployments: Sequence[Json]) -> tuple[Operator, ...]:
    """Those of the chart's Deployments that run the operator."""
    return tuple(_operator(each) for each in deployments if _operator_container(each) is not None)


def _operator_container(deployment: Json) -> Json | None:
    containers: Sequence[Json] = deployment["spec"]["template"]["spec"]["containers"]
    return next((c for c in containers if c["name"] == "operator"), None)


def _operator(deployment: Json) -> Operator:
    metadata, spec = deployment["metadata"], deployment["spec"]
    variables = {e["name"]: e.get("value") or "" for e in (_operator_container(deployment) or {}).get("env") or ()}
    return Operator(
        name=metadata["name"],
        namespace=metadata["namespace"],
        service_account=spec["template"]["spec"].get("serviceAccountName") or "default",
        watched=tuple(name for name in re.split(r"[,\s]+", variables.get(_NAMESPACE_VARIABLE, "")) if name),
        lease=variables.get(_LEASE_VARIABLE, ""),
        version=(metadata.get("labels") or {}).get(_VERSION_LABEL) or "",
        wanted=spec.get("replicas", 1),
        ready=(deployment.get("status") or {}).get("readyReplicas") or 0,
    )


def operator_findings(found: Sequence[Operator] | Unread, namespace: str | None, our_version: str) -> list[Finding]:
    """Of those that watch `namespace`; None asks for one that watches all."""
    if isinstance(found, Unread):
        return [not_checked("operator", found)]
    if not found:
        message = f"there is no Deployment with the label {OPERATOR_SELECTOR} whose container is called operator"
        return [Finding(Mark.MISSING, "operator", f"{message}: nobody looks after ConsumerGroups", _INSTALL)]
    watching = [each for each in found if each.watches(namespace)]
    if not watching:
        names = listing(f"{each.namespace}/{each.name} watches {listing(each.watched)}" for each in found)
        where = f"namespace {namespace}" if namespace else "all namespaces"
        remedy = "set the chart's watchNamespaces, or install a second release for it"
        finding = Finding(Mark.MISSING, "operator", f"none watches {where}: {names}", remedy)
        return [finding, *_contenders(found, namespace)]
    return [*(_of_operator(each, our_version) for each in watching), *_contenders(found, namespace)]


def _contenders(found: Sequence[Operator], namespace: str | None) -> Iterator[Finding]:
    """One pod at a time is what each promises by itself: two restart two."""
    running = [each for each in found if each.wanted and (namespace is None or each.watches(namespace))]
    contending = [each for each in running if any(each.contends_with(other) for other in running)]
    if contending:
        where = f"namespace {namespace}" if namespace else "some of the same namespaces"
        names = listing(f"{each.namespace}/{each.name}" for each in contending)
        message = (
            f"{len(contending)} watch {where} ({names}): each acts on the same groups, and may restart a second pod"
        )
        remedy = "leave it to one of them: set watchNamespaces of the others, or uninstall them"
        yield Finding(Mark.MISSING, "operators", message, remedy)


def _of_operator(operator: Operator, our_version: str) -> Finding:
    subject = f"operator {operator.namespace}/{operator.name}"
    replicas = f"{operator.ready} of {operator.wanted} replicas ready"
    look = f"see why: kubectl describe pods -n {operator.namespace} -l {OPERATOR_SELECTOR}"
    if not operator.wanted:
        return Finding(Mark.MISSING, subject, "it is scaled to 0: nobody looks after ConsumerGroups", "scale it to 1")
    if not operator.ready:
        return Finding(Mark.MISSING, subject, f"{replicas}: nobody looks after ConsumerGroups", look)
    if operator.ready < operator.wanted:
        return Finding(Mark.WARNING, subject, f"{replicas}: it works, with less in reserve", look)
    if operator.version and operator.version != our_version:
        message = f"{replicas}; it is of version {operator.version}, and this command of {our_version}"
        return Finding(Mark.WARNING, subject, f"{message}: they may not mean the same", "upgrade the older of both")
    return Finding(Mark.OK, subject, f"{replicas}, version {operator.version or 'unknown'}")

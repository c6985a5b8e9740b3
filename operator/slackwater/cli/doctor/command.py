"""`slackwater doctor`: asks for every fact there is to have, and says what each comes to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Final

from rich.table import Table
from rich.text import Text

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused, KindMissing
from slackwater.adapters.cluster.paths import (
    CLUSTER_KAFKA_CONNECTION,
    CONSUMER_GROUP,
    KAFKA_CONNECTION,
    place_of_connection,
)
from slackwater.adapters.kafka.security import secret_names
from slackwater.api.crd import RESOURCES
from slackwater.api.errors import InvalidSpec
from slackwater.api.kafka_connection import prefixes_of
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor import installation, rights
from slackwater.cli.doctor.asking_cluster import (
    find_operators,
    operators_rights,
    operators_secrets,
    own_rights,
    read_budgets,
    read_definition,
    read_stored_defaults,
    selected_groups,
)
from slackwater.cli.doctor.asking_kafka import ask_kafka
from slackwater.cli.doctor.budgets import budget_findings
from slackwater.cli.doctor.connections import ConnectionFacts, connection_findings, no_connections
from slackwater.cli.doctor.findings import Finding, Mark, Unread, is_well, not_checked
from slackwater.cli.reaching.cluster import cluster, missing_namespace

Json = dict[str, Any]

_STYLES: Final = {Mark.OK: "green", Mark.WARNING: "yellow", Mark.MISSING: "bold red", Mark.NOT_CHECKED: "dim"}


async def examine(context: str | None, namespace: str | None, with_kafka: bool) -> list[Finding]:
    """Every finding about one namespace; about all when None. Raises ClusterFailed where the cluster does not answer.

    `with_kafka`: ask the brokers as well, with the credentials of each KafkaConnection.
    """
    async with cluster(context) as api:
        version_of_it = await api.version()
        connections = await _read_connections(api, namespace)
        return [
            installation.cluster_finding(version_of_it, api.host),
            *await _place(api, namespace),
            *await _definitions(api),
            *await _operators(api, namespace, connections),
            *rights.plugin_findings(await own_rights(api, namespace), namespace),
            *budget_findings(await read_budgets(api, namespace)),
            *await _connections(api, namespace, connections, with_kafka),
            *await read_stored_defaults(api, namespace),
        ]


async def _place(api: KubernetesApi, namespace: str | None) -> list[Finding]:
    """Nothing of a namespace that is there, or that one may not look for."""
    words = "" if namespace is None else await missing_namespace(api, namespace)
    return [Finding(Mark.MISSING, f"namespace {namespace}", words)] if words else []


async def _definitions(api: KubernetesApi) -> list[Finding]:
    plurals = [resource.plural for resource in RESOURCES]
    found = await asyncio.gather(*(read_definition(api, plural) for plural in plurals))
    return installation.crd_findings(dict(zip(plurals, found, strict=True)))


async def _operators(api: KubernetesApi, namespace: str | None, connections: Sequence[Json] | Unread) -> list[Finding]:
    found = await find_operators(api, namespace)
    findings = installation.operator_findings(found, namespace, version("slackwater"))
    if isinstance(found, Unread):
        return [*findings, not_checked("the operator's rights", Unread("it is not known as whom it runs"))]
    for operator in found:
        used = () if isinstance(connections, Unread) else [each for each in connections if operator.uses(each)]
        secrets = _secrets(used, operator.namespace)
        if operator.watches(namespace):
            place = namespace if operator.watched else None
            account = f"{operator.namespace}/{operator.service_account}"
            allowed = await operators_rights(api, operator, place)
            findings.append(rights.operator_findings(account, allowed, place))
            if secrets:
                findings.append(rights.secrets_finding(account, await operators_secrets(api, operator, secrets)))
    return findings


def _secrets(connections: Sequence[Json], own_namespace: str) -> list[rights.Secret]:
    """Those that they name; those of a ClusterKafkaConnection are in the operator's `own_namespace`. A connection that
    cannot be read is told of elsewhere: by the operator, and by --kafka."""
    named: set[rights.Secret] = set()
    for connection in connections:
        with suppress(InvalidSpec):
            names = secret_names(parse_kafka_connection(connection).spec)
            named |= {rights.Secret(connection["metadata"].get("namespace", own_namespace), name) for name in names}
    return sorted(named)


async def _read_connections(api: KubernetesApi, namespace: str | None) -> Sequence[Json] | Unread:
    try:
        found = (await api.list_all(KAFKA_CONNECTION, namespace))[0]
    except KindMissing as error:
        return Unread(str(error))
    except ClusterRefused:
        return Unread(f"you may not list them {rights.place(namespace)}")
    return (*found, *await _shared_connections(api, namespace))


async def _shared_connections(api: KubernetesApi, namespace: str | None) -> Sequence[Json]:
    """The ClusterKafkaConnections that a namespace may use, or all; none where one may not list them, as few may."""
    try:
        found = (await api.list_all(CLUSTER_KAFKA_CONNECTION, None))[0]
    except ClusterRefused:
        return ()
    return [each for each in found if namespace is None or prefixes_of(each, namespace) is not None]


async def _connections(
    api: KubernetesApi, namespace: str | None, connections: Sequence[Json] | Unread, with_kafka: bool
) -> list[Finding]:
    if isinstance(connections, Unread):
        return [not_checked("KafkaConnections", connections)]
    where = rights.place(namespace)
    try:
        objects, _ = await api.list_all(CONSUMER_GROUP, namespace)
    except KindMissing as error:
        return [not_checked("KafkaConnections", Unread(str(error)))]
    except ClusterRefused:
        return [not_checked("KafkaConnections", Unread(f"you may not list the ConsumerGroups {where}, which use them"))]
    groups, findings = _parsed(objects)
    if not connections:
        findings.append(no_connections(where))
    selected = await selected_groups(api, namespace, groups) if with_kafka else None
    for connection in connections:
        using = _users(connection, groups)
        kafka = await ask_kafka(api, connection, using) if with_kafka else None
        findings += connection_findings(ConnectionFacts(connection, using, kafka, selected))
    return findings


def _users(connection: Json, groups: Sequence[ConsumerGroup]) -> list[ConsumerGroup]:
    it = (connection["kind"], connection["metadata"].get("namespace", ""), connection["metadata"]["name"])
    places = ((each, place_of_connection(each)) for each in groups)
    return [each for each, (kind, namespace, name) in places if (kind.name, namespace, name) == it]


def _parsed(objects: Sequence[Json]) -> tuple[list[ConsumerGroup], list[Finding]]:
    groups: list[ConsumerGroup] = []
    findings: list[Finding] = []
    for obj in objects:
        try:
            groups.append(parse_consumer_group(obj))
        except InvalidSpec as error:
            subject = f"ConsumerGroup {obj['metadata']['namespace']}/{obj['metadata']['name']}"
            findings.append(Finding(Mark.MISSING, subject, "it is not valid: " + " ".join(error.problems).rstrip(".")))
    return groups, findings


def findings_document(findings: Sequence[Finding]) -> Json:
    """Fields are added to it, never renamed."""
    return {
        "well": is_well(findings),
        "findings": [
            {
                "result": finding.mark.value,
                "subject": finding.subject,
                "message": finding.message,
                "remedy": finding.remedy or None,
            }
            for finding in findings
        ],
    }


def findings_table(findings: Sequence[Finding]) -> Table:
    """A line each, however long."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    for _ in range(3):
        table.add_column(no_wrap=True)
    for finding in findings:
        remedy = f". {finding.remedy[:1].upper()}{finding.remedy[1:]}." if finding.remedy else ""
        mark = Text(finding.mark.value, _STYLES[finding.mark])
        table.add_row(mark, Text(finding.subject), Text(f"{finding.message}{remedy}"))
    return table

"""Asks the API server for the facts of the installation. What may not be read is an `Unread`, and never guessed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused, Forbidden, KindMissing
from slackwater.adapters.cluster.paths import (
    ACCESS_REVIEW,
    CONSUMER_FLEET,
    CONSUMER_GROUP,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    OWN_ACCESS_REVIEW,
    POD,
    POD_DISRUPTION_BUDGET,
)
from slackwater.api.annotations import API_VERSION, GROUP, GROUP_LABEL
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_fleet
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor.budgets import BudgetFacts
from slackwater.cli.doctor.findings import Finding, Unread
from slackwater.cli.doctor.installation import OPERATOR_SELECTOR, Operator, operators_in
from slackwater.cli.doctor.rights import EVERYWHERE, OPERATOR, PLUGIN, READ_SECRET, Allowed, Secret, place
from slackwater.cli.doctor.stored_defaults import given_to, stored_defaults
from slackwater.cli.errors import NotInstalled
from slackwater.cli.reaching.cluster import check_installed
from slackwater.core.fleet.facts import GroupFacts
from slackwater.core.fleet.seen import FleetSeen, fleet_seen
from slackwater.ports import Kind

Json = dict[str, Any]

_OF_ITS_OWN: Final = f"though the cluster knows {API_VERSION}, you may not read CustomResourceDefinitions"


async def read_definition(api: KubernetesApi, plural: str) -> Json | Unread | None:
    """A CRD; None where there is none. Raises ClusterFailed."""
    try:
        return await api.read(CUSTOM_RESOURCE_DEFINITION, "", f"{plural}.{GROUP}")
    except ClusterRefused:
        try:
            await check_installed(api)
        except NotInstalled:
            return None
        return Unread(_OF_ITS_OWN)


async def find_operators(api: KubernetesApi, namespace: str | None) -> Sequence[Operator] | Unread:
    """In every namespace; where that may not be read, in the given one. Raises ClusterFailed."""
    for where in (None, namespace) if namespace else (None,):
        try:
            found, _ = await api.list_all(DEPLOYMENT, where, OPERATOR_SELECTOR)
        except ClusterRefused:
            continue
        if where is None or operators_in(found):
            return operators_in(found)
    return Unread("you may not list the Deployments of every namespace, and so not find the operator's")


async def own_rights(api: KubernetesApi, namespace: str | None) -> Allowed | Unread:
    """Of whoever runs this command. Raises ClusterFailed."""
    rights = sorted({right for purpose in PLUGIN for right in purpose.rights})
    answers = await _reviewed(api, OWN_ACCESS_REVIEW, [right.attributes(namespace) for right in rights], {})
    return answers if isinstance(answers, Unread) else dict(zip(rights, answers, strict=True))


async def operators_rights(api: KubernetesApi, operator: Operator, namespace: str | None) -> Allowed | Unread:
    """Of its service account, but for Secrets. Raises ClusterFailed."""
    needed = OPERATOR if operator.watched else (*OPERATOR, *EVERYWHERE)
    asked = [right.attributes(namespace) for right in needed]
    answers = await _reviewed(api, ACCESS_REVIEW, asked, _account(operator))
    return answers if isinstance(answers, Unread) else dict(zip(needed, answers, strict=True))


async def operators_secrets(
    api: KubernetesApi, operator: Operator, secrets: Sequence[Secret]
) -> Mapping[Secret, bool] | Unread:
    """Which of them its service account may read, each by its name. Raises ClusterFailed."""
    asked = [READ_SECRET.attributes(secret.namespace) | {"name": secret.name} for secret in secrets]
    answers = await _reviewed(api, ACCESS_REVIEW, asked, _account(operator))
    return answers if isinstance(answers, Unread) else dict(zip(secrets, answers, strict=True))


async def read_budgets(api: KubernetesApi, namespace: str | None) -> BudgetFacts | Unread:
    """Pods of ConsumerGroups, and every PodDisruptionBudget that may select them. Raises ClusterFailed."""
    try:
        pods, _ = await api.list_all(POD, namespace, GROUP_LABEL)
        budgets, _ = await api.list_all(POD_DISRUPTION_BUDGET, namespace)
    except ClusterRefused:
        return Unread(f"you may not list {POD.plural} and {POD_DISRUPTION_BUDGET.plural} {place(namespace)}")
    return BudgetFacts(pods, budgets)


def _account(operator: Operator) -> Json:
    home = f"system:serviceaccounts:{operator.namespace}"
    return {
        "user": f"system:serviceaccount:{operator.namespace}:{operator.service_account}",
        "groups": ["system:serviceaccounts", home, "system:authenticated"],
    }


async def _reviewed(api: KubernetesApi, kind: Kind, asked: Sequence[dict[str, str]], who: Json) -> list[bool] | Unread:
    """An answer to each of `asked`, of which there is at least one."""

    async def is_allowed(attributes: dict[str, str]) -> bool:
        spec = {**who, "resourceAttributes": attributes}
        answer = await api.create(kind, "", {"apiVersion": kind.api_version, "kind": kind.name, "spec": spec})
        return bool(answer["status"]["allowed"])

    try:
        first = await is_allowed(asked[0])  # alone: whoever may not ask this, may ask none
    except ClusterRefused:
        return Unread(f"you may not create {kind.name}s")
    return [first, *await asyncio.gather(*map(is_allowed, asked[1:]))]


async def read_stored_defaults(api: KubernetesApi, namespace: str | None) -> list[Finding]:
    """Values that an earlier resource type wrote, where a fleet says something else. Nothing where fleets or groups
    cannot be read: other findings say so."""
    try:
        groups, _ = await api.list_all(CONSUMER_GROUP, namespace)
        fleets = await _fleets(api, namespace)
    except ClusterRefused:
        return []
    return stored_defaults(groups, given_to(groups, fleets))


async def selected_groups(
    api: KubernetesApi, namespace: str | None, groups: Sequence[ConsumerGroup]
) -> frozenset[str] | None:
    """Those that a ConsumerFleet selects, by `namespace/name`; None where fleets may not be listed."""
    try:
        fleets = await _fleets(api, namespace)
    except KindMissing:
        return frozenset()
    except ClusterRefused:
        return None
    facts = [GroupFacts(each.namespace, each.name, labels=each.metadata.labels) for each in groups]
    return frozenset(each.key for each in facts if any(fleet.fleet.selects(each) for fleet in fleets))


async def _fleets(api: KubernetesApi, namespace: str | None) -> list[FleetSeen]:
    """Those of other namespaces, too, where one may list them: they may select groups of this one."""
    try:
        found, _ = await api.list_all(CONSUMER_FLEET, None)
    except Forbidden:
        found, _ = await api.list_all(CONSUMER_FLEET, namespace)
    known: list[FleetSeen] = []
    for each in found:
        with suppress(InvalidSpec):
            known.append(fleet_seen(parse_consumer_fleet(each), time.time()))
    return known

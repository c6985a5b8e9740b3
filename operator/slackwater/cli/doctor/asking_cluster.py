"""Asks the API server for the facts of the installation. What may not be read is an `Unread`, and never guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.cluster.paths import (
    ACCESS_REVIEW,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    OWN_ACCESS_REVIEW,
    Kind,
)
from slackwater.api.annotations import API_VERSION, GROUP
from slackwater.cli.access import check_installed
from slackwater.cli.doctor.findings import Unread
from slackwater.cli.doctor.installation import OPERATOR_SELECTOR, Operator, operators_in
from slackwater.cli.doctor.rights import OPERATOR, PLUGIN, Allowed, Right
from slackwater.cli.errors import NotInstalled

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
    for place in (None, namespace) if namespace else (None,):
        try:
            found, _ = await api.list_all(DEPLOYMENT, place, OPERATOR_SELECTOR)
        except ClusterRefused:
            continue
        if place is None or operators_in(found):
            return operators_in(found)
    return Unread("you may not list the Deployments of every namespace, and so not find the operator's")


async def own_rights(api: KubernetesApi, namespace: str | None) -> Allowed | Unread:
    """Of whoever runs this command. Raises ClusterFailed."""
    rights = sorted({right for purpose in PLUGIN for right in purpose.rights})
    return await _reviewed(api, OWN_ACCESS_REVIEW, rights, namespace, {})


async def operators_rights(api: KubernetesApi, operator: Operator, namespace: str | None) -> Allowed | Unread:
    """Of its service account. Raises ClusterFailed."""
    home = f"system:serviceaccounts:{operator.namespace}"
    who = {
        "user": f"system:serviceaccount:{operator.namespace}:{operator.service_account}",
        "groups": ["system:serviceaccounts", home, "system:authenticated"],
    }
    return await _reviewed(api, ACCESS_REVIEW, OPERATOR, namespace, who)


async def _reviewed(
    api: KubernetesApi, kind: Kind, rights: Sequence[Right], namespace: str | None, who: Json
) -> Allowed | Unread:
    async def is_allowed(right: Right) -> bool:
        spec = {**who, "resourceAttributes": right.attributes(namespace)}
        answer = await api.create(kind, "", {"apiVersion": kind.api_version, "kind": kind.name, "spec": spec})
        return bool(answer["status"]["allowed"])

    try:
        first = await is_allowed(rights[0])  # alone: whoever may not ask this, may ask none
    except ClusterRefused:
        return Unread(f"you may not create {kind.name}s")
    others = await asyncio.gather(*map(is_allowed, rights[1:]))
    return dict(zip(rights, (first, *others), strict=True))

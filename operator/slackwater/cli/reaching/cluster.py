"""Reaching the cluster that the person means, and the ConsumerGroup there by its name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from difflib import get_close_matches
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.credentials import is_from_a_pod
from slackwater.adapters.cluster.errors import (
    ClusterFailed,
    ClusterRefused,
    ClusterUnreachable,
    Forbidden,
    KindMissing,
    NotLetIn,
)
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, NAMESPACE
from slackwater.adapters.cluster.snapshot import Snapshot, read_snapshot
from slackwater.api.annotations import API_VERSION
from slackwater.cli.errors import NoSuchGroup, NoSuchNamespace, NotInstalled
from slackwater.cli.reaching.kubeconfig import read_kubeconfig
from slackwater.core.decision.words import listing
from slackwater.ports import Kind

_DISCOVERY: Final = Kind(API_VERSION, "APIResourceList", "")
"""Its path is that of the API group itself, which everybody may read."""


@asynccontextmanager
async def cluster(context: str | None) -> AsyncIterator[KubernetesApi]:
    """The API server of `context`; of the kubeconfig's current one when None. Raises ClusterRefused."""
    check_kubeconfig(context)
    try:
        api = await KubernetesApi.connect(context)
    except (OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        # The kubernetes package reads the rest of a kubeconfig without checking it.
        what = str(error).partition("\n")[0] or type(error).__name__
        raise ClusterRefused(f"the kubeconfig cannot be used ({what}): correct it, or set KUBECONFIG") from error
    try:
        yield api
    except KindMissing as error:
        await check_installed(api)
        raise NotInstalled(
            f"{error.words}, so its Slackwater is older: upgrade its chart, or use another --context"
        ) from error
    except (ClusterUnreachable, Forbidden, NotLetIn) as error:
        raise advised(error) from error
    finally:
        await api.close()


def check_kubeconfig(context: str | None) -> None:
    """It has sentences for what can be wrong. Raises ClusterRefused."""
    if not is_from_a_pod(context):
        read_kubeconfig().context(context)


def advised(error: ClusterFailed) -> ClusterFailed:
    """The same with what the person can do, where there is anything."""
    if isinstance(error, ClusterUnreachable):
        return ClusterUnreachable(f"{error}: see that the cluster runs, and that --context and KUBECONFIG fit")
    if isinstance(error, Forbidden | NotLetIn):
        return ClusterRefused(f"{error}: {way_out(error)}, or use another --context")
    return error


def way_out(error: Forbidden | NotLetIn) -> str:
    """What whoever was refused can do."""
    if isinstance(error, NotLetIn):
        return "log in again, for the credentials are missing, wrong or expired"
    return "ask for a role that allows it"


async def read_group(api: KubernetesApi, namespace: str, name: str) -> Snapshot:
    """The group with everything around it. Raises NoSuchGroup, NotInstalled and ClusterFailed."""
    snapshot = await read_snapshot(api, namespace, name)
    if snapshot is None:
        await check_installed(api)
        raise NoSuchGroup(await _who_is_there(api, namespace, name))
    return snapshot


async def read_group_object(api: KubernetesApi, namespace: str, name: str) -> Mapping[str, Any]:
    """The group alone. Raises NoSuchGroup, NotInstalled and ClusterFailed."""
    found = await api.read(CONSUMER_GROUP, namespace, name)
    if found is None:
        await check_installed(api)
        raise NoSuchGroup(await _who_is_there(api, namespace, name))
    return found


async def check_installed(api: KubernetesApi) -> None:
    """Raises NotInstalled where the cluster does not know our resource types."""
    if await api.read(_DISCOVERY, "", "") is None:
        raise not_installed()


def not_installed() -> NotInstalled:
    message = f"the cluster does not know {API_VERSION}, so Slackwater is not installed there: install its chart,"
    return NotInstalled(f"{message} or use another --context")


async def check_namespace(api: KubernetesApi, namespace: str) -> None:
    """Raises NoSuchNamespace; passes where one may not look."""
    if words := await missing_namespace(api, namespace):
        raise NoSuchNamespace(words)


async def missing_namespace(api: KubernetesApi, namespace: str) -> str:
    """That there is none of that name; empty where there is, or where one may not look."""
    try:
        found, _ = await api.list_all(NAMESPACE, None)
    except ClusterRefused:
        return ""
    names = [item["metadata"]["name"] for item in found]
    if namespace in names:
        return ""
    close = get_close_matches(namespace, names, n=1)
    hint = f"did you mean {close[0]}?" if close else "create it, or choose another with -n"
    return f"there is no namespace {namespace}: {hint}"


async def _who_is_there(api: KubernetesApi, namespace: str, name: str) -> str:
    there = f"there is no ConsumerGroup {name} in namespace {namespace}"
    try:
        found, _ = await api.list_all(CONSUMER_GROUP, None)
    except ClusterRefused:
        found, _ = await api.list_all(CONSUMER_GROUP, namespace)
    here = sorted(item["metadata"]["name"] for item in found if item["metadata"]["namespace"] == namespace)
    elsewhere = sorted(item["metadata"]["namespace"] for item in found if item["metadata"]["name"] == name)
    if elsewhere:
        return f"{there}, but there is one in {listing(elsewhere)}: use -n {elsewhere[0]}"
    if close := get_close_matches(name, here, n=1):
        return f"{there}: did you mean {close[0]}?"
    if here:
        return f"{there}: there {'is' if len(here) == 1 else 'are'} {listing(here)}"
    return await missing_namespace(api, namespace) or f"{there}: there is none at all, so apply one or choose -n"

"""`slackwater import`: reads a workload, and prints the manifests that stand for it. Changes nothing."""

from __future__ import annotations

import asyncio
from difflib import get_close_matches

from slackwater.adapters.cluster.errors import KindMissing
from slackwater.adapters.cluster.paths import DEPLOYMENT, KAFKA_CONNECTION, STATEFUL_SET
from slackwater.cli.errors import CannotBeImported
from slackwater.cli.importing.manifest import Imported, Said, imported
from slackwater.cli.options import in_yaml
from slackwater.cli.reaching.cluster import cluster, missing_namespace, not_installed
from slackwater.core.decision.words import listing
from slackwater.ports import Kind
from slackwater.terminal import one_line


async def read_and_import(context: str | None, namespace: str, kind_name: str, name: str, said: Said) -> Imported:
    """`kind_name`: of `kind_of`. Raises ClusterFailed, NotInstalled and what `imported` raises."""
    kind = kind_of(kind_name)
    async with cluster(context) as api:
        workload = await api.read(kind, namespace, name)
        if workload is None:
            found, _ = await api.list_all(kind, namespace)
            there = [each["metadata"]["name"] for each in found]
            nowhere = "" if there else await missing_namespace(api, namespace)
            raise CannotBeImported(nowhere or _who_is_there(kind, namespace, name, there))
        try:
            connections, _ = await api.list_all(KAFKA_CONNECTION, namespace)
        except KindMissing as error:
            raise not_installed() from error
    return imported({"kind": kind.name, **workload}, said, connections)


def kind_of(word: str) -> Kind:
    """As kubectl takes it: in any case, in the plural, or short. KeyError for any other."""
    words = {"sts": STATEFUL_SET, "deploy": DEPLOYMENT}
    for kind in (STATEFUL_SET, DEPLOYMENT):
        words |= {kind.name.lower(): kind, kind.plural: kind}
    return words[word.lower()]


def as_text(what: str, result: Imported) -> str:
    """The manifests, with what is not in them as comments above.

    Remarks quote what the workload's authors wrote: with a line of its own, that would be a manifest of theirs.
    """
    comments = [f"# Made from {one_line(what)} by slackwater import. Read it before you apply it."]
    comments += [f"# - {one_line(remark)}" for remark in result.remarks]
    return "\n".join([*comments, "\n---\n".join(in_yaml(document) for document in result.documents)])


def consequences(kind: Kind, name: str, result: Imported) -> list[str]:
    """What applying it means for the pods that run, a line each."""
    return [one_line(words) for words in _consequences(kind, name, result)]


def _consequences(kind: Kind, name: str, result: Imported) -> list[str]:
    settings = f"{result.env_prefix}GROUP_ID, {result.env_prefix}GROUP_INSTANCE_ID, ..."
    told = [
        f"The pods get their client settings from the operator ({settings}): see that the program reads them.",
        f"Members of group {result.group_id} become static, unless you set spec.membership to Dynamic.",
        *(f"Not taken over as it was: {remark}." for remark in result.remarks),
    ]
    if kind is STATEFUL_SET:
        return [
            f"Applying it alone restarts no pod: the operator waits while a StatefulSet {name} is there that is not its"
            f" own. Then kubectl slackwater adopt {name} takes that over, with its {_pods(result)} as they run.",
            *told,
        ]
    return [
        f"Applying it starts {_pods(result)} of a StatefulSet {name} beside those of the Deployment, and both consume."
        f" Delete the Deployment, or scale it to 0, first: its pods end, and each consumer starts again.",
        *told,
    ]


def _pods(result: Imported) -> str:
    return "1 pod" if result.replicas == 1 else f"{result.replicas} pods"


def _who_is_there(kind: Kind, namespace: str, name: str, there: list[str]) -> str:
    message = f"there is no {kind.name} {name} in namespace {namespace}"
    if close := get_close_matches(name, there, n=1):
        return f"{message}: did you mean {close[0]}?"
    return f"{message}: " + (f"there are {listing(sorted(there))}" if there else "there is none at all, so choose -n")


def run(context: str | None, namespace: str, kind_name: str, name: str, said: Said) -> tuple[str, list[str]]:
    """What to print on standard output, and the lines for standard error."""
    result = asyncio.run(read_and_import(context, namespace, kind_name, name, said))
    kind = kind_of(kind_name)
    return as_text(f"{kind.name} {namespace}/{name}", result), consequences(kind, name, result)

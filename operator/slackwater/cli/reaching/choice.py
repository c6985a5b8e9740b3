"""Which ConsumerGroups a command is about: those that are named, or all that labels choose, in one namespace or all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import KindMissing
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.cli.errors import NoSuchGroup
from slackwater.cli.reaching.cluster import check_namespace, cluster, not_installed
from slackwater.cli.reaching.kubeconfig import namespace_of


class Place(NamedTuple):
    """Where a ConsumerGroup stands."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Choice:
    """As it was typed, and checked. Either `names`, or all groups that `selector` chooses; an empty one chooses all."""

    context: str | None = None
    namespace: str | None = None
    """The context's when None."""
    names: tuple[str, ...] = ()
    selector: str = ""
    everywhere: bool = False

    @property
    def one(self) -> Place | None:
        """The one group that is named, where it is one. Raises ClusterRefused."""
        return self.named[0] if len(self.names) == 1 else None

    @property
    def named(self) -> tuple[Place, ...]:
        """Raises ClusterRefused."""
        return tuple(Place(self.place, name) for name in self.names)

    @property
    def place(self) -> str:
        """Raises ClusterRefused."""
        return self.namespace or namespace_of(self.context)


async def chosen(choice: Choice) -> tuple[Place, ...]:
    """One at least: as they are named, or in the order of their names.

    Raises NoSuchGroup where there is none, NoSuchNamespace, NotInstalled and ClusterFailed.
    """
    if choice.names:
        return choice.named
    place = None if choice.everywhere else choice.place
    async with cluster(choice.context) as api:
        found = await _find(api, place, choice.selector)
        if not found and place is not None:
            await check_namespace(api, place)
    if not found:
        where = "in any namespace" if place is None else f"in namespace {place}"
        what = f"has labels {choice.selector}" if choice.selector else "is there"
        raise NoSuchGroup(f"no ConsumerGroup {where} {what}: slackwater list shows which there are")
    return found


async def _find(api: KubernetesApi, namespace: str | None, selector: str) -> tuple[Place, ...]:
    try:
        found, _ = await api.list_all(CONSUMER_GROUP, namespace, selector)
    except KindMissing as error:
        raise not_installed() from error
    return tuple(sorted(Place(each["metadata"]["namespace"], each["metadata"]["name"]) for each in found))

"""What the shell needs from the world outside, as protocols: adapters implement them, tests fake them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from slackwater.api.resources import Connection
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity
from slackwater.core.world.broker import BrokerFacts
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.observation import KafkaView, MemberRef, Unobserved

Json = dict[str, Any]
Secrets = Mapping[str, Mapping[str, bytes]]
"""By name, and then by key."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object; those that no namespace holds are read with the namespace ""."""

    api_version: str
    name: str
    plural: str

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """Without a namespace: all namespaces. Without a name: the collection."""
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        parts = [root, *(("namespaces", namespace) if namespace else ()), self.plural, name, subresource]
        return "/".join(part for part in parts if part)


class Cluster(Protocol):
    """The Kubernetes API: plain JSON objects in and out.

    Every verb raises `ClusterFailed`: `Conflict` where the object has changed under the decision, `ClusterRefused` for
    what is not allowed, `ClusterUnreachable` without an answer.
    """

    @property
    def before_write(self) -> Callable[[], float]:
        """Called right before each request that changes something: returns within how many seconds it has to be
        answered, and raises SlackwaterError where it must not go out."""
        ...

    async def read(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """The object, or None when there is none."""
        ...

    async def list_all(
        self, kind: Kind, namespace: str | None, label_selector: str = ""
    ) -> tuple[tuple[Json, ...], int]:
        """The objects, and the resource version of the list: what is older and not in it is gone."""
        ...

    async def events_of(self, namespace: str, uid: str, reason: str) -> tuple[Json, ...]:
        """The Events with this reason about the object that has the uid."""
        ...

    async def apply(self, manifest: Mapping[str, Any], resource_version: str = "", *, force: bool = True) -> Json:
        """Server-side apply. Conflict when `resource_version` is old; without `force`, when others hold fields."""
        ...

    async def apply_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        uid: str,
        status: Mapping[str, Any],
        resource_version: str = "",
    ) -> Json:
        """Write a whole status, on exactly this version where `resource_version` is given."""
        ...

    async def set_finalizers(self, kind: Kind, obj: Mapping[str, Any], finalizers: list[str]) -> Json | None:
        """Replace the list on exactly this version of the object; None when it is gone."""
        ...

    async def annotate(self, kind: Kind, obj: Mapping[str, Any], values: Mapping[str, str | None]) -> Json | None:
        """Set annotations of exactly this object, or remove those that are None; None when it is gone."""
        ...

    async def delete(self, kind: Kind, namespace: str, name: str, uid: str, *, orphan: bool = False) -> None:
        """Delete exactly this object; fine when it is gone already. `orphan`: what belongs to it stays."""
        ...

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Json:
        """Make an object that nobody else makes."""
        ...


class GroupReader(Protocol):
    """Reads many groups of one Kafka cluster in requests per coordinator or leader, not per group."""

    async def observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str] = ()
    ) -> Mapping[str, KafkaView]:
        """One view for each group asked for, with their own settings for those in `settings_of`.

        Never raises for what Kafka does: failures are `Unobserved`.
        """
        ...

    async def close(self) -> None: ...


class GroupAdmin(Protocol):
    """Changes groups of one Kafka cluster. Every call is safe to repeat.

    Members are named by both their ids: who has taken an instance id over since is never touched. All raise
    `KafkaUnreachable` and `KafkaRefused`.
    """

    async def remove_members(self, group_id: str, members: Collection[MemberRef]) -> Collection[str]:
        """Remove static members; returns the instance ids of those that were there."""
        ...

    async def release_members(self, group_id: str, members: Collection[MemberRef]) -> Collection[str]:
        """Let successors of dead static members of a KIP-848 group join at once, and move no partition.

        Returns the instance ids of those that were there.
        """
        ...

    async def alter_group_settings(self, group_id: str, values: Mapping[str, str | None]) -> None:
        """Set the group's own settings, all or none; None gives a setting back to the brokers."""
        ...

    async def delete_group(self, group_id: str) -> None:
        """Delete an empty group with its offsets; a group that is not there is fine."""
        ...


class KafkaCluster(Protocol):
    """One Kafka cluster by one KafkaConnection: its groups are watched, each under a key of the caller's."""

    @property
    def broker(self) -> BrokerFacts | None:
        """What the brokers can do and allow; None until that could be read."""
        ...

    @property
    def cluster_id(self) -> str | None:
        """None until a broker has said; empty when it has none."""
        ...

    @property
    def certificates(self) -> Sequence[Validity]:
        """Those of the KafkaConnection's Secrets that could be read."""
        ...

    @property
    def requests(self) -> Mapping[str, int]:
        """Sent so far, by API."""
        ...

    @property
    def unseen_for(self) -> Collection[Reason]:
        """Why groups were not seen by their newest look, each reason once."""
        ...

    def first_unseen(self) -> Unobserved | None:
        """The newest view of the first one, by key, that was not seen for a cause of the connection itself."""
        ...

    def start(self) -> None:
        """Begin to observe."""
        ...

    def watch(self, key: str, group_id: str, topics: Iterable[str], settings: bool = False) -> None:
        """Observe a group, at once and then on schedule; with `settings`, its own settings too."""
        ...

    def unwatch(self, key: str) -> None:
        """Forget the group, with its history and its place; of one that is not watched the place."""
        ...

    def latest(self, key: str) -> tuple[KafkaView, GroupHistory] | None:
        """The newest view and history; None before the first look, and for groups that are not watched."""
        ...

    async def look_now(self, key: str) -> None:
        """Wait for a look that begins after this call; for a group that is not watched (any more) for none."""
        ...

    def look_soon(self, key: str) -> None:
        """Look at the group out of turn."""
        ...

    def set_motion(self, key: str, in_motion: bool) -> None:
        """Look at the group often, or seldom."""
        ...

    def refresh_broker(self) -> None:
        """Ask the brokers again soon; safe to call at every turn."""
        ...

    def admin(self, before_write: Callable[[], object]) -> GroupAdmin:
        """`before_write` is called right before each request that changes something, and may refuse it by raising."""
        ...

    async def wait_failed(self) -> None:
        """Wait until observing has ended; raises what ended it, returns after `close`."""
        ...

    async def close(self) -> None: ...


class OpensKafka(Protocol):
    def __call__(self, connection: Connection, secrets: Secrets, on_change: Callable[[str], None], /) -> KafkaCluster:
        """`on_change(key)` is called when something about a group changed. Raises InvalidSpec."""
        ...

"""Everything of one kind in the namespaces that the operator works in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slackwater.adapters.cluster.errors import ClusterFailed, ClusterRefused, ClusterUnreachable, Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.api.errors import SlackwaterError
from slackwater.ports import Cluster, Kind
from slackwater.shell.store import Key, Store, by_age

Json = Mapping[str, Any]

REFUSED_FOR_S: Final = 120.0
"""Until it has read its own rules, an API server that starts refuses what it allows a moment later."""
RESTORED_AFTER_S: Final = 30.0
BEHIND_AT_MOST_S: Final = 300.0
UNSEEN_FOR_S: Final = 90.0
"""After a pause without a list nothing is known of the time in between."""
TAKEN_AT_ONCE: Final = 500
"""Objects: some milliseconds."""
FEWER_AT_ONCE: Final = {CONSUMER_FLEET: 1, CONSUMER_GROUP: 100}
"""A fleet says when it is open while it is taken in: a twentieth of a second, where somebody means it so. A group is
counted in all of its fleets: half a millisecond in twenty."""
_AGAIN_S: Final = 2.0
_AGAIN_AT_MOST_S: Final = 60.0


class VersionsWentBack(SlackwaterError):
    """Lists come from etcd itself, and its versions only grow."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(
            f"{kind.plural} have older versions than before: etcd was restored from a backup, it seems. What the"
            " operator knows is of a time that never was, and no watch would tell it what is: the process starts again"
        )


@dataclass(slots=True)
class _Lag:
    begun: float
    since: float
    known: int
    """At `since`."""
    looked_at: float


class Behind:
    """Lists that are older than what is known: of an API server that is behind, or of an etcd that was restored."""

    def __init__(self) -> None:
        self._seen: dict[Kind, _Lag] = {}

    def judge(self, kind: Kind, version: int, known: int) -> None:
        """Raises ClusterUnreachable where the list is older, so that another one is taken soon; VersionsWentBack where
        for `RESTORED_AFTER_S` none has come up to what was known first: one who is behind gets there. So it does where
        none is new enough for `BEHIND_AT_MOST_S`: what is not listed is not known."""
        if not 0 < version < known:
            self._seen.pop(kind, None)
            return
        now = time.monotonic()
        lag = self._seen.get(kind)
        if lag is None or now - lag.looked_at > UNSEEN_FOR_S:
            lag = self._seen[kind] = _Lag(now, now, known, now)
        lag.looked_at = now
        if version >= lag.known:
            lag.since, lag.known = now, known
        elif now - lag.since >= RESTORED_AFTER_S:
            raise VersionsWentBack(kind)
        if now - lag.begun >= BEHIND_AT_MOST_S:
            raise VersionsWentBack(kind)
        raise ClusterUnreachable(
            f"the API server is behind: its list of {kind.plural} is older than what it said before"
        )


class Failing:
    """Lists that fail, one after the other: how soon the next is due, and when there is no hope."""

    def __init__(self) -> None:
        self.again_s = 0.0
        """None has failed: 0."""
        self._refused_since: float | None = None

    def failed(self, error: ClusterFailed) -> None:
        """Raises the error, where the cluster has refused all of them for so long that somebody has to do something."""
        now = time.monotonic()
        if not isinstance(error, ClusterRefused):
            self._refused_since = None
        elif self._refused_since is None:
            self._refused_since = now
        elif now - self._refused_since >= REFUSED_FOR_S:
            raise error
        self.again_s = min(_AGAIN_AT_MOST_S, max(_AGAIN_S, 2 * self.again_s))


async def list_in(
    api: Cluster, kind: Kind, selector: str, namespaces: Collection[str]
) -> tuple[list[Json], int, dict[str, str]]:
    """All of these namespaces, of the whole cluster where there are none; the resource version of the oldest of the
    lists that this takes: what came after it may be missing; and the namespaces that may not be read, each with the
    refusal. Raises Forbidden where it is for the whole cluster, KindMissing, and ClusterFailed."""
    objects: list[Json] = []
    versions: list[int] = []
    refused: dict[str, str] = {}
    for namespace in namespaces or (None,):
        try:
            listed, version = await api.list_all(kind, namespace, selector)
        except Forbidden as error:
            if namespace is None:
                raise
            refused[namespace] = str(error)
            continue
        objects += listed
        versions.append(version)
    return objects, min(versions, default=0), refused


async def groups_of(api: Cluster, namespaces: Collection[str]) -> tuple[list[Json], int] | None:
    """By the right that outlives a namespace's Role: who is deleted there has to be let go. None without it."""
    try:
        listed, version = await api.list_all(CONSUMER_GROUP, None)
    except Forbidden:
        return None
    return [each for each in listed if each["metadata"]["namespace"] in namespaces], version


async def take_in(
    store: Store, kind: Kind, objects: Sequence[Json], version: int, unlisted: Collection[str] = ()
) -> set[Key]:
    """A whole list, as `Store.replace` does it, a part at a time: all else has its turn between two parts."""
    changed, at_once = set[Key](), FEWER_AT_ONCE.get(kind, TAKEN_AT_ONCE)
    objects = sorted(objects, key=by_age)
    for first in range(0, len(objects), at_once):
        changed |= store.put_all(kind, objects[first : first + at_once])
        await asyncio.sleep(0)
    return changed | store.replace(kind, objects, version, unlisted)

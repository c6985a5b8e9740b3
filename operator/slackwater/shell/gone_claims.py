"""What ConsumerGroups had in Kafka that were deleted a moment ago: one made again under its name has it still."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from slackwater.api.consumer_group import DeletionPolicy
from slackwater.api.timestamps import moment
from slackwater.core.members.sharing import MADE_AGAIN_WITHIN_S
from slackwater.core.world.claimed import Claimed, had_since
from slackwater.shell.elapsed import elapsed_s

Json = Mapping[str, Any]
_Key = TypeVar("_Key", bound=Hashable)


class _Gone(NamedTuple):
    at: float
    """When it was last there, in seconds."""
    group_id: str
    claimed: Claimed


class GoneClaims(Generic[_Key]):
    """In the order in which they went, so that what is too old is found at the front: a list may drop thousands at
    once."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._gone: OrderedDict[_Key, _Gone] = OrderedDict()

    def remember(self, key: _Key, group_id: str | None, claimed: Claimed | None) -> None:
        """One has gone; None where it claimed nothing."""
        now = self._now()
        while self._gone and _is_over(next(iter(self._gone.values())), now):
            self._gone.popitem(last=False)
        if group_id is not None and claimed is not None:
            self._gone.pop(key, None)
            self._gone[key] = _Gone(now, group_id, claimed)

    def __len__(self) -> int:
        return len(self._gone)

    def of(self, key: _Key, group_id: str) -> Claimed | None:
        gone = self._gone.get(key)
        if gone is None or gone.group_id != group_id or _is_over(gone, self._now()):
            return None
        return gone.claimed


def _is_over(gone: _Gone, now: float) -> bool:
    return elapsed_s(gone.at, now) > MADE_AGAIN_WITHIN_S


def claimed_id(group: Json | None) -> str | None:
    """The Kafka group id of a ConsumerGroup, whether it can be parsed or not; None of one that has it deleted."""
    if group is None:
        return None
    spec = group.get("spec") or {}
    gives_up = group["metadata"].get("deletionTimestamp") and spec.get("deletionPolicy") == DeletionPolicy.DELETE_GROUP
    return None if gives_up else str(spec.get("groupId") or group["metadata"]["name"])


def claimed_in(group: Json) -> Claimed | None:
    """What its status says that it has in Kafka. No more of it is read: there may be many with one groupId."""
    metadata, status = group["metadata"], group.get("status") or {}
    written = (status.get("rollout") or {}).get("claimed") or {}
    try:
        claimed = Claimed(str(written["clusterId"]), moment(written["at"])) if written else None
    except (KeyError, TypeError, ValueError):
        return None  # no operator wrote that
    if claimed is None:
        return None
    made_at = moment(metadata["creationTimestamp"]) if "creationTimestamp" in metadata else 0.0
    return replace(claimed, at=had_since(claimed, made_at))

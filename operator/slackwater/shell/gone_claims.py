"""What ConsumerGroups had in Kafka that were deleted a moment ago: one made again under its name has it still."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from slackwater.core.members.sharing import MADE_AGAIN_WITHIN_S
from slackwater.core.world.claimed import Claimed
from slackwater.shell.elapsed import elapsed_s

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

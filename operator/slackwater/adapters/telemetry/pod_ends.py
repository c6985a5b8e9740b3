"""How pods ended, from the last that the cluster tells of them: when they are gone, nobody can ask any more.

Fed with every version of a pod that a watch brings, the one with which its deletion is told among them.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.telemetry.words import RestartReason
from slackwater.api.timestamps import moment
from slackwater.core.telemetry.sight import PodEnd

Json = Mapping[str, Any]

KEPT: Final = 512
"""Pods of one group; what is older has been told long ago."""
_OUT_OF_MEMORY: Final = "OOMKilled"
_NODE_LOST: Final = ("NodeLost", "DeletionByTaintManager")
_EVICTED: Final = ("Evicted", "EvictionByEvictionAPI", "PreemptionByScheduler", "TerminationByKubelet")
_GIVEN_UP: Final = "DisruptionTarget"
"""The condition by which Kubernetes says why it ends a pod."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """What is kept of a pod: a few hundred bytes, where its status has more than ten thousand."""

    told: RestartReason | None
    runs: tuple[tuple[str, PodEnd], ...]
    """By container; only of those that have ended."""


class PodEnds:
    """By group and pod uid."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._ended: dict[Hashable, OrderedDict[str, _Ended]] = defaultdict(OrderedDict)

    def take(self, group: Hashable, pod: Json) -> None:
        """Remember it, if anything in it has ended or is about to."""
        ended, uid = _ended(pod.get("status") or {}), pod["metadata"]["uid"]
        if not ended.runs and ended.told is None:
            return
        known = self._ended[group]
        known[uid] = ended
        known.move_to_end(uid)
        if len(known) > self._kept:
            known.popitem(last=False)

    def of(self, group: Hashable, container: str) -> Mapping[str, PodEnd]:
        """`container`: the one that runs the consumer."""
        return {uid: _end(ended, container) for uid, ended in self._ended.get(group, {}).items()}

    def forget(self, group: Hashable) -> None:
        self._ended.pop(group, None)


def _end(ended: _Ended, container: str) -> PodEnd:
    return next((end for name, end in ended.runs if name == container), PodEnd(None, ended.told))


def _ended(status: Json) -> _Ended:
    told = _told_reason(status)
    ends = ((run["name"], _last_end(run, told)) for run in status.get("containerStatuses") or ())
    return _Ended(told, tuple((name, end) for name, end in ends if end is not None))


def _last_end(run: Json, told: RestartReason | None) -> PodEnd | None:
    """None: it has not ended yet."""
    ends = [end for when in ("state", "lastState") if (end := (run.get(when) or {}).get("terminated"))]
    if not ends:
        return None
    finished = [end for end in ends if end.get("finishedAt")]
    last: Json = max(finished, key=lambda end: moment(end["finishedAt"]), default={})
    reason = told
    if reason is None and last.get("reason") == _OUT_OF_MEMORY:
        reason = RestartReason.OUT_OF_MEMORY
    return PodEnd(moment(last["finishedAt"]) if last else None, reason)


def _told_reason(status: Json) -> RestartReason | None:
    conditions = [c for c in status.get("conditions") or () if c["type"] == _GIVEN_UP and c["status"] == "True"]
    words = [status.get("reason", ""), *(condition.get("reason", "") for condition in conditions)]
    if any(word in _NODE_LOST for word in words):
        return RestartReason.NODE_LOST
    return RestartReason.EVICTED if any(word in _EVICTED for word in words) else None

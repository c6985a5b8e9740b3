"""How pods ended, from the last that the cluster tells of them: when they are gone, nobody can ask any more.

Fed with every version of a pod that a watch brings, the one with which its deletion is told among them.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Mapping
from typing import Any, Final

from slackwater.api.telemetry.words import RestartReason
from slackwater.core.memory import moment
from slackwater.core.telemetry.sight import PodEnd

Json = Mapping[str, Any]

KEPT: Final = 512
"""Pods of one group; what is older has been told long ago."""
_OUT_OF_MEMORY: Final = "OOMKilled"
_NODE_LOST: Final = ("NodeLost", "DeletionByTaintManager")
_EVICTED: Final = ("Evicted", "EvictionByEvictionAPI", "PreemptionByScheduler", "TerminationByKubelet")
_GIVEN_UP: Final = "DisruptionTarget"
"""The condition by which Kubernetes says why it ends a pod."""


class PodEnds:
    """By group and pod uid."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._ended: dict[Hashable, OrderedDict[str, Json]] = defaultdict(OrderedDict)

    def take(self, group: Hashable, pod: Json) -> None:
        """Remember it, if anything in it has ended or is about to."""
        status, uid = pod.get("status") or {}, pod["metadata"]["uid"]
        runs = status.get("containerStatuses") or ()
        over = any((run.get(when) or {}).get("terminated") for run in runs for when in ("state", "lastState"))
        if not over and _told_reason(status) is None:
            return
        known = self._ended[group]
        known[uid] = status
        known.move_to_end(uid)
        if len(known) > self._kept:
            known.popitem(last=False)

    def of(self, group: Hashable, container: str) -> Mapping[str, PodEnd]:
        """`container`: the one that runs the consumer."""
        return {uid: _end(status, container) for uid, status in self._ended.get(group, {}).items()}

    def forget(self, group: Hashable) -> None:
        self._ended.pop(group, None)


def _end(status: Json, container: str) -> PodEnd:
    runs = [run for run in status.get("containerStatuses") or () if run["name"] == container]
    ends = [(run.get(when) or {}).get("terminated") for run in runs for when in ("state", "lastState")]
    told = [end for end in ends if end and end.get("finishedAt")]
    last: Json = max(told, key=lambda end: moment(end["finishedAt"]), default={})
    reason = _told_reason(status)
    if reason is None and last.get("reason") == _OUT_OF_MEMORY:
        reason = RestartReason.OUT_OF_MEMORY
    return PodEnd(moment(last["finishedAt"]) if last else None, reason)


def _told_reason(status: Json) -> RestartReason | None:
    conditions = [c for c in status.get("conditions") or () if c["type"] == _GIVEN_UP and c["status"] == "True"]
    words = [status.get("reason", ""), *(condition.get("reason", "") for condition in conditions)]
    if any(word in _NODE_LOST for word in words):
        return RestartReason.NODE_LOST
    return RestartReason.EVICTED if any(word in _EVICTED for word in words) else None

"""Events: what the operator did to a ConsumerGroup, and each refusal that changed, for `kubectl describe`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Final

import structlog

from slackwater.adapters.cluster.errors import ClusterFailed
from slackwater.adapters.cluster.paths import EVENT
from slackwater.api.conditions import ConditionType
from slackwater.api.resources import ConsumerGroup
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import shown
from slackwater.ports import Cluster
from slackwater.shell.bucket import Bucket
from slackwater.shell.store import Key

LONGEST_MESSAGE: Final = 1024
"""Kubernetes refuses longer ones."""

HOLDS_AT_ONCE: Final = 25
HOLD_AGAIN_S: Final = 300.0
"""As many Events of holds about one group, then one in five minutes: client-go's EventSourceObjectSpamFilter allows a
source as many about an object. The status shows each hold all the same."""
EVENTS_AT_ONCE: Final = 200
EVENT_AGAIN_S: Final = 3.0
"""As many of any kind, then twenty a minute, which no rollout comes to: what is done again and again because somebody
has it so, as by a broker that refuses and hangs up in turns, fills nobody's etcd. The log has them all."""

_log = structlog.get_logger(__name__)


class ToldRefusals:
    """Refusals as Events, each when its reason is not the one that the status shows.

    What was said before, and is so again after a moment in which Kafka could not be asked, is nothing new. For that the
    last refusals of each group are kept; after a restart of the operator one may be said once more. The holds of a
    group that flaps are limited; what is refused is not, nor is anything that the operator does.
    """

    def __init__(self) -> None:
        self._told: dict[Key, dict[ConditionType, Reason]] = {}
        self._buckets: dict[Key, Bucket] = {}

    def to_tell(self, key: Key, before: Mapping[str, Any], decided: Decision, now: float) -> tuple[Note, ...]:
        """The hold and the refused protocol, where they are new. `now`: in seconds since the epoch."""
        hold, refusal = decided.hold, decided.refusal
        refused = Note(refusal.reason, refusal.message, warning=True) if refusal is not None else None
        is_said = hold is None or hold == refusal or _is_in_a_note(hold, decided.notes)
        held = None if hold is None or is_said else Note(hold.reason, hold.in_an_event)
        told = self._told.setdefault(key, {})
        notes = []
        for kind, status, note in (
            (ConditionType.PROTOCOL_UPGRADE, "False", refused),
            (ConditionType.ROLLOUT_GATED, "True", held),
        ):
            if note is not None and note is refused and note.reason is Reason.GROUP_REBALANCING and kind in told:
                continue  # what it was refused for cannot be seen just now, and is nothing new when it can
            if note is None:
                told.pop(kind, None)
            elif (
                _shown(before, kind) != (status, note.reason)
                and told.get(kind) != note.reason
                and (note.warning or self._buckets.setdefault(key, Bucket(HOLDS_AT_ONCE, HOLD_AGAIN_S, now)).take(now))
            ):
                notes.append(note)
            if note is not None and not note.reason.passes:
                told[kind] = note.reason
        return tuple(notes)

    def forget(self, key: Key) -> None:
        self._told.pop(key, None)
        self._buckets.pop(key, None)


def _is_in_a_note(hold: Hold, notes: Iterable[Note]) -> bool:
    """As where a rollout fails: the warning says more, under the same reason."""
    return any(note.reason is hold.reason and hold.message in note.message for note in notes)


def _shown(before: Mapping[str, Any], kind: ConditionType) -> tuple[str, str] | None:
    conditions = before.get("conditions") or ()
    return next(((c["status"], c["reason"]) for c in conditions if c["type"] == kind.value), None)


class Post:
    """Writes Events, so many about one group. A warning finds room however much else there was."""

    def __init__(self, api: Cluster) -> None:
        self._api = api
        self._buckets: dict[tuple[Key, bool], Bucket] = {}

    async def send(self, group: ConsumerGroup, note: Note, now: float) -> None:
        """Events are for people to read: one that cannot be written is logged and given up, never waited for."""
        key = Key(group.namespace, group.name)
        bucket = self._buckets.setdefault((key, note.warning), Bucket(EVENTS_AT_ONCE, EVENT_AGAIN_S, now))
        if not bucket.take(now):
            return
        try:
            await self._api.create(EVENT, group.namespace, _body(group, note, now))
        except ClusterFailed as error:
            _log.warning("event_not_written", group=group.name, reason=note.reason.value, error=str(error))

    def forget(self, key: Key) -> None:
        for warning in (False, True):
            self._buckets.pop((key, warning), None)


def event_about(about: Mapping[str, Any], reason: str, message: str, now: float, *, warning: bool) -> dict[str, Any]:
    """`about`: the object, or as much of it as says which it is."""
    metadata = about["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{uuid.uuid4().hex[:16]}", "namespace": metadata["namespace"]},
        "involvedObject": {
            "apiVersion": about["apiVersion"],
            "kind": about["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "type": "Warning" if warning else "Normal",
        "reason": reason,
        "message": shown(message, LONGEST_MESSAGE),
        "source": {"component": "slackwater"},
        "reportingComponent": "slackwater",
        "firstTimestamp": timestamp(int(now)),
        "lastTimestamp": timestamp(int(now)),
        "count": 1,
    }


def _body(group: ConsumerGroup, note: Note, now: float) -> Mapping[str, Any]:
    at = group.metadata
    metadata = {"name": at.name, "namespace": at.namespace, "uid": at.uid, "resourceVersion": at.resource_version}
    about = {"apiVersion": group.api_version, "kind": group.kind, "metadata": metadata}
    return event_about(about, note.reason.value, note.message, now, warning=note.warning)

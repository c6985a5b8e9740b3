"""ConsumerGroups in the states that GitOps tools meet, each with the status that the operator itself composes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from slackwater.api.annotations import PAUSE
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.status.compose import compose_status, degraded_status
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World
from tests.api.manifests import consumer_group
from tests.core.factories import NAME, NEW, NOW, UID, changed, group, observation, pod, stranger, workload, world

Object = dict[str, Any]

_PHASES: Final = {phase: RolloutMemory(phase=phase, target_hash="v2") for phase in RolloutPhase}
_WRONG: Final = "pod payments-2: nobody has joined for 300 s"
_GIVEN_UP: Final[dict[str, Any]] = {"failed_hash": "v2", "message": _WRONG}
_HALFWAY: Final = Upgrade(
    Profile.EAGER,
    StrategyName.TWO_BOUNCE,
    (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE),
    started_at=NOW - 60,
)


def states() -> Mapping[str, Object]:
    """Name → the object as the API server has it."""
    rolling = _of(_world(RolloutPhase.PROGRESSING, updated=1), hold=_hold(Reason.GROUP_STABILIZING))
    rest = _of(_world(RolloutPhase.COMPLETE))
    return {
        "just applied": _object({}),
        "applied again": {**rest, "metadata": {**rest["metadata"], "generation": 2}},
        "first pods": _of(_world(RolloutPhase.NONE, pods=())),
        "rolling": rolling,
        "last pod is back": _of(_world(RolloutPhase.PROGRESSING, updated=3)),
        "about to begin": _of(_world(RolloutPhase.COMPLETE), hold=_hold(Reason.OBSERVATION_STALE)),
        "pods of another version": _of(_world(RolloutPhase.COMPLETE, updated=1)),
        "at a canary": _of(_world(RolloutPhase.PROGRESSING, updated=1), hold=_hold(Reason.CANARY_HOLD)),
        "waits for its turn": _of(_world(RolloutPhase.PROGRESSING), hold=_hold(Reason.AWAITING_TURN)),
        "complete": rest,
        "stopped by replicas 0": _of(_world(RolloutPhase.COMPLETE, pods=(), group=group(replicas=0))),
        "failed": _of(_world(RolloutPhase.FAILED, updated=1, **_GIVEN_UP), hold=_hold(Reason.ROLLOUT_FAILED)),
        "rolling back": _of(_world(RolloutPhase.ROLLING_BACK, updated=1, **_GIVEN_UP)),
        "rolled back": _of(_world(RolloutPhase.ROLLED_BACK, **_GIVEN_UP)),
        "paused": _paused(RolloutPhase.PROGRESSING, updated=1),
        "failed and paused": _paused(RolloutPhase.FAILED, updated=1, **_GIVEN_UP),
        "Kafka away": _of(_away()),
        "waits for Kafka": _of(_away(), hold=_hold(Reason.KAFKA_UNREACHABLE)),
        "a stranger in the group": _of(_with_a_stranger()),
        "upgrading": _of(_world(RolloutPhase.COMPLETE, upgrade=_HALFWAY)),
        "upgrade refused": _of(_world(RolloutPhase.COMPLETE), refusal=_hold(Reason.CLIENT_CANNOT)),
        "upgrade not known yet": _of(_world(RolloutPhase.COMPLETE), refusal=_hold(Reason.BROKER_UNKNOWN)),
        "unreadable": {**rest, "status": degraded_status(rest, "Ready", Reason.INVALID_SPEC, "remove this", NOW)},
        "being deleted": {**rest, "metadata": {**rest["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}},
    }


def _hold(reason: Reason) -> Hold:
    return Hold(reason, "so it is")


def _world(phase: RolloutPhase, *, updated: int | None = None, **changes: Any) -> World:
    """`updated`: how many pods have the new version; the last ones first. Changes of the memory go by its fields."""
    old = 0 if updated is None and phase in (RolloutPhase.NONE, RolloutPhase.COMPLETE) else 3 - (updated or 0)
    pods = changes.pop("pods", tuple(pod(o) if o < old else pod(o, NEW) for o in range(3)))
    asked = changes.pop("group", group())
    memory = replace(_PHASES[phase], **changes)
    revisions = {} if old else {"current_revision": NEW}
    current = workload(template_hash=memory.target_hash, **revisions)
    return world(pods=pods, memory=memory, workload=current, group=asked)


def _paused(phase: RolloutPhase, **changes: Any) -> Object:
    paused = group({PAUSE: "holidays"})
    return _of(_world(phase, group=paused, **changes), hold=_hold(Reason.PAUSED))


def _away() -> World:
    return changed(_world(RolloutPhase.COMPLETE), kafka=Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW))


def _with_a_stranger() -> World:
    known = _world(RolloutPhase.COMPLETE)
    looked = observation((*observation().members, stranger()))
    return changed(known, kafka=looked)


def _of(seen: World, hold: Hold | None = None, refusal: Hold | None = None) -> Object:
    decided = Decision(seen.memory, hold=hold, refusal=refusal)
    return _object(json.loads(json.dumps(compose_status(seen, decided, {}))), seen)


def _object(status: Object, seen: World | None = None) -> Object:
    asked = seen.group if seen is not None else group()
    manifest = consumer_group(NAME, replicas=asked.spec.replicas)
    manifest["metadata"] |= {"uid": UID, "generation": 1, "annotations": dict(asked.metadata.annotations)}
    return {**manifest, "status": status} if status else manifest

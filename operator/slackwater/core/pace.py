"""How closely a group is followed: what must be read again, how often it is looked at, and when the next pass is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from slackwater.core.decision.acts import Act
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold
from slackwater.core.fleet.turn import is_awaited
from slackwater.core.members.presence import serves
from slackwater.core.members.scaled_away import wait_s
from slackwater.core.world.observation import OLDEST_OBSERVATION_S, GroupObservation
from slackwater.core.world.world import World

AT_ONCE: Final = 0.0
AT_REST_AGAIN_S: Final = 60.0
"""Time alone changes some things at rest (a session that ends, a lag worth an Event), and no watch reports a Secret. A
pass that finds nothing new costs no request."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is to happen until the next pass."""

    again_s: float
    """When that is at the latest, in seconds from now."""
    look_soon: bool = False
    """The last look at Kafka is too old for what the group waits for."""
    ask_brokers: bool = False
    """Somebody may have changed what the brokers allow."""


def matters(world: World, decided: Decision) -> bool:
    """Too much to be decided from what a watch said a while ago: the world is read again, and decided about again.

    The watch reports StatefulSets with our label only, so one that is missing may be there. And a setting that was
    made in Kafka just now is missing in an older look at it: forgotten by that, it would stay there for ever.
    """
    was, now = world.memory, decided.memory
    if not world.sets:
        return True
    if now.group_settings != was.group_settings:
        return True
    return decided.act is not None or now.phase is not was.phase or now.upgrade != was.upgrade


def is_out_of_date(world: World, act: Act, now: float) -> bool:
    """What may take down a pod that works is decided again, where writes between the look and the act took long: the
    group may have begun to rebalance meanwhile, or somebody to pause it. Or the clock was set back."""
    return (act.disruptive or act.asks_the_gates) and not 0 <= now - world.now <= OLDEST_OBSERVATION_S


def in_motion(world: World, decided: Decision) -> bool:
    """Worth a look every second: a rollout, a group that is not calm, pods that are not known to work in it."""
    rolls = decided.memory.phase.under_way and not is_awaited(world, decided.hold)
    if decided.act is not None or rolls:
        return True
    if not world.sets and decided.hold is not None:
        return False  # it is not begun: the hold says how soon to look again
    if not isinstance(world.kafka, GroupObservation):
        return True
    if world.replicas == 0 and not world.kafka.members:
        return bool(world.pods)  # stopped on purpose: an empty group is never calm, and would be watched for ever
    if not world.kafka.calm:
        return True
    return sum(serves(world, pod) for pod in world.wanted_pods) != world.replicas


def still_refused(decided: Decision, refused: Hold | None) -> Decision:
    """What the API server or Kafka refused at the last try stands before whatever else the group waits for.

    The decision itself stays, so that it is tried again.
    """
    return decided if refused is None else replace(decided, hold=refused)


def pace_after(world: World, decided: Decision) -> Pace:
    """At once when something was done or remembered; else when a hold or a wait ends at the latest, or the rest."""
    if decided.act is not None or decided.memory != world.memory:
        return Pace(AT_ONCE)
    hold, refusal = decided.hold, decided.refusal
    waits = [each.recheck_s for each in (hold, refusal) if each is not None]
    if (late_s := wait_s(world)) > 0.0:
        waits.append(late_s)
    return Pace(
        again_s=min(waits, default=AT_REST_AGAIN_S),
        look_soon=hold is not None and _look_is_too_old(world, hold),
        ask_brokers=refusal is not None and refusal.reason.lifted_by_a_broker,
    )


def _look_is_too_old(world: World, hold: Hold) -> bool:
    kafka = world.kafka
    if hold.look_s is None or not isinstance(kafka, GroupObservation):
        return False
    return world.now - kafka.observed_at >= hold.look_s

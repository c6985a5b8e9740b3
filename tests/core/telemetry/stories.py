"""Short rows of sights, told look by look: what a test does not say stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slackwater.api.telemetry.bodies import MemberRestarted
from slackwater.api.telemetry.events import Event, MemberRestartedEvent
from slackwater.core.decision.acts import Act
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.telemetry.sight import PodEnd, Sight
from slackwater.core.telemetry.tracker import Tracker, follow
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupObservation, KafkaView, Member, Unobserved
from slackwater.core.world.pods import Pod
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from tests.core.factories import NOW, changed, members, observation, pod, world

AT_REST = RolloutMemory(phase=RolloutPhase.COMPLETE)
UNREACHABLE = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW)


class Story:
    """One operator that looks at one group; times are seconds after `NOW`."""

    def __init__(self, members: Iterable[Member] = members(0, 1, 2), **changes: Any) -> None:
        self.world = world(**{"pods": (pod(0), pod(1), pod(2)), "memory": AT_REST} | changes)
        self.members = tuple(members)
        self.history = GroupHistory()
        self.tracker = Tracker()
        self.ends: dict[str, PodEnd] = {}
        self.events: list[Event] = []
        self.sights: list[Sight] = []

    def look(
        self,
        at: float,
        *,
        kafka: KafkaView | None = None,
        hold: Hold | None = None,
        acted: Act | None = None,
        group: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> list[Event]:
        """`changes` of the world stay. `group`: of the observation, for this look only. What is newly told."""
        now = NOW + at
        seen = kafka or observation(self.members, now, **(group or {}))
        self.history = advance(self.history, seen) if isinstance(seen, GroupObservation) else interrupted(self.history)
        self.world = changed(self.world, now=now, kafka=seen, history=self.history, **changes)
        sight = Sight(self.world, Decision(self.world.memory, hold=hold), acted, dict(self.ends))
        self.sights.append(sight)
        self.tracker, new = follow(self.tracker, sight)
        self.events += new
        return list(new)

    def replaced(self, ordinal: int, new: Pod | None) -> tuple[Pod, ...]:
        """The pods, with another one, or none, of that ordinal."""
        others = [each for each in self.world.pods if each.ordinal != ordinal]
        return tuple(sorted((*others, *([new] if new else [])), key=lambda each: each.ordinal))

    @property
    def restarts(self) -> list[MemberRestarted]:
        return restarts_in(self.events)


def restarts_in(events: Iterable[Event]) -> list[MemberRestarted]:
    return [event.member_restarted for event in events if isinstance(event, MemberRestartedEvent)]


def step(ordinal: int, at: float, before: Mapping[str, str] | None = None) -> RolloutMemory:
    """A rollout that took this pod down then."""
    return RolloutMemory(phase=RolloutPhase.PROGRESSING, step=Step(ordinal, NOW + at, before or {}))


def view(at: float, group_members: Iterable[Member], **changes: Any) -> World:
    seen = observation(group_members, NOW + at)
    return world(now=NOW + at, kafka=seen, **changes)


def sight_of(seen: World) -> Sight:
    """Of a pass in which nothing is done."""
    return Sight(seen, Decision(seen.memory))

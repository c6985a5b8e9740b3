"""What the operator must remember across a crash, written before the act that it stands for: `status.rollout`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from slackwater.api.errors import InvalidSpec
from slackwater.api.rollout import Stop
from slackwater.api.timestamps import Moment
from slackwater.core.world.broker import Bounds
from slackwater.core.world.claimed import Claimed, Outranked
from slackwater.core.world.handover_wire import WireHandover
from slackwater.core.world.inherited import Pins
from slackwater.core.world.made_with import MadeWith
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.put_back import PutBack
from slackwater.core.world.refusal import Refusal
from slackwater.core.world.remaking import Remaking
from slackwater.core.world.step import Step
from slackwater.core.world.took import Took
from slackwater.core.world.tuning import Tuning
from slackwater.core.world.turn import TurnRecord

_WIRE = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


class RolloutPhase(StrEnum):
    NONE = "None"
    PROGRESSING = "Progressing"
    COMPLETE = "Complete"
    FAILED = "Failed"
    """Stopped: nothing moves until `retry`, `abort` or another template."""
    ROLLING_BACK = "RollingBack"
    ROLLED_BACK = "RolledBack"

    @property
    def under_way(self) -> bool:
        return self in (RolloutPhase.PROGRESSING, RolloutPhase.ROLLING_BACK)

    @property
    def at_rest(self) -> bool:
        """No rollout is under way, and none has failed or gone back."""
        return self in (RolloutPhase.NONE, RolloutPhase.COMPLETE)

    @property
    def gave_up(self) -> bool:
        """The version asked for last has failed or was aborted."""
        return self is RolloutPhase.FAILED or self.goes_back

    @property
    def goes_back(self) -> bool:
        return self in (RolloutPhase.ROLLING_BACK, RolloutPhase.ROLLED_BACK)


@dataclass(frozen=True, slots=True)
class Canary:
    __pydantic_config__ = _WIRE

    index: int
    """Which of the spec's canary steps was held, as they were when it began."""
    held_since: Moment
    passed: bool = False
    """Its hold is over, by time or by `promote`."""
    replicas: int | None = None
    """How many pods that step has, by which it is known among others; None in what an older slackwater wrote."""
    lost: bool = False
    """All its pods were scaled away: the hold begins again with those that come."""
    of: int | None = None
    """How many pods there were when it was held, of which a step in percent is its share; None: not known."""
    behind: int = 0
    """How many the largest step has that was held and has passed before it; 0: none."""

    def size_in(self, steps: tuple[Stop, ...]) -> int:
        """How many pods its step has; 0 where that is not known."""
        if self.replicas is not None:
            return self.replicas
        return steps[self.index].replicas if self.index < len(steps) else 0


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The way to another protocol that the group is on."""

    __pydantic_config__ = _WIRE

    origin: Profile
    """What the pods had when it began."""
    strategy: StrategyName
    path: tuple[Profile, ...]
    """The profiles to go through, in order; the last is where it leads."""
    step: int = 1
    """Which of them the pods are being taken to, counted from 1; they have that one and the one before it."""
    returning: bool = False
    """The step is being undone, because somebody changed the target in the middle of it."""
    started_at: Moment | None = None
    stopped_at: Moment | None = None
    """When all pods were told to stop, until they are told to start."""
    made_with: Profile | None = None
    """What the pods were made with before the first step, where Kafka showed that as `origin`."""

    @property
    def target(self) -> Profile:
        return self.path[-1]

    @property
    def here(self) -> Profile:
        """What the pods are being given."""
        return self.path[self.step - 1]

    @property
    def behind(self) -> Profile:
        """What they had before this step."""
        return self.path[self.step - 2] if self.step > 1 else self.origin

    @property
    def way_back(self) -> Profile:
        """What they were made with before this step."""
        if self.step > 1 or self.made_with is None:
            return self.behind
        return self.made_with

    @property
    def drains(self) -> bool:
        """Nobody may be in the group while its pods change from one profile to the other."""
        return self.strategy is StrategyName.DRAIN_CUTOVER


@dataclass(frozen=True, slots=True)
class Release:
    """A dead member whose instance id was given free, so that its successor can join (F13)."""

    __pydantic_config__ = _WIRE

    member_id: str
    released_at: Moment
    restarted: bool = False
    """The pod was restarted since, because its process had met the fatal error before."""
    tries: int = 1
    """How often it was tried; `released_at` is when it was last."""


@dataclass(frozen=True, slots=True)
class LastHolder:
    """Who held an instance id last, in a KIP-848 group: what proves a death must outlast a restart of the operator."""

    __pydantic_config__ = _WIRE

    member_id: str
    there_by: Moment
    """It was in the group by then."""
    stayed: Moment | None = None
    """It was there then, which nobody could be whose process had ended before its pod's container started."""


@dataclass(frozen=True, slots=True)
class RolloutMemory:
    __pydantic_config__ = _WIRE

    phase: RolloutPhase = RolloutPhase.NONE
    target_hash: str = ""
    """Template hash of what the spec last asked for."""
    target_given: str = ""
    """Digest of the person's own part of that."""
    last_good_revision: str = ""
    """Name of the ControllerRevision that last served the whole group; where a rollback goes."""
    last_good_hash: str = ""
    failed_hash: str = ""
    """A template that failed or was aborted; it is not tried again until `retry` or a change of the template."""
    given_up_before: str = ""
    """The one before, where another took its place while pods may have it still: they are not given it meanwhile."""
    started_at: Moment | None = None
    stood_still: bool = False
    """People or a fleet kept the rollout from going on: it says nothing of how long one takes."""
    retried_at: Moment | None = None
    """When `retry` was given: pods of the failed version made before that get one more chance, by being replaced."""
    made_with: Mapping[str, MadeWith] = field(default_factory=dict)
    """Template hash → what the pods of that version are; of versions that pods have, or may get."""
    restart: str = ""
    """The token of `restart` that pods are made with; the annotation itself may be gone."""
    restart_refused: str = ""
    """One that came when the version asked for had been given up. It never counts."""
    revisions: Mapping[str, str] = field(default_factory=dict)
    """StatefulSet → the revision made of our own last write: while it is the newest, nobody has edited the template."""
    forced_hash: str = ""
    """The template whose rollout does not wait for a calm group, because somebody asked for that by `force`."""
    onwards_hash: str = ""
    """The template that comes third, once all pods have the second one, since the first leads nowhere."""
    lag_before: int | None = None
    """Records behind when the rollout began, for `maxLag.growth`."""
    read_before: str = ""
    """Digest of the topics that are read with the last good version; empty: not known."""
    read_by_each: tuple[str, ...] | None = None
    """Those of `spec.topics` that each pod asked for when the rollout began; None: not known."""
    session_timeout_ms: int = 0
    """The longest classic session timeout that a pod of this rollout may still run with."""
    replicas: int | None = None
    """How many pods the rollout under way goes on with, whatever is asked for meanwhile."""
    protocol: Profile = Profile.OWN_CHOICE
    """The profile that pods are given now."""
    upgrade: Upgrade | None = None
    """The way to another protocol, while the group is on one."""
    ids_given: int = 0
    """Instance ids of ordinals below this were given by the operator, and no others."""
    never_ran: bool = False
    """No pod that was asked for has ever run, so that none can have joined; False where that is not known."""
    seen_in: str | None = None
    """The connection and cluster id in which a pod of ours was seen in the group; empty: in none; None: not known."""
    tells_addresses: bool = False
    """Its brokers tell pods' own addresses: a member was seen at its pod's."""
    session_bounds: Bounds | None = None
    """What the brokers allow classic sessions to be, while it binds: one that cannot be asked changes no template."""
    group_settings: Mapping[str, str] = field(default_factory=dict)
    """The group's own settings in Kafka that the operator made (F23)."""
    released: Mapping[str, Release] = field(default_factory=dict)
    """By instance id."""
    holders: Mapping[str, LastHolder] = field(default_factory=dict)
    """By instance id; of wanted pods only."""
    refused: Mapping[str, Refusal] = field(default_factory=dict)
    """By pod name."""
    removed: Mapping[str, str] = field(default_factory=dict)
    """Instance id of a pod that was scaled away → our last member: taken out, or replaced; empty: it left by itself.
    Others are not ours."""
    grown: Mapping[str, int] = field(default_factory=dict)
    """Topic → how many partitions it had when the group was last made to rebalance, since nobody had seen it grow."""
    claimed: Claimed | None = None
    outranked: Outranked | None = None
    ended_since: Moment | None = None
    """Since when members of pods that were scaled away and have ended wait for those of pods that still end."""
    tuning: Tuning = field(default_factory=Tuning)
    inherited: Pins = field(default_factory=dict)
    """Path below the spec → what pods are made with because a fleet gave it, where the spec says nothing itself."""
    step: Step | None = None
    handover: WireHandover | None = None
    canary: Canary | None = None
    put_back: PutBack | None = None
    remaking: Remaking | None = None
    turn: TurnRecord | None = None
    """Where ConsumerFleets select the group: of the rollout under way, or of the last one."""
    took: Took | None = None
    """How long the last rollouts took; None before the first one is complete."""
    message: str = ""
    """Why it failed or went back, for people."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Command annotation → the token obeyed last. Stands in `status.commands`."""

    def replicas_of(self, asked: int) -> int:
        """How many pods there are to be now, where so many are asked for."""
        return asked if self.replicas is None or not self.phase.under_way else self.replicas

    @property
    def is_forced(self) -> bool:
        """The rollout under way is the one that was forced."""
        return bool(self.forced_hash) and self.forced_hash == self.target_hash

    def retries(self, pod: Pod) -> bool:
        """Somebody has asked to try its version again since it was made: it gets another chance."""
        step, at = self.step, self.retried_at or 0.0
        if step is not None and step.ordinal == pod.ordinal and step.started_at >= at and step.is_followed_by(pod):
            return False
        return pod.template_hash == self.target_hash and pod.created_at < int(at)


_CODEC = TypeAdapter(RolloutMemory)


def read_memory(status: Mapping[str, Any]) -> RolloutMemory:
    """From a ConsumerGroup's status; an object that was never worked on gives an empty memory. Raises InvalidSpec."""
    written = {**(status.get("rollout") or {}), "commands": status.get("commands") or {}}
    try:
        return _CODEC.validate_python(written)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        sentence = f"status.rollout cannot be read, as if a newer slackwater had written it ({problems}): run that one."
        raise InvalidSpec("The ConsumerGroup's status", (sentence,)) from error


def write_memory(memory: RolloutMemory) -> dict[str, Any]:
    """As it stands in `status.rollout`; absent values are left out."""
    written: dict[str, Any] = _CODEC.dump_python(memory, mode="json", by_alias=True, exclude_defaults=True)
    written.pop("commands", None)
    return {**written, "phase": memory.phase.value}

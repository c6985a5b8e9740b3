"""A group in a campaign: how far it is, by what its own status and its pods show.

Nothing of it is kept with the campaign: 10,000 groups would not fit there. What a group remembers is a command of its
own (`records`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from slackwater.api.fleet_campaign import Action
from slackwater.api.fleet_campaign_status import Skip
from slackwater.core.fleet.records import Record, Values, record_of
from slackwater.core.world.memory import RolloutMemory, RolloutPhase


class Progress(StrEnum):
    """How far a group is in a campaign."""

    WAITS = "Waits"
    BUSY = "Busy"
    """It waits, and a rollout of its own is under way, or may be about to begin: after that one it is seen what is left
    to do."""
    MOVES = "Moves"
    """The campaign has begun with it."""
    DONE = "Done"
    FAILED = "Failed"
    """It failed or went back after the campaign had begun with it, and was not mended since."""

    @property
    def is_over(self) -> bool:
        return self in (Progress.DONE, Progress.FAILED)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a campaign leaves a group as it is, for as long as it is so."""

    skip: Skip
    message: str = ""


@dataclass(frozen=True, slots=True)
class Participant:
    key: str
    """namespace/name."""
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = Progress.WAITS
    begun_in: str | None = None
    """The wave in which this campaign began with it; None: it has not."""
    done_at: float | None = None
    """When it was done, or failed, in this campaign. In seconds since the epoch, as all times here."""
    is_calm: bool = True
    """Seen lately, whole, and calm; or it moves by a turn of its own, since else a wave of groups that are deployed day
    by day would never be. Not known is not calm."""
    obstacle: Obstacle | None = None
    is_looked_at: bool = True
    """Whether there is a way for it is known, as far as that can be known now."""
    passes_waves: bool = False
    """By its fleet's override, or as urgent: it comes with the wave under way, whichever is its own."""
    is_being_mended: bool = False
    """It had failed, and its next version is under way: until that is done, it counts as failed."""
    is_named: bool = True
    """With `changes`: its annotation names the campaign. One that is not named may come to be."""

    @property
    def is_left_alone(self) -> bool:
        """One with which the campaign has begun goes on."""
        return self.obstacle is not None and self.begun_in is None and not self.progress.is_over

    @property
    def takes_a_place(self) -> bool:
        """In a wave of a certain size: something of it is to be seen yet."""
        return self.progress in (Progress.WAITS, Progress.BUSY) and not self.is_left_alone

    @property
    def is_to_come(self) -> bool:
        return self.takes_a_place and self.is_named

    @property
    def counts_as_failed(self) -> bool:
        return self.progress is Progress.FAILED or (self.progress is Progress.MOVES and self.is_being_mended)

    @property
    def is_under_way(self) -> bool:
        return self.progress is Progress.MOVES

    @property
    def is_ready(self) -> bool:
        return self.is_to_come and self.progress is Progress.WAITS


@dataclass(frozen=True, slots=True)
class Shown:
    """What a group's status and its pods show, as far as campaigns ask."""

    phase: RolloutPhase = RolloutPhase.NONE
    is_observed: bool = True
    """Its newest generation was looked at: what it asks for stands in the status."""
    is_upgrading: bool = False
    """It is on its way to another protocol: between two steps no rollout is under way."""
    is_being_mended: bool = False
    """A version is under way that follows one that failed."""
    turn_done_at: float | None = None
    """When its last turn was done."""
    oldest_pod_at: float | None = None
    """When the oldest of its pods was made; None: it has none."""
    pins: Values = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    """Volumes that it asks for and that its pods lack: nothing of it is rolled out until that is settled."""


def shown_by(memory: RolloutMemory, *, is_observed: bool, oldest_pod_at: float | None) -> Shown:
    """`is_observed`: its status speaks of the newest generation."""
    return Shown(
        phase=memory.phase,
        is_observed=is_observed,
        is_upgrading=memory.upgrade is not None,
        is_being_mended=memory.phase.under_way and memory.turn is not None and memory.turn.is_a_fix,
        turn_done_at=memory.turn.done_at if memory.turn is not None else None,
        oldest_pod_at=oldest_pod_at,
        pins={name: pin.value for name, pin in memory.inherited.items()},
        commands=memory.commands,
        lacks=memory.remaking.lacks if memory.remaking is not None and not memory.remaking.uid else (),
    )


def progress_of(action: Action, shown: Shown, campaign_uid: str, started_at: float, left: Values) -> Progress:
    """`left`: what the group is to take up, with `applyDefaults`: without what it says itself.

    Once done it stays so: what its team deploys later is no part of the campaign, nor is what fails of that.
    """
    record = record_of(shown.commands, campaign_uid)
    if record is not None and record.done_at is not None:
        return Progress.DONE
    if shown.phase.gave_up:
        return Progress.WAITS if record is None else Progress.FAILED
    if shown.phase.under_way or shown.is_upgrading or not shown.is_observed:
        return _on_its_way(action, shown, record)
    if _is_achieved(action, shown, started_at, left):
        return Progress.DONE
    return Progress.WAITS if record is None else Progress.MOVES


def _on_its_way(action: Action, shown: Shown, record: Record | None) -> Progress:
    if record is not None:
        return Progress.MOVES
    waits_for_its_order = action.changes is not None and shown.phase is RolloutPhase.PROGRESSING and shown.is_observed
    return Progress.WAITS if waits_for_its_order else Progress.BUSY


def _is_achieved(action: Action, shown: Shown, started_at: float, left: Values) -> bool:
    """A deploy in between counts as a restart."""
    if action.restart is not None:
        return shown.oldest_pod_at is None or shown.oldest_pod_at >= int(started_at)
    if action.apply_defaults is not None:
        return all(name in shown.pins and shown.pins[name] == value for name, value in left.items())
    return True  # the rollout that was to be ordered is over, or none came with the annotation


def done_at(shown: Shown, progress: Progress, campaign_uid: str, started_at: float) -> float | None:
    """When it was done, or failed. What was done before the campaign began counts for no soak."""
    record = record_of(shown.commands, campaign_uid)
    if record is not None and record.done_at is not None:
        return record.done_at
    moments = (shown.turn_done_at, shown.oldest_pod_at) if progress is Progress.DONE else (shown.turn_done_at,)
    known = [at for at in moments if at is not None and at >= int(started_at)]
    return max(known) if progress.is_over and known else None

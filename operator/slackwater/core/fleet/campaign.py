"""One run through a fleet's groups, as a fold: from what a campaign says and remembers, and what its groups are now, to
what it remembers then and who may begin.

Whoever may begin asks for its turn like any other, so budgets, windows and freezes hold. Nobody begins in a wave that
the status does not name yet, as it is written: what a leader decides and loses with its process was never acted on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from slackwater.api.amounts import amount_of
from slackwater.api.fleet_campaign import FleetCampaignSpec
from slackwater.api.fleet_campaign_status import CampaignPhase, FleetCampaignStatus
from slackwater.api.fleet_waves import Wave
from slackwater.core.fleet.claim import CAMPAIGN, Cell, Limit
from slackwater.core.fleet.openings import Standing, Wait, who_cannot_is_known, why_not_yet
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.participants import Participant
from slackwater.core.fleet.promotion import is_promoted, with_promotion
from slackwater.core.fleet.records import Values
from slackwater.core.fleet.waves import by_wave, plan_of

NO_MAX: Final = 10**9
Placed = tuple[tuple[Participant, ...], ...]
"""The groups of each wave, in order."""


@dataclass(frozen=True, slots=True)
class FleetOf:
    """What a campaign's fleet says now; `applies`: of what is asked for by `applyDefaults`."""

    waves: tuple[Wave, ...] = ()
    applies: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Campaign:
    namespace: str
    name: str
    uid: str
    spec: FleetCampaignSpec
    status: FleetCampaignStatus = field(default_factory=FleetCampaignStatus)
    """As it is written."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_being_deleted: bool = False

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def fleet(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.spec.fleet_ref.name}"

    @property
    def is_over(self) -> bool:
        return self.status.phase is CampaignPhase.SUCCEEDED

    @property
    def started_at(self) -> float | None:
        """In whole seconds, as the moments are at which pods are made."""
        return self.status.started_at.timestamp() if self.status.started_at is not None else None

    @property
    def overdue_at(self) -> float:
        return (self.started_at or 0.0) + self.spec.deadline_ms / 1000

    def cell(self, wave: str) -> Cell:
        """Where `max` of a wave is counted, as a budget is."""
        return Cell(f"{CAMPAIGN}{self.key}", wave)


@dataclass(frozen=True, slots=True)
class Course:
    """What a campaign remembers from now on, and what follows from it."""

    status: FleetCampaignStatus
    """To be written before anything of what follows from another status is done."""
    may_begin: tuple[str, ...] = ()
    """Groups that may ask for their turn, in order."""
    order: Order | None = None
    """What is ordered of each of them; None where nobody may begin."""
    waits: frozenset[str] = frozenset()
    """Groups that are to come, and may not begin: with `changes`, their own rollouts wait."""
    limits: tuple[tuple[Cell, Limit], ...] = ()
    plan: tuple[Wave, ...] = ()
    placed: Placed = ()
    """Of each wave of the plan; of a dry run, what would be in it."""
    refused: str = ""
    """Why it cannot begin, or go on."""
    refused_as: str = "CannotGoOn"
    """The same in one word."""
    wait: Wait | None = None
    """Why the next wave does not begin."""
    looks_at: float | None = None
    """When time alone changes something."""


def refusal(campaign: Campaign, fleet: FleetOf | None) -> str:
    """Why a campaign cannot begin, or go on; empty: it can."""
    where = f"ConsumerFleet {campaign.fleet}"
    if fleet is None:
        return f"{where} is not there: make it, or make a campaign of another one"
    if campaign.spec.action.apply_defaults is None:
        return ""
    if not fleet.applies and campaign.started_at is None:
        wanted = ", ".join(campaign.spec.action.apply_defaults.fields) or "anything that pods are made with"
        return f"{where} does not give {wanted}: write it into its spec.defaults"
    then = campaign.status.applies
    changed = [name for name in sorted({*then, *fleet.applies}) if then.get(name) != fleet.applies.get(name)]
    if campaign.started_at is None or not changed:
        return ""
    return (
        f"{where} no longer says what it said when the campaign began, of {', '.join(changed)}: put that back, or make"
        " another campaign"
    )


def fold(campaign: Campaign, fleet: FleetOf | None, participants: Sequence[Participant], now: float) -> Course:
    """What comes next. `participants`: all groups that the fleet and the campaign's selector select now."""
    if campaign.is_over:
        is_late = not campaign.is_being_deleted and any(each.is_ready for each in participants)
        if is_late and fleet is not None:
            return _opened_again(campaign, participants, now)
        return Course(campaign.status, waits=_to_come(participants))
    if campaign.is_being_deleted:
        return Course(campaign.status, waits=_to_come(participants))
    refused = refusal(campaign, fleet)
    if fleet is None or (refused and campaign.started_at is None):
        status = campaign.status.model_copy(update={"phase": CampaignPhase.PENDING})
        return Course(status, waits=_to_come(participants), refused=refused)
    if campaign.started_at is None:
        return _begun(campaign, fleet, participants, now)
    if not campaign.status.wave and (wait := who_cannot_is_known(participants, campaign.started_at, now)):
        plan, waits = plan_of(campaign.status.plan, ()), _to_come(participants)
        held = halts(campaign, participants, refused) or wait
        status = campaign.status.model_copy(update={"phase": held.phase})
        placed = by_wave(plan, 0, participants)
        return Course(status, waits=waits, plan=plan, placed=placed, refused=refused, wait=held, looks_at=wait.until)
    return _onwards(campaign, participants, now, refused)


def _opened_again(campaign: Campaign, participants: Sequence[Participant], now: float) -> Course:
    """Changes that name it after its end go by its last wave, as those that come too late for another one."""
    plan = plan_of(campaign.status.plan, ())
    update = {"phase": CampaignPhase.RUNNING, "wave": plan[-1].name, "wave_begun_at": _moment(now)}
    placed = by_wave(plan, len(plan) - 1, participants)
    status = campaign.status.model_copy(update=update)
    return Course(status, waits=_to_come(participants), plan=plan, placed=placed, looks_at=now)


def _begun(campaign: Campaign, fleet: FleetOf, participants: Sequence[Participant], now: float) -> Course:
    """Nobody begins before it is written when it began. A dry run never does: changes that name it wait."""
    plan = plan_of(campaign.spec.waves, fleet.waves)
    placed = by_wave(plan, 0, participants)
    if campaign.spec.dry_run:
        status = campaign.status.model_copy(update={"phase": CampaignPhase.FORECAST})
        return Course(status, waits=_to_come(participants), plan=plan, placed=placed)
    status = campaign.status.model_copy(
        update={
            "phase": CampaignPhase.PAUSED if campaign.spec.paused else CampaignPhase.RUNNING,
            "started_at": _moment(now),
            "plan": campaign.spec.waves or fleet.waves,
            "applies": dict(fleet.applies),
            "commands": with_promotion(campaign.annotations, campaign.status.commands),
        }
    )
    if who_cannot_is_known(participants, now, now) is None:
        status = status.model_copy(update={"wave": plan[0].name, "wave_begun_at": _moment(now)})
    return Course(status, waits=_to_come(participants), plan=plan, placed=placed, looks_at=now)


def _onwards(campaign: Campaign, participants: Sequence[Participant], now: float, refused: str) -> Course:
    plan = plan_of(campaign.status.plan, ())
    written = next((number for number, wave in enumerate(plan) if wave.name == campaign.status.wave), 0)
    held = halts(campaign, participants, refused)
    current, wait = written, held
    here = placed = by_wave(plan, written, participants)
    promoted = is_promoted(campaign.annotations, campaign.status.commands)
    while held is None and current < len(plan):
        elders = [each for wave in placed[:current] for each in wave]
        wait = why_not_yet(Standing(now, plan[current], placed[current], promoted, elders))
        if wait is not None:
            break
        current, promoted = current + 1, False
        placed = by_wave(plan, min(current, len(plan) - 1), participants)
    status = _written(campaign, plan, current, wait, now)
    order = _order(campaign, plan[written], status) if held is None else None
    begins = () if order is None else tuple(each.key for each in here[written] if each.is_ready)
    is_over = status.phase is CampaignPhase.SUCCEEDED
    return Course(
        status,
        may_begin=begins,
        order=order,
        waits=frozenset() if is_over else _to_come(participants).difference(begins),
        limits=_limits(campaign, plan[written], here[written]),
        plan=plan,
        placed=placed,
        refused=refused,
        wait=wait,
        looks_at=_looks_at(campaign, status, wait, now),
    )


def halts(campaign: Campaign, participants: Sequence[Participant], refused: str) -> Wait | None:
    """What keeps everybody from beginning. Who has begun goes on. That a failed group gets another version mends
    nothing yet: that one may fail as well."""
    failed = [each.key for each in participants if each.counts_as_failed]
    most = campaign.spec.max_failures
    if refused:
        return Wait(CampaignPhase.HALTED, refused)
    if len(failed) > most:
        message = f"{len(failed)} failed, and maxFailures is {most}: mend them, or raise it"
        return Wait(CampaignPhase.HALTED, message)
    return Wait(CampaignPhase.PAUSED, "spec.paused is true") if campaign.spec.paused else None


def _order(campaign: Campaign, wave: Wave, status: FleetCampaignStatus) -> Order | None:
    """In the wave that is written, while it stays the one under way."""
    since = campaign.status.wave_begun_at
    if status.wave != campaign.status.wave or status.phase is CampaignPhase.SUCCEEDED or since is None:
        return None
    return Order(
        campaign=campaign.uid,
        named=campaign.key,
        fleet=campaign.fleet,
        wave=wave.name,
        asked_at=since.timestamp(),
        takes=campaign.cell(wave.name),
        restart=campaign.uid if campaign.spec.action.restart is not None else "",
        applies=campaign.status.applies,
    )


def _limits(campaign: Campaign, wave: Wave, groups: Sequence[Participant]) -> tuple[tuple[Cell, Limit], ...]:
    movable = sum(each.is_named and not each.is_left_alone for each in groups)
    limit = Limit(number=NO_MAX if wave.max is None else amount_of(wave.max, movable))
    return ((campaign.cell(wave.name), limit),)


def _to_come(participants: Sequence[Participant]) -> frozenset[str]:
    return frozenset(each.key for each in participants if each.is_to_come)


def _written(
    campaign: Campaign, plan: Sequence[Wave], current: int, wait: Wait | None, now: float
) -> FleetCampaignStatus:
    status = campaign.status.model_copy(
        update={"commands": with_promotion(campaign.annotations, campaign.status.commands)}
    )
    if current == len(plan):
        return status.model_copy(update={"phase": CampaignPhase.SUCCEEDED})
    update: dict[str, object] = {"phase": wait.phase if wait is not None else CampaignPhase.RUNNING}
    if plan[current].name != campaign.status.wave:
        update |= {"wave": plan[current].name, "wave_begun_at": _moment(now)}
    return status.model_copy(update=update)


def _looks_at(campaign: Campaign, status: FleetCampaignStatus, wait: Wait | None, now: float) -> float | None:
    """At once after another wave has been written, when a soak is over, and when it becomes overdue."""
    if status.phase is CampaignPhase.SUCCEEDED:
        return None
    if status.wave != campaign.status.wave:
        return now
    overdue_at = campaign.overdue_at
    moments = (wait.until if wait is not None else None, overdue_at if overdue_at > now else None)
    return min((at for at in moments if at is not None), default=None)


def _moment(now: float) -> datetime:
    return datetime.fromtimestamp(int(now), UTC)

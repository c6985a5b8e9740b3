"""What a campaign's status shows people besides what it remembers: counts, names, conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from slackwater.api.conditions import ConditionStatus
from slackwater.api.fleet_campaign_status import (
    CampaignConditionType,
    CampaignPhase,
    FleetCampaignStatus,
    NamedGroup,
    WaveStatus,
)
from slackwater.core.decision.words import count, listing
from slackwater.core.fleet.campaign import Campaign, Course
from slackwater.core.fleet.openings import Standing
from slackwater.core.fleet.participants import Participant, Progress
from slackwater.core.fleet.waves import the_wave

MOST_NAMES: Final = 10
_STAND_STILL: Final = (CampaignPhase.PENDING, CampaignPhase.PAUSED, CampaignPhase.HALTED, CampaignPhase.FORECAST)
TRUE, FALSE = ConditionStatus.TRUE, ConditionStatus.FALSE


@dataclass(frozen=True, slots=True)
class CampaignVerdict:
    """A condition, without the moment at which it came to be so."""

    type: CampaignConditionType
    status: ConditionStatus
    reason: str
    message: str = ""


def report(campaign: Campaign, course: Course, participants: Sequence[Participant], now: float) -> FleetCampaignStatus:
    """The status that follows, with its counts. To be written seldom, while only they change. What is over stays."""
    if not course.placed:
        return course.status
    alone = sorted((each for each in participants if each.is_left_alone), key=lambda each: each.key)
    skipped = Counter(each.obstacle.skip for each in alone if each.obstacle is not None)
    failed = sorted(each.key for each in participants if each.progress is Progress.FAILED)
    return course.status.model_copy(
        update={
            "waves": tuple(_waves(course, now)),
            "skipped": dict(sorted(skipped.items())),
            "skipped_groups": tuple(map(_named, alone[:MOST_NAMES])),
            "failed_groups": tuple(NamedGroup(group=key) for key in failed[:MOST_NAMES]),
        }
    )


def _named(participant: Participant) -> NamedGroup:
    obstacle = participant.obstacle
    reason, message = ("", "") if obstacle is None else (obstacle.skip.value, obstacle.message)
    return NamedGroup(group=participant.key, reason=reason, message=message)


def _waves(course: Course, now: float) -> Iterator[WaveStatus]:
    for wave, groups in zip(course.plan, course.placed, strict=True):
        progress = Counter(each.progress for each in groups if each.is_named)
        soaked_at = Standing(now, wave, groups).soaked_at
        is_over = all(not each.is_to_come and each.progress is not Progress.MOVES for each in groups)
        yield WaveStatus(
            name=wave.name,
            groups=len(groups),
            done=progress[Progress.DONE],
            failed=progress[Progress.FAILED],
            skipped=sum(each.is_left_alone for each in groups),
            soak_until=_moment(soaked_at) if soaked_at is not None and is_over and wave.soak_ms else None,
        )


def verdicts(
    campaign: Campaign, course: Course, participants: Sequence[Participant], now: float
) -> tuple[CampaignVerdict, ...]:
    """Every condition, always all of them."""
    return (
        _accepted(course),
        _progressing(campaign, course),
        _halted(course, participants),
        _overdue(campaign, course, participants, now),
        _succeeded(course, participants),
    )


class CampaignReason(StrEnum):
    """Of Events about a campaign."""

    WAVE_BEGUN = "WaveBegun"
    WAVE_DONE = "WaveDone"
    CAMPAIGN_HALTED = "CampaignHalted"


def news(before: FleetCampaignStatus, after: FleetCampaignStatus) -> Iterator[tuple[CampaignReason, str, bool]]:
    """What the status says for the first time, and whether it is a warning."""
    is_over = after.phase is CampaignPhase.SUCCEEDED and before.phase is not CampaignPhase.SUCCEEDED
    if before.wave and (is_over or after.wave != before.wave):
        done = next((each for each in after.waves if each.name == before.wave), WaveStatus(name=before.wave))
        counts = (
            f"{done.done} of {count(done.groups, 'group')} done, {done.failed} failed, {done.skipped} left as they are"
        )
        yield CampaignReason.WAVE_DONE, f"{the_wave(before.wave)} is over: {counts}", False
    if after.wave and after.wave != before.wave:
        yield CampaignReason.WAVE_BEGUN, f"{the_wave(after.wave)} begins", False
    if after.phase is CampaignPhase.HALTED and before.phase is not CampaignPhase.HALTED:
        said = next((each.message for each in after.conditions if each.type is CampaignConditionType.HALTED), "")
        yield CampaignReason.CAMPAIGN_HALTED, said, True


def _accepted(course: Course) -> CampaignVerdict:
    kind = CampaignConditionType.ACCEPTED
    if course.refused:
        return CampaignVerdict(kind, FALSE, course.refused_as, course.refused)
    return CampaignVerdict(kind, TRUE, "Accepted")


def _progressing(campaign: Campaign, course: Course) -> CampaignVerdict:
    kind, phase = CampaignConditionType.PROGRESSING, course.status.phase or CampaignPhase.PENDING
    if campaign.is_being_deleted:
        return CampaignVerdict(kind, FALSE, "Deleted", "who has begun finishes, nobody else begins")
    if phase is CampaignPhase.FORECAST:
        return CampaignVerdict(kind, FALSE, phase.value, "spec.dryRun is true: nobody moves")
    message = course.refused if course.wait is None else course.wait.message
    moves = phase not in _STAND_STILL and phase is not CampaignPhase.SUCCEEDED
    return CampaignVerdict(kind, TRUE if moves else FALSE, phase.value, message)


def _halted(course: Course, participants: Sequence[Participant]) -> CampaignVerdict:
    kind = CampaignConditionType.HALTED
    if course.status.phase is not CampaignPhase.HALTED or course.wait is None:
        return CampaignVerdict(kind, FALSE, "NotHalted")
    failed = sorted(each.key for each in participants if each.counts_as_failed)
    if course.refused:
        return CampaignVerdict(kind, TRUE, "FleetChanged", course.refused)
    return CampaignVerdict(kind, TRUE, "TooManyFailed", f"{course.wait.message}: {listing(failed)}")


def _overdue(campaign: Campaign, course: Course, participants: Sequence[Participant], now: float) -> CampaignVerdict:
    kind, has_begun = CampaignConditionType.OVERDUE, campaign.started_at is not None
    if not has_begun or course.status.phase is CampaignPhase.SUCCEEDED or now < campaign.overdue_at:
        return CampaignVerdict(kind, FALSE, "InTime")
    left = sorted(each.key for each in participants if each.is_to_come or each.progress is Progress.MOVES)
    return CampaignVerdict(kind, TRUE, "DeadlinePassed", f"{count(len(left), 'group')} to come: {listing(left)}")


def _succeeded(course: Course, participants: Sequence[Participant]) -> CampaignVerdict:
    kind = CampaignConditionType.SUCCEEDED
    if course.status.phase is not CampaignPhase.SUCCEEDED:
        return CampaignVerdict(kind, FALSE, "NotYet")
    progress = Counter(each.progress for each in participants)
    alone = sum(each.is_left_alone for each in participants)
    done = f"{count(progress[Progress.DONE], 'group')} done"
    return CampaignVerdict(
        kind, TRUE, "Succeeded", f"{done}, {progress[Progress.FAILED]} failed, {alone} left as they are"
    )


def _moment(at: float) -> datetime:
    return datetime.fromtimestamp(int(at), UTC)

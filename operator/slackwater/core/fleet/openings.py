"""What has to be so before a campaign's next wave begins: an ordered chain of checks, the first refusal wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from slackwater.api.fleet_campaign_status import CampaignPhase
from slackwater.api.fleet_waves import Promote, Wave
from slackwater.api.timestamps import timestamp
from slackwater.core.decision.words import count, listing
from slackwater.core.fleet.participants import Participant, Progress
from slackwater.core.fleet.waves import the_wave

LOOKED_AT_WITHIN_S: Final = 75.0
"""A group at rest is looked at once a minute. Of one at which nobody can look, others need not wait any longer."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Why the next wave does not begin yet."""

    phase: CampaignPhase
    message: str
    until: float | None = None
    """When time alone may end it."""
    is_for_a_person: bool = False
    """Who promotes the campaign ends it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The wave under way, as its groups are now."""

    now: float
    wave: Wave
    groups: Sequence[Participant]
    is_promoted: bool = False
    """Somebody has just promoted it."""
    elders: Sequence[Participant] = ()
    """The groups of waves that are over."""

    @property
    def moved(self) -> list[Participant]:
        """Those of which anything can be learned: nobody waits for the others."""
        return [each for each in self.groups if each.is_named and not each.is_left_alone]

    @property
    def soaked_at(self) -> float | None:
        """When its soak is over; None: nothing to soak was done in it."""
        done = [each.done_at for each in self.groups if each.progress.is_over and each.done_at is not None]
        return max(done) + self.wave.soak_ms / 1000 if done else None


Check = Callable[[Standing], Wait | None]


def who_cannot_is_known(participants: Sequence[Participant], started_at: float, now: float) -> Wait | None:
    """Before the first wave: whom a campaign leaves as they are is written before the first pod moves."""
    left = sum(not each.is_looked_at for each in participants)
    until = started_at + LOOKED_AT_WITHIN_S
    if not left or now >= until:
        return None
    message = f"looks first which groups can be taken to the other protocol: {count(left, 'group')} left"
    return Wait(CampaignPhase.RUNNING, message, until=until)


def every_group_is_over(at: Standing) -> Wait | None:
    """Done, failed or left as it is; and none of an elder wave that had failed is under way once more."""
    again = [each for each in at.elders if each.progress is Progress.MOVES]
    left = again + [each for each in at.groups if each.is_to_come or each.progress is Progress.MOVES]
    if not left:
        return None
    moving = sum(each.progress is Progress.MOVES for each in left)
    message = f"{the_wave(at.wave.name)}: {count(len(left) - moving, 'group')} to come, {moving} under way"
    return Wait(CampaignPhase.RUNNING, message)


def its_changes_have_come(at: Standing) -> Wait | None:
    """With `changes`, nobody knows which groups of a wave will be changed: without this the last wave would go first,
    where its changes come first."""
    if at.moved or at.is_promoted or all(each.is_named for each in at.groups):
        return None
    message = (
        f"{the_wave(at.wave.name)}: none of its {count(len(at.groups), 'group')} has a change of this campaign yet;"
        " promote the campaign to go on without"
    )
    return Wait(CampaignPhase.AWAITING_PROMOTION, message, is_for_a_person=True)


def every_group_is_calm(at: Standing) -> Wait | None:
    """What is not known is not calm. Of a group that failed nothing is asked: that is counted."""
    disturbed = [each.key for each in at.moved if each.progress is Progress.DONE and not each.is_calm]
    if not disturbed:
        return None
    return Wait(CampaignPhase.SOAKING, f"{the_wave(at.wave.name)} is done, and not calm: {listing(disturbed)}")


def it_has_soaked(at: Standing) -> Wait | None:
    """Counted from when its last group was done in this campaign, never from a condition that may not have moved."""
    if at.soaked_at is None or at.now >= at.soaked_at:
        return None
    message = f"{the_wave(at.wave.name)} is done, and soaks until {timestamp(int(at.soaked_at))}"
    return Wait(CampaignPhase.SOAKING, message, until=at.soaked_at)


def somebody_promotes_it(at: Standing) -> Wait | None:
    """Where the wave says so. One in which nobody moved is passed over."""
    if at.wave.promote is Promote.AUTO or at.is_promoted or not at.moved:
        return None
    message = f"{the_wave(at.wave.name)} is done: promote the campaign to go on"
    return Wait(CampaignPhase.AWAITING_PROMOTION, message, is_for_a_person=True)


OPENINGS: Final[tuple[Check, ...]] = (
    every_group_is_over,
    its_changes_have_come,
    every_group_is_calm,
    it_has_soaked,
    somebody_promotes_it,
)
"""A person comes last: who promotes a campaign has seen what time shows."""


def why_not_yet(at: Standing) -> Wait | None:
    """What keeps the next wave from beginning."""
    return next((wait for check in OPENINGS if (wait := check(at)) is not None), None)

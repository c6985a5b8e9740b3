"""From what is known of a group to its part in a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from slackwater.api.annotations import CAMPAIGN, PAUSE
from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.fleet_campaign import ApplyDefaults
from slackwater.api.fleet_campaign_status import Skip
from slackwater.api.fleet_defaults import PinnedField
from slackwater.core.decision.reasons import Hold
from slackwater.core.decision.words import listing
from slackwater.core.fleet.campaign import Campaign
from slackwater.core.fleet.defaults import Own, by_campaign, in_force, is_nearer, to_take_up
from slackwater.core.fleet.layers import Given, Said
from slackwater.core.fleet.participants import Obstacle, Participant, Progress, Shown, done_at, progress_of
from slackwater.core.fleet.records import Values, record_of
from slackwater.core.world.inherited import Pins


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """What is known of a group, as far as campaigns ask."""

    key: str
    """namespace/name."""
    own: Own
    uid: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    shown: Shown = field(default_factory=Shown)
    given: Mapping[str, Given] = field(default_factory=dict)
    pins: Pins = field(default_factory=dict)
    is_calm: bool = False
    way: Obstacle | Hold | None = None
    """To another protocol, where the campaign takes it there (`core/protocol/foreseen`); a Hold: not known now."""
    is_looked_at: bool = True
    """Somebody has looked for that way."""
    passes_waves: bool = False


@dataclass(frozen=True, slots=True)
class _Asked:
    campaign: Campaign
    group: KnownGroup
    applies: Values


def applies_of(asked: ApplyDefaults | None, says: Said) -> Values:
    """What a fleet gives of the defaults that a campaign is about."""
    if asked is None:
        return {}
    return {name: says[name] for name in asked.fields or PinnedField if name in says}


def named_by(group: str, written: str) -> str:
    """The campaign whose order its changes wait for, by `namespace/name`; empty: none. `written`: its annotation."""
    return written if "/" in written or not written else f"{group.partition('/')[0]}/{written}"


def campaign_of(group: KnownGroup) -> str:
    return named_by(group.key, group.annotations.get(CAMPAIGN, ""))


def participant_of(campaign: Campaign, group: KnownGroup, applies: Values, now: float) -> Participant:
    """`applies`: what the campaign has groups take up (`status.applies`; before it begins, what the fleet says)."""
    action, started_at = campaign.spec.action, campaign.started_at
    since = now if started_at is None else started_at
    left = _left(group, applies, campaign)
    record = record_of(group.shown.commands, campaign.uid)
    obstacle = _obstacle(_Asked(campaign, group, applies)) if record is None else None
    progress = progress_of(action, group.shown, campaign.uid, since, left)
    if obstacle is not None and (obstacle.skip in _LEAVE_NOTHING or obstacle is group.way):
        progress = Progress.WAITS  # a deploy of its own may have pinned what it cannot be taken to
    if isinstance(group.way, Hold) and progress is Progress.WAITS:
        progress = Progress.BUSY
    return Participant(
        group.key,
        uid=group.uid,
        labels=group.labels,
        progress=progress,
        begun_in=None if record is None else record.wave,
        done_at=done_at(group.shown, progress, campaign.uid, since),
        is_calm=group.is_calm,
        obstacle=obstacle,
        is_looked_at=group.is_looked_at or obstacle is not None,
        passes_waves=group.passes_waves,
        is_being_mended=group.shown.is_being_mended,
        is_named=action.changes is None or campaign_of(group) == campaign.key,
    )


def _left(group: KnownGroup, applies: Values, campaign: Campaign) -> Values:
    """What it is to take up: neither what it says itself, nor what a fleet that goes first for it says otherwise."""
    return to_take_up(group.own, group.given, applies, campaign.fleet)


def spec_with(group: KnownGroup, applies: Values, campaign: Campaign) -> ConsumerGroupSpec | None:
    """What the group would be run by, once it has taken up what is ordered; None where that is refused, or does not
    take it to another protocol: there is no way to be found then."""
    left = _left(group, applies, campaign)
    if PinnedField.PROTOCOL_TARGET not in left:
        return None
    renewed = by_campaign(group.own, group.given, group.pins, left, campaign.fleet)
    return None if renewed.refused else in_force(group.own, group.given, renewed.pins).spec


def it_says_otherwise(asked: _Asked) -> Obstacle | None:
    """A fleet never overrules what a team wrote. Where something else is left to take up, it takes up that."""
    says = asked.group.own.says
    other = [name for name, value in asked.applies.items() if says.get(name, value) != value]
    if not other or _left(asked.group, asked.applies, asked.campaign):
        return None
    return Obstacle(Skip.OWN_VALUE, f"it says itself: {listing(f'{name} {says[name]}' for name in other)}")


def a_nearer_fleet_says_otherwise(asked: _Asked) -> Obstacle | None:
    """One of its own namespace, or an older one."""
    given, own, fleet = asked.group.given, asked.group.own, asked.campaign.fleet
    nearer = [name for name in asked.applies if is_nearer(given, name, fleet) and name not in own.says]
    other = [f"{name} {given[name].value} by {given[name].by.key}" for name in nearer]
    if not other or _left(asked.group, asked.applies, asked.campaign):
        return None
    return Obstacle(Skip.NEARER_FLEET, f"another fleet says: {listing(other)}")


def its_newest_version_has_failed(asked: _Asked) -> Obstacle | None:
    """Whatever is ordered of it would be a try of that version again."""
    if not asked.group.shown.phase.gave_up:
        return None
    return Obstacle(Skip.HAS_FAILED, "its newest version has failed or was taken back: that comes first")


def somebody_paused_it(asked: _Asked) -> Obstacle | None:
    """Others need not wait for who paused it."""
    if PAUSE not in asked.group.annotations:
        return None
    return Obstacle(Skip.PAUSED, "it is paused; once it is resumed it comes with its wave, or with the last one")


def its_pods_lack_a_volume(asked: _Asked) -> Obstacle | None:
    """That waits until somebody stops them all, or takes the volume out again."""
    lacks = asked.group.shown.lacks
    if not lacks:
        return None
    message = f"its pods lack volume {listing(lacks)}, so nothing of it is rolled out: its own status says what to do"
    return Obstacle(Skip.VOLUME_CLAIMS_FIXED, message)


def the_whole_is_refused(asked: _Asked) -> Obstacle | None:
    """By the group's own rules, together with what it says itself."""
    left = _left(asked.group, asked.applies, asked.campaign)
    if not left:
        return None
    renewed = by_campaign(asked.group.own, asked.group.given, asked.group.pins, left, asked.campaign.fleet)
    return Obstacle(Skip.REFUSED, renewed.refused) if renewed.refused else None


def there_is_no_way(asked: _Asked) -> Obstacle | None:
    """To the other protocol, for its client on these brokers."""
    takes_it_there = PinnedField.PROTOCOL_TARGET in _left(asked.group, asked.applies, asked.campaign)
    return asked.group.way if takes_it_there and isinstance(asked.group.way, Obstacle) else None


OBSTACLES: Final[tuple[Callable[[_Asked], Obstacle | None], ...]] = (
    it_says_otherwise,
    a_nearer_fleet_says_otherwise,
    its_newest_version_has_failed,
    somebody_paused_it,
    its_pods_lack_a_volume,
    the_whole_is_refused,
    there_is_no_way,
)
"""What its team wants comes first: that is not to be mended."""
_LEAVE_NOTHING: Final = (Skip.OWN_VALUE, Skip.NEARER_FLEET)
"""With them nothing is left to take up, which is not the same as having taken it up."""


def _obstacle(asked: _Asked) -> Obstacle | None:
    return next((found for check in OBSTACLES if (found := check(asked)) is not None), None)

"""What a group remembers of the campaigns that it is in: commands of its `status.commands`, one for each.

A key that two campaigns shared would make each take the other's record for none, and restart the group in turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from slackwater.api.annotations import CAMPAIGN, GROUP
from slackwater.api.fleet_defaults import PinnedField
from slackwater.api.timestamps import moment, timestamp

PREFIX: Final = f"{GROUP}/campaign."
"""Before a campaign's uid."""
_DONE: Final = " done "
Commands = Mapping[str, str]
Values = Mapping[PinnedField, JsonValue]
"""Defaults, as they stand in a spec."""


@dataclass(frozen=True, slots=True)
class Record:
    wave: str
    """In which the campaign began with the group."""
    done_at: float | None = None
    """In seconds since the epoch; None: not yet."""


def record_of(commands: Commands, campaign_uid: str) -> Record | None:
    """None: the campaign has not begun with it."""
    written = commands.get(f"{PREFIX}{campaign_uid}")
    if written is None:
        return None
    wave, _, done = written.partition(_DONE)
    return Record(wave, _moment_of(done) if done else None)


def _moment_of(written: str) -> float:
    """What no operator wrote says that it is done, and not when."""
    try:
        return moment(written)
    except ValueError:
        return 0.0


def with_begun(commands: Commands, campaign_uid: str, wave: str) -> Commands:
    """To be written together with what the campaign orders. What has begun does not begin again."""
    key = f"{PREFIX}{campaign_uid}"
    return commands if key in commands else {**commands, key: wave}


def with_called(commands: Commands, campaign: str) -> Commands:
    """`campaign`: namespace/name of one that orders changes. Its annotation is obeyed: the group's changes wait for it
    no more, also once it is deleted, and the record of its uid with it."""
    return {**commands, CAMPAIGN: campaign}


def with_done(commands: Commands, at: float) -> Commands:
    """To be written with the end of the rollout, and of the way to another protocol: of all campaigns that have begun
    with it, it has what they ordered."""
    return {
        key: f"{token}{_DONE}{timestamp(at)}" if key.startswith(PREFIX) and _DONE not in token else token
        for key, token in commands.items()
    }


def has_open_record(commands: Commands) -> bool:
    """A campaign has begun with the group, and it is not noted yet that this is done."""
    return any(key.startswith(PREFIX) and _DONE not in token for key, token in commands.items())


def without_those_of_others(commands: Commands, campaigns: frozenset[str]) -> Commands:
    """Only those of campaigns that are still there, by uid; to be asked when something else is written anyway."""
    kept = {f"{PREFIX}{uid}" for uid in campaigns}
    return {key: token for key, token in commands.items() if not key.startswith(PREFIX) or key in kept}

"""In what order a campaign goes through the groups of a fleet: a few first, then more, then the rest."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, Protocol

from pydantic import Field

from slackwater.api.amounts import Amount, IntOrPercent
from slackwater.api.durations import DurationMs, cel_between
from slackwater.api.fleet_budgets import Name
from slackwater.api.label_selector import LabelSelector
from slackwater.api.model import ApiModel, Rule, rule

LONGEST_SOAK_MS: Final = 30 * 24 * 3_600_000
MOST_WAVES: Final = 16


class Promote(StrEnum):
    """Who lets the next wave begin."""

    AUTO = "Auto"
    MANUAL = "Manual"


class Wave(ApiModel):
    name: Name
    """What the status calls it."""
    selector: LabelSelector | None = None
    """Which groups are in it, of those that are in no wave before; all of them when not given."""
    size: Annotated[IntOrPercent, Amount("write how many groups are in the wave: 1 or more, or 1% to 100%")] | None = (
        None
    )
    """How many groups are in it at most: a number, or a share of the campaign's groups. Their order spreads them over
    teams and coordinators, and stays the same.
    """
    max: (
        Annotated[
            IntOrPercent, Amount("write how many groups of the wave may move at a time: 1 or more, or 1% to 100%")
        ]
        | None
    ) = None
    """How many of them may move at a time, besides what budgets say."""
    soak_ms: Annotated[DurationMs, Field(alias="soak")] = 0
    """How long the next wave waits after the last group of this one is done, all of them being calm."""
    promote: Promote = Promote.AUTO
    """Manual: the next wave begins when somebody promotes the campaign."""

    @rule(
        cel_between(("self.soak",), f"duration(self.soak) <= duration('{LONGEST_SOAK_MS // 3_600_000}h')"),
        "a soak is at most 720h, which is 30 days: a campaign that takes longer is two",
        field_path="soak",
    )
    def it_ends(self) -> bool:
        return self.soak_ms <= LONGEST_SOAK_MS

    @property
    def takes_the_rest(self) -> bool:
        return self.selector is None and self.size is None


Waves = Annotated[tuple[Wave, ...], Field(max_length=MOST_WAVES)]
"""One value, not a list to be merged: another order of the same waves is something else."""


class HasWaves(Protocol):
    @property
    def waves(self) -> tuple[Wave, ...]: ...


_TAKES_THE_REST: Final = "!has(wave.selector) && !has(wave.size)"


def _too_early(waves: Iterable[Wave]) -> list[str]:
    return [wave.name for wave in tuple(waves)[:-1] if wave.takes_the_rest]


def _only_the_last_takes_the_rest(spec: HasWaves) -> bool | str:
    too_early = _too_early(spec.waves)
    return f"only the last wave may take the rest: give wave {too_early[0]} a selector or a size" if too_early else True


def _names_differ(spec: HasWaves) -> bool:
    return len({wave.name for wave in spec.waves}) == len(spec.waves)


WAVE_RULES: Final = (
    Rule(
        cel="!has(self.waves) || self.waves.all(wave, self.waves.exists_one(other, other.name == wave.name))",
        message="give each wave a name of its own: waves[].name",
        field_path="waves",
        check=_names_differ,
    ),
    Rule(
        cel=f"!has(self.waves) || self.waves.filter(wave, {_TAKES_THE_REST})"
        ".all(wave, wave.name == self.waves[size(self.waves) - 1].name)",
        message="only the last wave may take the rest: give the others a selector or a size",
        field_path="waves",
        # A sentence for each, then the first of them: of what is chosen first the API server knows no longest length.
        message_expression=f"self.waves.map(wave, {_TAKES_THE_REST}, 'only the last wave may take the rest: give wave '"
        " + wave.name + ' a selector or a size')[0]",
        check=_only_the_last_takes_the_rest,
    ),
)
"""Of any spec that has waves."""

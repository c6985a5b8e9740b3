"""What outlasts a crash: questions to it, and what is refused to be read."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.api.errors import InvalidSpec
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade, read_memory, write_memory
from slackwater.core.world.profile import Profile, StrategyName

P = RolloutPhase
PATH = (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE)


@pytest.mark.parametrize(
    ("phase", "under_way", "at_rest", "gave_up", "goes_back"),
    [
        (P.NONE, False, True, False, False),
        (P.PROGRESSING, True, False, False, False),
        (P.COMPLETE, False, True, False, False),
        (P.FAILED, False, False, True, False),
        (P.ROLLING_BACK, True, False, True, True),
        (P.ROLLED_BACK, False, False, True, True),
    ],
)
def test_phases(phase: RolloutPhase, under_way: bool, at_rest: bool, gave_up: bool, goes_back: bool) -> None:
    seen = (phase.under_way, phase.at_rest, phase.gave_up, phase.goes_back)
    assert seen == (under_way, at_rest, gave_up, goes_back)


@pytest.mark.parametrize(
    ("phase", "kept", "expected"),
    [(P.PROGRESSING, 3, 3), (P.ROLLING_BACK, 3, 3), (P.PROGRESSING, None, 5), (P.COMPLETE, 3, 5), (P.FAILED, 3, 5)],
)
def test_a_rollout_goes_on_with_its_own_number_of_pods(phase: RolloutPhase, kept: int | None, expected: int) -> None:
    assert RolloutMemory(phase=phase, replicas=kept).replicas_of(5) == expected


@pytest.mark.parametrize(
    ("step", "here", "behind"),
    [(1, Profile.EAGER_AND_COOPERATIVE, Profile.EAGER), (2, Profile.COOPERATIVE, Profile.EAGER_AND_COOPERATIVE)],
)
def test_each_step_of_an_upgrade_has_two_profiles(step: int, here: Profile, behind: Profile) -> None:
    upgrade = Upgrade(Profile.EAGER, StrategyName.TWO_BOUNCE, PATH, step)
    assert (upgrade.here, upgrade.behind, upgrade.target) == (here, behind, Profile.COOPERATIVE)


@pytest.mark.parametrize("name", StrategyName)
def test_only_the_cut_over_drains(name: StrategyName) -> None:
    assert Upgrade(Profile.EAGER, name, PATH).drains is (name is StrategyName.DRAIN_CUTOVER)


def test_commands_stand_beside_the_rollout_in_the_status() -> None:
    memory = RolloutMemory(commands={"slackwater.dev/retry": "1"})
    assert write_memory(memory) == {"phase": "None"}
    assert read_memory({"commands": {"slackwater.dev/retry": "1"}}) == memory


@pytest.mark.parametrize(
    ("rollout", "place"),
    [
        ({"phase": "Flying"}, "phase"),
        ({"step": {"ordinal": 1}}, "step.startedAt"),
        ({"lagBefore": "much"}, "lagBefore"),
    ],
)
def test_what_cannot_be_read_is_named(rollout: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidSpec, match=place) as caught:
        read_memory({"rollout": rollout})
    assert "as if a newer slackwater had written it" in str(caught.value)

"""Which profiles there are, which go together, and which a pod was made with."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import pytest

from slackwater.api.annotations import PROTOCOL
from slackwater.api.protocol import ProtocolTarget
from slackwater.core.world.profile import ASSIGNOR_SEEN, Profile, can_mix, profile_in, profile_of, profile_shown


def test_only_eager_and_cooperative_have_no_assignor_in_common() -> None:
    apart = [pair for pair in combinations_with_replacement(Profile, 2) if not can_mix(*pair)]
    assert apart == [(Profile.EAGER, Profile.COOPERATIVE)]
    assert not can_mix(Profile.COOPERATIVE, Profile.EAGER)


@pytest.mark.parametrize("target", ProtocolTarget)
def test_each_target_is_a_profile(target: ProtocolTarget) -> None:
    assert profile_of(target).value == target.value


@pytest.mark.parametrize(
    ("template", "profile"),
    [
        ({}, Profile.OWN_CHOICE),
        ({"metadata": None}, Profile.OWN_CHOICE),
        ({"metadata": {"annotations": None}}, Profile.OWN_CHOICE),
        ({"metadata": {"annotations": {PROTOCOL: "Consumer"}}}, Profile.CONSUMER),
        ({"metadata": {"annotations": {PROTOCOL: "EagerAndCooperative"}}}, Profile.EAGER_AND_COOPERATIVE),
        ({"metadata": {"annotations": {PROTOCOL: "of a later version"}}}, Profile.OWN_CHOICE),
    ],
)
def test_the_profile_stands_in_an_annotation(template: dict[str, Any], profile: Profile) -> None:
    assert profile_in(template) is profile


def test_every_classic_profile_of_ours_shows_in_the_assignor() -> None:
    assert set(Profile) - set(ASSIGNOR_SEEN) == {Profile.OWN_CHOICE, Profile.CONSUMER}


def test_in_a_sentence() -> None:
    assert (Profile.OWN_CHOICE.words, Profile.EAGER.words) == ("the consumers' own choice", "Eager")


@pytest.mark.parametrize(
    ("assignor", "profile"),
    [
        ("range", Profile.EAGER),
        ("cooperative-sticky", Profile.COOPERATIVE),
        ("roundrobin", None),
        ("stream", None),
        ("", None),
    ],
)
def test_a_group_shows_its_profile_by_its_assignor(assignor: str, profile: Profile | None) -> None:
    assert profile_shown(assignor) is profile


def test_the_bridge_looks_eager() -> None:
    assert profile_shown(ASSIGNOR_SEEN[Profile.EAGER_AND_COOPERATIVE]) is Profile.EAGER

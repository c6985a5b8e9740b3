"""What a classic group shows of its pods' profile."""

from __future__ import annotations

import pytest

from slackwater.core.world.profile import ASSIGNOR_SEEN, Profile, profile_shown


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

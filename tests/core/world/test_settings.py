"""Timeouts as asked for, and with what was adopted where the spec says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.world.profile import Profile
from slackwater.core.world.settings import Setting, Values, asked, session_of, with_adopted
from tests.core.factories import group

S = Setting


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, {}),
        ({"session": "20s", "heartbeat": "5s"}, {S.SESSION: 20_000, S.HEARTBEAT: 5_000}),
        ({"consumer": {"session": "50s"}}, {S.CONSUMER_SESSION: 50_000}),
        ({"maxPollInterval": "10m", "maxPollRecords": 50}, {S.MAX_POLL_INTERVAL: 600_000, S.MAX_POLL_RECORDS: 50}),
    ],
)
def test_what_the_spec_says_itself(spec: dict[str, Any], expected: Values) -> None:
    assert asked(group(timeouts=spec).spec.timeouts) == expected


@pytest.mark.parametrize(
    ("spec", "adopted", "expected"),
    [
        ({}, {}, {}),
        ({}, {S.SESSION: 30_000, S.MAX_POLL_RECORDS: 9}, {S.SESSION: 30_000, S.MAX_POLL_RECORDS: 9}),
        ({"session": "20s"}, {S.SESSION: 30_000}, {S.SESSION: 20_000}),
        # No room for three heartbeats as adopted: it shrinks, unless the spec says it itself.
        ({"session": "9s"}, {S.HEARTBEAT: 5_000}, {S.SESSION: 9_000, S.HEARTBEAT: 3_000}),
        ({"heartbeat": "5s"}, {S.SESSION: 9_000}, {S.SESSION: 9_000, S.HEARTBEAT: 5_000}),
        (
            {},
            {S.CONSUMER_SESSION: 45_000, S.CONSUMER_HEARTBEAT: 5_000},
            {S.CONSUMER_SESSION: 45_000, S.CONSUMER_HEARTBEAT: 5_000},
        ),
    ],
)
def test_what_was_adopted_fills_the_gaps(spec: dict[str, Any], adopted: Values, expected: Values) -> None:
    assert asked(with_adopted(group(timeouts=spec).spec.timeouts, adopted)) == expected


def test_brokers_keep_only_what_a_modern_group_has_there() -> None:
    assert [setting for setting in Setting if not setting.needs_restart] == [S.CONSUMER_SESSION, S.CONSUMER_HEARTBEAT]


@pytest.mark.parametrize("profile", Profile)
def test_which_session_members_have(profile: Profile) -> None:
    assert session_of(profile) is (S.CONSUMER_SESSION if profile is Profile.CONSUMER else S.SESSION)


def test_in_words() -> None:
    assert (S.SESSION.in_words(4_500), S.MAX_POLL_RECORDS.in_words(50)) == ("4.5s", "50 records")
    assert S.MAX_POLL_RECORDS.in_words(1) == "1 record"

"""The words of a recommendation are those that the pipeline writes."""

from __future__ import annotations

from slackwater.core.world.advice import Advice, AdviceStatus, Subject
from slackwater.core.world.settings import Setting


def test_every_subject_is_a_setting_too() -> None:
    """The protocol in force only says whether it is one of the KIP-848 group's own."""
    assert {subject.value for subject in Subject} <= {setting.value for setting in Setting}


def test_what_is_not_said_recommends_nothing() -> None:
    advice = Advice("payments", 1.0, None, AdviceStatus.NOT_ENOUGH_DATA, "too few restarts", 3)
    assert not advice.ranges
    assert (advice.consumer_protocol, advice.membership, advice.saving_partition_s_per_month) == (None, "", None)

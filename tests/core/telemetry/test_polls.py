"""What a pod's consumers say of their polling, as an event."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.api.telemetry.words import PollSource
from slackwater.core.telemetry.polls import PollReading, poll_observed
from slackwater.core.world.pods import Pod
from tests.core.factories import NOW, group, pod

READING = PollReading(PollSource.JAVA, 30.0, time_between_poll_max_ms=1_200.0)


def observed(of: Pod, **spec: Any) -> dict[str, Any]:
    return poll_observed(group(**spec), of, READING, NOW, "east").poll_observed.model_dump()


@pytest.mark.parametrize("name", ["payments-0", "payments-alt-0"])
def test_the_instance_id_is_the_member_s_whichever_stateful_set_the_pod_is_of(name: str) -> None:
    """In every second warm rollout the pod is called otherwise than its member."""
    body = observed(pod(0, name=name))
    assert (body["pod"], body["instance_id"]) == (name, "payments-0")


@pytest.mark.parametrize("spec", [{"membership": "Dynamic"}, {"membersPerPod": 2}])
def test_several_members_or_dynamic_ones_have_no_one_id(spec: dict[str, Any]) -> None:
    assert observed(pod(0), **spec)["instance_id"] is None


@pytest.mark.parametrize(
    ("published", "says"), [({}, False), ({"poll_idle_ratio_avg": 0.0}, True), ({"records_per_poll_avg": 3.0}, True)]
)
def test_a_reading_of_nothing_says_nothing(published: dict[str, float], says: bool) -> None:
    assert PollReading(PollSource.JAVA, 30.0, **published).says_something is says

"""How long a refusal stands: until a try comes through, and a pass in which nothing was tried proves nothing."""

from __future__ import annotations

import pytest

from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.shell.refusals import REFUSAL_STANDS_S, Refusals
from tests.shell.fakes import CONNECTION, KEY

CLUSTER = ClusterRefused("exceeded quota: pods")
KAFKA = KafkaRefused("grant it Read on the group", Reason.NOT_AUTHORIZED)
NOW = 1000.0


@pytest.mark.parametrize(
    ("error", "after_s", "tried", "ends"),
    [
        (CLUSTER, 0.0, True, True),
        (CLUSTER, 0.0, False, True),
        (KAFKA, 0.0, True, True),
        (KAFKA, 0.0, False, False),
        (KAFKA, REFUSAL_STANDS_S - 1, False, False),
        (KAFKA, REFUSAL_STANDS_S, False, True),
    ],
    ids=[
        "a try",
        "the API server is asked in every pass",
        "Kafka takes it",
        "Kafka was not asked",
        "nor for a minute",
        "but then it is asked again",
    ],
)
def test_when_it_ends(error: ClusterRefused | KafkaRefused, after_s: float, tried: bool, ends: bool) -> None:
    refusals = Refusals()
    refusals.add(KEY, error, NOW)
    assert refusals.came_through(KEY, NOW + after_s, tried=tried) is ends
    assert (refusals.get(KEY) is None) is ends


def test_what_it_says() -> None:
    refusals = Refusals()
    refusals.add(KEY, CLUSTER, NOW)
    refusals.add(CONNECTION, KAFKA, NOW)
    assert refusals.get(KEY) == Hold(Reason.CLUSTER_REFUSED, "exceeded quota: pods")
    assert refusals.get(CONNECTION) == Hold(Reason.NOT_AUTHORIZED, "grant it Read on the group")
    refusals.forget(KEY)
    assert refusals.get(KEY) is None
    assert not refusals.came_through(KEY, NOW, tried=True)

"""KIP-848 pods that came while Kafka was away are refused their ids once it is back, and never ask again."""

from __future__ import annotations

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run


@pytest.mark.parametrize("killed", [True, False], ids=["the operator is killed", "it lives"])
@pytest.mark.parametrize("fewest", [0, 1, 2])
def test_pods_that_went_and_came_while_kafka_was_away_get_their_ids(fewest: int, killed: bool) -> None:
    """Who ends while Kafka is away cannot leave, and has the id for a session; its successor's only try is refused."""
    run = Run(Outside(kip848=True))
    run.outside.broker.session_s = 45
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(5)
    run.do(f"{fewest} pods", lambda o: o.scale(fewest))
    run.for_seconds(10)
    if killed:
        run.operator.die("meanwhile")
    run.do("3 pods", lambda o: o.scale(3))
    run.for_seconds(10)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    run.for_seconds(600)
    idle = [pod.name for pod in run.outside.pods if not run.outside.serves(pod)]
    assert idle == [], run.outside.status["conditions"]


def test_one_that_was_replaced_while_kafka_was_away_soon_after_it_had_joined_gets_its_id() -> None:
    """Nobody is killed and nothing is scaled: its member was seen once, and at rest the next look is 15 s later."""
    run = Run(Outside(kip848=True))
    run.outside.broker.session_s = 45
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(60)
    run.do("pod 1 is evicted", lambda o: o.evict(1))
    run.until_it_is("made again", lambda o: o.set.pods[1].gone_at is None and o.serves(o.set.pods[1]))
    run.do("Kafka is away", lambda o: o.set_kafka(reachable=False))
    run.for_seconds(5)
    run.do("pod 1 is evicted again", lambda o: o.evict(1))
    run.for_seconds(20)
    run.do("Kafka is back", lambda o: o.set_kafka(reachable=True))
    run.for_seconds(600)
    assert [pod.name for pod in run.outside.pods if not run.outside.serves(pod)] == [], run.outside.status["conditions"]

"""What Kafka does not let the operator do: it is said with what to grant, as long as it is so, and tried again."""

from __future__ import annotations

import pytest

from slackwater.adapters.cluster.paths import CONSUMER_GROUP, STATEFUL_SET
from slackwater.adapters.kafka.errors import KafkaRefused
from slackwater.core.decision.reasons import Reason
from tests.core.factories import members, observation
from tests.shell.fakes import KEY
from tests.shell.reconciler_stage import Stage

FORBIDDEN = KafkaRefused("grant it Read and Delete on the group", Reason.NOT_AUTHORIZED)


async def scaled_to_two(stage: Stage) -> None:
    """Three pods were made; the third is gone, and its member is in the group."""
    await stage.run()
    obj = stage.api.objects["ConsumerGroup", *KEY]
    obj["spec"] = obj["spec"] | {"replicas": 2}
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))
    known = stage.api.objects["ConsumerGroup", *KEY]
    known["status"]["rollout"]["seenIn"] = "KafkaConnection main in "
    stage.see(stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, generation=2))
    await stage.run()
    made = stage.api.objects["StatefulSet", *KEY]
    made["status"] = {"observedGeneration": made["metadata"]["generation"]}
    stage.store.put(STATEFUL_SET, stage.api.changed_by_somebody(STATEFUL_SET, KEY))
    stage.connections.seen = observation(members(0, 1, 2))


async def test_a_removal_that_is_forbidden_is_told_until_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    await scaled_to_two(stage)

    async def forbidden(*_: object) -> list[str]:
        raise FORBIDDEN

    with monkeypatch.context() as denied:
        denied.setattr(stage.connections.kafka, "remove_members", forbidden)
        for _ in range(2):
            with pytest.raises(KafkaRefused):
                await stage.run()
    degraded = stage.condition("Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", "NotAuthorized")
    assert "grant it Read" in degraded["message"]
    await stage.run()
    assert stage.connections.kafka.removed == ["payments-2"]
    stage.connections.seen = observation(members(0, 1))
    await stage.run()
    assert stage.condition("Degraded")["reason"] != "NotAuthorized"


async def test_between_two_tries_it_is_still_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass in which there is nothing to try proves nothing."""
    stage = Stage()
    await scaled_to_two(stage)

    async def forbidden(*_: object) -> list[str]:
        raise FORBIDDEN

    monkeypatch.setattr(stage.connections.kafka, "remove_members", forbidden)
    with pytest.raises(KafkaRefused):
        await stage.run()
    stage.connections.seen = observation(members(0, 1))
    await stage.run()
    assert stage.condition("Degraded")["reason"] == "NotAuthorized"

"""The ways on that the pages of reasons name lead on: whoever goes them has what was asked for in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.broker import MigrationPolicy
from slackwater.core.world.claims import Claim
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import BROKER, workload
from tests.core.simulation.broker import Process
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE: Final = RolloutPhase.COMPLETE
CONSUMER, COOPERATIVE = Profile.CONSUMER, Profile.COOPERATIVE
HELD_S: Final = 90.0
"""Longer than `rejoinTimeout`."""


class Hidden(Outside):
    """`why`: Kafka shows nothing, for this reason; `takes_away`: fields of the world as they are for a while."""

    why: Reason | None = None
    takes_away: dict[str, Any]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.takes_away = {}

    def observe(self) -> KafkaView:
        seen = super().observe()
        return seen if self.why is None else Unobserved(self.why, "it says why", self.now)

    def world(self, *seen: Any) -> World:
        return replace(super().world(*seen), **self.takes_away)

    def lacks(self, **fields: Any) -> None:
        self.takes_away = fields


class HiddenRun(Run):
    outside: Hidden


def at_rest(**options: Any) -> HiddenRun:
    run = HiddenRun(Hidden(**options))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def says(run: Run, reason: Reason) -> bool:
    last = run.operator.last
    return last is not None and reason in (each.reason for each in (last.hold, last.refusal) if each is not None)


def have(run: Run, version: str) -> list[int]:
    return sorted(pod.ordinal for pod in run.outside.pods if run.outside.image(pod) == version)


def all_work(run: Run, version: str) -> bool:
    return have(run, version) == [0, 1, 2] and all(map(run.outside.serves, run.outside.pods))


BLIND: Final = (
    Reason.KAFKA_UNREACHABLE,
    Reason.NOT_AUTHORIZED,
    Reason.ANSWER_TOO_LONG,
    Reason.COORDINATOR_UNAVAILABLE,
    Reason.GROUP_OF_ANOTHER_TYPE,
    Reason.CONNECTION_INVALID,
)


@pytest.mark.parametrize("strategy", ["InPlace", "WarmHandover"])
@pytest.mark.parametrize(
    "reason", [pytest.param(each, marks=pytest.mark.slow if each in BLIND[1:] else ()) for each in BLIND]
)
def test_a_rollout_goes_on_once_kafka_shows_the_group(reason: Reason, strategy: str) -> None:
    """It was hidden in the middle of it, and no version is blamed for that."""
    run = at_rest(strategy=strategy, onFailure="Rollback")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in a pod", lambda _: bool(have(run, "v2")))
    run.outside.why = reason
    run.for_seconds(HELD_S)
    assert says(run, reason)
    assert have(run, "v2") in ([2], [0])
    run.outside.why = None
    run.until(COMPLETE)
    assert all_work(run, "v2")


@pytest.mark.parametrize(
    ("lacks", "reason"),
    [
        ({"bootstrap_servers": None}, Reason.CONNECTION_MISSING),
        ({"allowed_groups": ("others-",)}, Reason.GROUP_NOT_ALLOWED),
        ({"allowed_groups": None}, Reason.GROUP_NOT_ALLOWED),
    ],
    ids=["no connection", "of other groups", "of other namespaces"],
)
def test_a_rollout_goes_on_once_the_connection_is_there_and_allows_the_group(
    lacks: dict[str, Any], reason: Reason
) -> None:
    run = at_rest(onFailure="Rollback")
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("in a pod", lambda _: bool(have(run, "v2")))
    run.outside.lacks(**lacks)
    run.for_seconds(HELD_S)
    assert says(run, reason)
    assert have(run, "v2") == [2]
    run.outside.lacks()
    run.until(COMPLETE)
    assert all_work(run, "v2")


IN_THE_WAY: Final[dict[Reason, dict[str, Any]]] = {
    Reason.FOREIGN_STATEFUL_SET: {"sets": (workload(owner_uid="somebody", template_hash="theirs"),)},
    Reason.GROUP_ID_SHARED: {"cluster_id": "here", "claims": (Claim("shop", "a", since=1.0),)},
}


@pytest.mark.parametrize("reason", IN_THE_WAY)
def test_a_group_is_made_once_nobody_else_has_its_name_or_its_id(reason: Reason) -> None:
    run = HiddenRun(Hidden())
    run.outside.lacks(**IN_THE_WAY[reason])
    run.for_seconds(HELD_S)
    assert says(run, reason)
    assert not run.outside.pods
    run.outside.lacks(cluster_id="here")
    run.until(COMPLETE)
    assert all_work(run, "v1")


def test_a_group_is_made_once_nobody_has_the_ids_of_its_pods() -> None:
    """They are stopped in another cluster, and leave when their sessions end."""
    run = HiddenRun(Hidden())
    theirs = [Process(f"payments-{ordinal}", f"10.9.9.{ordinal}") for ordinal in range(3)]
    for process in theirs:
        run.outside.broker.join(process, run.outside.now)
    run.for_seconds(HELD_S)
    assert says(run, Reason.INSTANCE_IDS_IN_USE)
    assert not run.outside.pods
    assert all(map(run.outside.broker.works, theirs))
    for process in theirs:
        process.alive = False
    run.until(COMPLETE)
    assert all_work(run, "v1")


Mend = Callable[[Hidden], None]


def client(version: str | None, library: str = "Librdkafka") -> Mend:
    given = {"library": library} | ({} if version is None else {"version": version})
    return lambda o: o.change_spec(client=given)


def protocol(**given: Any) -> Mend:
    return lambda o: o.change_spec(protocol={**o.spec["protocol"], **given})


def brokers(**given: Any) -> Mend:
    return lambda o: setattr(o, "facts", replace(BROKER, **given))


TO_CONSUMER: Final[dict[str, Any]] = {"protocol": {"target": "Consumer"}}
REFUSED: Final[dict[Reason, tuple[dict[str, Any], Mend, Mend, Profile]]] = {
    Reason.CLIENT_CANNOT: ({}, client("2.3"), client("2.12.1"), CONSUMER),
    Reason.CLIENT_VERSION_UNKNOWN: ({}, client(None), client("2.12.1"), CONSUMER),
    Reason.BROKER_CANNOT: ({}, brokers(group_version=0), brokers(), CONSUMER),
    Reason.BROKER_UNKNOWN: ({}, lambda o: o.lacks(broker=None), lambda o: o.lacks(), CONSUMER),
    Reason.MIGRATION_POLICY_FORBIDS: (
        {},
        brokers(migration_policy=MigrationPolicy.DISABLED),
        brokers(),
        CONSUMER,
    ),
    Reason.MIXED_ASSIGNORS_UNSUPPORTED: (
        {},
        protocol(target="Cooperative"),
        protocol(target="Cooperative", allowDowntime=True),
        COOPERATIVE,
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_group_gets_the_protocol_once_what_kept_it_is_mended(reason: Reason) -> None:
    """Until then it stays as it is, and versions go on."""
    options, breaks, mends, wanted = REFUSED[reason]
    run = at_rest(protocol={"target": "Eager"}, **options)
    run.do("it cannot be done", breaks)  # type: ignore[arg-type]
    if wanted is CONSUMER:
        run.do("Consumer", lambda o: o.change_target("Consumer"))
    run.for_seconds(30)
    assert says(run, reason)
    run.do("version v2 is applied", lambda o: o.apply("v2"))
    run.until_it_is("rolled out", lambda _: all_work(run, "v2"))
    assert says(run, reason)
    assert {pod.profile for pod in run.outside.pods} == {Profile.EAGER}
    run.do("mended", mends)  # type: ignore[arg-type]
    run.until_it_is("as asked", lambda o: {pod.profile for pod in o.pods} == {wanted} and all_work(run, "v2"))
    assert not says(run, reason)

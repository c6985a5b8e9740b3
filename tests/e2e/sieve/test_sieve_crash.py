"""A session is set and a consumer is killed while each write meets each fault: the brokers keep the one, the other's id
is released, and its successor takes it up.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT
from tests.e2e.members.members import wait_known
from tests.e2e.sieve.arena import BY_CHANCE, Arena, arena, group, group_of
from tests.e2e.sieve.faults import FAULTS, Fault
from tests.e2e.sieve.table import keep
from tests.e2e.stage import processes
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, with_env
from tests.e2e.stage.kafka import Sighting

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.minutes(5),
    pytest.mark.timeout(900),
]

SCENARIO: Final = "crash"
ALL: Final = (Fault.NONE, *FAULTS)
VICTIM: Final = 1
TARGET: Final[dict[str, object]] = {"protocol": {"target": "Consumer"}}
SESSION: Final[dict[str, object]] = {"timeouts": {"consumer": {"session": "60s"}}}
"""Members stay for a minute where nobody releases them."""
IN_KAFKA: Final = {"consumer.session.timeout.ms": "60000"}


@pytest.fixture(scope="module")
def crashed(crds: None, kubeconfig: Path, bootstrap_servers: str) -> Iterator[Arena]:
    """The successor lives on when it is refused, and never asks again: its pod is restarted."""
    with arena("sieve-crash", kubeconfig, bootstrap_servers, ROOT / "build" / "e2e" / "sieve_crash") as made:
        made.stage.create(*(modern(made, fault) for fault in made.faults))
        made.play(set_the_session, has_the_session)
        wait_known(made.stage, *map(group_of, made.faults))
        before = {fault: look(made, fault) for fault in made.faults}
        made.play(kill, lambda each, fault: is_whole_again(each, fault, before[fault]))
        keep(SCENARIO, {fault: made.met(fault) for fault in made.faults})
        yield made


def modern(arena: Arena, fault: Fault, **settings: object) -> Json:
    return with_env(group(arena, fault, **TARGET, **settings), EXIT_ON_FATAL="0")


def set_the_session(arena: Arena, fault: Fault) -> None:
    arena.stage.cluster.apply(modern(arena, fault, **SESSION))


def has_the_session(arena: Arena, fault: Fault) -> bool:
    return settings(arena, fault) == IN_KAFKA and arena.has_completed(fault)


def settings(arena: Arena, fault: Fault) -> dict[str, str]:
    return arena.stage.kafka.group_settings(arena.stage.group_id(group_of(fault)))


def look(arena: Arena, fault: Fault) -> Sighting:
    return arena.stage.kafka.look(arena.stage.group_id(group_of(fault)))


def name_of(fault: Fault) -> str:
    return f"{group_of(fault)}-{VICTIM}"


def kill(arena: Arena, fault: Fault) -> None:
    assert processes.kill(arena.stage.cluster.pods(group_of(fault))[VICTIM])


def is_whole_again(arena: Arena, fault: Fault, before: Sighting) -> bool:
    """Another member has the id, and all is read."""
    seen, victim = look(arena, fault), name_of(fault)
    another = seen.members.get(victim, before.members[victim]) != before.members[victim]
    return another and seen.state == "STABLE" and seen.owned == PARTITIONS and arena.has_completed(fault)


@pytest.mark.parametrize("fault", ALL)
def test_the_session_is_kept_and_restarts_nobody(crashed: Arena, fault: Fault) -> None:
    crashed.assert_ended(fault)
    crashed.assert_made_once(fault)
    assert settings(crashed, fault) == IN_KAFKA


@pytest.mark.parametrize("fault", ALL)
def test_nobody_else_is_touched(crashed: Arena, fault: Fault) -> None:
    """The victim's pod is made again where its process asked too early; once, since each try waits for longer."""
    crashed.assert_ended(fault)
    found = crashed.restarts(fault)
    assert found.pop(VICTIM) <= 1
    assert found == dict.fromkeys(found, 0)


@pytest.mark.parametrize("fault", ALL)
def test_the_group_is_whole_and_the_status_says_so(crashed: Arena, fault: Fault) -> None:
    crashed.assert_ended(fault)
    crashed.assert_whole_in_kafka(fault, REPLICAS)
    crashed.assert_status(fault)


@pytest.mark.parametrize("fault", ALL)
def test_both_writes_to_kafka_met_the_fault(crashed: Arena, fault: Fault) -> None:
    assert {BY_CHANCE, "alter in Kafka"} <= {each.write.row for each in crashed.met(fault)}

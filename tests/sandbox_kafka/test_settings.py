"""How a consumer in a pod is told what to do, and what it does when told to misbehave."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from sandbox.workload.consumer import crashes_now, of_members
from sandbox.workload.probe import serve_readiness
from sandbox.workload.settings import Behaviour, InvalidSetting, connection, properties


def test_every_variable_with_the_prefix_is_a_property() -> None:
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": "10.0.0.1:9092",
        "KAFKA_SESSION_TIMEOUT_MS": "10000",
        "KAFKA_GROUP_INSTANCE_ID": "payments-0",
        "KAFKA_PARTITION_ASSIGNMENT_STRATEGY": "",
        "TOPICS": "orders",
    }
    assert properties(environment) == {
        "bootstrap.servers": "10.0.0.1:9092",
        "session.timeout.ms": "10000",
        "group.instance.id": "payments-0",
    }


def test_only_the_way_to_the_brokers_is_shared_with_the_delivery_log() -> None:
    client = {"bootstrap.servers": "b:9092", "sasl.mechanism": "PLAIN", "group.id": "g", "session.timeout.ms": "1"}
    assert connection(client) == {"bootstrap.servers": "b:9092", "sasl.mechanism": "PLAIN"}


def test_behaviour_is_read_from_the_environment() -> None:
    environment = {
        "TOPICS": "orders, refunds",
        "HOSTNAME": "payments-0",
        "START_DELAY_SECONDS": "4.5",
        "NEVER_JOIN": "1",
        "CRASH_TIMES": "3",
        "EXIT_ON_FATAL": "0",
        "WAIT_SECONDS": "60",
        "CRASH_ON_RECORD": "1",
        "COMMIT_SECONDS": "2",
        "OUTPUT_TOPIC": "paid",
        "DEADLOCK_ON_SIGTERM": "1",
    }
    assert Behaviour.from_environment(environment) == Behaviour(
        topics=("orders", "refunds"),
        pod="payments-0",
        start_delay_s=4.5,
        never_join=True,
        crash_times=3,
        exit_on_fatal=False,
        wait_s=60.0,
        crash_on_record=True,
        commit_s=2.0,
        output_topic="paid",
        deadlock_on_sigterm=True,
    )


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "TOPICS is empty"),
        ({"TOPICS": "a,b", "DELIVERIES_TOPIC": "d"}, "works with one topic only"),
        ({"TOPICS": "a", "POLL_WORK_MS": "fast"}, "POLL_WORK_MS is 'fast', which is not a number"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        Behaviour.from_environment(environment)


@pytest.mark.parametrize(
    ("members", "client", "each"),
    [
        (1, {"group.instance.id": "payments-0"}, ["payments-0"]),
        (2, {"group.instance.id": "payments-0"}, ["payments-0-0", "payments-0-1"]),
        (2, {"group.id": "payments"}, [None, None]),
    ],
)
def test_each_member_of_a_process_has_an_instance_id_of_its_own(
    members: int, client: dict[str, str], each: list[str | None]
) -> None:
    assert [made.get("group.instance.id") for made in of_members(members, client)] == each


def test_only_the_first_starts_crash(tmp_path: Path) -> None:
    behaviour = Behaviour(topics=("orders",), pod="payments-0", crash_times=2, state=tmp_path)
    assert [crashes_now(behaviour) for _ in range(4)] == [True, True, False, False]


def test_readiness_follows_the_start_up() -> None:
    ready = threading.Event()
    server = serve_readiness(0, ready)
    url = f"http://127.0.0.1:{server.server_address[1]}/ready"
    try:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url)
        assert refused.value.code == 503
        refused.value.close()
        ready.set()
        with urllib.request.urlopen(url) as answer:
            assert answer.status == 200
    finally:
        server.shutdown()
        server.server_close()

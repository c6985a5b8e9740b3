"""Every consumer whose toolchain is here, on a real broker: what docs/prepare-your-consumer.md asks for, it does."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from slackwater.api.client import Library
from tests.consumers.broker import PARTITIONS, Broker, running_broker
from tests.consumers.building import CONSUMERS, EXAMPLES, UNTRIED, Example
from tests.consumers.running import Running, running

pytestmark = [pytest.mark.long, pytest.mark.minutes(10)]
RECORDS = 40
KIP_848 = (Library.JAVA, Library.LIBRDKAFKA)
_ASSIGNOR = {Library.JAVA: "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("broker")) as up:
        yield up


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda each: each.name)
def built(request: pytest.FixtureRequest) -> Example:
    example: Example = request.param
    if missing := example.missing():
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    example.built()
    return example


@pytest.fixture
def topic(broker: Broker) -> str:
    name = f"orders-{uuid.uuid4().hex[:8]}"
    broker.make_topic(name)
    return name


def run(built: Example, folder: Path, broker: Broker, topic: str, protocol: str) -> AbstractContextManager[Running]:
    """One pod's process; the group is called as its topic."""
    given = {built.prefix + name: text for name, text in settings(built, topic, protocol).items()}
    return running(built.built(), folder, given | {f"{built.prefix}BOOTSTRAP_SERVERS": broker.address}, topic)


def settings(built: Example, group: str, protocol: str) -> dict[str, str]:
    """As the operator gives them (core/manifests/client_settings.py)."""
    given = {"GROUP_ID": group, "GROUP_INSTANCE_ID": "orders-0", "MAX_POLL_INTERVAL_MS": "300000"}
    if protocol == "consumer":
        given |= {"GROUP_PROTOCOL": "consumer"}
    else:
        given |= {"SESSION_TIMEOUT_MS": "45000", "HEARTBEAT_INTERVAL_MS": "1000"}
        if built.library is not Library.KAFKA_STREAMS:
            given["PARTITION_ASSIGNMENT_STRATEGY"] = _ASSIGNOR.get(built.library, "cooperative-sticky")
    return given


def all_of(topic: str, count: int = RECORDS) -> set[str]:
    return {f"{topic}-{number % PARTITIONS}@{number // PARTITIONS}" for number in range(count)}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_each_record_is_processed_once_and_committed_before_the_end(
    built: Example, broker: Broker, topic: str, tmp_path: Path, protocol: str
) -> None:
    skip_unless_it_speaks(built, protocol)
    broker.produce(topic, RECORDS)
    with run(built, tmp_path, broker, topic, protocol) as one:
        one.until("all records are processed", lambda: all_of(topic) <= set(one.processed()))
        one.until("it is ready", lambda: one.probe("/readyz") == 200)
        assert one.probe("/livez") == 200
        assert list(broker.members(topic)) == [built.member("orders-0")]
        assert one.stop() == 0
        assert one.processed() == Counter(all_of(topic))
    assert broker.committed(topic, topic) == RECORDS


def test_fenced_by_its_replacement_it_does_nothing_more_and_waits_for_the_end(
    built: Example, broker: Broker, topic: str, tmp_path: Path
) -> None:
    with run(built, tmp_path, broker, topic, "classic") as old:
        old.until("the first one has all partitions", lambda: has_all(broker, topic, built))
        with run(built, tmp_path, broker, topic, "classic") as new:
            old.until("the first one is fenced", lambda: "fenced: another process has" in old.says())
            old.until("the first one is out of service", lambda: old.probe("/readyz") == 503)
            broker.produce(topic, RECORDS)
            new.until("its replacement does the work", lambda: all_of(topic) <= set(new.processed()))
            assert old.lives()
            assert old.probe("/livez") == 200
            assert not old.processed()
            assert (old.stop(), new.stop()) == (0, 0)


def test_kept_out_by_its_predecessor_it_is_in_as_soon_as_that_ends(
    built: Example, broker: Broker, topic: str, tmp_path: Path
) -> None:
    skip_unless_it_speaks(built, "consumer")
    with run(built, tmp_path, broker, topic, "consumer") as old:
        broker.produce(topic, RECORDS)
        old.until("the first one has done its work", lambda: all_of(topic) <= set(old.processed()))
        with run(built, tmp_path, broker, topic, "consumer") as new:
            new.until("the second one is refused, and lives", lambda: refused(new))
            assert old.stop() == 0
            broker.produce(topic, RECORDS)
            more = all_of(topic, 2 * RECORDS) - all_of(topic)
            new.until("the second one goes on where the first one ended", lambda: more <= set(new.processed()))
            assert new.processed() == Counter(more)
            assert new.stop() == 0
    assert broker.committed(topic, topic) == 2 * RECORDS


def test_every_consumer_is_tried_or_said_to_be_untried() -> None:
    here = {path.name for path in CONSUMERS.iterdir() if path.is_dir()}
    assert here == {*(each.name for each in EXAMPLES), *UNTRIED}
    text = (CONSUMERS / "README.md").read_text(encoding="utf-8")
    assert [name for name in UNTRIED if f"`{name}` | untried" not in text] == []


def skip_unless_it_speaks(built: Example, protocol: str) -> None:
    if protocol == "consumer" and built.library not in KIP_848:
        pytest.skip(f"{built.library} has no KIP-848")


def has_all(broker: Broker, topic: str, built: Example) -> bool:
    return broker.members(topic) == {built.member("orders-0"): PARTITIONS}


def refused(one: Running) -> bool:
    return "the instance id is in use" in one.says()

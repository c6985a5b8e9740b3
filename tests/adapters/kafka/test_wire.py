"""Connections that are refused, hang or end: a sentence within the time allowed, and nothing left behind."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self
from unittest.mock import Mock

import pytest
from kafka.protocol.admin import IncrementalAlterConfigsRequest
from kafka.protocol.metadata import ApiVersionsResponse, MetadataRequest, MetadataResponse
from structlog.testing import capture_logs

from slackwater.adapters.kafka import reading_pace
from slackwater.adapters.kafka import session as session_module
from slackwater.adapters.kafka.errors import AnswerTooLong, KafkaUnreachable
from slackwater.adapters.kafka.reading_pace import ReadingPace
from slackwater.adapters.kafka.session import Session
from slackwater.adapters.kafka.wire import KafkaWire
from tests.adapters.kafka.certificates import Authority

REQUEST_TIMEOUT_S = 1.0
"""Where nobody is to answer."""
ANSWER_S = 30.0
"""Where somebody is: a machine may stand still for seconds."""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that takes connections and never says a word, as a hanging broker does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


class Broker:
    """Answers what it is asked for, until it hangs."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.named: dict[int, int] = {}
        """The brokers of its cluster: their ports by node id."""
        self.hosts: dict[int, str] = {}
        """Where they are, if not here."""
        self.hangs = threading.Event()
        self.asked: list[int] = []
        """The APIs' keys."""
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        row = MetadataResponse.MetadataResponseBroker
        with connection, suppress(OSError):
            while request := _frame(connection):
                key, version = int.from_bytes(request[:2], "big"), int.from_bytes(request[2:4], "big")
                self.asked.append(key)
                if self.hangs.is_set():
                    continue
                brokers = [row(n, self.hosts.get(n, "127.0.0.1"), port) for n, port in self.named.items()]
                told = bytes(MetadataResponse(brokers=brokers, topics=[]).encode(version=version))
                _answer(connection, request, _api_versions(8) if key == ApiVersionsResponse.API_KEY else told)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as started:
        yield started


def wire_to(*ports: int, timeout_s: float = ANSWER_S, connects_within_s: float = ANSWER_S) -> KafkaWire:
    limits = ("socket_connection_setup_timeout_ms", "socket_connection_setup_timeout_max_ms")
    settings = dict.fromkeys(limits, int(connects_within_s * 1000))
    servers = ",".join(f"127.0.0.1:{port}" for port in ports)
    return KafkaWire({"bootstrap_servers": servers, **settings}, timeout_s=timeout_s)


@pytest.fixture
def brief_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next broker is asked as soon as where a request has a second, and an answer has `ANSWER_S` all the same."""
    monkeypatch.setattr(session_module, "_ASKED_IN_TIME", ANSWER_S / 0.2)


async def test_refused_connections_fail_soon_and_say_where() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    wire = KafkaWire({"bootstrap_servers": f"127.0.0.1:{port}"}, timeout_s=ANSWER_S)

    with pytest.raises(KafkaUnreachable, match=f"Kafka at 127.0.0.1:{port} cannot be reached: connection refused"):
        await wire.send(MetadataRequest(topics=[]))

    await wire.close()


@pytest.mark.parametrize("security", [{}, {"security_protocol": "SSL"}], ids=["plain", "tls"])
async def test_a_silent_server_is_given_up_in_time(listener: socket.socket, security: dict[str, str]) -> None:
    port = listener.getsockname()[1]
    wire = KafkaWire({"bootstrap_servers": f"127.0.0.1:{port}", **security}, timeout_s=REQUEST_TIMEOUT_S)
    for _ in range(2):
        async with asyncio.timeout(60):
            with pytest.raises(KafkaUnreachable):
                await wire.send(MetadataRequest(topics=[]))
    await wire.close()


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("kafka..svc", "kafka..svc is no host name"),
        (".svc", "is no host name"),
        ("k" * 64, "is no host name"),
        ("[kafka", "cannot be asked (ValueError)"),
    ],
)
async def test_a_host_that_can_be_none_is_told_as_what_cannot_be_reached(host: str, told: str) -> None:
    wire = KafkaWire({"bootstrap_servers": f"{host}:9092"}, timeout_s=ANSWER_S)
    for _ in range(2):
        with pytest.raises(KafkaUnreachable) as caught:
            await wire.send(MetadataRequest(topics=[]))
        assert told in str(caught.value)
    await wire.close()


async def test_what_nobody_foresaw_is_told_once_and_fails_this_connection_alone(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stumble(*_: object) -> None:
        raise TypeError("'NoneType' object is not iterable")

    wire = wire_to(listener.getsockname()[1])
    monkeypatch.setattr(wire, "_exchange", stumble)
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(KafkaUnreachable, match=r"cannot be asked \(TypeError\): the operator's log says more$"):
                await wire.send(MetadataRequest(topics=[]))
    (told,) = logs
    assert (told["event"], type(told["exc_info"])) == ("kafka_client_failed", TypeError)
    await wire.close()


async def test_a_request_that_waits_to_be_sent_when_it_is_closed_fails_as_one_that_was_not_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """kafka-python ends it by GeneratorExit: that would end the task that waits, and with it the process."""
    waits = threading.Event()

    async def wait(session: Any, *_: object) -> None:
        waits.set()
        await session._net.sleep(30)

    monkeypatch.setattr(Session, "_ask_once", wait)
    wire = KafkaWire({"bootstrap_servers": "127.0.0.1:1"}, timeout_s=30)
    sending = asyncio.ensure_future(wire.send(MetadataRequest(topics=[])))
    assert await asyncio.to_thread(waits.wait, 10)
    await wire.close()
    with pytest.raises(KafkaUnreachable, match="the connection was closed"):
        await sending


async def test_the_event_loop_goes_on_meanwhile(listener: socket.socket) -> None:
    wire = wire_to(listener.getsockname()[1], timeout_s=REQUEST_TIMEOUT_S)
    sending = asyncio.ensure_future(wire.send(MetadataRequest(topics=[])))
    ticks = 0
    while not sending.done():
        await asyncio.sleep(0.01)
        ticks += 1

    assert ticks > 1
    assert isinstance(sending.exception(), KafkaUnreachable)
    await wire.close()


async def test_closing_ends_the_thread_and_what_waits(listener: socket.socket) -> None:
    before = set(threading.enumerate())
    wire = wire_to(listener.getsockname()[1])
    sending = asyncio.ensure_future(wire.send(MetadataRequest(topics=[])))
    await asyncio.sleep(0)
    await wire.close()

    with pytest.raises(KafkaUnreachable):
        await sending
    with pytest.raises(KafkaUnreachable, match="was closed"):
        await wire.send(MetadataRequest(topics=[]))
    for thread in set(threading.enumerate()) - before:
        await asyncio.to_thread(thread.join, 10)
        assert not (thread.is_alive() and thread.name.startswith("kafka-io"))


async def test_a_cancelled_caller_leaves_the_wire_usable(listener: socket.socket) -> None:
    wire = wire_to(listener.getsockname()[1])
    sending = asyncio.ensure_future(wire.send(MetadataRequest(topics=[])))
    await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending

    wire.timeout_s = REQUEST_TIMEOUT_S
    with pytest.raises(KafkaUnreachable):
        await wire.send(MetadataRequest(topics=[]))
    await wire.close()


async def test_a_connection_that_died_meanwhile_is_made_again_within_one_request() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve_one_request_per_connection, args=(server,), daemon=True).start()
        wire = wire_to(server.getsockname()[1])
        for _ in range(3):
            assert (await wire.send(MetadataRequest(topics=[]))).brokers == []
        await wire.close()


async def test_a_broker_that_was_upgraded_is_asked_for_what_it_can_do_now() -> None:
    """kafka-python holds every later connection down to what the first broker could."""
    asked: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_serve_one_request_per_connection, args=(server, (4, 8, 8), asked), daemon=True).start()
        wire = wire_to(server.getsockname()[1])
        for _ in range(2):
            await wire.send(MetadataRequest(topics=[]))
        await wire.close()
    assert asked == [4, 8]


async def test_the_next_broker_is_asked_for_what_it_can_do_itself() -> None:
    """Of two, the one that answers first may be newer, and go."""
    asked: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as newer, socket.create_server(("127.0.0.1", 0)) as older:
        threading.Thread(target=_offer_and_hang_up, args=(newer,), daemon=True).start()
        serving = threading.Thread(target=_serve_one_request_per_connection, args=(older, (4,) * 9, asked), daemon=True)
        serving.start()
        wire = wire_to(*(server.getsockname()[1] for server in (newer, older)))
        for _ in range(3):
            assert (await wire.send(MetadataRequest(topics=[]))).brokers == []
        await wire.close()
    assert set(asked) == {4}


async def test_of_a_broker_its_address_is_kept_and_no_rack(broker: Broker) -> None:
    """That may be as long as the broker likes."""
    wire, row = wire_to(broker.port), MetadataResponse.MetadataResponseBroker
    await wire.send(MetadataRequest(topics=[]))
    rows = [row(1, "127.0.0.1", broker.port, "x" * 30_000, version=5)]
    wire.remember_brokers(MetadataResponse(version=5, brokers=rows, cluster_id="A", controller_id=1, topics=[]))
    await wire.send(MetadataRequest(topics=[]), 1)
    assert wire._session is not None
    kept = [(each.node_id, each.host, each.port, each.rack) for each in wire._session._manager.cluster.brokers()]
    assert kept == [(1, "127.0.0.1", broker.port, None)]
    await wire.close()


@pytest.mark.usefixtures("brief_patience")
async def test_brokers_that_all_moved_are_found_by_the_bootstrap_address(broker: Broker) -> None:
    """After a failover to another site: the bootstrap name leads there, what was known swallows every packet."""
    with ExitStack() as stack:
        gone = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        wire = wire_to(broker.port)
        broker.named = {node: server.getsockname()[1] for node, server in enumerate(gone)}
        wire.remember_brokers(await wire.send(MetadataRequest(topics=[])))
        broker.named = {11: broker.port}
        wire.remember_brokers(await wire.send(MetadataRequest(topics=[])))
        await wire.send(MetadataRequest(topics=[]), 11)
        await wire.close()


@pytest.mark.usefixtures("brief_patience")
async def test_a_broker_that_hangs_while_it_is_connected_leaves_time_for_the_others(broker: Broker) -> None:
    with Broker() as other:
        wire = wire_to(broker.port)
        broker.named = {1: other.port}
        wire.remember_brokers(await wire.send(MetadataRequest(topics=[])))
        await wire.send(MetadataRequest(topics=[]), 1)
        other.hangs.set()
        await wire.send(MetadataRequest(topics=[]))
        await wire.close()


async def test_what_is_changed_in_kafka_is_sent_to_one_broker_at_a_time(broker: Broker) -> None:
    """Two that carry it out, one of them late, would undo what is written next."""
    with Broker() as other:
        wire = wire_to(broker.port)
        broker.named = {1: other.port}
        wire.remember_brokers(await wire.send(MetadataRequest(topics=[])))
        await wire.send(MetadataRequest(topics=[]), 1)
        other.hangs.set()
        wire.timeout_s = REQUEST_TIMEOUT_S
        with pytest.raises(KafkaUnreachable):
            await wire.send(IncrementalAlterConfigsRequest(resources=[], validate_only=False))
        assert IncrementalAlterConfigsRequest.API_KEY in other.asked
        assert IncrementalAlterConfigsRequest.API_KEY not in broker.asked
        await wire.close()


async def test_who_was_asked_in_vain_is_said(listener: socket.socket, broker: Broker) -> None:
    wire = wire_to(broker.port)
    broker.named = {1: listener.getsockname()[1]}
    wire.remember_brokers(await wire.send(MetadataRequest(topics=[])))
    broker.hangs.set()
    wire.timeout_s = REQUEST_TIMEOUT_S
    words = f"^Kafka at 127.0.0.1:{broker.port} does not answer; brokers that it named do not answer either$"
    for _ in range(2):
        with pytest.raises(KafkaUnreachable, match=words):
            await wire.send(MetadataRequest(topics=[]))
    await wire.close()


@pytest.fixture
def slow_name(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """`slow.example` is not found before this is set; then it is this machine."""
    found, find = threading.Event(), socket.getaddrinfo

    def look_up(host: str, *args: Any, **more: Any) -> Any:
        if host == "slow.example":
            found.wait(60)
            host = "127.0.0.1"
        return find(host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield found
    found.set()


async def test_a_name_that_is_slow_to_find_holds_no_other_broker_up(broker: Broker, slow_name: threading.Event) -> None:
    wire = wire_to(broker.port, connects_within_s=3.0)
    broker.named, broker.hosts = {1: broker.port, 2: broker.port}, {2: "slow.example"}
    wire.remember_brokers(await wire.send(MetadataRequest(topics=[])))
    to_connect = "slow.example: the name is not found in time"
    for ends, timeout_s in (("Kafka broker 2 does not answer", REQUEST_TIMEOUT_S), (to_connect, ANSWER_S)):
        wire.timeout_s = timeout_s
        slow = asyncio.ensure_future(wire.send(MetadataRequest(topics=[]), 2))
        await asyncio.sleep(0)
        wire.timeout_s = ANSWER_S / 3  # the name is looked up for longer than that
        assert (await wire.send(MetadataRequest(topics=[]), 1)).brokers
        with pytest.raises(KafkaUnreachable, match=ends):
            await slow
    slow_name.set()
    assert (await wire.send(MetadataRequest(topics=[]), 2)).brokers
    await wire.close()


async def test_a_name_that_is_not_found_keeps_nobody_from_closing(slow_name: threading.Event) -> None:
    before = set(threading.enumerate())
    wire = KafkaWire({"bootstrap_servers": "slow.example:9092"}, timeout_s=REQUEST_TIMEOUT_S)
    with pytest.raises(KafkaUnreachable):
        await wire.send(MetadataRequest(topics=[]))
    async with asyncio.timeout(30):
        await wire.close()
    (left,) = (each for each in set(threading.enumerate()) - before if each.name == "lookup-slow.example")
    assert left.daemon
    slow_name.set()
    await asyncio.to_thread(left.join, 10)
    assert not left.is_alive()


async def test_a_client_that_hangs_keeps_nobody_from_closing(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one whose network thread waits for a log-in; the process ends without it, too."""
    goes_on, hung, before = threading.Event(), threading.Event(), set(threading.enumerate())
    end = Session.close

    def hang(session: Session) -> None:
        hung.set()
        goes_on.wait(60)
        end(session)

    monkeypatch.setattr(Session, "close", hang)
    wire = wire_to(listener.getsockname()[1], timeout_s=REQUEST_TIMEOUT_S)
    with pytest.raises(KafkaUnreachable):
        await wire.send(MetadataRequest(topics=[]))
    async with asyncio.timeout(30):
        await wire.close()
    assert hung.is_set()
    (left,) = (each for each in set(threading.enumerate()) - before if each.name == "kafka-close")
    assert left.daemon
    goes_on.set()
    await asyncio.to_thread(left.join, 10)
    assert not left.is_alive()


@pytest.mark.parametrize(
    ("announced", "error", "said"),
    [
        ((5_000_000).to_bytes(4, "big"), AnswerTooLong, "answers with more bytes than are read of one answer"),
        (b"SSH-", KafkaUnreachable, "does not speak Kafka's protocol: is it a broker, or does it want tls"),
    ],
    ids=["a wide group", "another program"],
)
async def test_of_an_answer_that_is_too_long_little_is_read(
    listener: socket.socket, announced: bytes, error: type[KafkaUnreachable], said: str
) -> None:
    """No more than is on its way when that is seen; and of what another program says nothing is repeated."""
    sent: list[int] = []
    server = threading.Thread(target=_send_without_an_end, args=(listener, announced, sent), daemon=True)
    server.start()
    wire = wire_to(listener.getsockname()[1])
    with pytest.raises(error, match=said):
        await wire.send(MetadataRequest(topics=[]))
    await wire.close()
    listener.shutdown(socket.SHUT_RDWR)
    await asyncio.to_thread(server.join, 10)
    assert sent
    assert max(sent) < 32_000_000, "what sockets hold, and a few parts"


@pytest.mark.parametrize(
    "banner",
    [b"LEAK", b"\0\0\0\x10LEAK" + bytes(12), b"\xffSECRETS"],
    ids=["a length", "a correlation id", "a negative length"],
)
async def test_of_what_another_program_says_nothing_is_repeated(listener: socket.socket, banner: bytes) -> None:
    """Nor as the number that its letters make: who names a host in a KafkaConnection could read what is said there."""
    server = threading.Thread(target=_says_at_once, args=(listener, banner), daemon=True)
    server.start()
    wire = wire_to(listener.getsockname()[1])
    with pytest.raises(KafkaUnreachable) as raised:
        await wire.send(MetadataRequest(topics=[]))
    await wire.close()
    listener.shutdown(socket.SHUT_RDWR)
    await asyncio.to_thread(server.join, 10)
    name, _, said = str(raised.value).partition(" does ")
    assert name == f"Kafka at 127.0.0.1:{listener.getsockname()[1]}"
    assert said == "not speak Kafka's protocol: is it a broker, or does it want tls?"


def _says_at_once(listener: socket.socket, banner: bytes) -> None:
    with ExitStack() as stack, suppress(OSError):
        while True:
            connection, _ = listener.accept()
            stack.enter_context(connection).sendall(banner)


@pytest.mark.parametrize("first", ["asked first", "asked last", "behind an answer"])
async def test_an_answer_that_is_too_long_is_the_failure_of_who_asked_for_it(
    listener: socket.socket, first: str
) -> None:
    """Whoever else waits on the connection, which ends with it, is answered on the next one."""
    together = threading.Thread(target=_answer_one_at_length, args=(listener, first), daemon=True)
    together.start()
    wire = wire_to(listener.getsockname()[1])
    await wire.send(_metadata("first"))
    wanted, wide = _metadata("small"), _metadata("wide")
    asked = [wide, wanted] if first == "asked first" else [wanted, wide]
    answers = await asyncio.gather(*(wire.send(each) for each in asked), return_exceptions=True)
    by_request = dict(zip(map(id, asked), answers, strict=True))
    assert isinstance(by_request[id(wide)], AnswerTooLong)
    assert not isinstance(by_request[id(wanted)], BaseException), by_request
    await wire.close()
    listener.shutdown(socket.SHUT_RDWR)
    await asyncio.to_thread(together.join, 10)


def _metadata(topic: str) -> MetadataRequest:
    topics = [MetadataRequest.MetadataRequestTopic(name=topic)]
    return MetadataRequest(topics=topics, allow_auto_topic_creation=False, min_version=8)


def _answer_one_at_length(server: socket.socket, first: str) -> None:
    """Of two requests on one connection, that for the topic `wide`; "behind an answer": in one piece with the other."""
    told = bytes(MetadataResponse(brokers=[], topics=[]).encode(version=8))
    held = b""
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                while request := _frame(connection):
                    if int.from_bytes(request[:2], "big") == ApiVersionsResponse.API_KEY:
                        _answer(connection, request, _api_versions(8))
                    elif b"wide" in request:
                        connection.sendall(held + (5_000_000).to_bytes(4, "big") + request[4:8])
                    elif b"small" in request and first == "behind an answer" and not held:
                        body = request[4:8] + told
                        held = len(body).to_bytes(4, "big") + body
                    else:
                        _answer(connection, request, told)


def _send_without_an_end(server: socket.socket, announced: bytes, sent: list[int]) -> None:
    """Announce a length, and send for as long as somebody takes it; at most 400 MB."""
    part = b"x" * 65_536
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            sent.append(0)
            with connection, suppress(OSError):
                if _frame(connection):
                    connection.sendall(announced)
                while sent[-1] < 400_000_000:
                    connection.sendall(part)
                    sent[-1] += len(part)


def _offer_and_hang_up(server: socket.socket) -> None:
    """Say that Metadata's version 8 is served, and never serve it."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            if request := _frame(connection):
                _answer(connection, request, _api_versions(8))
            _frame(connection)


def _serve_one_request_per_connection(
    server: socket.socket, versions: Sequence[int] = (4,) * 9, asked: list[int] | None = None
) -> None:
    """Answer ApiVersions and one Metadata request, then hang up when the next one comes.

    `versions`: of Metadata, that each connection offers; `asked`: takes those that were asked for.
    """
    for version in versions:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            for answer in (
                _api_versions(version),
                bytes(MetadataResponse(brokers=[], topics=[]).encode(version=version)),
            ):
                request = _frame(connection)
                if not request:
                    break
                if asked is not None and int.from_bytes(request[:2], "big") == MetadataRequest.API_KEY:
                    asked.append(int.from_bytes(request[2:4], "big"))
                _answer(connection, request, answer)
            _frame(connection)


def _frame(connection: socket.socket) -> bytes:
    head = connection.recv(4, socket.MSG_WAITALL)
    return connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL) if head else b""


def _answer(connection: socket.socket, request: bytes, answer: bytes) -> None:
    body = request[4:8] + answer  # the correlation id stands behind the API's key and version
    connection.sendall(len(body).to_bytes(4, "big") + body)


def _api_versions(metadata: int) -> bytes:
    row = ApiVersionsResponse.ApiVersion
    mine = row(api_key=ApiVersionsResponse.API_KEY, min_version=0, max_version=4)
    return bytes(
        ApiVersionsResponse(
            api_keys=[
                mine,
                row(api_key=MetadataRequest.API_KEY, min_version=0, max_version=metadata),
                row(api_key=IncrementalAlterConfigsRequest.API_KEY, min_version=0, max_version=1),
            ]
        ).encode(version=4)
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_network_thread_that_has_ended_is_replaced(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else would open the connection again: its groups would wait for the operator's next start."""
    wire = wire_to(broker.port)
    await wire.send(MetadataRequest(topics=[]))
    first: Any = wire._session
    monkeypatch.setattr(first._net._selector, "select", Mock(side_effect=OSError(24, "Too many open files")))
    first._net.wakeup()
    await asyncio.to_thread(first._net._io_thread.join, ANSWER_S)
    assert first.has_ended()
    monkeypatch.undo()
    await wire.send(MetadataRequest(topics=[]))
    assert wire._session is not first
    await wire.close()


async def test_brokers_that_hang_up_are_asked_at_the_pace_of_the_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try is some milliseconds of Python, and brokers name hundreds of brokers."""
    monkeypatch.setattr(reading_pace, "MADE_AT_ONCE", 3)
    monkeypatch.setattr(reading_pace, "MADE_A_SECOND", 1e-6)
    came: list[object] = []
    with socket.create_server(("0.0.0.0", 0), backlog=64) as server:
        port = server.getsockname()[1]
        threading.Thread(target=_hang_up, args=(server, came), daemon=True).start()
        many = ",".join(f"127.0.0.{number}:{port}" for number in range(1, 41))
        wire = KafkaWire({"bootstrap_servers": many}, timeout_s=REQUEST_TIMEOUT_S, pace=ReadingPace())
        with pytest.raises(KafkaUnreachable):
            await wire.send(MetadataRequest(topics=[]))
        await wire.close()
        server.shutdown(socket.SHUT_RDWR)
    assert len(came) == 3


async def test_one_tls_handshake_of_a_namespace_is_computed_at_a_time(tmp_path: Path) -> None:
    """A broker that chooses a group of 8,192 bits has a fifth of a second of processor for each."""
    authority, pace = Authority(), ReadingPace()
    pair = authority.issue("broker", "127.0.0.1")
    (tmp_path / "pair").write_bytes(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "pair")
    shaken = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_shake_hands, args=(server, context, shaken), daemon=True).start()
        trusts = ssl.create_default_context(cadata=authority.certificate.decode())
        settings = {"security_protocol": "SSL", "ssl_context": trusts}
        address = f"127.0.0.1:{server.getsockname()[1]}"
        wire = KafkaWire({"bootstrap_servers": address, **settings}, timeout_s=ANSWER_S, pace=pace)
        with pace.turn:  # somebody else's
            asking = asyncio.ensure_future(wire.send(MetadataRequest(topics=[])))
            done, _ = await asyncio.wait([asking], timeout=0.2)
            assert not done
            assert not shaken.is_set()
        assert await asyncio.to_thread(shaken.wait, ANSWER_S)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await wire.close()


def _shake_hands(server: socket.socket, context: ssl.SSLContext, shaken: threading.Event) -> None:
    with suppress(OSError):
        while True:
            with context.wrap_socket(server.accept()[0], server_side=True) as connection:
                shaken.set()
                connection.recv(1)


def _hang_up(server: socket.socket, came: list[object]) -> None:
    with suppress(OSError):
        while True:
            connection, where = server.accept()
            came.append(where)
            connection.close()

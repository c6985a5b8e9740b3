"""The consumer that demo, tests and benchmarks run: an ordinary confluent-kafka consumer that can be told to misbehave.

Client properties come from `KAFKA_*`, behaviour from the variables that `settings.Behaviour` reads. It ends with 0
after SIGTERM, 1 when told to crash, 2 when its settings are refused, 3 after a fatal client error such as being
fenced (F13).

With DEADLOCK_ON_SIGTERM it does not end after SIGTERM. A record `wait` blocks it where WAIT_SECONDS is set (and one
`wait <pod>` that pod only), a record `crash` ends it where CRASH_ON_RECORD is; OUTPUT_TOPIC makes it read, process and
write in transactions.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from sandbox.workload.commits import Commits, client_settings, commits
from sandbox.workload.delivery_log import DeliveryLog
from sandbox.workload.ending import Ending, by_signals
from sandbox.workload.misbehaviour import EXIT_CRASH, deadlock, obey
from sandbox.workload.probe import serve_readiness
from sandbox.workload.settings import Behaviour, InvalidSetting, connection, properties

LOG = logging.getLogger("consumer")

EXIT_REFUSED = 2
EXIT_FATAL = 3

# So that a delivery is recorded at most this long after it happened, however quiet the topic is.
_POLL_S = 0.05
_DEFAULTS = {"auto.offset.reset": "earliest", "auto.commit.interval.ms": "1000"}


def main() -> int:
    """Run until SIGTERM or a fatal error; the result is the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    stop = by_signals()
    try:
        behaviour = Behaviour.from_environment(os.environ)
        if crashes_now(behaviour):
            LOG.error("crashing, as CRASH_TIMES asks")
            return EXIT_CRASH
        return _run(behaviour, {**_DEFAULTS, **properties(os.environ), **client_settings(behaviour)}, stop)
    except InvalidSetting as error:
        LOG.error("%s", error)  # noqa: TRY400 - a sentence for a person; a traceback adds nothing
        return EXIT_REFUSED


def crashes_now(behaviour: Behaviour) -> bool:
    """Whether this start of the container is one of the first `crash_times`; the starts are counted in a file."""
    if behaviour.crash_times == 0:
        return False
    counter = behaviour.state / "starts"
    starts = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(starts + 1))
    return starts < behaviour.crash_times


def _run(behaviour: Behaviour, client: dict[str, str], stop: Ending) -> int:
    ready = threading.Event()
    serve_readiness(behaviour.ready_port, ready)
    if stop.wait(behaviour.start_delay_s):
        return 0
    ready.set()
    if behaviour.never_join:
        LOG.info("ready, and never joining, as NEVER_JOIN asks")
        stop.wait()
        return 0
    with ThreadPoolExecutor(behaviour.members) as threads:
        return max(
            threads.map(lambda each: _consume_until(behaviour, each, stop), of_members(behaviour.members, client))
        )


def of_members(members: int, client: dict[str, str]) -> list[dict[str, str]]:
    """Each thread's client properties: several static members of one process have an instance id each."""
    instance = client.get("group.instance.id")
    if members == 1 or instance is None:
        return [client] * members
    return [{**client, "group.instance.id": f"{instance}-{thread}"} for thread in range(members)]


def _consume_until(behaviour: Behaviour, client: dict[str, str], stop: Ending) -> int:
    """One member, until it or another one of this process ends; returns the exit code that it asks for."""
    try:
        consumer = Consumer(client)
    except KafkaException as error:
        LOG.error("the client refuses its settings: %s", error.args[0].str())  # noqa: TRY400 - as above
        return EXIT_REFUSED
    log = _delivery_log(behaviour, client)
    try:
        fatal = _work(consumer, behaviour, client, log, stop)
        if fatal is None:
            return 0
        LOG.error("fatal: %s", fatal)
        if not behaviour.exit_on_fatal:
            stop.wait()
        return EXIT_FATAL
    finally:
        stop.set()
        _close(consumer)
        if log:
            log.close()


def _work(
    consumer: Consumer, behaviour: Behaviour, client: dict[str, str], log: DeliveryLog | None, stop: Ending
) -> str | None:
    """Take part in the group until asked to stop (None), or until nothing can be done any more (why)."""
    try:
        way = commits(consumer, behaviour, client)
        consumer.subscribe(list(behaviour.topics), on_assign=_say("assigned"), on_revoke=_say("revoked", way.now))
        fatal = _consume(consumer, behaviour, log, way, stop)
        if fatal is None:
            if behaviour.deadlock_on_sigterm:
                if log:  # what was delivered is known, however the process ends
                    log.flush()
                deadlock()
            way.now()
    except KafkaException as error:
        return f"cannot commit: {error.args[0].str()}"
    return fatal


def _close(consumer: Consumer) -> None:
    """Commit and leave; a classic static member stays in its group (F10)."""
    try:
        consumer.close()
    except KafkaException as error:  # of a transaction under way, by the callback below
        LOG.error("closed without a commit: %s", error.args[0].str())  # noqa: TRY400 - as above


def _consume(
    consumer: Consumer, behaviour: Behaviour, log: DeliveryLog | None, way: Commits, stop: Ending
) -> str | None:
    """Poll until asked to stop (None) or until the client is beyond repair (its error)."""
    while not stop.is_set():
        message = consumer.poll(_POLL_S)
        if log:
            log.send_if_due()
        way.if_due()
        if message is None:
            continue
        if error := message.error():
            if error.fatal() or error.code() == KafkaError._FATAL:  # noqa: SLF001 - its public name has the underscore
                return f"{error.name()}: {error.str()}"
            LOG.warning("%s: %s", error.name(), error.str())
            continue
        _deliver(message, behaviour, log)
        way.add(message)
    return None


def _deliver(message: Message, behaviour: Behaviour, log: DeliveryLog | None) -> None:
    if log:
        log.add(message.partition(), message.offset())
    if behaviour.poll_work_ms:
        time.sleep(behaviour.poll_work_ms / 1000)
    obey(message.value(), behaviour, log.flush if log else lambda: None)


def _delivery_log(behaviour: Behaviour, client: dict[str, str]) -> DeliveryLog | None:
    if behaviour.deliveries_topic is None:
        return None
    instance = client.get("group.instance.id", "")
    return DeliveryLog(
        behaviour.deliveries_topic,
        connection(client),
        behaviour.pod,
        instance,
        outlives_brokers=behaviour.brokers_go_down,
    )


def _say(what: str, also: Callable[[], None] = lambda: None) -> Callable[[Consumer, list[TopicPartition]], None]:
    """A rebalance callback that logs what happened, after it did what `also` does."""

    def callback(_: Consumer, partitions: list[TopicPartition]) -> None:
        also()
        LOG.info("%s %s", what, sorted((each.topic, each.partition) for each in partitions))

    return callback


if __name__ == "__main__":
    sys.exit(main())

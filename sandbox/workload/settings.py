"""What a workload process reads from its environment. Pure: takes a mapping, returns values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PREFIX = "KAFKA_"
_CONNECTION = ("bootstrap.", "security.", "sasl.", "ssl.")


class InvalidSetting(ValueError):
    """An environment variable that cannot be used; the message names it."""


def properties(environment: Mapping[str, str]) -> dict[str, str]:
    """Client properties: `KAFKA_SESSION_TIMEOUT_MS` is `session.timeout.ms`. Empty variables count as unset."""
    return {
        name.removeprefix(PREFIX).lower().replace("_", "."): value
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and value
    }


def connection(client: Mapping[str, str]) -> dict[str, str]:
    """Those of a client's properties that tell how to reach the brokers; any other client may be given them."""
    return {name: value for name, value in client.items() if name.startswith(_CONNECTION)}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the consumer behaves, well or badly, besides its client properties."""

    topics: tuple[str, ...]
    pod: str
    start_delay_s: float = 0.0
    never_join: bool = False
    crash_times: int = 0
    poll_work_ms: float = 0.0
    members: int = 1
    """Consumers in this process, in a thread each; above 1, `-<thread>` is added to the instance id."""
    exit_on_fatal: bool = True
    wait_s: float = 0.0
    """For how long a record `wait` blocks its reader; with 0 it is a record like any other."""
    crash_on_record: bool = False
    """Whether a record `crash` ends the process."""
    commit_s: float = 0.0
    """How often the program commits by itself; with 0 the client does it."""
    output_topic: str | None = None
    """Where each record is forwarded to, in transactions; without it, none are written."""
    deadlock_on_sigterm: bool = False
    deliveries_topic: str | None = None
    brokers_go_down: bool = False
    """Whether what was delivered has to be stored on all replicas before it counts as written down."""
    ready_port: int = 8080
    state: Path = Path("/state")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Behaviour:
        """Read every setting; raises InvalidSetting for one that is missing or no number."""
        topics = tuple(name.strip() for name in environment.get("TOPICS", "").split(",") if name.strip())
        if not topics:
            raise InvalidSetting("TOPICS is empty: set it to the topics to read, separated by commas.")
        deliveries_topic = environment.get("DELIVERIES_TOPIC") or None
        if deliveries_topic and len(topics) > 1:
            raise InvalidSetting("DELIVERIES_TOPIC works with one topic only: its records name partitions, not topics.")
        return cls(
            topics=topics,
            pod=environment.get("POD_NAME") or environment.get("HOSTNAME") or "unknown",
            start_delay_s=_number(environment, "START_DELAY_SECONDS", 0.0),
            never_join=environment.get("NEVER_JOIN") == "1",
            crash_times=int(_number(environment, "CRASH_TIMES", 0)),
            poll_work_ms=_number(environment, "POLL_WORK_MS", 0.0),
            members=int(_number(environment, "MEMBERS", 1)),
            exit_on_fatal=environment.get("EXIT_ON_FATAL") != "0",
            wait_s=_number(environment, "WAIT_SECONDS", 0.0),
            crash_on_record=environment.get("CRASH_ON_RECORD") == "1",
            commit_s=_number(environment, "COMMIT_SECONDS", 0.0),
            output_topic=environment.get("OUTPUT_TOPIC") or None,
            deadlock_on_sigterm=environment.get("DEADLOCK_ON_SIGTERM") == "1",
            deliveries_topic=deliveries_topic,
            brokers_go_down=environment.get("BROKERS_GO_DOWN") == "1",
            ready_port=int(_number(environment, "READY_PORT", 8080)),
            state=Path(environment.get("STATE_DIRECTORY") or "/state"),
        )


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name) or str(default)
    try:
        return float(text)
    except ValueError as error:
        raise InvalidSetting(f"{name} is {text!r}, which is not a number.") from error

"""Poll times in what a consumer's Prometheus endpoint says.

| Whose words | Example |
|---|---|
| The Java client's, by the JMX exporter as it comes | `kafka_consumer_consumer_metrics_time_between_poll_avg{client_id="a"}` |
| The Java client's, by Micrometer (Spring) | `kafka_consumer_time_between_poll_avg{client_id="a"}` |
| Any other client, such as librdkafka's, by a few lines of its own (docs/telemetry.md) | `slackwater_consumer_time_between_poll_avg_ms` |

The Java client publishes no records for each poll, but records a second, and how long it is from one poll to the next.
"""  # noqa: E501 - a table

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from slackwater.api.errors import SlackwaterError
from slackwater.api.telemetry.words import PollSource
from slackwater.core.telemetry.polls import PollReading

JAVA_WINDOW_S: Final = 60.0
"""`metrics.sample.window.ms` times `metrics.num.samples`, as the client has them by default."""
LONGEST_LINE: Final = 1_024
"""Bytes; longer ones are left out. The parser's time grows with the square of a line's length."""
MOST_LINES: Final = 5_000
"""A process of 500 consumers."""
MOST_BYTES: Final = 512 * 1024
"""Of those lines together. They are parsed in a thread, which takes the event loop's turns all the same."""
_OURS: Final = "slackwater_consumer_"
_JAVA: Final = "kafka_consumer_"
_JMX: Final = "kafka_consumer_consumer_"
_AVG: Final = "time_between_poll_avg"
_MAX: Final = "time_between_poll_max"
_RATE: Final = "records_consumed_rate"
_RATIO: Final = "poll_idle_ratio_avg"
_BEGIN: Final = (_OURS.encode(), _JAVA.encode())
_NAMES: Final = (_AVG, _MAX, _RATE, _RATIO)
_NO_MEMBERS: Final = ("-restore-consumer", "-global-consumer")
"""Kafka Streams' own consumers that are in no group."""

Values = Mapping[str, float]


class MetricsUnreadable(SlackwaterError):
    """An endpoint answered something that is not in Prometheus' format."""


def read_poll_metrics(answer: bytes) -> PollReading | None:
    """Of all consumers that the answer tells of; None when there are none. Raises MetricsUnreadable."""
    ours, java, source = _sorted_out(_about_polls(answer))
    reading = _ours(ours) if ours else _java(java.values(), source)
    return reading if reading is not None and reading.says_something else None


def _about_polls(answer: bytes) -> list[str]:
    """The lines that may be wanted. The endpoint of a large process has thousands of others, and parsing is slow."""
    lines: list[str] = []
    size = 0
    for line in answer.split(b"\n"):
        if line.startswith(_BEGIN) and len(line) <= LONGEST_LINE and (b"poll" in line or _RATE.encode() in line):
            lines.append(line.decode(errors="replace"))
            size += len(line)
            if len(lines) > MOST_LINES or size > MOST_BYTES:
                most = f"{MOST_LINES} lines, or {MOST_BYTES} bytes,"
                raise MetricsUnreadable(f"the consumer's metrics have more than {most} about polls")
    return lines


def _sorted_out(lines: list[str]) -> tuple[dict[str, float], dict[str, dict[str, float]], PollSource]:
    """Our own values by name, the Java client's by client id and name, and in whose words those are."""
    ours: dict[str, float] = {}
    java: dict[str, dict[str, float]] = defaultdict(dict)
    source = PollSource.MICROMETER
    try:
        samples = [s for family in text_string_to_metric_families("\n".join(lines) + "\n") for s in family.samples]
    except ValueError as error:
        raise MetricsUnreadable(f"the consumer's metrics cannot be read: {error}") from error
    for sample in samples:
        if not math.isfinite(sample.value) or sample.value < 0:
            continue  # the client has not polled yet
        if sample.name.startswith(_OURS):
            ours[sample.name.removeprefix(_OURS)] = sample.value
            continue
        name = next((known for known in _NAMES if sample.name.endswith(f"_{known}")), None)
        client = sample.labels.get("client_id", "")
        if name is None or "topic" in sample.labels or client.endswith(_NO_MEMBERS):
            continue
        java[client][name] = sample.value
        if sample.name.startswith(_JMX):
            source = PollSource.JAVA
    return ours, java, source


def _ours(values: Values) -> PollReading:
    return PollReading(
        source=PollSource.LIBRDKAFKA,
        window_s=values.get("poll_window_s", JAVA_WINDOW_S),
        time_between_poll_avg_ms=values.get(f"{_AVG}_ms"),
        time_between_poll_max_ms=values.get(f"{_MAX}_ms"),
        records_per_poll_avg=values.get("records_per_poll_avg"),
        poll_idle_ratio_avg=_ratio(values.get(_RATIO)),
    )


def _java(clients: Iterable[Values], source: PollSource) -> PollReading | None:
    """The mean of the clients' means, and the longest time of all."""
    each = [client for client in clients if client]
    if not each:
        return None
    per_poll = [c[_RATE] * c[_AVG] / 1000 for c in each if _RATE in c and _AVG in c]
    return PollReading(
        source=source,
        window_s=JAVA_WINDOW_S,
        time_between_poll_avg_ms=_mean([c[_AVG] for c in each if _AVG in c]),
        time_between_poll_max_ms=max((c[_MAX] for c in each if _MAX in c), default=None),
        records_per_poll_avg=_mean(per_poll),
        poll_idle_ratio_avg=_ratio(_mean([c[_RATIO] for c in each if _RATIO in c])),
    )


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None


def _ratio(value: float | None) -> float | None:
    return min(1.0, value) if value is not None else None

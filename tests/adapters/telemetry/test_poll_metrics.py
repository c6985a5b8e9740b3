"""Poll times, in the words of each library that publishes them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY, generate_latest

from slackwater.adapters.telemetry.poll_metrics import (
    LONGEST_LINE,
    MOST_BYTES,
    MOST_LINES,
    MetricsUnreadable,
    read_poll_metrics,
)
from slackwater.api.telemetry.words import PollSource
from slackwater.core.telemetry.polls import PollReading

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "telemetry.md"

JMX = """\
# HELP kafka_consumer_consumer_metrics_time_between_poll_avg The average delay between invocations of poll() in ms.
# TYPE kafka_consumer_consumer_metrics_time_between_poll_avg untyped
kafka_consumer_consumer_metrics_time_between_poll_avg{client_id="a",} 50.0
kafka_consumer_consumer_metrics_time_between_poll_max{client_id="a",} 900.0
kafka_consumer_consumer_metrics_poll_idle_ratio_avg{client_id="a",} 0.75
kafka_consumer_consumer_fetch_manager_metrics_records_consumed_rate{client_id="a",} 200.0
kafka_consumer_consumer_fetch_manager_metrics_records_consumed_rate{client_id="a",topic="orders",} 7000.0
kafka_consumer_consumer_coordinator_metrics_last_rebalance_seconds_ago{client_id="a",} 17.0
jvm_threads_current 31.0
"""
MICROMETER = """\
# TYPE kafka_consumer_time_between_poll_avg gauge
kafka_consumer_time_between_poll_avg{application="shop",client_id="a",kafka_version="4.0.0"} 50.0
kafka_consumer_time_between_poll_max{application="shop",client_id="a",kafka_version="4.0.0"} 900.0
kafka_consumer_time_between_poll_avg{application="shop",client_id="b",kafka_version="4.0.0"} 150.0
kafka_consumer_time_between_poll_max{application="shop",client_id="b",kafka_version="4.0.0"} 300.0
kafka_consumer_poll_idle_ratio_avg{application="shop",client_id="a",kafka_version="4.0.0"} 0.5
kafka_consumer_poll_idle_ratio_avg{application="shop",client_id="b",kafka_version="4.0.0"} 0.25
kafka_consumer_fetch_manager_records_consumed_rate{application="shop",client_id="a",kafka_version="4.0.0"} 200.0
kafka_consumer_fetch_manager_records_consumed_rate{application="shop",client_id="b",kafka_version="4.0.0"} 200.0
"""
BEFORE_THE_FIRST_POLL = """\
kafka_consumer_consumer_metrics_time_between_poll_avg{client_id="a",} NaN
kafka_consumer_consumer_metrics_time_between_poll_max{client_id="a",} NaN
"""
STREAMS = """\
kafka_consumer_time_between_poll_max{client_id="shop-StreamThread-1-consumer"} 900.0
kafka_consumer_time_between_poll_max{client_id="shop-StreamThread-1-restore-consumer"} 9e6
kafka_consumer_time_between_poll_max{client_id="shop-global-consumer"} 9e6
"""
OWN = "slackwater_consumer_poll_idle_ratio_avg 0.5\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JMX, PollReading(PollSource.JAVA, 60.0, 50.0, 900.0, 10.0, 0.75)),
        (MICROMETER, PollReading(PollSource.MICROMETER, 60.0, 100.0, 900.0, 20.0, 0.375)),
        (STREAMS, PollReading(PollSource.MICROMETER, 60.0, time_between_poll_max_ms=900.0)),
        (OWN, PollReading(PollSource.LIBRDKAFKA, 60.0, poll_idle_ratio_avg=0.5)),
        ("slackwater_consumer_poll_window_s 30\n", None),
        (BEFORE_THE_FIRST_POLL, None),
        ("jvm_threads_current 31.0\n", None),
        ("", None),
        ("<html>no metrics here, only polls</html>", None),
    ],
)
def test_what_is_published_is_read(text: str, expected: PollReading | None) -> None:
    assert read_poll_metrics(text.encode()) == expected


def test_what_is_in_no_format_says_so() -> None:
    with pytest.raises(MetricsUnreadable, match="cannot be read"):
        read_poll_metrics(b'kafka_consumer_time_between_poll_max{client_id="a" 900.0.0\n')


def test_a_line_that_is_too_long_is_left_out() -> None:
    """Of such a line the parser would take seconds, or minutes."""
    labels = ",".join(f'l{n}="x"' for n in range(200_000))
    long = f"kafka_consumer_time_between_poll_max{{{labels}}} 1.0\n"
    assert read_poll_metrics((long + OWN).encode()) == read_poll_metrics(OWN.encode())


def test_too_many_lines_are_refused() -> None:
    line = 'kafka_consumer_time_between_poll_max{client_id="a"} 900.0\n'
    assert read_poll_metrics((line * MOST_LINES).encode()) is not None
    with pytest.raises(MetricsUnreadable, match=f"more than {MOST_LINES} lines"):
        read_poll_metrics((line * (MOST_LINES + 1)).encode())


def test_the_documented_lines_publish_what_is_read() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    lines: dict[str, Any] = {}
    exec(block, lines)
    gauges = [lines[name] for name in ("AVG", "MAX", "RECORDS", "WINDOW")]
    moments = iter((100.0, 100.0, 100.5, 102.0, 130.0))
    poll_times = lines["PollTimes"](lambda: next(moments))
    poll_times.between(10)
    poll_times.between(30)
    poll_times.publish("{}")
    try:
        text = "".join(generate_latest(gauge).decode() for gauge in gauges)
    finally:
        for gauge in gauges:
            REGISTRY.unregister(gauge)
    assert read_poll_metrics(text.encode()) == PollReading(PollSource.LIBRDKAFKA, 30.0, 1000.0, 1500.0, 20.0)


def test_of_long_lines_few_are_read() -> None:
    """The parser's time grows with the square of a line's length."""
    name = "kafka_consumer_consumer_metrics_time_between_poll_avg"
    labels = ",".join(f'l{n}="x"' for n in range(200))[: LONGEST_LINE - len(name) - 40].rpartition(",")[0]
    line = f'{name}{{client_id="a",{labels}}} 5\n'
    assert len(line) <= LONGEST_LINE
    fits = MOST_BYTES // len(line)
    assert read_poll_metrics((line * fits).encode()) is not None
    with pytest.raises(MetricsUnreadable, match=f"or {MOST_BYTES} bytes"):
        read_poll_metrics((line * (fits + 10)).encode())
    assert read_poll_metrics(f"{line.strip()}{' ' * LONGEST_LINE}\n".encode()) is None

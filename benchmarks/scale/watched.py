"""The whole operator, with kopf's watches, as it starts beside groups at rest, and rests: what `whole` leaves out.

Lists and watches come over sockets from the API server of `served`; Kafka's answers are there at once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from benchmarks.scale import sides
from benchmarks.scale.beside import requests_between

_LOOKS_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Watched:
    groups: int
    pods: int
    """Of each."""
    program_mib: float
    """Beside an API server that has nothing."""
    rss_mib: float
    """Of the whole process at rest, the program with it."""
    peak_mib: float
    kib_a_group: float
    """With all that belongs to it, without the program."""
    ready_cpu_seconds: float
    """Until it is ready: all is listed once."""
    rest_cpu_percent: float
    """Of one core, in the second half of the time that it was left alone."""
    writes: int


def watched(groups: int, pods: int, rest_s: float) -> Watched:
    """In the first half of `rest_s` it catches up."""
    with sides.served() as server, sides.ours(server) as process:
        time.sleep(_LOOKS_S)
        program_mib = process.rss_mib()
    with sides.served() as server:
        server.fill(groups, pods)
        with sides.ours(server) as process:
            ready_cpu_s = process.cpu_s()
            time.sleep(rest_s / 2)
            began, began_cpu_s = time.monotonic(), process.cpu_s()
            time.sleep(rest_s / 2)
            percent = 100 * (process.cpu_s() - began_cpu_s) / (time.monotonic() - began)
            writes, _ = requests_between({}, server.seen()["requests"])
            rss_mib = process.rss_mib()
            return Watched(
                groups=groups,
                pods=pods,
                program_mib=program_mib,
                rss_mib=rss_mib,
                peak_mib=process.peak_mib(),
                kib_a_group=round((rss_mib - program_mib) * 1024 / groups, 1),
                ready_cpu_seconds=round(ready_cpu_s, 2),
                rest_cpu_percent=round(percent, 1),
                writes=writes,
            )

"""The operator that ends itself by SIGKILL after every write, once after each: `python -m tests.e2e.faults.dying`.

DEATHS names a file that gets a line for each write after which it died. A write is told by what it says, without the
moments in it and, in a status, without what is for people to read only: after one that it has died after already it
lives on, or it would never get further. One write is made at a time, so that a death is never in the middle of another.
Dead, it starts again at once, from a process that has loaded everything but has done nothing yet.
"""

from __future__ import annotations

import asyncio
import ctypes
import functools
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.paths import EVENT
from slackwater.adapters.kafka.group_admin import KafkaGroupAdmin
from slackwater.shell.operator import run
from tests.e2e.faults.crashing import WRITES

KAFKA_WRITES: Final = ("remove_members", "release_members", "alter_group_settings", "delete_group")
"""The methods of KafkaGroupAdmin; a test holds that there is no other."""
_PR_SET_PDEATHSIG: Final = 1

Write = Callable[..., Awaitable[Any]]


def main() -> None:
    deaths = Path(os.environ["DEATHS"])
    deaths.touch()
    one_at_a_time = asyncio.Lock()
    for name in WRITES:
        setattr(KubernetesApi, name, _deadly(one_at_a_time, deaths, _cluster_write, getattr(KubernetesApi, name)))
    for name in KAFKA_WRITES:
        setattr(KafkaGroupAdmin, name, _deadly(one_at_a_time, deaths, _kafka_write, getattr(KafkaGroupAdmin, name)))
    while True:
        child = os.fork()
        if child == 0:
            _die_with_the_parent()
            run()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.exit(f"the operator ended by itself: {status}")


def _deadly(one_at_a_time: asyncio.Lock, deaths: Path, describe: Callable[..., str], write: Write) -> Write:
    @functools.wraps(write)
    async def written(*arguments: Any, **options: Any) -> Any:
        async with one_at_a_time:
            result = await write(*arguments, **options)
            if EVENT not in arguments:
                _die_once(deaths, f"{write.__name__} {describe(*arguments[1:])}")
        return result

    return written


def _die_once(deaths: Path, after: str) -> None:
    """A StatefulSet comes back to what it was: it is held where it is before a step and after it."""
    before = deaths.read_text().splitlines()
    if after.startswith("apply StatefulSet"):
        about = after.split()[:3]
        before = [line for line in before if line.split()[:3] == about][-1:]
    if after in before:
        return
    with deaths.open("a") as lines:
        lines.write(f"{after}\n")
    os.kill(os.getpid(), signal.SIGKILL)


def _cluster_write(*arguments: Any) -> str:
    """Of a StatefulSet what makes it another one in a rollout; of a status what is remembered in it."""
    first = arguments[0]
    if isinstance(first, Mapping):  # a manifest to apply
        spec = first.get("spec") or {}
        if first["kind"] != "StatefulSet":
            return f"{first['kind']} {first['metadata']['name']}"
        template = spec["template"]["metadata"]["annotations"]["slackwater.dev/template-hash"]
        partition = (spec["updateStrategy"].get("rollingUpdate") or {}).get("partition")
        start = (spec.get("ordinals") or {}).get("start", 0)
        return f"StatefulSet {first['metadata']['name']} {spec['replicas']} {template} {partition} from {start}"
    words = [first.name, *(each for each in arguments[1:] if isinstance(each, str))]
    if len(arguments) > 4 and isinstance(arguments[4], Mapping):
        return f"{first.name} {arguments[2]} {_status(arguments[4])}"
    return " ".join(words)


def _status(status: Mapping[str, Any]) -> str:
    memory = status.get("rollout") or {}
    step, upgrade, handover = (memory.get(part) or {} for part in ("step", "upgrade", "handover"))
    said = [memory.get("phase"), memory.get("targetHash"), memory.get("protocol"), upgrade.get("step")]
    said += [step.get("ordinal"), step.get("made"), sorted(memory.get("released") or {}), memory.get("groupSettings")]
    said += [handover.get(each) for each in ("ordinal", "to", "undone", "over", "cold", "fenced")]
    said += [bool(handover.get("after"))]
    return " ".join(map(str, said))


def _kafka_write(group_id: str, *what: Any) -> str:
    members = sorted(getattr(each, "instance_id", each) for each in what[0]) if what else []
    return f"{group_id} {members}"


def _die_with_the_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()

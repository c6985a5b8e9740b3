"""No-op passes a second: the operator's own parts in this process, over what the API server and the broker gave them.

Nothing is faked: a group of three live consumers is brought to rest by an operator; then an operator's store, observer
and reconciler are filled here, and passes are made one after the other. A pass that asked the API server for anything
would not be one that finds nothing to do, and ends the benchmark.
"""

from __future__ import annotations

import time
from collections import Counter
from statistics import median
from typing import Final

from benchmarks.ground import Ground
from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.kafka.connected import ConnectedKafka
from slackwater.api.errors import SlackwaterError
from slackwater.shell.operator import Operator
from slackwater.shell.settings import read_settings
from slackwater.shell.store import Key
from tests.e2e.stage.waiting import wait_for

GROUP: Final = "at-rest"
REPLICAS: Final = 3
ROUNDS: Final = 5
ROUND_S: Final = 2.0
_PASSES_AT_A_TIME: Final = 50


class NotANoop(SlackwaterError):
    """A pass over a group at rest found something to do."""


def bring_to_rest(ground: Ground) -> None:
    """Have the group made, and wait until there is nothing left to do about it."""
    ground.operator.start()
    ground.operator.wait_ready()
    ground.cluster.apply(ground.group(GROUP, REPLICAS))
    ground.cluster.wait_complete(GROUP)
    ground.cluster.wait_condition(GROUP, "Ready", "True")
    wait_for("the StatefulSet to be parked", lambda: _is_parked(ground), 60.0)
    ground.operator.kill()


async def passes_per_cpu_second(ground: Ground) -> float:
    """The median of some rounds. Raises NotANoop."""
    api = await KubernetesApi.connect()
    settings = {"SLACKWATER_NAMESPACE": ground.cluster.namespace, "SLACKWATER_REST_INTERVAL_S": "60"}
    operator = Operator(api, read_settings(settings))
    key = Key(ground.cluster.namespace, GROUP)
    try:
        await operator.relist()
        await operator.reconciler.reconcile(key)
        await operator.connections.look_now(key)
        await _settle(operator, key)
        return median([await _round(operator, api, key) for _ in range(ROUNDS)])
    finally:
        await operator.connections.close()
        await api.close()


async def _settle(operator: Operator, key: Key) -> None:
    """A new observer has to learn that the members live; until then it has something new to say."""
    deadline = time.monotonic() + 90.0
    while time.monotonic() < deadline:
        before = Counter(operator.api.requests)
        await operator.connections.look_now(key)
        await operator.reconciler.reconcile(key)
        if operator.api.requests == before and not _is_watched_closely(operator, key):
            return
    raise NotANoop("the group does not come to rest")


def _is_watched_closely(operator: Operator, key: Key) -> bool:
    opened = [each.kafka for each in operator.connections._open.values()]  # noqa: SLF001 - there is no other way to see it
    observers = [each._observer for each in opened if isinstance(each, ConnectedKafka)]  # noqa: SLF001
    return any(each._watches[str(key)].in_motion for each in observers)  # noqa: SLF001


async def _round(operator: Operator, api: KubernetesApi, key: Key) -> float:
    before, passes = Counter(api.requests), 0
    began, end = time.process_time(), time.monotonic() + ROUND_S
    while time.monotonic() < end:
        for _ in range(_PASSES_AT_A_TIME):
            await operator.reconciler.reconcile(key)
        passes += _PASSES_AT_A_TIME
    spent_s = time.process_time() - began
    if api.requests != before:
        raise NotANoop(f"passes over a group at rest asked the API server: {api.requests - before}")
    return passes / spent_s


def _is_parked(ground: Ground) -> bool:
    found = ground.cluster.get("statefulset", GROUP) or {}
    status = found["status"]
    partition = (found["spec"]["updateStrategy"].get("rollingUpdate") or {}).get("partition")
    return bool(partition == REPLICAS and status.get("currentRevision") == status.get("updateRevision"))

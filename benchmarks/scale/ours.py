"""The whole operator, kopf too, in a process of its own beside the API server of `served`; Kafka's answers are there at
once, as the twin asks for none.

`python -m benchmarks.scale.ours`, with the operator's own settings in the environment.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping
from typing import Any

from benchmarks.scale.around import RecordedReader, answered_by
from benchmarks.scale.recorded import NAMESPACE, view_of
from slackwater.core.world.observation import KafkaView
from slackwater.shell import operator
from slackwater.shell.store import Key, Store


class _OfPods(RecordedReader):
    """Groups whose members are the pods that the operator knows of."""

    def __init__(self, store: Store) -> None:
        super().__init__(0, time.time)
        self._store = store

    async def observe(
        self, topics_by_group: Mapping[str, frozenset[str]], settings_of: Collection[str] = ()
    ) -> Mapping[str, KafkaView]:
        pods = {group: len(self._store.pods_of(Key(NAMESPACE, group))) for group in topics_by_group}
        return {group: view_of(group, number, time.time()) for group, number in pods.items()}


class _Recorded(operator.Operator):
    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        answered_by(self.connections, _OfPods(self.store))


def main() -> int:
    vars(operator)["Operator"] = _Recorded  # the rest of the process is as it runs everywhere
    operator.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())

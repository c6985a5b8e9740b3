"""How all groups are, taken together: moved from pass to pass by the group in hand, so that nobody counts all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from slackwater.core.metrics.figures import Figures
from slackwater.core.world.observation import GroupState
from slackwater.shell.store import Key


class _Standing(NamedTuple):
    state: GroupState
    degraded: bool
    held: str
    lag: int


class GroupTotals(Collector):
    def __init__(self) -> None:
        self._known: dict[Key, _Standing] = {}
        self._states: Counter[str] = Counter({state.value: 0 for state in GroupState})
        self._held: Counter[str] = Counter()
        self._degraded = 0
        self._lag = 0

    def take_in(self, key: Key, figures: Figures) -> None:
        self.forget(key)
        standing = _Standing(figures.state, figures.degraded, figures.held, figures.lag or 0)
        self._known[key] = standing
        self._move(standing, 1)

    def forget(self, key: Key) -> None:
        """The group is gone."""
        if (standing := self._known.pop(key, None)) is not None:
            self._move(standing, -1)

    def _move(self, standing: _Standing, by: int) -> None:
        self._states[standing.state.value] += by
        self._degraded += by * standing.degraded
        self._lag += by * standing.lag
        if standing.held:
            self._held[standing.held] += by

    def collect(self) -> Iterator[Metric]:
        """In any thread."""
        states = GaugeMetricFamily(
            "slackwater_groups_in_state", "ConsumerGroups whose group is in that state.", labels=("state",)
        )
        held = GaugeMetricFamily(
            "slackwater_groups_held", "ConsumerGroups whose work waits for that reason.", labels=("reason",)
        )
        for family, counts in ((states, self._states), (held, self._held)):
            for value, number in list(counts.items()):
                family.add_metric((value,), number)
        yield from (states, held)
        text = "ConsumerGroups whose condition Degraded is True."
        yield GaugeMetricFamily("slackwater_groups_degraded", text, self._degraded)
        yield GaugeMetricFamily("slackwater_groups_lag", "Records behind, over all groups that are seen.", self._lag)

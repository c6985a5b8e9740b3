"""What Prometheus is told of each fleet. Labels are its namespace and name, and at most two more with few values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from slackwater.adapters.cluster.paths import CONSUMER_FLEET
from slackwater.api.timestamps import moment
from slackwater.core.fleet.claim import Standing
from slackwater.core.fleet.kept import Kept
from slackwater.core.fleet.reasons import FleetReason
from slackwater.core.fleet.report import budgets, counts
from slackwater.shell.fleets import Fleets
from slackwater.shell.store import Key, Store

LABELS: Final = ("namespace", "fleet")


class FleetMetrics(Collector):
    """Read when somebody asks, in the event loop: what the ledger keeps changes as a whole.

    `paused_since`: since when a fleet is paused, by its status, as `namespace/name`.
    """

    def __init__(self, fleets: Fleets, paused_since: Callable[[str], str | None], now: Callable[[], float]) -> None:
        self._fleets = fleets
        self._paused_since = paused_since
        self._now = now

    def collect(self) -> Iterator[Metric]:
        kept = [(each.fleet.namespace, each.fleet.name, each) for each in self._fleets.ledger.fleets()]
        yield from self._of_groups(kept)
        yield from self._of_budgets(kept)
        yield from self._of_the_fleet(kept)
        yield from self._of_turns(kept)

    def _of_groups(self, kept: list[tuple[str, str, Kept]]) -> Iterator[Metric]:
        groups = GaugeMetricFamily(
            "slackwater_fleet_groups", "Groups of the fleet, by what they do.", labels=(*LABELS, "standing")
        )
        oldest = GaugeMetricFamily(
            "slackwater_fleet_oldest_wait_seconds", "How long the group waits that asked first.", labels=LABELS
        )
        for namespace, name, each in kept:
            for standing, number in counts(each, self._fleets.ledger).items():
                groups.add_metric((namespace, name, standing), number)
            asked_at = min((group.asked_at for group in each.tally.having(Standing.ASKS)), default=self._now())
            oldest.add_metric((namespace, name), max(0.0, self._now() - asked_at))
        yield from (groups, oldest)

    def _of_budgets(self, kept: list[tuple[str, str, Kept]]) -> Iterator[Metric]:
        limit = GaugeMetricFamily(
            "slackwater_fleet_budget_limit",
            "How many groups may move, in the budget's fullest cell; none while it is not in force.",
            labels=(*LABELS, "budget"),
        )
        used = GaugeMetricFamily(
            "slackwater_fleet_budget_used",
            "How many groups move, or are called, in the budget's fullest cell.",
            labels=(*LABELS, "budget"),
        )
        for namespace, name, each in kept:
            for budget in budgets(each, self._fleets.ledger):
                limit.add_metric((namespace, name, budget["name"]), budget["limit"])
                used.add_metric((namespace, name, budget["name"]), budget["used"])
        yield from (limit, used)

    def _of_the_fleet(self, kept: list[tuple[str, str, Kept]]) -> Iterator[Metric]:
        is_open = GaugeMetricFamily(
            "slackwater_fleet_open", "1 while groups may begin, by pause, windows and freezes.", labels=LABELS
        )
        halted = GaugeMetricFamily(
            "slackwater_fleet_halted",
            "1 while nothing begins because too many groups have failed or are disturbed.",
            labels=(*LABELS, "reason"),
        )
        paused = GaugeMetricFamily(
            "slackwater_fleet_paused_since_timestamp_seconds",
            "Since when the fleet is paused; none while it is not.",
            labels=LABELS,
        )
        overridden = GaugeMetricFamily(
            "slackwater_fleet_overridden",
            "1 while an override lets groups pass what keeps others from beginning.",
            labels=LABELS,
        )
        for namespace, name, each in kept:
            overridden.add_metric((namespace, name), each.gates.is_overridden)
            is_open.add_metric((namespace, name), not each.gates.shut)
            halted.add_metric((namespace, name, FleetReason.TOO_MANY_FAILED), each.halts.by_failures is not None)
            halted.add_metric((namespace, name, FleetReason.TOO_MANY_DISTURBED), bool(each.halts.by_disturbance))
            since = self._paused_since(each.fleet.key) if each.fleet.spec.pause else None
            if since is not None:
                paused.add_metric((namespace, name), moment(since))
        yield from (is_open, halted, paused, overridden)

    def _of_turns(self, kept: list[tuple[str, str, Kept]]) -> Iterator[Metric]:
        turns = CounterMetricFamily(
            "slackwater_fleet_turns",
            "Turns, by what groups moved for, and by result: given, lapsed (called, and its own gates held it back),"
            " yielded (it gave way and asks again), let_through (given while all others are kept from beginning).",
            labels=(*LABELS, "reason", "result"),
        )
        waits = HistogramMetricFamily(
            "slackwater_fleet_wait_seconds", "From when a group asked to when it was given its turn.", labels=LABELS
        )
        lengths = HistogramMetricFamily(
            "slackwater_fleet_turn_seconds", "From when a turn was given to when the rollout ended.", labels=LABELS
        )
        for namespace, name, each in kept:
            series = self._fleets.series[each.fleet.key]
            for labels, number in series.turns.items():
                turns.add_metric((namespace, name, *labels), number)
            waits.add_metric((namespace, name), series.waits.buckets(), series.waits.sum_s)
            lengths.add_metric((namespace, name), series.lengths.buckets(), series.lengths.sum_s)
        yield from (turns, waits, lengths)


def paused_in(store: Store) -> Callable[[str], str | None]:
    """Since when the fleets of the store are paused, by their statuses."""

    def paused_since(fleet: str) -> str | None:
        namespace, _, name = fleet.partition("/")
        status = (store.get(CONSUMER_FLEET, Key(namespace, name)) or {}).get("status") or {}
        return status.get("pausedSince")

    return paused_since

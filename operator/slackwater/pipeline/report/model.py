"""What the page shows, as frozen values: the fleet, its groups, and the series behind each chart.

The reader makes them from the lake, the rest of the report only reads them. A recommendation is as
`api.recommendation` has it. No Spark, no markup. Moments are Unix
seconds; None is "not known", everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from slackwater.api.recommendation import CostPoint, Interval, Recommendation, RecommendedSetting, SurvivalPoint


class Standing(StrEnum):
    """Where a group stands; the first five are the recommendation's own words."""

    RECOMMENDED = "Recommended"
    KEEP_TODAY = "KeepToday"
    NOT_ENOUGH_DATA = "NotEnoughData"
    NOT_ENOUGH_TIME = "NotEnoughTime"
    INFEASIBLE = "Infeasible"
    NONE_YET = "NoneYet"
    AUDITED_ONLY = "AuditedOnly"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """A group; namespace and name are empty where only the audit knows it."""

    cluster: str
    namespace: str
    name: str
    group_id: str

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}" if self.name else self.group_id

    @property
    def anchor(self) -> str:
        """An id for links that stays the same from report to report, whatever the names hold."""
        parts = "\0".join((self.cluster, self.namespace, self.name, self.group_id))
        return "g" + sha256(parts.encode(errors="replace")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class History:
    """What was recorded of a group: `rebalances` as the operator saw them, `audited` as Kafka's log has them."""

    first_s: float | None = None
    last_s: float | None = None
    restarts: int = 0
    evictions: int = 0
    rebalances: int = 0
    audited: int | None = None
    members: int | None = None
    partitions: int | None = None
    protocol: str = ""
    assignor: str = ""
    library: str = ""
    session_timeout_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """`cost_today` is the cost curve's value at today's session timeout, in partition-seconds a month."""

    key: Key
    recommendation: Recommendation | None = None
    cost_today: float | None = None
    history: History = field(default_factory=History)

    @property
    def standing(self) -> Standing:
        if self.recommendation is not None:
            return Standing(self.recommendation.status)
        return Standing.NONE_YET if self.key.name else Standing.AUDITED_ONLY

    @property
    def saving(self) -> Interval | None:
        """Partition-seconds a month; only a change saves anything, whatever else was estimated."""
        changes = self.recommendation is not None and self.standing is Standing.RECOMMENDED
        return self.recommendation.saving_partition_s_per_month if changes and self.recommendation else None

    @property
    def session(self) -> RecommendedSetting | None:
        return self.recommendation.session_timeout_ms if self.recommendation else None

    @property
    def today_ms(self) -> int | None:
        """Today's session timeout: as it was when recommend looked, else as it was observed last."""
        return self.session.current if self.session else self.history.session_timeout_ms


class Kind(StrEnum):
    RESTART = "restart"
    REBALANCE = "rebalance"
    AUDITED = "audited"


@dataclass(frozen=True, slots=True)
class Slot:
    """What happened for one cause in one slot of time. `longest_s` is the longest silence, or the longest rebalance."""

    kind: Kind
    cause: str
    first_s: float
    last_s: float
    count: int
    evicted: int = 0
    longest_s: float | None = None


@dataclass(frozen=True, slots=True)
class GenerationPoint:
    """The highest generation seen in a slot of time."""

    at_s: float
    generation: int


@dataclass(frozen=True, slots=True)
class LagSlot:
    """Lag in one slot of time; None where it was not known."""

    at_s: float
    mean: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class Detail:
    """A group with the series behind its charts, each of bounded length, in order of time or of duration."""

    group: Group
    survival: tuple[SurvivalPoint, ...] = ()
    cost: tuple[CostPoint, ...] = ()
    slots: tuple[Slot, ...] = ()
    generations: tuple[GenerationPoint, ...] = ()
    lag: tuple[LagSlot, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """What held groups back that waited for a turn: a budget, or a thing such as a closed window; at one place, or at
    all of them (`place` empty). `turns`: of how many, of how many `groups`."""

    fleet: str
    by: str
    name: str
    place: str
    held_s: float
    turns: int
    groups: int


@dataclass(frozen=True, slots=True)
class WaitSlot:
    """The turns that were given in one slot of time."""

    at_s: float
    given: int
    median_s: float | None
    longest_s: float | None


@dataclass(frozen=True, slots=True)
class Waits:
    """How groups of ConsumerFleets came by their turns. Times of turns that were given; None: of none it is known.

    `slots` are in order of time, `by_budget` and `by_place` the longest first, each of bounded length.
    """

    first_s: float
    last_s: float
    given: int
    waiting: int
    """Asked for, and not given by then."""
    gave_way: int
    median_s: float | None = None
    p90_s: float | None = None
    longest_s: float | None = None
    by_budget: tuple[Held, ...] = ()
    by_place: tuple[Held, ...] = ()
    slots: tuple[WaitSlot, ...] = ()


@dataclass(frozen=True, slots=True)
class Totals:
    """Over every group of the lake, also those that the table leaves out."""

    groups: int = 0
    standings: tuple[tuple[Standing, int], ...] = ()
    saving: float | None = None
    cost_today: float | None = None
    needless_today: float | None = None
    needless_recommended: float | None = None
    restarts: int = 0
    evictions: int = 0
    rebalances: int = 0

    def count(self, standing: Standing) -> int:
        return dict(self.standings).get(standing, 0)


@dataclass(frozen=True, slots=True)
class Fleet:
    """`groups` are in the table's order, `details` the first of them; `notes` say what a reader must know; `waits` is
    None where no turn was told of."""

    as_of_s: float | None
    groups: tuple[Group, ...] = ()
    details: tuple[Detail, ...] = ()
    totals: Totals = field(default_factory=Totals)
    notes: tuple[str, ...] = ()
    waits: Waits | None = None

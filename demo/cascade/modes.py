"""The ways of deploying many applications at once that are measured, and what they have in common. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from demo.modes import Kind

GROUPS: Final = 12
MEMBERS: Final = 3
TOPICS: Final = 6
"""Each is read by two of the groups."""
PARTITIONS: Final = 6
"""Of each topic."""
BYSTANDERS: Final = 4
BYSTANDER_MEMBERS: Final = 2
BROKERS: Final = 3
MESSAGES_PER_PARTITION_S: Final = 5
SESSION_S: Final = 45
HEARTBEAT_S: Final = 3
BYSTANDER_SESSION_S: Final = 10
"""What it was by default before Kafka 3.0: a bystander's heartbeats have to be late by less to be noticed."""
MAX_POLL_INTERVAL_S: Final = 300
STABLE_FOR_S: Final = 3
REJOIN_TIMEOUT_S: Final = 180
"""Where 36 Java processes start at once on two cores, one may take a minute and more."""
FIRST, SECOND = "v1", "v2"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Promise:
    """What is asserted of a mode besides that it ends as it should."""

    groups: int
    """At most so many groups move at once, or get a bad pod."""
    per_coordinator: int | None = None
    """At most so many of one coordinator move at once."""

    @property
    def idle_partitions(self) -> int:
        """At most so many are idle at once: all those of the groups that may move."""
        return self.groups * PARTITIONS


@dataclass(frozen=True, slots=True)
class Mode:
    """`fleet` is the spec of the ConsumerFleet that selects all groups; None: there is none."""

    name: str
    title: str
    kind: Kind
    bad_image: bool = False
    fleet: Json | None = None
    promise: Promise | None = None

    @property
    def is_static(self) -> bool:
        return self.kind is not Kind.DEPLOYMENT

    @property
    def runs_on_operator(self) -> bool:
        return self.kind is Kind.CONSUMER_GROUP


_BY_COORDINATOR: Json = {"budgets": [{"name": "coordinators", "per": "Coordinator", "max": 1}]}
_QUARTER: Json = {"budgets": [{"name": "quarter", "max": "25%", "spacing": "5s"}]}

MODES: Final = (
    Mode("deployments", "Deployments", Kind.DEPLOYMENT),
    Mode("statefulsets", "StatefulSets", Kind.STATEFUL_SET),
    Mode("no-fleet", "Slackwater, no fleet", Kind.CONSUMER_GROUP),
    Mode(
        "coordinators-1",
        "Slackwater, 1 a coordinator",
        Kind.CONSUMER_GROUP,
        fleet={"selector": {}, **_BY_COORDINATOR},
        promise=Promise(groups=BROKERS, per_coordinator=1),
    ),
    Mode(
        "quarter",
        "Slackwater, 25%",
        Kind.CONSUMER_GROUP,
        fleet={"selector": {}, **_QUARTER},
        promise=Promise(groups=GROUPS // 4),
    ),
    Mode("bad-image-no-fleet", "bad image, no fleet", Kind.CONSUMER_GROUP, bad_image=True),
    Mode(
        "bad-image-fleet",
        "bad image, 1 a coordinator",
        Kind.CONSUMER_GROUP,
        bad_image=True,
        fleet={"selector": {}, **_BY_COORDINATOR, "halt": {"failures": 0, "within": "1h"}},
        promise=Promise(groups=BROKERS, per_coordinator=1),
    ),
)

"""The ways of changing a group's consumers that the demo measures. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

REPLICAS = 6
PARTITIONS = 24
MESSAGES_PER_PARTITION_S = 10
START_DELAY_S = 4
SESSION_S = 45
HEARTBEAT_S = 3
MAX_POLL_INTERVAL_S = 300
STABLE_FOR_S = 3
REJOIN_TIMEOUT_S = 20
JAVA_REJOIN_TIMEOUT_S = 60
"""On a machine that has much else to do, a Java process may take half a minute to start."""
AFTERMATH_S = 30
"""How long a rollout that ends badly is watched after its end: nobody mends it, so it has no end of its own."""

FIRST, SECOND = "v1", "v2"


class Kind(StrEnum):
    """The object that runs the consumers, in kubectl's words."""

    DEPLOYMENT = "deployment"
    STATEFUL_SET = "statefulset"
    CONSUMER_GROUP = "consumergroup"


class Client(StrEnum):
    """The consumers' Kafka client, as a ConsumerGroup names it."""

    LIBRDKAFKA = "Librdkafka"
    JAVA = "Java"

    @property
    def version(self) -> str:
        """What the images have, as far as protocol upgrades ask for it."""
        return {Client.LIBRDKAFKA: "2.16", Client.JAVA: "4.3"}[self]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A change of `protocol.target`, and what it is to cost."""

    origin: str
    target: str
    strategy: str
    rebalances: tuple[int, ...]
    """Exactly so many in each step, in which every pod is restarted once."""
    may_move: bool
    """Whether partitions may go to other members in those rebalances."""


@dataclass(frozen=True, slots=True)
class Warm:
    """A rollout by handover, and what it may cost."""

    handover: str
    most_idle_s: float
    """Partition-seconds, for each partition."""
    most_repeated_s: float
    """How much of each member's traffic may be delivered twice, in seconds."""


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    title: str
    kind: Kind
    bad_version: bool
    expected_s: int
    """About how long it takes, deploying and measuring included; for the person who waits."""
    upgrade: Upgrade | None = None
    """What is changed in place of the version."""
    client: Client = Client.LIBRDKAFKA
    replicas: int = REPLICAS
    target: str = "Eager"
    """`protocol.target` of an operator's group, where the mode is not about an upgrade."""
    warm: Warm | None = None
    """How the operator hands pods over, where it does not restart them in place."""
    learns: bool = False
    """Whether the operator applies to the group what is learned from its history."""

    @property
    def workload(self) -> str:
        """The name of what runs the consumers, of the group, and of the topic: nothing is shared between modes."""
        return f"orders-{self.name}"

    @property
    def deliveries_topic(self) -> str:
        return f"{self.workload}-deliveries"

    @property
    def is_static(self) -> bool:
        return self.kind is not Kind.DEPLOYMENT

    @property
    def runs_on_operator(self) -> bool:
        return self.kind is Kind.CONSUMER_GROUP

    @property
    def rejoin_timeout_s(self) -> int:
        return JAVA_REJOIN_TIMEOUT_S if self.client is Client.JAVA else REJOIN_TIMEOUT_S

    @property
    def ends_unserved(self) -> bool:
        """Whether nobody stops the bad version, so that the group is not expected to come back."""
        return self.bad_version and not self.runs_on_operator


DEPLOYMENT = Mode("deployment", "plain Deployment", Kind.DEPLOYMENT, False, 40)
STATEFUL_SET = Mode("statefulset", "plain StatefulSet", Kind.STATEFUL_SET, False, 55)
SLACKWATER = Mode("slackwater", "Slackwater", Kind.CONSUMER_GROUP, False, 95)
WARM = Mode("slackwater-warm", "Slackwater, warm", Kind.CONSUMER_GROUP, False, 95, warm=Warm("Overlapping", 0.0, 1.0))
PREDICTIVE = Mode(
    "slackwater-predictive", "Slackwater, predictive", Kind.CONSUMER_GROUP, False, 95, warm=Warm("Predictive", 1.0, 0.2)
)
BAD_STATEFUL_SET = Mode("bad-version-statefulset", "bad version, StatefulSet", Kind.STATEFUL_SET, True, 85)
BAD_SLACKWATER = Mode("bad-version-slackwater", "bad version, Slackwater", Kind.CONSUMER_GROUP, True, 65)
JAVA_TWO_BOUNCE = Mode(
    "java-two-bounce",
    "Java, to cooperative",
    Kind.CONSUMER_GROUP,
    bad_version=False,
    expected_s=65,
    # F4. In the one rebalance the leader assigns all again, for eager members have given everything back before.
    upgrade=Upgrade("Eager", "Cooperative", "TwoBounce", rebalances=(0, 1), may_move=True),
    client=Client.JAVA,
    replicas=3,  # to start a Java process takes a second of one core
)
LIBRDKAFKA_TO_KIP_848 = Mode(
    "librdkafka-to-kip848",
    "librdkafka, to KIP-848",
    Kind.CONSUMER_GROUP,
    bad_version=False,
    expected_s=75,
    upgrade=Upgrade("Eager", "Consumer", "OnlineMigration", rebalances=(0,), may_move=False),  # F6
)

LEARNING = Mode(
    "learning",
    "Slackwater learns",
    Kind.CONSUMER_GROUP,
    bad_version=False,
    expected_s=270,
    target="Consumer",  # F23: session and heartbeat are the brokers', and no pod restarts when they change
    learns=True,
)
"""Not measured as the others are: see `learning`."""

MODES = (
    DEPLOYMENT,
    STATEFUL_SET,
    SLACKWATER,
    WARM,
    PREDICTIVE,
    BAD_STATEFUL_SET,
    BAD_SLACKWATER,
    JAVA_TWO_BOUNCE,
    LIBRDKAFKA_TO_KIP_848,
)

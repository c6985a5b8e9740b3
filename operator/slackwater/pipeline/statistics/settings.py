"""What a group is and has today: the other input of the statistics beside its history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from slackwater.api.recommendation import MembershipKind
from slackwater.core.world.broker import Bounds
from slackwater.pipeline.statistics.cost import Costs, RebalanceProtocol, eviction_cost


@dataclass(frozen=True, slots=True)
class GroupIdentity:
    """Who a recommendation is for, and as of when."""

    cluster: str
    namespace: str
    name: str
    group_id: str
    as_of: datetime
    spec_generation: int | None = None


@dataclass(frozen=True, slots=True)
class GroupSettings:
    group: GroupIdentity
    protocol: RebalanceProtocol
    membership: MembershipKind
    partitions: int
    members: int
    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    max_poll_records: int | None = None
    """None: the library's default."""
    rebalance_s: float = 3.0
    """How long a rebalance takes: R and r of the cost."""
    warm_up_s: float = 0.0
    """How long a partition that changed its owner is slow, as if it were idle."""
    warm_up_spread: float = 0.0
    """The relative standard error of that, where it was measured; 0 where the spec says it."""
    can_be_static: bool = True
    """Whether the client library is known to take a group.instance.id."""
    heartbeat_bounds: Bounds | None = None
    """What the brokers take as a heartbeat interval (KIP-848); None where they do not care."""

    @property
    def costs(self) -> Costs:
        """A group without members or partitions counts as one of each: there is nothing to divide by."""
        partitions, members = max(1, self.partitions), max(1, self.members)
        eviction = eviction_cost(self.protocol, partitions, members, self.rebalance_s, self.warm_up_s)
        cold = eviction_cost(self.protocol, partitions, members, self.rebalance_s, 0.0)
        spread = self.warm_up_spread * (eviction - cold) / eviction if eviction else 0.0
        return Costs(partitions / members, self.rebalance_s, eviction, spread)

"""What should happen to a ConsumerGroup now, and why: the one entrance to all decisions.

`chapters` reads what is wanted and which phase the rollout is in; `next_act` says which act follows from that, and
`first_pods` where there is no StatefulSet; `foreign` is what is said where somebody else's is in the way;
`rolled` is its end.
The order of both is written down, as tuples: `WANTED`, `PHASE`, `ACTS`.
`in_fleets` is the same of a group to which ConsumerFleets give defaults, or a campaign an order.
"""

from slackwater.core.plan.chapters import plan

__all__ = ("plan",)

"""From a recommendation as it travels to what the operator looks at."""

from __future__ import annotations

from slackwater.api.recommendation import Recommendation, RecommendationStatus
from slackwater.core.world.advice import Advice, AdviceStatus, Range, Subject


def advice_of(recommendation: Recommendation) -> Advice:
    """Its status speaks of session and heartbeat; what it says of polls stands for itself."""
    ranges = {
        Subject.SESSION: recommendation.session_timeout_ms,
        Subject.HEARTBEAT: recommendation.heartbeat_interval_ms,
        Subject.MAX_POLL_INTERVAL: recommendation.max_poll_interval_ms,
        Subject.MAX_POLL_RECORDS: recommendation.max_poll_records,
    }
    if recommendation.status is not RecommendationStatus.RECOMMENDED:
        ranges |= {Subject.SESSION: None, Subject.HEARTBEAT: None}
    found = {s: Range(r.lower, r.target, r.upper, r.why) for s, r in ranges.items() if r is not None}
    status = AdviceStatus.RECOMMENDED if found else AdviceStatus(recommendation.status.value)
    membership, saving = recommendation.membership, recommendation.saving_partition_s_per_month
    cheaper = membership.cheaper if membership is not None else None
    return Advice(
        group_id=recommendation.group_id,
        as_of=recommendation.as_of.timestamp(),
        generation=recommendation.spec_generation,
        status=status,
        why=recommendation.why,
        restarts=recommendation.restarts,
        ranges=found,
        membership=cheaper.value if cheaper is not None else "",
        saving_partition_s_per_month=saving.value if saving is not None else None,
    )

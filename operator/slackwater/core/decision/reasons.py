"""The catalogue of everything that the operator says to people as a reason, and the value of waiting, `Hold`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Reasons of conditions and Events. CamelCase, as Kubernetes has them."""

    # Why nothing may be restarted now: the gates, in their order.
    KAFKA_UNREACHABLE = "KafkaUnreachable"
    COORDINATOR_UNAVAILABLE = "CoordinatorUnavailable"
    NOT_AUTHORIZED = "NotAuthorized"
    TOPIC_MISSING = "TopicMissing"
    OBSERVATION_INCOMPLETE = "ObservationIncomplete"
    OBSERVATION_STALE = "ObservationStale"
    STATEFUL_SET_NOT_OBSERVED = "StatefulSetNotObserved"
    PAUSED = "Paused"
    POD_MISSING = "PodMissing"
    POD_NOT_READY = "PodNotReady"
    GROUP_REBALANCING = "GroupRebalancing"
    GROUP_STABILIZING = "GroupStabilizing"
    FOREIGN_MEMBERS = "ForeignMembers"
    ZOMBIE_MEMBER = "ZombieMember"
    DUPLICATE_INSTANCE_ID = "DuplicateInstanceId"
    MEMBER_MISSING = "MemberMissing"
    MEMBER_NOT_REJOINED = "MemberNotRejoined"
    PARTITIONS_NOT_OWNED = "PartitionsNotOwned"
    MEMBER_OWNS_NOTHING = "MemberOwnsNothing"
    OFFSETS_NOT_MOVING = "OffsetsNotMoving"
    LAG_UNKNOWN = "LagUnknown"
    LAG_ABOVE_GATE = "LagAboveGate"

    # Why a group is not taken to the protocol that is asked for.
    MIXED_ASSIGNORS_UNSUPPORTED = "MixedAssignorsUnsupported"
    CLIENT_CANNOT = "ClientCannot"
    CLIENT_VERSION_UNKNOWN = "ClientVersionUnknown"
    BROKER_CANNOT = "BrokerCannot"
    BROKER_UNKNOWN = "BrokerUnknown"
    MIGRATION_POLICY_FORBIDS = "MigrationPolicyForbids"
    ASSIGNOR_UNEXPECTED = "AssignorUnexpected"
    ASSIGNOR_KEEPS_DATA = "AssignorKeepsData"
    SETTINGS_PROFILE_MISSING = "SettingsProfileMissing"

    # Why the rollout as a whole waits or has ended.
    CONNECTION_MISSING = "ConnectionMissing"
    CONNECTION_INVALID = "ConnectionInvalid"
    INVALID_SPEC = "InvalidSpec"
    CLUSTER_REFUSED = "ClusterRefused"
    FOREIGN_STATEFUL_SET = "ForeignStatefulSet"
    RESTART_IN_HAND = "RestartInHand"
    HANDOVER_IMPOSSIBLE = "HandoverImpossible"
    NO_ROOM = "NoRoom"
    CANARY_HOLD = "CanaryHold"
    ROLLOUT_UNDER_WAY = "RolloutUnderWay"
    STEP_NOT_PROVEN = "StepNotProven"
    DRAINING = "Draining"
    CANNOT_MIX = "CannotMix"
    ROLLOUT_FAILED = "RolloutFailed"
    NO_EARLIER_VERSION = "NoEarlierVersion"
    LAST_GOOD_UNKNOWN = "LastGoodUnknown"
    POD_STUCK = "PodStuck"
    REJOIN_TIMEOUT = "RejoinTimeout"
    ABORTED = "Aborted"

    # What there is to say of a recommendation.
    NO_RECOMMENDATION = "NoRecommendation"
    RECOMMENDED = "Recommended"
    AS_RECOMMENDED = "AsRecommended"
    WITH_NEXT_ROLLOUT = "WithNextRollout"
    AWAITS_APPROVAL = "AwaitsApproval"
    NOT_ENOUGH_DATA = "NotEnoughData"
    OBJECTIVE_INFEASIBLE = "ObjectiveInfeasible"
    RECOMMENDATION_STALE = "RecommendationStale"
    RECOMMENDED_FOR_ANOTHER = "RecommendedForAnother"
    RECOMMENDATION_OUT_OF_BOUNDS = "RecommendationOutOfBounds"
    RECOMMENDATIONS_DISAGREE = "RecommendationsDisagree"
    RECOMMENDATION_FAILED = "RecommendationFailed"
    RECOMMENDATIONS_OFF = "RecommendationsOff"

    # What was done.
    RECOMMENDATION_APPLIED = "RecommendationApplied"
    RECOMMENDATION_NOT_APPLIED = "RecommendationNotApplied"
    CREATED = "Created"
    ROLLOUT_STARTED = "RolloutStarted"
    RESTARTING_POD = "RestartingPod"
    HANDING_OVER = "HandingOver"
    HANDED_OVER = "HandedOver"
    FENCED_EACH_OTHER = "FencedEachOther"
    MEMBERS_REMOVED = "MembersRemoved"
    MEMBERS_RELEASED = "MembersReleased"
    SETTINGS_CHANGED = "SettingsChanged"
    UPGRADE_STARTED = "UpgradeStarted"
    UPGRADE_STEP_DONE = "UpgradeStepDone"
    UPGRADE_COMPLETE = "UpgradeComplete"
    UPGRADE_RETURNING = "UpgradeReturning"
    SCALED = "Scaled"
    ROLLOUT_COMPLETE = "RolloutComplete"
    ROLLING_BACK = "RollingBack"
    ROLLED_BACK = "RolledBack"
    PROMOTED = "Promoted"
    RETRYING = "Retrying"

    # How things are.
    UPGRADING = "Upgrading"
    PARTITIONS_WITHOUT_LIVE_OWNER = "PartitionsWithoutLiveOwner"
    CLAMPED = "Clamped"
    WITHIN_BOUNDS = "WithinBounds"
    BOUNDS_UNKNOWN = "BoundsUnknown"
    PROTOCOL_AS_WANTED = "ProtocolAsWanted"
    CONNECTED = "Connected"
    STABLE = "Stable"
    AS_WANTED = "AsWanted"
    PROGRESSING = "Progressing"
    NOT_ROLLING = "NotRolling"
    GATES_HOLD = "GatesHold"
    NOT_ALL_READY = "NotAllReady"
    MORE_MEMBERS_THAN_PARTITIONS = "MoreMembersThanPartitions"
    EVERY_MEMBER_HAS_WORK = "EveryMemberHasWork"
    STATIC_MEMBERS = "StaticMembers"
    DYNAMIC_MEMBERS = "DynamicMembers"
    NOT_PAUSED = "NotPaused"
    WITHIN_BOUND = "WithinBound"


@dataclass(frozen=True, slots=True)
class Hold:
    """Waiting, as a value: why, in a sentence for people, and when to look again at the latest."""

    reason: str
    message: str
    recheck_s: float = 5.0
    look_s: float | None = None
    """How old the look at Kafka may get meanwhile; None: as old as in any rollout."""

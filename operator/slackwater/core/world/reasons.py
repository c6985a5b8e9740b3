"""The catalogue of everything that the operator says to people as a reason, and what follows from each of them.

A reason carries its own meaning for the code: the gate that it belongs to, and its facets. Nothing else keeps a set of
reasons. The vocabulary stands in this room, the lowest, since an observation that failed speaks it already.
"""

from __future__ import annotations

from enum import Flag, StrEnum, auto
from functools import reduce
from operator import or_
from typing import Self


class GateName(StrEnum):
    """The gates by name, in their order (`core/rollout/gates`)."""

    OBSERVATION_IS_FRESH = "observation is fresh"
    ROLLOUT_IS_ALLOWED = "rollout is allowed"
    PODS_ARE_READY = "pods are ready"
    GROUP_IS_SETTLED = "group is settled"
    MEMBERS_ARE_OURS = "members are ours"
    PARTITIONS_ARE_OWNED = "partitions are owned"
    LAG_IS_BOUNDED = "lag is bounded"

    @property
    def number(self) -> int:
        """From 1."""
        return tuple(type(self)).index(self) + 1


class Facet(Flag):
    """What a reason means to the code; each has a property of the same name on `Reason`."""

    DEGRADES = auto()
    STANDS_STILL = auto()
    BEHIND_THE_GATES = auto()
    PASSES = auto()
    OF_THE_CONNECTION = auto()
    LIFTED_BY_A_SECRET = auto()
    LIFTED_BY_A_BROKER = auto()


class Reason(StrEnum):
    """Reasons of conditions and Events. CamelCase, as Kubernetes has them."""

    gate: GateName | None
    """The gate that refuses with it; None where no gate does."""
    facets: Facet

    def __new__(cls, value: str, *meanings: GateName | Facet) -> Self:
        """`meanings`: its gate, if it is one of a gate, and its facets."""
        reason = str.__new__(cls, value)
        reason._value_ = value
        reason.gate = next((each for each in meanings if isinstance(each, GateName)), None)
        reason.facets = reduce(or_, (each for each in meanings if isinstance(each, Facet)), Facet(0))
        return reason

    # Why nothing may be restarted now: the gates, in their order.
    KAFKA_UNREACHABLE = "KafkaUnreachable", GateName.OBSERVATION_IS_FRESH, Facet.PASSES, Facet.OF_THE_CONNECTION
    COORDINATOR_UNAVAILABLE = "CoordinatorUnavailable", GateName.OBSERVATION_IS_FRESH, Facet.PASSES
    NOT_AUTHORIZED = "NotAuthorized", GateName.OBSERVATION_IS_FRESH, Facet.DEGRADES, Facet.LIFTED_BY_A_SECRET
    TOPIC_MISSING = "TopicMissing", GateName.OBSERVATION_IS_FRESH
    GROUP_OF_ANOTHER_TYPE = "GroupOfAnotherType", GateName.OBSERVATION_IS_FRESH, Facet.DEGRADES
    ANSWER_TOO_LONG = "AnswerTooLong", GateName.OBSERVATION_IS_FRESH, Facet.DEGRADES
    OBSERVATION_INCOMPLETE = "ObservationIncomplete", GateName.OBSERVATION_IS_FRESH, Facet.PASSES
    OBSERVATION_STALE = "ObservationStale", GateName.OBSERVATION_IS_FRESH
    STATEFUL_SET_NOT_OBSERVED = "StatefulSetNotObserved", GateName.OBSERVATION_IS_FRESH
    PAUSED = "Paused", GateName.ROLLOUT_IS_ALLOWED
    POD_MISSING = "PodMissing", GateName.PODS_ARE_READY
    POD_NOT_READY = "PodNotReady", GateName.PODS_ARE_READY
    GROUP_REBALANCING = "GroupRebalancing", GateName.GROUP_IS_SETTLED
    GROUP_STABILIZING = "GroupStabilizing", GateName.GROUP_IS_SETTLED
    FOREIGN_MEMBERS = "ForeignMembers", GateName.MEMBERS_ARE_OURS, Facet.DEGRADES
    ZOMBIE_MEMBER = "ZombieMember", GateName.MEMBERS_ARE_OURS
    DUPLICATE_INSTANCE_ID = "DuplicateInstanceId", GateName.MEMBERS_ARE_OURS, Facet.DEGRADES
    MEMBER_MISSING = "MemberMissing", GateName.MEMBERS_ARE_OURS
    MEMBER_NOT_REJOINED = "MemberNotRejoined", GateName.MEMBERS_ARE_OURS
    PARTITIONS_NOT_OWNED = "PartitionsNotOwned", GateName.PARTITIONS_ARE_OWNED
    POD_CRASHED = "PodCrashed", GateName.PARTITIONS_ARE_OWNED
    MEMBER_OWNS_NOTHING = "MemberOwnsNothing", GateName.PARTITIONS_ARE_OWNED
    OFFSETS_NOT_MOVING = "OffsetsNotMoving", GateName.PARTITIONS_ARE_OWNED
    LAG_UNKNOWN = "LagUnknown", GateName.LAG_IS_BOUNDED, Facet.STANDS_STILL
    LAG_ABOVE_GATE = "LagAboveGate", GateName.LAG_IS_BOUNDED, Facet.STANDS_STILL

    # Why a group is not taken to the protocol that is asked for.
    MIXED_ASSIGNORS_UNSUPPORTED = "MixedAssignorsUnsupported"
    CLIENT_CANNOT = "ClientCannot"
    CLIENT_VERSION_UNKNOWN = "ClientVersionUnknown"
    BROKER_CANNOT = "BrokerCannot", Facet.LIFTED_BY_A_BROKER
    BROKER_UNKNOWN = "BrokerUnknown", Facet.LIFTED_BY_A_BROKER
    MIGRATION_POLICY_FORBIDS = "MigrationPolicyForbids", Facet.LIFTED_BY_A_BROKER
    ASSIGNOR_UNEXPECTED = "AssignorUnexpected"
    ASSIGNOR_KEEPS_DATA = "AssignorKeepsData"
    SETTINGS_PROFILE_MISSING = "SettingsProfileMissing"

    # Why the rollout as a whole waits or has ended.
    CONNECTION_MISSING = "ConnectionMissing", Facet.DEGRADES
    CONNECTION_INVALID = (
        "ConnectionInvalid",
        GateName.OBSERVATION_IS_FRESH,
        Facet.DEGRADES,
        Facet.LIFTED_BY_A_SECRET,
        Facet.OF_THE_CONNECTION,
    )
    INVALID_SPEC = "InvalidSpec"
    CLUSTER_REFUSED = "ClusterRefused", Facet.DEGRADES
    GROUP_NOT_ALLOWED = "GroupNotAllowed", Facet.DEGRADES
    GROUP_ID_SHARED = "GroupIdShared", Facet.DEGRADES
    NOT_SEEN_IN_GROUP = "NotSeenInGroup"
    INSTANCE_IDS_IN_USE = "InstanceIdsInUse", Facet.DEGRADES
    FOREIGN_STATEFUL_SET = "ForeignStatefulSet", Facet.DEGRADES, Facet.STANDS_STILL
    ORPHANED_PODS = "OrphanedPods", Facet.DEGRADES
    VOLUME_CLAIMS_CHANGE = "VolumeClaimsChange", Facet.STANDS_STILL
    VOLUME_CLAIMS_FIXED = "VolumeClaimsFixed", Facet.DEGRADES, Facet.STANDS_STILL
    RESTART_IN_HAND = "RestartInHand"
    HANDOVER_IMPOSSIBLE = "HandoverImpossible", Facet.STANDS_STILL
    NO_ROOM = "NoRoom", Facet.STANDS_STILL
    POD_NOT_JOINING = "PodNotJoining", Facet.DEGRADES
    SCALED_BY_OTHERS = "ScaledByOthers", Facet.DEGRADES, Facet.STANDS_STILL
    AWAITING_TURN = "AwaitingTurn", Facet.STANDS_STILL
    DEFAULTS_REFUSED = "DefaultsRefused"
    CANARY_HOLD = "CanaryHold", Facet.STANDS_STILL, Facet.BEHIND_THE_GATES
    ROLLOUT_UNDER_WAY = "RolloutUnderWay"
    STEP_NOT_PROVEN = "StepNotProven", Facet.BEHIND_THE_GATES
    DRAINING = "Draining"
    DRAIN_STANDS_STILL = "DrainStandsStill", Facet.DEGRADES
    CANNOT_MIX = "CannotMix", Facet.STANDS_STILL
    ROLLOUT_FAILED = "RolloutFailed"
    NO_EARLIER_VERSION = "NoEarlierVersion"
    LAST_GOOD_UNKNOWN = "LastGoodUnknown", Facet.DEGRADES
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
    NOT_ENOUGH_TIME = "NotEnoughTime"
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
    VOLUME_CLAIMS_CHANGED = "VolumeClaimsChanged"
    VOLUME_CLAIMS_STAY = "VolumeClaimsStay"
    VOLUME_CLAIMS_GO = "VolumeClaimsGo"
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
    FORCED = "Forced"
    RETRYING = "Retrying"

    # How things are.
    UPGRADING = "Upgrading"
    PARTITIONS_WITHOUT_LIVE_OWNER = "PartitionsWithoutLiveOwner"
    CLAMPED = "Clamped"
    WITHIN_BOUNDS = "WithinBounds"
    BOUNDS_UNKNOWN = "BoundsUnknown"
    PROTOCOL_AS_WANTED = "ProtocolAsWanted"
    CONNECTED = "Connected"
    CERTIFICATES_VALID = "CertificatesValid"
    CERTIFICATE_EXPIRES = "CertificateExpires"
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

    @classmethod
    def parse(cls, text: object) -> Reason | None:
        """A reason from outside, perhaps of a later version of the operator; None where it is none of ours."""
        return next((reason for reason in cls if reason == text), None)

    @property
    def degrades(self) -> bool:
        """Something is wrong that does not mend itself: the group is Degraded."""
        return Facet.DEGRADES in self.facets

    @property
    def stands_still(self) -> bool:
        """The rollout stands still, on purpose or for long: another number of pods need not wait for its end."""
        return Facet.STANDS_STILL in self.facets

    @property
    def behind_the_gates(self) -> bool:
        """The hold comes only when all gates hold."""
        return Facet.BEHIND_THE_GATES in self.facets

    @property
    def passes(self) -> bool:
        """It passes by itself within moments: worth a look every second."""
        return Facet.PASSES in self.facets

    @property
    def of_the_connection(self) -> bool:
        """The KafkaConnection itself does not work; other failures are of one group or topic."""
        return Facet.OF_THE_CONNECTION in self.facets

    @property
    def lifted_by_a_secret(self) -> bool:
        """Kafka does not let us in: somebody may correct a Secret, which no watch reports."""
        return Facet.LIFTED_BY_A_SECRET in self.facets

    @property
    def lifted_by_a_broker(self) -> bool:
        """Somebody may lift the refusal at the brokers, which no watch reports."""
        return Facet.LIFTED_BY_A_BROKER in self.facets

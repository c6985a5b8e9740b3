"""What each reason means to the code: its gate and its facets. A new reason needs a row here before anything passes,
but for a gate's that has no facet."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Final

import pytest

from slackwater.core.decision.reasons import Facet, GateName, Reason
from slackwater.core.rollout.gates import GATES
from tests.docs.gate_reasons import reasons_of

F: Final = Facet
NOTHING: Final = Facet(0)

MEANT: Final[dict[Reason, Facet]] = {
    Reason.KAFKA_UNREACHABLE: F.PASSES | F.OF_THE_CONNECTION,
    Reason.COORDINATOR_UNAVAILABLE: F.PASSES,
    Reason.NOT_AUTHORIZED: F.DEGRADES | F.LIFTED_BY_A_SECRET,
    Reason.GROUP_OF_ANOTHER_TYPE: F.DEGRADES,
    Reason.ANSWER_TOO_LONG: F.DEGRADES,
    Reason.OBSERVATION_INCOMPLETE: F.PASSES,
    Reason.CONNECTION_INVALID: F.DEGRADES | F.LIFTED_BY_A_SECRET | F.OF_THE_CONNECTION,
    Reason.FOREIGN_MEMBERS: F.DEGRADES,
    Reason.DUPLICATE_INSTANCE_ID: F.DEGRADES,
    Reason.LAG_UNKNOWN: F.STANDS_STILL,
    Reason.LAG_ABOVE_GATE: F.STANDS_STILL,
    Reason.BROKER_CANNOT: F.LIFTED_BY_A_BROKER,
    Reason.BROKER_UNKNOWN: F.LIFTED_BY_A_BROKER,
    Reason.MIGRATION_POLICY_FORBIDS: F.LIFTED_BY_A_BROKER,
    Reason.CONNECTION_MISSING: F.DEGRADES,
    Reason.CLUSTER_REFUSED: F.DEGRADES,
    Reason.FOREIGN_STATEFUL_SET: F.DEGRADES | F.STANDS_STILL,
    Reason.ORPHANED_PODS: F.DEGRADES,
    Reason.VOLUME_CLAIMS_CHANGE: F.STANDS_STILL,
    Reason.VOLUME_CLAIMS_FIXED: F.DEGRADES | F.STANDS_STILL,
    Reason.HANDOVER_IMPOSSIBLE: F.STANDS_STILL,
    Reason.CANNOT_MIX: F.STANDS_STILL,
    Reason.DRAIN_STANDS_STILL: F.DEGRADES,
    Reason.LAST_GOOD_UNKNOWN: F.DEGRADES,
    Reason.GROUP_NOT_ALLOWED: F.DEGRADES,
    Reason.GROUP_ID_SHARED: F.DEGRADES,
    Reason.INSTANCE_IDS_IN_USE: F.DEGRADES,
    Reason.NO_ROOM: F.STANDS_STILL,
    Reason.POD_NOT_JOINING: F.DEGRADES,
    Reason.SCALED_BY_OTHERS: F.DEGRADES | F.STANDS_STILL,
    Reason.AWAITING_TURN: F.STANDS_STILL,
    Reason.CANARY_HOLD: F.STANDS_STILL | F.BEHIND_THE_GATES,
    Reason.STEP_NOT_PROVEN: F.BEHIND_THE_GATES,
}
"""The reasons that the code treats in a way of their own. Which gate has which is held by the gates' source, below."""

UNSEEN: Final = frozenset(
    {
        *(Reason.KAFKA_UNREACHABLE, Reason.COORDINATOR_UNAVAILABLE, Reason.NOT_AUTHORIZED, Reason.TOPIC_MISSING),
        *(Reason.GROUP_OF_ANOTHER_TYPE, Reason.OBSERVATION_INCOMPLETE, Reason.CONNECTION_INVALID),
        Reason.ANSWER_TOO_LONG,
    }
)
"""What an observation that failed says: of the first gate, though that gate does not say it itself."""

ONLY_WORDS: Final = frozenset(
    {
        *(Reason.MIXED_ASSIGNORS_UNSUPPORTED, Reason.CLIENT_CANNOT, Reason.CLIENT_VERSION_UNKNOWN),
        *(Reason.ASSIGNOR_UNEXPECTED, Reason.ASSIGNOR_KEEPS_DATA, Reason.SETTINGS_PROFILE_MISSING),
        *(Reason.INVALID_SPEC, Reason.NOT_SEEN_IN_GROUP, Reason.RESTART_IN_HAND, Reason.ROLLOUT_UNDER_WAY),
        Reason.DEFAULTS_REFUSED,
        *(Reason.DRAINING, Reason.ROLLOUT_FAILED, Reason.NO_EARLIER_VERSION, Reason.POD_STUCK),
        *(Reason.REJOIN_TIMEOUT, Reason.ABORTED),
        *(Reason.NO_RECOMMENDATION, Reason.RECOMMENDED, Reason.AS_RECOMMENDED, Reason.WITH_NEXT_ROLLOUT),
        *(
            Reason.AWAITS_APPROVAL,
            Reason.NOT_ENOUGH_DATA,
            Reason.NOT_ENOUGH_TIME,
            Reason.OBJECTIVE_INFEASIBLE,
            Reason.RECOMMENDATION_STALE,
        ),
        *(Reason.RECOMMENDED_FOR_ANOTHER, Reason.RECOMMENDATION_OUT_OF_BOUNDS, Reason.RECOMMENDATIONS_DISAGREE),
        *(Reason.RECOMMENDATION_FAILED, Reason.RECOMMENDATIONS_OFF),
        *(
            Reason.RECOMMENDATION_APPLIED,
            Reason.RECOMMENDATION_NOT_APPLIED,
            Reason.VOLUME_CLAIMS_CHANGED,
            Reason.VOLUME_CLAIMS_STAY,
            Reason.VOLUME_CLAIMS_GO,
            Reason.CREATED,
            Reason.ROLLOUT_STARTED,
        ),
        *(Reason.RESTARTING_POD, Reason.HANDING_OVER, Reason.HANDED_OVER, Reason.FENCED_EACH_OTHER),
        *(Reason.MEMBERS_REMOVED, Reason.MEMBERS_RELEASED, Reason.SETTINGS_CHANGED, Reason.UPGRADE_STARTED),
        *(Reason.UPGRADE_STEP_DONE, Reason.UPGRADE_COMPLETE, Reason.UPGRADE_RETURNING, Reason.SCALED),
        *(
            Reason.ROLLOUT_COMPLETE,
            Reason.ROLLING_BACK,
            Reason.ROLLED_BACK,
            Reason.PROMOTED,
            Reason.FORCED,
            Reason.RETRYING,
        ),
        *(Reason.UPGRADING, Reason.PARTITIONS_WITHOUT_LIVE_OWNER, Reason.CLAMPED, Reason.WITHIN_BOUNDS),
        *(Reason.BOUNDS_UNKNOWN, Reason.PROTOCOL_AS_WANTED, Reason.CONNECTED, Reason.STABLE, Reason.AS_WANTED),
        *(Reason.CERTIFICATES_VALID, Reason.CERTIFICATE_EXPIRES),
        *(Reason.PROGRESSING, Reason.NOT_ROLLING, Reason.GATES_HOLD, Reason.NOT_ALL_READY),
        *(Reason.MORE_MEMBERS_THAN_PARTITIONS, Reason.EVERY_MEMBER_HAS_WORK, Reason.STATIC_MEMBERS),
        *(Reason.DYNAMIC_MEMBERS, Reason.NOT_PAUSED, Reason.WITHIN_BOUND),
    }
)
"""They mean nothing to the code but what they say."""


def test_it_was_decided_for_every_reason_what_it_means_to_the_code() -> None:
    of_gates = {reason for reason in Reason if reason.gate is not None}
    assert set(Reason) - set(MEANT) - of_gates - ONLY_WORDS == set(), "to the code: a facet in MEANT, or ONLY_WORDS?"
    assert of_gates & ONLY_WORDS == set()
    assert set(MEANT) & ONLY_WORDS == set()


@pytest.mark.parametrize("reason", Reason, ids=str)
def test_a_reason_means_what_the_table_says(reason: Reason) -> None:
    assert reason.facets == MEANT.get(reason, NOTHING)


@pytest.mark.parametrize("facet", Facet)
def test_a_facet_is_asked_for_by_its_name_and_some_reason_has_it(facet: Facet) -> None:
    by_name = {reason for reason in Reason if getattr(reason, str(facet.name).lower())}
    assert by_name == {reason for reason, facets in MEANT.items() if facet in facets} != set()


def test_the_names_of_the_gates_are_the_gates_in_their_order() -> None:
    assert [gate.__name__.replace("_", " ") for gate in GATES] == [name.value for name in GateName]
    assert [name.number for name in GateName] == list(range(1, len(GATES) + 1))


@pytest.mark.parametrize("name", GateName)
def test_a_gate_refuses_with_its_own_reasons_only(name: GateName) -> None:
    """As its source has them (`reasons_of`)."""
    own = {Reason(each) for each in reasons_of(name.name.lower())}
    unseen = UNSEEN if name is GateName.OBSERVATION_IS_FRESH else frozenset()
    assert {reason for reason in Reason if reason.gate is name} == own | unseen


def test_a_reason_is_its_text_wherever_it_goes() -> None:
    reason = Reason.FOREIGN_MEMBERS
    assert (f"{reason}", reason.value, json.dumps([reason])) == (
        "ForeignMembers",
        "ForeignMembers",
        '["ForeignMembers"]',
    )
    assert Reason("ForeignMembers") is pickle.loads(pickle.dumps(reason)) is copy.deepcopy(reason) is reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [("Paused", Reason.PAUSED), ("PAUSED", None), ("OfALaterVersion", None), ("", None), (None, None), (7, None)],
)
def test_a_reason_from_outside_is_one_of_ours_or_none(text: object, reason: Reason | None) -> None:
    assert Reason.parse(text) is reason

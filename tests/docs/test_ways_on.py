"""No dead ends: whatever holds a group has a way on, and its page says which."""

from __future__ import annotations

import ast
import re
from typing import Final

import pytest

from slackwater.core.decision.reasons import Reason
from tests.test_layout import ROOT

CORE: Final = ROOT / "operator" / "slackwater" / "core"
PAGE: Final = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
HOLDS: Final = ("Hold", "waiting_for", "Failure")
WAYS: Final[dict[Reason, str]] = {
    # It passes by itself, or a deadline ends it.
    Reason.OBSERVATION_STALE: "Wait for the next look",
    Reason.STATEFUL_SET_NOT_OBSERVED: "Wait",
    Reason.COORDINATOR_UNAVAILABLE: "Wait",
    Reason.OBSERVATION_INCOMPLETE: "Wait",
    Reason.KAFKA_UNREACHABLE: "goes on once Kafka answers",
    Reason.MEMBER_NOT_REJOINED: "after `rollout.rejoinTimeout` its rollout has failed",
    Reason.POD_CRASHED: "kubectl slackwater force",
    Reason.MEMBER_OWNS_NOTHING: "the rollout fails",
    Reason.OFFSETS_NOT_MOVING: "the rollout fails",
    Reason.BROKER_UNKNOWN: "Wait",
    Reason.RESTART_IN_HAND: "PodNotJoining",
    Reason.DRAINING: "Wait",
    Reason.AWAITING_TURN: "Wait: it goes on by itself",
    # A command.
    Reason.PAUSED: "kubectl slackwater resume",
    Reason.POD_NOT_READY: "kubectl slackwater abort",
    Reason.GROUP_REBALANCING: "kubectl slackwater force",
    Reason.GROUP_STABILIZING: "kubectl slackwater force",
    Reason.FOREIGN_MEMBERS: "kubectl slackwater force",
    Reason.ZOMBIE_MEMBER: "kubectl slackwater force",
    Reason.DUPLICATE_INSTANCE_ID: "kubectl slackwater force",
    Reason.MEMBER_MISSING: "kubectl slackwater force",
    Reason.PARTITIONS_NOT_OWNED: "kubectl slackwater force",
    Reason.LAG_UNKNOWN: "kubectl slackwater force",
    Reason.CANARY_HOLD: "kubectl slackwater promote",
    Reason.ROLLOUT_FAILED: "kubectl slackwater abort",
    Reason.POD_STUCK: "kubectl slackwater retry",
    Reason.REJOIN_TIMEOUT: "kubectl slackwater retry",
    Reason.DRAIN_STANDS_STILL: "`kubectl slackwater abort GROUP` makes it do so",
    Reason.POD_NOT_JOINING: "`kubectl delete pod`",
    # A change of the spec, of the connection or of what stands in the way.
    Reason.ORPHANED_PODS: "`kubectl delete pod`",
    Reason.VOLUME_CLAIMS_CHANGE: "set `volumeClaimTemplates` back",
    Reason.VOLUME_CLAIMS_FIXED: "Take the volume out of `volumeClaimTemplates` again",
    Reason.POD_MISSING: "an admission webhook, a missing ServiceAccount",
    Reason.LAG_ABOVE_GATE: "raise `rollout.maxLag`",
    Reason.NOT_AUTHORIZED: "Grant it",
    Reason.TOPIC_MISSING: "Create the topic",
    Reason.ANSWER_TOO_LONG: "asked for again after five minutes",
    Reason.GROUP_OF_ANOTHER_TYPE: "another `group.id`",
    Reason.CONNECTION_INVALID: "orrect",
    Reason.CONNECTION_MISSING: "Apply the connection",
    Reason.CLUSTER_REFUSED: "Correct `spec.template`",
    Reason.FOREIGN_STATEFUL_SET: "another name",
    Reason.GROUP_NOT_ALLOWED: "add to its `spec.groups`",
    Reason.GROUP_ID_SHARED: "Delete one of the two",
    Reason.INSTANCE_IDS_IN_USE: "Stop the others",
    Reason.HANDOVER_IMPOSSIBLE: "Set `rollout.strategy` to InPlace",
    Reason.SCALED_BY_OTHERS: "Point the autoscaler at the ConsumerGroup",
    Reason.NO_ROOM: "`rollout.strategy` to InPlace",
    Reason.CANNOT_MIX: "Set `protocol.target` back",
    Reason.STEP_NOT_PROVEN: "Setting `protocol.target` back undoes the step",
    Reason.LAST_GOOD_UNKNOWN: "Apply a template that works",
    Reason.MIXED_ASSIGNORS_UNSUPPORTED: "Set `protocol.target`",
    Reason.CLIENT_CANNOT: "set `protocol.target`",
    Reason.CLIENT_VERSION_UNKNOWN: "Set `client.version`",
    Reason.BROKER_CANNOT: "Upgrade every broker",
    Reason.MIGRATION_POLICY_FORBIDS: "Set it on every broker",
    Reason.ASSIGNOR_UNEXPECTED: "remove that setting",
    Reason.ASSIGNOR_KEEPS_DATA: "set `protocol.target` back",
    Reason.SETTINGS_PROFILE_MISSING: "Write the profiles",
}
"""What the page of each reason that holds a group says is the way on."""
DEAD_ENDS: Final = re.compile(r"replicas: 0|edit.*status", re.IGNORECASE)


def held_by() -> set[Reason]:
    """Every reason that core puts into a hold, by its source."""
    found = set[Reason]()
    for path in CORE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HOLDS:
                words = [each for argument in node.args for each in ast.walk(argument)]
                found |= {Reason[each.attr] for each in words if isinstance(each, ast.Attribute) and _is_reason(each)}
    return found


def _is_reason(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "Reason"


def what_to_do(reason: Reason) -> str:
    section = PAGE.partition(f"### {reason}\n")[2].partition("\n### ")[0]
    return section.partition("**What to do.**")[2].partition("\n## ")[0]


def test_every_reason_that_holds_a_group_has_a_way_on() -> None:
    of_the_gates = {reason for reason in Reason if reason.gate is not None}
    assert held_by() | of_the_gates == WAYS.keys()


@pytest.mark.parametrize("reason", WAYS)
def test_its_page_names_the_way_on_and_no_dead_end(reason: Reason) -> None:
    words = " ".join(what_to_do(reason).split())
    assert WAYS[reason] in words
    assert not DEAD_ENDS.search(words)


def test_a_group_that_never_gets_calm_has_a_way_on_whatever_the_version_has_to_do_with_it() -> None:
    """The version may be the remedy or the cause; and a group that nobody joins is given no partitions."""
    page = PAGE.partition("### GroupRebalancing\n")[2].partition("\n### ")[0]
    assert "nobody is in it" in page
    for way in ("kubectl slackwater force", "kubectl slackwater abort", "`kubectl logs`"):
        assert way in page

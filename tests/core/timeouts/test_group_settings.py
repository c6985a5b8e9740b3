"""Timeouts per protocol: in the pods for classic members, in Kafka for KIP-848 ones, within what the brokers allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.acts import AlterGroupSettings
from slackwater.core.manifests.template import render_template
from slackwater.core.plan import plan
from slackwater.core.status.conditions import verdicts
from slackwater.core.timeouts.classic import ClassicTimeouts, classic_timeouts
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION, change_due, note_bounds
from slackwater.core.world.broker import Bounds
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import BOOTSTRAP, BROKER, changed, group, observation, pod, workload, world

LOW = Bounds(6_000, 30_000)


def modern(
    asked: dict[str, str], has: dict[str, str] | None, ours: dict[str, str] | None = None, **changes: Any
) -> World:
    """A KIP-848 group that asks for `asked`, has the settings `has`, of which the operator made `ours`."""
    spec: dict[str, Any] = {"protocol": {"target": "Consumer"}, "timeouts": {"consumer": asked}}
    remembered = RolloutMemory(phase=RolloutPhase.COMPLETE, protocol=Profile.CONSUMER, group_settings=ours or {})
    kafka = observation(type=GroupType.CONSUMER, settings=has)
    return world(**({"group": group(**spec), "memory": remembered, "kafka": kafka} | changes))


CHANGES: list[tuple[str, World, dict[str, str | None] | None]] = [
    ("not there yet", modern({"session": "50s", "heartbeat": "6s"}, {}), {SESSION: "50000", HEARTBEAT: "6000"}),
    ("as asked for", modern({"session": "50s"}, {SESSION: "50000"}), None),
    ("only what differs", modern({"session": "50s", "heartbeat": "6s"}, {SESSION: "50000"}), {HEARTBEAT: "6000"}),
    ("below what brokers allow", modern({"session": "10s"}, {}), {SESSION: "45000"}),
    ("above what brokers allow", modern({"heartbeat": "16s"}, {}), {HEARTBEAT: "15000"}),
    ("no longer asked for", modern({}, {SESSION: "50000"}, {SESSION: "50000"}), {SESSION: None}),
    ("somebody else's setting", modern({}, {SESSION: "50000", "share.x": "1"}), None),
    ("not read", modern({"session": "50s"}, None), None),
    ("brokers not asked yet", modern({"session": "50s"}, {}, broker=None), None),
    (
        "a classic group",
        modern({"session": "50s"}, {}, memory=RolloutMemory(protocol=Profile.EAGER)),
        None,
    ),
]


@pytest.mark.parametrize(("seen", "expected"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_what_is_changed_in_kafka(seen: World, expected: dict[str, str | None] | None) -> None:
    change = change_due(seen)
    assert (dict(change.values) if change is not None else None) == expected


def test_no_pod_restarts_for_a_group_setting() -> None:
    """F23: a plan changes it in Kafka, and the template does not know of it."""
    plain = group(protocol={"target": "Consumer"})
    other = group(protocol={"target": "Consumer"}, timeouts={"consumer": {"session": "50s"}})
    assert render_template(plain, BOOTSTRAP, Profile.CONSUMER) == render_template(other, BOOTSTRAP, Profile.CONSUMER)
    template = render_template(other, BOOTSTRAP, Profile.CONSUMER)
    seen = modern({"session": "50s"}, {})
    memory = replace(seen.memory, target_hash=template.hash, ids_given=3)
    written = workload(template=template.body, template_hash=template.hash)
    pods = tuple(pod(o, protocol=Profile.CONSUMER) for o in range(3))
    decided = plan(changed(seen, memory=memory, workload=written, pods=pods))
    assert decided.act == AlterGroupSettings({SESSION: "50000"})
    assert decided.memory.group_settings == {SESSION: "50000"}


@pytest.mark.parametrize(
    ("asked", "bounds", "expected"),
    [
        ({}, None, ClassicTimeouts(45_000, 3_000, 300_000)),
        ({}, LOW, ClassicTimeouts(30_000, 3_000, 300_000)),
        ({"session": "3s", "maxPollInterval": "4s"}, LOW, ClassicTimeouts(6_000, 1_000, 6_000)),
        ({"session": "60s", "heartbeat": "20s"}, LOW, ClassicTimeouts(30_000, 10_000, 300_000)),
    ],
)
def test_classic_timeouts_are_clamped_as_one_set(
    asked: dict[str, str], bounds: Bounds | None, expected: ClassicTimeouts
) -> None:
    """F8: max.poll.interval is never below the session, nor the heartbeat above a third of it."""
    assert classic_timeouts(group(timeouts=asked).spec.timeouts, bounds) == expected


def test_bounds_are_remembered_only_while_they_bind_and_while_brokers_cannot_be_asked() -> None:
    binding = replace(BROKER, classic_session=LOW)
    assert note_bounds(world()).memory.session_bounds is None
    assert note_bounds(world(broker=binding)).memory.session_bounds == LOW
    remembered = RolloutMemory(session_bounds=LOW)
    assert note_bounds(world(broker=None, memory=remembered)).memory.session_bounds == LOW
    assert (
        note_bounds(world(broker=replace(BROKER, classic_session=None), memory=remembered)).memory.session_bounds == LOW
    )
    assert note_bounds(world(memory=remembered)).memory.session_bounds is None


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (modern({"session": "10s"}, {}), ("True", "Clamped")),
        (modern({"session": "50s"}, {}), ("False", "WithinBounds")),
        (world(memory=RolloutMemory(session_bounds=LOW)), ("True", "Clamped")),
        (world(broker=None), ("Unknown", "BoundsUnknown")),
        (world(broker=replace(BROKER, problem="grant DescribeConfigs")), ("Unknown", "BoundsUnknown")),
    ],
)
def test_a_clamped_timeout_is_said(seen: World, expected: tuple[str, str]) -> None:
    said = next(v for v in verdicts(seen, None) if v.type == "TimeoutsClamped")
    assert (said.status.value, said.reason.value) == expected

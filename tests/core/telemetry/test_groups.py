"""`group_observed`, `gate_held` and `settings_changed`: told when something changes, and then only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.telemetry.bodies import GateHeld, GroupObserved, SettingChange, SettingsChanged
from slackwater.api.telemetry.events import Event, GateHeldEvent, GroupObservedEvent, SettingsChangedEvent
from slackwater.api.telemetry.words import ChangedBy, GroupType, RebalanceProtocol
from slackwater.core.decision.acts import AlterGroupSettings
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.manifests.template import render_template
from slackwater.core.timeouts.group_settings import HEARTBEAT, SESSION
from slackwater.core.world import observation as seen
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.profile import Profile
from slackwater.core.world.workload import Workload
from tests.core.factories import BOOTSTRAP, NEW, NOW, group, members, pod, workload
from tests.core.telemetry.stories import AT_REST, UNREACHABLE, Story

SECRET_ENV = [{"name": "DATABASE_PASSWORD", "value": "hunter2"}, {"name": "KAFKA_SASL_PASSWORD", "value": "hunter3"}]


def running(revision: str = NEW, profile: Profile = Profile.EAGER, **spec: Any) -> dict[str, Any]:
    """A group whose three pods have just what its spec says."""
    wanted = group(**spec)
    template = render_template(wanted, BOOTSTRAP, profile)
    set_ = workload(template=template.body, template_hash=template.hash, update_revision=revision)
    return {"group": wanted, "workload": set_, "pods": tuple(pod(o, revision) for o in range(3))}


def observed(events: list[Event]) -> list[GroupObserved]:
    return [event.group_observed for event in events if isinstance(event, GroupObservedEvent)]


def held(events: list[Event]) -> list[GateHeld]:
    return [event.gate_held for event in events if isinstance(event, GateHeldEvent)]


def changed(events: list[Event]) -> list[SettingsChanged]:
    return [event.settings_changed for event in events if isinstance(event, SettingsChangedEvent)]


def test_a_group_is_told_as_it_is() -> None:
    timeouts = {"session": "30s", "maxPollRecords": 100, "objective": {"recoverWithin": "60s"}}
    library = {"library": "Java", "version": "4.0"}
    story = Story(**running(timeouts=timeouts, client=library, protocol={"target": "Eager"}))
    (told,) = observed(story.look(0))
    assert (told.state, told.group_type, told.assignor) == ("Stable", GroupType.CLASSIC, "range")
    assert (told.members, told.partitions, told.unowned_partitions, told.replicas) == (3, 6, 0, 3)
    assert (told.protocol, told.library, told.library_version) == (RebalanceProtocol.EAGER, "Java", "4.0")
    assert (told.session_timeout_ms, told.heartbeat_interval_ms) == (30_000, 3_000)
    assert (told.max_poll_interval_ms, told.max_poll_records) == (300_000, 100)
    assert (told.recover_within_ms, told.needless_rebalances_per_month) == (60_000, None)
    assert (told.session_min_ms, told.session_max_ms, told.heartbeat_min_ms) == (6_000, 1_800_000, None)


def test_under_kip_848_session_and_heartbeat_are_the_group_s() -> None:
    story = Story(**running(profile=Profile.CONSUMER, protocol={"target": "Consumer"}))
    modern = {"type": seen.GroupType.CONSUMER, "settings": {SESSION: "50000"}}
    (told,) = observed(story.look(0, group=modern))
    assert told.protocol is RebalanceProtocol.CONSUMER
    assert (told.session_timeout_ms, told.heartbeat_interval_ms) == (50_000, None)
    assert (told.session_min_ms, told.heartbeat_max_ms) == (45_000, 15_000)


def test_pods_have_the_settings_that_they_were_made_with_whatever_the_spec_says_since() -> None:
    story = Story(**running(timeouts={"session": "30s"}))
    story.look(0)
    later = story.look(1)
    story.world = replace(story.world, group=group(timeouts={"session": "20s"}, generation=2))
    (told,) = observed(story.look(2))
    assert later == []
    assert (told.spec_generation, told.session_timeout_ms) == (2, 30_000)


def test_nothing_new_is_not_told_and_an_unreachable_kafka_tells_nothing() -> None:
    story = Story()
    story.look(0)
    assert story.look(10) == []
    assert observed(story.look(20, kafka=UNREACHABLE)) == []
    assert observed(story.look(30)) == []


def test_lag_alone_is_told_once_a_minute() -> None:
    story = Story()
    told = [
        event.at - NOW
        for at in range(0, 200, 10)
        for event in story.look(at, group={"offsets": {p: seen.PartitionOffsets(0, at) for p in PARTITIONS}})
    ]
    assert told == [0, 60, 120, 180]


PARTITIONS = [seen.TopicPartition("orders", number) for number in range(6)]


def test_a_hold_is_told_when_it_begins_and_when_it_ends() -> None:
    story = Story()
    story.look(0)
    wait = Hold(Reason.LAG_ABOVE_GATE, "70 records behind")
    (begun,) = held(story.look(10, hold=wait))
    assert (begun.reason, begun.since, begun.until, begun.held_s) == ("LagAboveGate", NOW + 10, None, 0.0)
    assert held(story.look(20, hold=replace(wait, message="60 records behind"))) == []
    ended, next_one = held(story.look(30, hold=Hold(Reason.PAUSED, "paused")))
    assert (ended.reason, ended.message, ended.until, ended.held_s) == (wait.reason, wait.message, NOW + 30, 20.0)
    assert (next_one.reason, next_one.until) == ("Paused", None)
    assert [end.reason for end in held(story.look(40))] == ["Paused"]


def test_a_hold_that_was_there_before_the_operator_is_left_to_the_one_that_saw_it_begin() -> None:
    story = Story()
    assert held(story.look(0, hold=Hold(Reason.PAUSED, "paused"))) == []
    assert held(story.look(10)) == []


def test_a_rollout_that_ended_with_other_timeouts_is_told_with_both_values() -> None:
    java = {"library": "Java"}
    story = Story(**running(timeouts={"session": "45s"}, client=java))
    story.look(0)
    new = running("payments-newer", timeouts={"session": "30s", "maxPollRecords": 50}, client=java)
    under_way = RolloutMemory(phase=RolloutPhase.PROGRESSING)
    assert changed(story.look(10, workload=new["workload"], memory=under_way)) == []
    story.world = replace(story.world, group=new["group"])
    (told,) = changed(story.look(20, pods=new["pods"], memory=AT_REST))
    assert told.how is ChangedBy.ROLLOUT
    assert told.changes == (
        SettingChange(name="max.poll.records", before=None, after="50"),
        SettingChange(name="session.timeout.ms", before="45000", after="30000"),
    )
    assert changed(story.look(30)) == []


def test_a_rollout_of_the_same_timeouts_changes_no_settings() -> None:
    story = Story(**running())
    story.look(0)
    again: Workload = replace(running()["workload"], update_revision="payments-newer")
    assert changed(story.look(10, workload=again, pods=tuple(pod(o, "payments-newer") for o in range(3)))) == []


def test_settings_of_the_group_in_kafka_are_told_when_they_were_made() -> None:
    story = Story(**running(profile=Profile.CONSUMER, protocol={"target": "Consumer"}))
    before = {"type": seen.GroupType.CONSUMER, "settings": {SESSION: "50000", HEARTBEAT: "6000"}}
    story.look(0, group=before)
    act = AlterGroupSettings({SESSION: "55000", HEARTBEAT: None})
    (told,) = changed(story.look(10, group=before, acted=act))
    assert told.how is ChangedBy.GROUP_CONFIG
    assert told.changes == (
        SettingChange(name=HEARTBEAT, before="6000", after=None),
        SettingChange(name=SESSION, before="50000", after="55000"),
    )


@pytest.mark.parametrize("phase", [RolloutPhase.COMPLETE, RolloutPhase.PROGRESSING])
def test_nothing_of_a_template_but_our_own_settings_is_ever_told(phase: RolloutPhase) -> None:
    first, then = (
        running(f"rev-{session}", timeouts={"session": session}, template=template_with_secrets())
        for session in ("45s", "30s")
    )
    story = Story(**first)
    story.look(0)
    story.look(10, workload=then["workload"], pods=then["pods"], memory=RolloutMemory(phase=phase))
    story.members = members(0, 1)
    story.look(20)
    assert story.events
    assert not any("hunter" in event.model_dump_json() for event in story.events)


def template_with_secrets() -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "consumer", "image": "consumer:v1", "env": SECRET_ENV}]}}


def test_settings_are_those_of_a_template_that_the_controller_has_read() -> None:
    """Until then no pod is outdated, as it seems."""
    story = Story(**running(timeouts={"session": "45s"}))
    story.look(0)
    new = running(timeouts={"session": "30s"})
    assert changed(story.look(10, workload=replace(new["workload"], generation=3))) == []
    assert len(changed(story.look(20, workload=new["workload"]))) == 1

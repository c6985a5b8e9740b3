"""The series of each group: what is known shows, what is not known is not there, what is gone is forgotten."""

from __future__ import annotations

import platform
from dataclasses import replace
from typing import Any, Final

import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from slackwater import __version__
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.world.advice import Advice, AdviceStatus, Range, Subject
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupState, PartitionOffsets
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.step import Step
from slackwater.core.world.world import World
from slackwater.shell.metrics import Metrics
from slackwater.shell.store import Key
from tests.core.factories import NOW, group, members, observation, tp, watched, world
from tests.core.telemetry.stories import AT_REST, UNREACHABLE

KEY: Final = Key("default", "payments")
REST: Final = AT_REST
WAITING: Final = Hold(Reason.GROUP_REBALANCING, "it moves")
UPGRADE: Final = Upgrade(
    Profile.EAGER,
    StrategyName.TWO_BOUNCE,
    (Profile.EAGER_AND_COOPERATIVE, Profile.COOPERATIVE),
    2,
    started_at=NOW - 90_000,
)
ADVICE: Final = Advice(
    "payments",
    as_of=NOW,
    generation=1,
    status=AdviceStatus.RECOMMENDED,
    why="",
    restarts=40,
    ranges={Subject.SESSION: Range(20_000, 25_000, 30_000), Subject.MAX_POLL_RECORDS: Range(100, 200, 300)},
)


class Shown:
    """Metrics that see one group, and the values of its series by name and further labels."""

    def __init__(self) -> None:
        self.metrics = Metrics()

    def see(self, seen: World, hold: Hold | None = None, **decided: Any) -> None:
        self.metrics.decided(KEY, seen, Decision(**{"memory": seen.memory, "hold": hold} | decided))

    def series(self, name: str) -> dict[str, float]:
        """By the value of the third label; empty where there is none."""
        found = {}
        for family in text_string_to_metric_families(self.metrics.text().decode()):
            for sample in family.samples:
                if sample.name == name and sample.labels.get("group") == KEY.name:
                    rest = [value for key, value in sample.labels.items() if key not in ("namespace", "group")]
                    found[rest[0] if rest else ""] = sample.value
        return found

    def value(self, name: str) -> float | None:
        return self.series(name).get("")


def seen(at: float = 0.0, kafka: Any = None, **changes: Any) -> World:
    looked = kafka or observation(at=NOW + at)
    known = {} if kafka is UNREACHABLE else {"history": watched(looked)}
    return world(**{"now": NOW + at, "kafka": looked, "memory": REST, **known} | changes)


def test_a_calm_group() -> None:
    shown = Shown()
    shown.see(seen(kafka=observation(members(0, 1), NOW, lag=7)))
    assert shown.value("slackwater_group_members") == 2
    assert shown.value("slackwater_group_members_expected") == 3
    assert shown.value("slackwater_group_lag") == 7
    states = shown.series("slackwater_group_state")
    assert states.pop("Stable") == 1
    assert set(states.values()) == {0}
    assert shown.value("slackwater_upgrade_step") == 0
    assert shown.value("slackwater_upgrade_start_timestamp_seconds") is None
    assert shown.series("slackwater_rollout_steps_total") == {"done": 0, "failed": 0}


def test_what_kafka_does_not_tell_is_not_there() -> None:
    shown = Shown()
    shown.see(seen())
    shown.see(seen(5, UNREACHABLE))
    for name in ("members", "lag", "lag_seconds"):
        assert shown.value(f"slackwater_group_{name}") is None
    assert shown.series("slackwater_group_state")["Unknown"] == 1
    assert shown.value("slackwater_group_members_expected") == 3


def test_lag_in_seconds_goes_by_the_looks_before() -> None:
    shown = Shown()
    for at, offsets in ((0, (100, 100)), (10, (150, 200))):
        shown.see(seen(at, observation(at=NOW + at, offsets={tp(0): PartitionOffsets(*offsets)})))
    assert shown.value("slackwater_group_lag_seconds") == 5


def test_rebalances_are_counted_and_timed() -> None:
    shown = Shown()
    moving = observation((), NOW + 10, state=GroupState.PREPARING_REBALANCE)
    for each in (seen(0), seen(10, moving), seen(13), seen(20, observation(members(0, 1), NOW + 20))):
        shown.see(each)
    assert shown.value("slackwater_group_rebalances_total") == 2
    durations = shown.series("slackwater_group_rebalance_duration_seconds_bucket")
    assert (durations["2.0"], durations["5.0"], durations["+Inf"]) == (0, 1, 1)  # one fell between two looks
    assert shown.value("slackwater_group_rebalance_duration_seconds_sum") == 3
    assert shown.value("slackwater_group_partition_idle_seconds_total") == 6 * 3


def test_a_reason_counts_when_it_begins_to_hold() -> None:
    shown = Shown()
    other = Hold(Reason.LAG_ABOVE_GATE, "too late")
    for hold in (WAITING, WAITING, other, None, WAITING):
        shown.see(seen(), hold)
    assert shown.series("slackwater_gate_holds_total") == {"GroupRebalancing": 2, "LagAboveGate": 1}
    assert shown.series("slackwater_gate_held") == {"GroupRebalancing": 1}
    shown.see(seen())
    assert shown.series("slackwater_gate_held") == {}


def test_steps_of_a_rollout_by_their_end() -> None:
    shown = Shown()
    first = RolloutMemory(phase=RolloutPhase.PROGRESSING, started_at=NOW, step=Step(2, NOW + 1))
    second = replace(first, step=Step(1, NOW + 2))
    shown.see(seen(memory=first), memory=second)
    shown.see(seen(memory=second), memory=replace(second, phase=RolloutPhase.FAILED))
    assert shown.series("slackwater_rollout_steps_total") == {"done": 1, "failed": 1}
    assert shown.value("slackwater_group_degraded") == 1


def test_an_upgrade_under_way() -> None:
    shown = Shown()
    shown.see(seen(memory=replace(REST, upgrade=UPGRADE)))
    assert shown.value("slackwater_upgrade_step") == 2
    assert shown.value("slackwater_upgrade_steps") == 2
    assert shown.value("slackwater_upgrade_start_timestamp_seconds") == NOW - 90_000


def test_what_is_recommended_stands_beside_what_is() -> None:
    shown = Shown()
    shown.see(seen(advice=ADVICE, group=group(timeouts={"mode": "Recommend", "session": "40s"})))
    assert shown.series("slackwater_recommended_timeout_seconds") == {"session": 25}
    assert shown.series("slackwater_actual_timeout_seconds") == {"session": 40, "heartbeat": 3, "maxPollInterval": 300}
    assert shown.value("slackwater_recommended_max_poll_records") == 200
    assert shown.value("slackwater_actual_max_poll_records") == 500
    shown.see(seen(advice=ADVICE, group=group(timeouts={"mode": "Off"})))
    assert shown.series("slackwater_recommended_timeout_seconds") == {}


def test_settings_are_those_of_the_protocol_in_force() -> None:
    shown = Shown()
    shown.see(seen(memory=replace(REST, protocol=Profile.CONSUMER)))
    assert set(shown.series("slackwater_actual_timeout_seconds")) == {
        "consumer.session",
        "consumer.heartbeat",
        "maxPollInterval",
    }


def test_a_fenced_handover_is_counted() -> None:
    shown = Shown()
    shown.see(seen(), notes=(Note(Reason.FENCED_EACH_OTHER, "both"), Note(Reason.SCALED, "more")))
    assert shown.value("slackwater_handovers_fenced_total") == 1


def test_a_group_that_is_gone_leaves_no_series() -> None:
    shown = Shown()
    shown.see(seen())
    assert "payments" in shown.metrics.text().decode()
    shown.metrics.groups.forget(KEY)
    assert "payments" not in shown.metrics.text().decode()


def test_a_bug_in_showing_fails_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()
    with monkeypatch.context() as broken:
        broken.setattr("slackwater.shell.group_metrics.figures_of", lambda *_: 1 / 0)
        with capture_logs() as logs:
            shown.see(seen())
    assert [log["event"] for log in logs] == ["metrics_failed"]
    assert shown.value("slackwater_group_members") is None
    shown.see(seen())
    assert shown.value("slackwater_group_members") == 3


@pytest.mark.parametrize("phase", RolloutPhase)
def test_a_group_has_the_phase_of_its_rollout_and_no_other(phase: RolloutPhase) -> None:
    shown = Shown()
    shown.see(seen(memory=replace(REST, phase=RolloutPhase.PROGRESSING)))
    shown.see(seen(5), memory=replace(REST, phase=phase))
    assert shown.series("slackwater_rollout_phase") == {phase.value: 1}


def test_the_operator_says_which_version_it_is() -> None:
    told = f'slackwater_build_info{{python="{platform.python_version()}",version="{__version__}"}} 1.0'
    assert told in Metrics().text().decode().splitlines()


def test_a_group_has_no_more_series_than_documented() -> None:
    """All that can be there at once is there."""
    shown = Shown()
    memory = replace(REST, upgrade=UPGRADE)
    ranges = {subject: Range(1, 2, 3) for subject in Subject}
    tuned = group(timeouts={"mode": "Recommend"})
    for at, reason in enumerate((Reason.PAUSED, Reason.POD_NOT_READY)):
        full = seen(at, memory=memory, advice=replace(ADVICE, ranges=ranges), group=tuned)
        shown.see(full, Hold(reason, ""))
    lines = [line for line in shown.metrics.text().decode().splitlines() if 'group="payments"' in line]
    assert len(lines) == 42 + 2

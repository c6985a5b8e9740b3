"""A mode is as it should be only when pods, partitions and rebalances say so."""

from __future__ import annotations

from dataclasses import replace

from demo import modes
from demo.figures import Figures, judge
from demo.fleet import Pod, Progress
from demo.group import STABLE, Group
from demo.modes import Mode
from demo.rollout import Played
from demo.view import Moment

CALM = Figures(0, 98.0, 4.5, 0, 80.0)


def pods(version: str, batch: str) -> tuple[Pod, ...]:
    return tuple(
        Pod(f"orders-{n}", f"{batch}-{n}", version, ready=True, terminating=False, state="Ready", restarts=0)
        for n in range(modes.REPLICAS)
    )


OLD, NEW = pods(modes.FIRST, "old"), pods(modes.SECOND, "new")


def played(mode: Mode, last: tuple[Pod, ...], progress: Progress, served: int = modes.PARTITIONS) -> Played:
    seen = frozenset(pod.uid for pod in (*OLD, *last))
    moment = Moment(mode, "rolled out", 60.0, progress.phase, last, Group(STABLE, (), 24), served)
    return Played(mode, 0.0, 80.0, 83.0, OLD, seen, moment, progress)


DONE = Progress(done=True, phase="done")


def test_a_rollout_by_slackwater_has_all_pods_new_and_no_rebalance() -> None:
    rolled_out = played(modes.SLACKWATER, NEW, DONE)
    assert judge(rolled_out, CALM) == ""
    assert "2 rebalances" in judge(rolled_out, replace(CALM, rebalances=2))


def test_a_handover_is_held_to_what_it_may_cost() -> None:
    warm, predictive = (played(mode, NEW, DONE) for mode in (modes.WARM, modes.PREDICTIVE))
    nothing_idle = replace(CALM, idle_partition_seconds=0.0)
    assert judge(warm, replace(nothing_idle, duplicates=240)) == ""
    assert "241 records were delivered twice; 240 may be" in judge(warm, replace(nothing_idle, duplicates=241))
    assert "0.6 partition-seconds were idle; 0 may be" in judge(warm, replace(CALM, idle_partition_seconds=0.6))
    short = replace(CALM, idle_partition_seconds=24.0, worst_gap_seconds=1.0)
    assert judge(predictive, replace(short, duplicates=48)) == ""
    assert "24.1 partition-seconds" in judge(predictive, replace(short, idle_partition_seconds=24.1))
    assert "idle for 1.1 s" in judge(predictive, replace(short, worst_gap_seconds=1.1))
    assert "49 records" in judge(predictive, replace(nothing_idle, duplicates=49))


def test_a_pod_that_was_restarted_twice_is_told() -> None:
    rolled_out = played(modes.SLACKWATER, NEW, DONE)
    twice = replace(rolled_out, pods_seen=rolled_out.pods_seen | {"another"})
    assert judge(twice, CALM) == "7 pods were made for 6 restarts."


def test_a_plain_rollout_may_rebalance() -> None:
    assert judge(played(modes.DEPLOYMENT, NEW, DONE), replace(CALM, rebalances=11)) == ""


def test_a_rollout_that_left_an_old_pod_is_not_as_it_should_be() -> None:
    assert judge(played(modes.DEPLOYMENT, (*NEW[:5], OLD[5]), DONE), CALM).startswith("Only 5 of 6 pods")


def test_a_bad_version_that_nobody_stops_is_all_over_and_serves_nothing() -> None:
    assert judge(played(modes.BAD_STATEFUL_SET, NEW, DONE, served=0), CALM) == ""
    assert "4 of 24 partitions" in judge(played(modes.BAD_STATEFUL_SET, NEW, DONE, served=4), CALM)


def test_a_bad_version_under_slackwater_stops_at_the_first_pod_and_is_rolled_back() -> None:
    back = Progress(done=True, phase="rolled back", rolled_back=True)
    again = replace(OLD[5], uid="again")
    assert judge(played(modes.BAD_SLACKWATER, (*OLD[:5], again), back), CALM) == ""
    assert "not rolled back" in judge(played(modes.BAD_SLACKWATER, (*OLD[:5], again), DONE), CALM)
    two = (*OLD[:4], replace(OLD[4], uid="another"), again)
    assert "2 pods were touched" in judge(played(modes.BAD_SLACKWATER, two, back), CALM)


def test_a_failed_rollout_says_why() -> None:
    failed = Progress(done=True, phase="failed", failed="pod orders-5 is stuck")
    assert judge(played(modes.SLACKWATER, OLD, failed), CALM) == "The rollout failed: pod orders-5 is stuck."


MADE_FOR = {"old": "Eager", "between": "EagerAndCooperative", "new": "Cooperative"}
UPGRADED = Figures(1, 60.0, 4.5, 0, 80.0, partition_moves=16, rebalances_by_step=(0, 1))


def java_pods(batch: str) -> tuple[Pod, ...]:
    return tuple(replace(pod, profile=MADE_FOR[batch]) for pod in pods(modes.FIRST, batch)[:3])


def upgraded(last: tuple[Pod, ...]) -> Played:
    one = played(modes.JAVA_TWO_BOUNCE, last, DONE)
    return replace(one, pods_seen=frozenset(pod.uid for batch in MADE_FOR for pod in java_pods(batch)))


def test_an_upgrade_has_all_pods_on_the_target_and_the_rebalances_where_they_belong() -> None:
    done = upgraded(java_pods("new"))
    assert judge(done, UPGRADED) == ""
    assert "should be (0, 1)" in judge(done, replace(UPGRADED, rebalances_by_step=(1, 0)))


def test_an_upgrade_that_stopped_between_is_not_done() -> None:
    assert judge(upgraded(java_pods("between")), UPGRADED) == "Only 0 of 3 pods are made for Cooperative."


def test_an_upgrade_that_made_more_pods_than_it_had_to_is_told() -> None:
    done = upgraded(java_pods("new"))
    again = replace(done, pods_seen=done.pods_seen | {"another"})
    assert judge(again, UPGRADED) == "7 pods were made for 6 restarts."


def test_an_online_migration_moves_no_partition() -> None:
    on_848 = tuple(replace(pod, profile="Consumer") for pod in NEW)
    done = played(modes.LIBRDKAFKA_TO_KIP_848, on_848, DONE)
    done = replace(done, pods_seen=done.pods_seen | {pod.uid for pod in OLD})
    calm = replace(CALM, rebalances_by_step=(0,))
    assert judge(done, calm) == ""
    assert "4 partitions went" in judge(done, replace(calm, partition_moves=4))

"""Recommendations of a small fleet are those of the statistics, called with every restart and window by itself."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from slackwater.api.recommendation import Recommendation
from slackwater.core.timeouts.reading import advice_of
from slackwater.pipeline.recommend.facts import facts_of
from slackwater.pipeline.recommend.histories import histories_of
from slackwater.pipeline.recommend.job import Silver, fleets_in, recommendations_of
from slackwater.pipeline.statistics.arrays import Floats
from slackwater.pipeline.statistics.fleet import Fleet, fleet_of, shape_of
from slackwater.pipeline.statistics.history import MOST_POINTS, Absences, PollWindows, silences_of
from slackwater.pipeline.statistics.recommend import Known, recommend_group, seed_of
from tests.pipeline.recommend.fleet import AS_OF, Row, Rows, group, heavy, key, polls, restart, restarts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LONE = "lone"
"""Another library than all others, so that nobody lends to it."""


def found(spark: SparkSession, rows: Rows) -> dict[str, Recommendation]:
    return {name: Recommendation.model_validate_json(text) for name, text in messages(rows.silver(spark)).items()}


def messages(silver: Silver) -> dict[str, str]:
    histories = histories_in(silver)
    found = recommendations_of(histories, fleets_in(histories, AS_OF), AS_OF)
    rows = found.select("name", "message").collect()
    return {row["name"]: row["message"] for row in rows}


def histories_in(silver: Silver) -> DataFrame:
    return histories_of(silver.groups, silver.restarts, silver.polls, silver.rebalances, silver.warm_ups, partitions=3)


def truth(of: Row, silences_s: Floats, windows: PollWindows | None = None, fleet: Fleet | None = None) -> str:
    """What the statistics say of members that all returned from rollouts, every one counted by itself."""
    facts = facts_of(
        {
            **dict.fromkeys(
                ("recover_within_ms", "needless_rebalances_per_month", "rebalance_s", "warm_up_ms", "warmed_up")
            ),
            **of,
        },
        AS_OF,
    )
    assert facts is not None
    silence_s = silences_s
    some = np.ones(len(silence_s), dtype=np.bool_)
    history = Absences(
        silence_s,
        some,
        of["observed_days"],
        planned=some,
        polls=windows or PollWindows(),
        batch=np.full(len(some), -1.0),
    )
    seed = seed_of(facts.settings.group)
    return recommend_group(history, facts.settings, facts.bounds, facts.objective, Known(fleet), seed=seed).message()


def test_a_groups_recommendation_is_that_of_its_restarts_and_windows(spark: SparkSession) -> None:
    of, silences_s = group(LONE), heavy(200)
    longest_ms = np.random.default_rng(3).gamma(4.0, 60.0, 300)
    rows = Rows((of,), restarts(LONE, silences_s), polls(LONE, longest_ms, records=80.0))
    windows = PollWindows(longest_ms=longest_ms, records=np.full(300, 80.0))
    assert messages(rows.silver(spark)) == {LONE: truth(of, silences_s, windows)}


def test_a_group_with_many_restarts_comes_down_to_the_statistics_own_grid(spark: SparkSession) -> None:
    of, silences_s = group(LONE), np.minimum(heavy(MOST_POINTS + 1_500), 1_700.0)
    assert len(np.unique(silences_s)) > MOST_POINTS
    silver = Rows((of,), restarts(LONE, silences_s)).silver(spark)
    assert messages(silver) == {LONE: truth(of, silences_s)}
    (history,) = histories_in(silver).collect()
    assert len(history["silence"]) < 1_000


def test_similar_groups_lend_without_the_borrower_itself(spark: SparkSession) -> None:
    """The fleet of seven groups, less the borrower's own shape, is that of the other six, most restarted first."""
    silences_s = {"few": heavy(25, seed=1), **{f"many-{n}": heavy(90 - n, seed=2 + n) for n in range(6)}}
    rows = Rows(
        tuple(map(group, silences_s)), tuple(row for each in silences_s for row in restarts(each, silences_s[each]))
    )
    shapes = [shape_of(silences_of(each, np.ones(len(each), dtype=np.bool_))) for each in list(silences_s.values())[1:]]
    lent = truth(group("few"), silences_s["few"], fleet=fleet_of(each for each in shapes if each is not None))
    assert Recommendation.model_validate_json(lent).pooled_restarts > 5
    assert messages(rows.silver(spark))["few"] == lent


def test_nobody_lends_to_a_group_of_another_library(spark: SparkSession) -> None:
    rows = Rows((group(LONE, library="Other"), group("many")), restarts(LONE, heavy(8)) + restarts("many", heavy(80)))
    assert found(spark, rows)[LONE].pooled_restarts == 0


def test_neither_order_nor_partitions_matter(spark: SparkSession) -> None:
    silences_s = {"a": heavy(90, seed=1), "b": heavy(8, seed=2), "c": heavy(2_300, seed=3)}
    rows = Rows(
        tuple(map(group, silences_s)),
        tuple(row for each in silences_s for row in restarts(each, silences_s[each])),
        polls("a", heavy(100, seed=4)),
    )
    mixed = replace(rows, restarts=_mixed(rows.restarts), polls=_mixed(rows.polls), groups=_mixed(rows.groups))
    first, again = rows.silver(spark), mixed.silver(spark)
    tables = (again.groups, again.restarts, again.polls, again.rebalances, again.warm_ups)
    scattered = Silver(*map(_scattered, tables))
    assert messages(first) == messages(scattered)


def test_every_kind_of_group_gets_its_answer(spark: SparkSession) -> None:
    away: Row = {"outcome": "Away", "observed_away_s": 90_000.0}
    warm = tuple(restart("warm", n, 0.0, mode="WarmHandover") for n in range(50))
    rows = Rows(
        groups=(
            group("idle"),
            group("once"),
            group("unseen", settings_at=None, partitions=None, members=None, library=None),
            group("warm", rollout_strategy="WarmHandover"),
            group("unmeasured"),
            group("lost"),
            group("defaults", session_timeout_ms=None),
            group("strict", needless_rebalances_per_month=0.0, recover_within_ms=10_000),
        ),
        restarts=(
            restart("once", 1, 5.0),
            *warm,
            *(restart("unmeasured", n, None) for n in range(20)),
            *(restart("lost", n, None, **away) for n in range(20)),
            *restarts("defaults", heavy(150, seed=5)),
            *restarts("strict", heavy(150, seed=6)),
        ),
    )
    answers = found(spark, rows)
    statuses = {name: str(each.status) for name, each in answers.items()}
    assert statuses == {
        **dict.fromkeys(("idle", "once", "unseen", "warm", "unmeasured", "lost"), "NotEnoughData"),
        "defaults": statuses["defaults"],
        "strict": "Infeasible",
    }
    assert {name: answers[name].restarts for name in ("idle", "once", "warm", "unmeasured", "lost")} == {
        "idle": 0,
        "once": 1,
        "warm": 0,
        "unmeasured": 0,
        "lost": 20,
    }
    assert "20 impossible silences" in answers["unmeasured"].why
    assert "never seen" in answers["unseen"].why
    told = answers["defaults"]
    assert told.session_timeout_ms is not None
    assert told.session_timeout_ms.current is None
    assert "Kafka's defaults were taken: session timeout 45 s" in told.why


def test_the_operator_understands_each_of_them(spark: SparkSession) -> None:
    rows = Rows((group("a"), group("b")), restarts("a", heavy(300)))
    for name, each in found(spark, rows).items():
        advice = advice_of(each)
        assert (advice.group_id, advice.generation, advice.as_of) == (key(name)["group_id"], 3, AS_OF.timestamp())


def _mixed(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    return tuple(random.Random(1).sample(rows, len(rows)))


def _scattered(rows: DataFrame) -> Any:
    return rows.repartition(5)

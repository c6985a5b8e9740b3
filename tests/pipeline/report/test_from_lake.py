"""From tables of Parquet to the model: every number is that of the rows, and nothing depends on how many there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from slackwater.api.recommendation import RecommendationStatus
from slackwater.pipeline.errors import LakeUnusable
from slackwater.pipeline.report.fleet import read_fleet
from slackwater.pipeline.report.job import Options, run
from slackwater.pipeline.report.model import Detail, Fleet, Key, Kind, Slot, Standing
from slackwater.pipeline.report.page import page
from slackwater.pipeline.report.series import SLOTS
from slackwater.pipeline.report.sources import read_sources
from slackwater.pipeline.report.writing import PageUnwritable, write_page
from slackwater.pipeline.tables import Table
from tests.pipeline.report import samples
from tests.pipeline.report.lakes import START, advice, audited, observed, rebalance, restart, turn, write

pytestmark = pytest.mark.spark

PAYMENTS, ORDERS, LONE = samples.key("payments"), samples.key("orders"), samples.key("lone")
FOREIGN = Key("lkc-7", "", "", "foreign")
EVENTS = [
    *(restart(PAYMENTS, day=1 + step / 1_000, evicted=step == 7, silence_s=10.0 + step) for step in range(40)),
    restart(PAYMENTS, day=30, reason="Crash", silence_s=90.0),
    restart(LONE, day=2, silence_s=5.0),
    observed(PAYMENTS, 0.0, lag=10),
    observed(PAYMENTS, 0.1, lag=30),
    observed(PAYMENTS, 20, lag=None),
    observed(PAYMENTS, 60, lag=7),
    observed(LONE, 1),
    observed(samples.key("newcomer"), 59),
    rebalance(PAYMENTS, 1, 41),
    rebalance(PAYMENTS, 30, 42, "Foreign", 7.5),
    turn(PAYMENTS, 5, 60.0),
    turn(ORDERS, 6, 90.0, "lkc-7/2"),
    turn(PAYMENTS, 40, 600.0),
    turn(LONE, 59, 30.0, outcome="Waits"),
]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("lake"))
    write(
        spark,
        place,
        Table.RECOMMENDATIONS,
        [
            advice(samples.recommendation("orders", saving=95.0)),
            advice(samples.recommendation("payments", saving=812.5)),
            advice(samples.recommendation("lone", RecommendationStatus.NOT_ENOUGH_DATA), curves=False),
            {**advice(samples.recommendation("future")), "schema": 2},
        ],
    )
    write(spark, place, Table.EVENTS, [*EVENTS, *EVENTS[:5]])  # some were recorded twice
    write(spark, place, Table.QUARANTINE, [{"reason": "NotJson"}, {"reason": "NotJson"}, {"reason": "FutureSchema"}])
    both = [audited("foreign", day) for day in (3, 4, 5)] + [audited("orders-id", 6, "StaticReturn")]
    write(spark, place, Table.AUDIT_REBALANCES, both)
    generations = [{**audited("orders-id", day), "generation": number} for day, number in ((1, 5), (1.1, 6), (40, 9))]
    write(spark, place, Table.AUDIT_GENERATIONS, generations)
    return place


@pytest.fixture(scope="module")
def fleet(spark: SparkSession, lake: str) -> Fleet:
    return read_fleet(spark, read_sources(spark, lake, None), detailed=50)


def detail_of(fleet: Fleet, key: Key) -> Detail:
    return next(detail for detail in fleet.details if detail.group.key == key)


def test_groups_are_ranked_by_what_a_change_saves(fleet: Fleet) -> None:
    assert [(group.key.title, group.standing) for group in fleet.groups] == [
        ("shop/payments", Standing.RECOMMENDED),
        ("shop/orders", Standing.RECOMMENDED),
        ("shop/lone", Standing.NOT_ENOUGH_DATA),
        ("foreign", Standing.AUDITED_ONLY),
        ("shop/newcomer", Standing.NONE_YET),
    ]


def test_a_recommendation_comes_back_as_it_was_written(fleet: Fleet) -> None:
    assert fleet.groups[0].recommendation == samples.recommendation("payments", saving=812.5)
    assert fleet.groups[0].cost_today == samples.cost_today(samples.cost())


def test_histories_are_counted(fleet: Fleet) -> None:
    history = fleet.groups[0].history
    assert (history.restarts, history.evictions, history.rebalances, history.audited) == (41, 1, 2, None)
    assert (history.members, history.partitions, history.library) == (6, 24, "Java 4.3")
    assert [group.today_ms for group in fleet.groups] == [45_000, 45_000, 45_000, None, 45_000]
    assert [group.history.audited for group in fleet.groups] == [None, 1, None, 3, None]


def test_totals_are_sums_of_the_rows(fleet: Fleet) -> None:
    totals = fleet.totals
    assert totals.groups == 5
    assert totals.saving == 812.5 + 95.0
    assert totals.cost_today == pytest.approx(sum(group.cost_today or 0 for group in fleet.groups))
    assert (totals.needless_today, totals.needless_recommended) == (8.5, 1.0)
    assert (totals.restarts, totals.evictions, totals.rebalances) == (42, 1, 2)
    assert sum(totals.count(standing) for standing in Standing) == 5


def test_curves_come_whole(fleet: Fleet) -> None:
    payments, lone = detail_of(fleet, PAYMENTS), detail_of(fleet, LONE)
    assert (payments.survival, payments.cost) == (samples.survival(), samples.cost())
    assert (lone.survival, lone.cost) == ((), ())


def test_restarts_of_one_slot_are_one_mark(fleet: Fleet) -> None:
    day = samples.DAY_S
    assert detail_of(fleet, PAYMENTS).slots == (
        Slot(Kind.RESTART, "Crash", START.timestamp() + 30 * day, START.timestamp() + 30 * day, 1, 0, 90.0),
        Slot(Kind.RESTART, "Rollout", START.timestamp() + day, START.timestamp() + 1.039 * day, 40, 1, 49.0),
        Slot(Kind.REBALANCE, "Foreign", START.timestamp() + 30 * day, START.timestamp() + 30 * day, 1, 0, 7.5),
        Slot(Kind.REBALANCE, "Restart", START.timestamp() + day, START.timestamp() + day, 1, 0, 3.0),
    )


def test_one_restart_is_one_mark(fleet: Fleet) -> None:
    assert [(slot.cause, slot.count, slot.longest_s) for slot in detail_of(fleet, LONE).slots] == [("Rollout", 1, 5.0)]


def test_generations_are_the_last_of_each_slot_in_the_log_or_else_as_the_operator_saw_them(fleet: Fleet) -> None:
    assert [point.generation for point in detail_of(fleet, PAYMENTS).generations] == [41, 42]
    assert [point.generation for point in detail_of(fleet, ORDERS).generations] == [6, 9]  # 5 is of the same slot as 6


def test_lag_is_summed_up_in_slots_and_unknown_stays_unknown(fleet: Fleet) -> None:
    assert [(slot.highest, slot.mean) for slot in detail_of(fleet, PAYMENTS).lag] == [(30, 20), (None, None), (7, 7)]


def test_waits_for_turns_are_added_up_by_what_held_groups_back(fleet: Fleet) -> None:
    waits = fleet.waits
    assert waits is not None
    assert (waits.given, waits.waiting, waits.gave_way) == (3, 1, 0)
    assert (waits.median_s, waits.longest_s) == (90.0, 600.0)
    budgets = [
        (held.by, held.name, held.place, round(held.held_s), held.turns, held.groups) for held in waits.by_budget
    ]
    assert budgets == [("Budget", "coordinators", "", 520, 4, 3), ("Window", "", "", 260, 4, 3)]
    places = [(held.place, round(held.held_s)) for held in waits.by_place if held.by == "Budget"]
    assert places == [("lkc-7/1", 460), ("lkc-7/2", 60)]
    assert [(slot.given, slot.longest_s) for slot in waits.slots] == [(1, 60.0), (1, 90.0), (1, 600.0)]


def test_the_page_says_what_was_left_out(fleet: Fleet) -> None:
    assert [re.sub(r"\s", " ", note) for note in fleet.notes] == [
        "1 recommendation of another schema left out: another version of slackwater wrote them; update this one.",
        "3 records in quarantine and counted nowhere on this page: FutureSchema 1, NotJson 2.",
    ]


def test_only_so_many_groups_get_charts(spark: SparkSession, lake: str) -> None:
    fleet = read_fleet(spark, read_sources(spark, lake, None), detailed=1)
    assert [detail.group.key for detail in fleet.details] == [PAYMENTS]
    assert len(fleet.groups) == 5
    assert "--groups" in fleet.notes[-1]


def test_series_are_bounded_however_much_happened(spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path)
    steps = [step * 60 / 1_999 for step in range(2_000)]
    events = [event for day in steps for event in (restart(PAYMENTS, day, silence_s=1.0), observed(PAYMENTS, day, 1))]
    write(spark, place, Table.EVENTS, events)
    (detail,) = read_fleet(spark, read_sources(spark, place, None), detailed=50).details
    assert len(detail.slots) == len(detail.lag) == SLOTS
    assert sum(slot.count for slot in detail.slots) == 2_000


def test_an_empty_lake_gives_a_page_that_says_so(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    out = tmp_path / "report.html"
    summary = run(spark, Options(str(tmp_path / "lake"), str(out)))
    written = out.read_text(encoding="utf-8")
    assert (summary.groups, summary.detailed, summary.bytes_written) == (0, 0, len(written.encode()))
    assert "The lake holds no group yet." in written
    assert "There are no recommendations yet" in written
    assert "No telemetry was ingested yet" in written


def test_telemetry_without_recommendations(spark: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path)
    write(spark, place, Table.EVENTS, [observed(PAYMENTS, 0), restart(PAYMENTS, 1)])
    fleet = read_fleet(spark, read_sources(spark, place, None), detailed=50)
    assert [group.standing for group in fleet.groups] == [Standing.NONE_YET]
    assert fleet.notes == ("There are no recommendations yet: run slackwater pipeline recommend.",)
    assert fleet.totals.saving is None


def test_a_path_that_is_no_lake_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeUnusable, match=r"there is no lake at .*/nowhere: correct --lake"):
        run(spark, Options(str(tmp_path / "nowhere"), str(tmp_path / "report.html")))


def test_a_row_that_is_no_recommendation_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    upside_down = advice(samples.recommendation("payments"))
    upside_down["session_timeout_ms"] = {**upside_down["session_timeout_ms"], "lower": 99_000}
    write(spark, str(tmp_path), Table.RECOMMENDATIONS, [upside_down])
    with pytest.raises(
        LakeUnusable, match=r"no recommendation for shop/payments .*run `slackwater pipeline recommend`"
    ):
        read_fleet(spark, read_sources(spark, str(tmp_path), None), detailed=50)


def test_the_page_holds_the_numbers_of_the_lake_and_is_the_same_again(
    spark: SparkSession, lake: str, fleet: Fleet, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    run(spark, Options(lake, f"file://{out}"))
    written = out.read_text(encoding="utf-8")
    assert 'data-total="saving" data-v="907.5"' in written
    assert 'data-total="groups" data-v="5"' in written
    assert written == page(fleet)


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_a_place_that_cannot_be_written_is_refused(spark: SparkSession, tmp_path: Path, prefix: str) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(PageUnwritable, match=r"cannot write the report to .*/taken .*: choose"):
        write_page(spark, "<p>", f"{prefix}{tmp_path}/taken")
    assert list(tmp_path.iterdir()) == [tmp_path / "taken"]

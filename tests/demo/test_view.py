"""Where there is no terminal, each change is one line; on one, the picture says how many partitions are served."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

from rich.console import Console
from rich.text import Text

from demo import modes
from demo.fleet import Pod
from demo.group import STABLE, Group
from demo.view import Moment, View, picture, summary

POD = Pod("orders-0", "uid", modes.FIRST, ready=True, terminating=False, state="Ready", restarts=0)


def moment(elapsed_s: float, served: int) -> Moment:
    group = Group(STABLE, ("orders-0",), 24)
    return Moment(modes.STATEFUL_SET, "the first version starts", elapsed_s, "1 of 1", (POD,), group, served)


def drawn(what: object) -> str:
    console = Console(file=StringIO(), width=100)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_a_change_is_a_line_and_no_change_is_none() -> None:
    out = StringIO()
    with View(Console(file=out, width=200)) as view:
        for elapsed_s, served in ((1.0, 0), (1.5, 0), (2.0, 24)):
            view.show(moment(elapsed_s, served))
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["1.0", "s", "1", "v1", "Ready;", "group", "Stable;", "0", "of", "24", "partitions", "served"],
        ["2.0", "s", "1", "v1", "Ready;", "group", "Stable;", "24", "of", "24", "partitions", "served"],
    ]


def test_the_picture_shows_pods_group_and_what_is_served() -> None:
    shown = drawn(picture(moment(3.0, 20)))
    assert "plain StatefulSet: the first version starts  3 s" in shown
    assert "partitions served: 20 of 24" in shown
    assert "orders-0   v1" in shown


def test_the_operators_own_view_stands_in_place_of_the_table() -> None:
    shown = drawn(picture(moment(3.0, 24), Text("what slackwater status shows")))
    assert "what slackwater status shows" in shown
    assert "orders-0" not in shown


def test_of_an_upgrade_one_sees_from_where_to_where_how_and_what_is_awaited() -> None:
    group = Group(STABLE, ("orders-0",), 24, "classic", "range")
    pod = replace(POD, profile="EagerAndCooperative")
    way = "Eager → Cooperative, TwoBounce, step 1 of 2"
    seen = Moment(modes.JAVA_TWO_BOUNCE, "target", 3.0, "Progressing · PodNotReady: it starts", (pod,), group, 24, way)
    assert summary(seen) == (
        "Eager → Cooperative, TwoBounce, step 1 of 2 · Progressing · PodNotReady: it starts"
        " | 1 EagerAndCooperative Ready; group Stable (classic, range); 24 of 24 partitions served"
    )
    shown = drawn(picture(seen))
    assert way in shown
    assert "orders-0   EagerAndCooperative" in shown

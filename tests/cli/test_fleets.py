"""`fleet status` and `fleet plan`, held by pictures; their documents; and why a group waits for its turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import RenderableType

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.api.annotations import CAMPAIGN
from slackwater.api.conditions import ConditionType
from slackwater.api.fleet_budgets import MoveReason
from slackwater.cli.looking.fleets import campaign_of, foreseen
from slackwater.cli.pictures.fleet import FleetLook, fleet_document, fleet_picture, fleets_table
from slackwater.cli.pictures.forecast import forecast_document, forecast_picture
from slackwater.cli.pictures.paragraph import explain_document, paragraph_and_pointer
from slackwater.cli.pictures.view import render_view
from slackwater.cli.words.fleets import TurnStory, clock, elapsed, ordinal, turn_story
from slackwater.cli.words.orders import UNREAD
from slackwater.cli.words.readiness import condition_of
from slackwater.core.fleet.forecast import Question, forecast
from slackwater.core.fleet.seen import FleetSeen, seen, turn_shown
from slackwater.core.plan import plan
from slackwater.core.world.turn import Turn, TurnRecord, TurnStanding
from slackwater.core.world.world import World
from tests.cli import builders
from tests.cli.fleets import NOW, STATUS, asked, board, fleet, given, group_object
from tests.cli.pictures import held
from tests.cli.test_tables import drawn
from tests.core.factories import changed

Json = dict[str, Any]

HALTED = {
    **STATUS,
    "halted": {"since": "2026-11-24T21:30:00Z", "reason": "TooManyFailed", "groups": ["team-x/clicks"]},
    "conditions": [
        {
            "type": "Halted",
            "status": "True",
            "reason": "TooManyFailed",
            "message": "1 group failed or went back: team-x/clicks",
        }
    ],
}
REFUSED = {
    "observedGeneration": 7,
    "conditions": [
        {
            "type": "Accepted",
            "status": "False",
            "reason": "TimeZoneUnknown",
            "message": "no time zone is called Europe/Berlim: write one such as Europe/Berlin or UTC",
        }
    ],
}
FLEETS: dict[str, Callable[[], FleetSeen]] = {
    "open": fleet,
    "paused": lambda: fleet(pause="INC-4711: brokers are replaced"),
    "closed": lambda: fleet(windows=[{"name": "mornings", "schedule": "0 6 * * 1-5", "duration": "2h"}]),
    "frozen": lambda: fleet(
        freezes=[{"name": "black-friday", "from": "2026-11-24T00:00", "to": "2026-12-01T00:00"}], windows=None
    ),
    "halted": lambda: fleet(HALTED),
    "refused": lambda: fleet(REFUSED, timeZone="Europe/Berlim"),
    "no-operator": lambda: fleet({}),
    "not-taken-up": lambda: fleet({**STATUS, "observedGeneration": 6}),
    "overridden": lambda: fleet(override={"until": "2026-11-25T01:00", "reason": "INC-4711"}),
}


def look(seen: FleetSeen, **rest: Any) -> FleetLook:
    return foreseen(FleetLook(seen, board(seen, **rest), is_partial=False))


def planned(question: Question, **spec: Any) -> RenderableType:
    seen = fleet(**spec)
    return forecast_picture(forecast(board(seen), seen, question), seen, NOW)


def of_too_many(question: Question, **rest: Any) -> RenderableType:
    """The operator counts two of three."""
    seen = fleet(namespaces=None)
    over = {"conditions": [{"type": "Accepted", "status": "False", "reason": "TooManyFleets"}]}
    others = [fleet(name="b", namespaces=None), fleet(over, name="c", namespaces=None)]
    known = board(seen, *others, **rest)
    return forecast_picture(forecast(known, seen, question), seen, NOW, known.surplus_in("slackwater"))


PICTURES: dict[str, Callable[[], RenderableType]] = {
    **{f"fleet-{name}": lambda made=made: fleet_picture(look(made())) for name, made in FLEETS.items()},  # type: ignore[misc]
    "fleet-empty": lambda: fleet_picture(look(fleet(), of=[])),
    "fleet-list": lambda: fleets_table([look(made()) for made in FLEETS.values()], with_namespace=True),
    "fleet-plan": lambda: planned(Question()),
    "fleet-plan-nobody": lambda: forecast_picture(forecast(board(of=[]), fleet(), Question()), fleet(), NOW),
    "fleet-plan-all": lambda: planned(Question(everybody=True)),
    "fleet-plan-max": lambda: planned(Question(everybody=True, limits={"coordinators": 2})),
    "fleet-plan-at": lambda: planned(Question(everybody=True, at=NOW + 10 * 3600)),
    "fleet-plan-paused": lambda: planned(Question(everybody=True), pause="INC-4711"),
    "fleet-plan-no-window-fits": lambda: planned(
        Question(everybody=True), windows=[{"name": "blinks", "schedule": "0 22 * * *", "duration": "2m"}]
    ),
    "fleet-plan-too-many": lambda: of_too_many(
        Question(everybody=True), of=[group_object("export", "slackwater", asked(12, 2))]
    ),
    "fleet-plan-too-many-nobody": lambda: of_too_many(Question(), of=[]),
    "fleet-plan-without-budgets": lambda: planned(Question(everybody=True), budgets=None),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_is_held(picture: str) -> None:
    held(f"{picture}.txt", drawn(PICTURES[picture]()))


def story(key: str, *others: FleetSeen, of: list[Json] | None = None, campaign: Json | None = None) -> TurnStory:
    seen = others or (fleet(),)
    known = {each.key: each for each in seen}
    found = turn_story(key, known, board(*seen, of=of), is_partial=False, campaign=campaign)
    assert found is not None
    return found


def turn(key: str, *others: FleetSeen, of: list[Json] | None = None, campaign: Json | None = None) -> str:
    return "".join(f"{sentence}.\n" for sentence in story(key, *others, of=of, campaign=campaign).sentences)


HOUR = [{"name": "hour", "schedule": "0 22 * * *", "duration": "1h"}]
MIDNIGHT = {"name": "midnight", "schedule": "0 0 * * *", "duration": "1h"}
LONG = group_object("export", "team-bi", asked(12, 2), took=5000.0)
CHANGED = group_object("export", "team-bi", asked(12, 2))
CHANGED["metadata"]["annotations"] = {CAMPAIGN: "slackwater/base-image"}
ORDERS: Json = {
    "metadata": {"uid": "u"},
    "spec": {"action": {"changes": {}}},
    "status": {"phase": "AwaitingPromotion", "wave": "canary"},
}


PER_NAMESPACE = {"name": "pay", "per": "Namespace", "max": 1}
TURNS: dict[str, Callable[[], str]] = {
    "turn-behind-another": lambda: turn("team-pay/payments"),
    "turn-first": lambda: turn("team-bi/export"),
    "turn-without-history": lambda: turn("team-x/clicks-2"),
    "turn-window-closed": lambda: turn("team-pay/payments", FLEETS["closed"]()),
    "turn-paused": lambda: turn("team-pay/payments", FLEETS["paused"]()),
    "turn-halted": lambda: turn("team-pay/payments", FLEETS["halted"]()),
    "turn-not-accepted": lambda: turn("team-pay/payments", FLEETS["refused"]()),
    "turn-behind-two": lambda: turn("team-pay/payments", fleet(budgets=[{"name": "all", "max": 2}])),
    "turn-frozen": lambda: turn("team-pay/payments", FLEETS["frozen"]()),
    "turn-called": lambda: turn("team-pay/payments", fleet(budgets=None)),
    "turn-does-not-fit": lambda: turn(
        "team-pay/payments",
        fleet(budgets=None, windows=[{"name": "late", "schedule": "30 22 * * *", "duration": "13m"}]),
    ),
    "turn-fits-into-the-next": lambda: turn(
        "team-pay/payments",
        fleet(budgets=None, windows=[{"name": "hourly", "schedule": "0 * * * *", "duration": "43m"}]),
    ),
    "turn-of-two-fleets": lambda: turn(
        "team-pay/refunds",
        fleet(budgets=None),
        fleet(name="pay", budgets=[{"name": "pay", "per": "Namespace", "max": 1}]),
    ),
    "turn-fits-nowhere": lambda: turn(
        "team-bi/export", fleet(windows=[{"name": "blinks", "schedule": "0 22 * * *", "duration": "2m"}])
    ),
    "turn-ends-too-late": lambda: turn("team-bi/export", fleet(windows=HOUR), of=[LONG]),
    "turn-ends-in-a-freeze": lambda: turn("team-bi/export", fleet(freezes=[MIDNIGHT]), of=[LONG]),
    "turn-campaign-missing": lambda: turn("team-bi/export", of=[CHANGED]),
    "turn-campaign-unread": lambda: turn("team-bi/export", of=[CHANGED], campaign={}),
    "turn-campaign-not-yet": lambda: turn("team-bi/export", of=[CHANGED], campaign=ORDERS),
    "turn-campaign-and-a-budget": lambda: turn(
        "team-bi/export", of=[CHANGED, group_object("stock", "team-inv", given(110, 2))], campaign=ORDERS
    ),
    "turn-campaign-over": lambda: turn(
        "team-bi/export", of=[CHANGED], campaign={**ORDERS, "status": {"phase": "Succeeded"}}
    ),
}


@pytest.mark.parametrize("sentence", TURNS)
def test_why_it_waits_is_said_as_it_is_held(sentence: str) -> None:
    held(f"{sentence}.txt", TURNS[sentence]())


def test_the_document_says_what_the_picture_says() -> None:
    document = fleet_document(look(fleet()))
    assert [each["group"] for each in document["moving"]] == ["team-inv/stock", "team-pay/orders"]
    assert document["moving"][0]["leftSeconds"] == 40
    assert [each["group"] for each in document["waiting"]] == [
        "team-bi/export",
        "team-x/clicks-2",
        "team-pay/payments",
        "team-pay/refunds",
    ]
    assert document["waiting"][0]["beginsAt"] == "2026-11-24T21:41:40Z"
    assert document["status"] == STATUS


def test_so_does_the_plans() -> None:
    seen = fleet()
    document = forecast_document(forecast(board(seen), seen, Question(everybody=True)), seen, NOW)
    assert (document["groups"], document["bottleneck"]["budget"], document["never"]) == (10, "coordinators", [])
    assert len(document["begins"]) == 10
    assert document["endsAt"] < document["endsAtP90"]
    assert document["tooManyFleets"] is None


def test_whoever_may_not_list_all_is_shown_no_more_than_is_known() -> None:
    seen = fleet()
    partial = FleetLook(seen, board(seen), is_partial=True)
    assert "at least 12 groups" in drawn(fleet_picture(partial))


@pytest.mark.parametrize(
    ("number", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th"), (121, "121st")]
)
def test_a_place_in_the_line(number: int, said: str) -> None:
    assert ordinal(number) == said


@pytest.mark.parametrize(
    ("duration_s", "said"),
    [(0, "0s"), (40.4, "40s"), (150, "2m30s"), (120, "2m"), (4200, "1h10m"), (86_400 * 3 + 4 * 3600, "3d4h")],
)
def test_a_duration(duration_s: float, said: str) -> None:
    assert elapsed(duration_s) == said


@pytest.mark.parametrize(
    ("later_s", "said"), [(60, "22:42"), (86_400, "Wed 22:41"), (-86_400, "Mon 22:41"), (86_400 * 10, "4 Dec 22:41")]
)
def test_a_moment_is_said_in_the_fleets_zone(later_s: float, said: str) -> None:
    assert clock(fleet(), NOW + later_s, NOW) == said
    assert clock(fleet(), NOW + later_s, NOW, zoned=True) == f"{said} Europe/Berlin"


def awaiting(**memory: Any) -> World:
    """As `slackwater` sees it, after an operator that knows the fleets has written its status."""
    rolling = builders.rolling()
    assert rolling.workload is not None
    workload = replace(rolling.workload, partition=3)
    pods = tuple(replace(pod, revision=builders.OLD) for pod in rolling.pods)
    record = TurnRecord(MoveReason.ROLLOUT, builders.NOW - 300, cluster="lkc-7f", coordinator=2)
    asks = rolling.remembering(replace(rolling.memory, turn=replace(record, **memory)))
    told = replace(changed(asks, pods=pods, workload=workload), turn=Turn(TurnStanding.WAITS, ("slackwater/platform",)))
    world = builders.with_status(told)
    gated = condition_of(world.group.status, ConditionType.ROLLOUT_GATED)
    return replace(world, turn=turn_shown(world.memory, gated))


def explained(world: World, turn: TurnStory | None) -> str:
    return drawn(paragraph_and_pointer(world, plan(world), turn))


WAITS: dict[str, Callable[[], str]] = {
    "explain-awaiting-turn": lambda: explained(awaiting(), story("team-pay/payments")),
    "explain-awaiting-turn-unread": lambda: explained(awaiting(), None),
    "awaiting-turn-120": lambda: drawn(render_view(awaiting(), plan(awaiting()), width=120)),
}


@pytest.mark.parametrize("view", WAITS)
def test_a_group_that_waits_is_shown_as_it_is_held(view: str) -> None:
    held(f"{view}.txt", WAITS[view]())


def test_its_document_says_where_it_stands() -> None:
    document = explain_document(awaiting(), plan(awaiting()), story("team-pay/payments"))
    assert (document["holds"], document["reason"]) == (True, "AwaitingTurn")
    assert document["turn"] == {
        "fleet": "slackwater/platform",
        "budget": "coordinators",
        "gate": None,
        "place": "lkc-7f/2",
        "campaign": None,
        "limit": 1,
        "holders": ["team-inv/stock"],
        "position": 3,
        "waiting": 3,
        "takesSeconds": 150,
        "beginsAt": "2026-11-24T21:48:10Z",
        "beginsAtP90": "2026-11-24T21:52:40Z",
        "partial": False,
    }


def test_the_document_names_the_campaign_or_the_gate_that_holds_it() -> None:
    held_by = [
        story("team-bi/export", of=[CHANGED], campaign=ORDERS),
        story("team-bi/export", fleet(windows=HOUR), of=[LONG]),
    ]
    assert [(each.document["gate"], each.document["campaign"], each.document["beginsAt"]) for each in held_by] == [
        ("campaign", "slackwater/base-image", None),
        ("windows", None, None),
    ]


@pytest.mark.parametrize(
    "answer", [ORDERS, None, ClusterUnreachable("no answer")], ids=["there", "not there", "unread"]
)
async def test_the_campaign_that_a_group_names_is_read(answer: Json | Exception | None) -> None:
    asked_for: list[tuple[str, ...]] = []

    class Api:
        async def read(self, kind: Any, *place: str) -> Json | None:
            asked_for.append((kind.name, *place))
            if isinstance(answer, Exception):
                raise answer
            return answer

    api: Any = Api()
    found = await campaign_of(api, seen(CHANGED))
    assert found == (UNREAD if isinstance(answer, Exception) else answer)
    assert await campaign_of(api, seen(LONG)) is None, "it names none"
    assert asked_for == [("FleetCampaign", "slackwater", "base-image")]


def test_whoever_has_the_turn_or_asks_no_more_is_not_said_to_wait() -> None:
    for memory in ({"given_at": builders.NOW - 10}, {"given_at": builders.NOW - 90, "done_at": builders.NOW - 10}):
        world = awaiting()
        record = replace(world.memory.turn, **memory)  # type: ignore[type-var]
        gated = {"type": "RolloutGated", "reason": "AwaitingTurn"}
        assert turn_shown(replace(world.memory, turn=record), gated).standing is TurnStanding.NO_FLEET


def test_a_group_of_no_fleet_has_no_story() -> None:
    elsewhere = fleet(selector={"matchLabels": {"tier": "0"}})
    assert turn_story("team-pay/payments", {elsewhere.key: elsewhere}, board(elsewhere), is_partial=False) is None
    assert turn_story("shop/nobody", {elsewhere.key: elsewhere}, board(elsewhere), is_partial=False) is None


def test_who_may_not_list_all_is_told_that_others_may_count() -> None:
    seen = fleet()
    partial = turn_story("team-pay/payments", {seen.key: seen}, board(seen), is_partial=True)
    assert partial is not None
    assert partial.sentences[-1].startswith("Other fleets, or groups of other namespaces, may count as well")

"""A fleet is told by its spec, or by annotation where it is halted; and waited for until the operator has seen it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.adapters.cluster.errors import ClusterUnreachable, Conflict, Forbidden
from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP, NAMESPACE
from slackwater.api.annotations import RESUME
from slackwater.api.consumer_fleet import ConsumerFleetSpec, Override
from slackwater.api.errors import InvalidSpec
from slackwater.api.label_selector import LabelSelector
from slackwater.cli.errors import NoSuchFleet, NothingToDo, NotObeyed, NotTakenUp
from slackwater.cli.giving import fleet as giving
from slackwater.cli.looking import fleets as looking
from slackwater.cli.pictures.fleet import FleetLook
from slackwater.cli.reaching.choice import Place
from slackwater.core.fleet.claims import Fleet
from slackwater.core.fleet.forecast import Question, forecast
from slackwater.core.fleet.times import Scope, gates_of
from tests.cli.command import typed
from tests.cli.fleets import STATUS, fleet_object, groups
from tests.shell.fakes import FakeApi

KEY = Place("slackwater", "platform")
OBEDIENT = 5.0
HALTED = {**STATUS, "halted": {"since": "2026-11-24T21:30:00Z", "reason": "TooManyFailed"}}


class Cluster(FakeApi):
    """With an operator that takes a fleet up whenever somebody looks, if `obeys`."""

    obeys = True

    async def read(self, kind: Any, namespace: str, name: str) -> Any:
        fleet = self.objects.get(("ConsumerFleet", namespace, name))
        if kind is CONSUMER_FLEET and fleet is not None and self.obeys:
            status = fleet.setdefault("status", {})
            status["observedGeneration"] = fleet["metadata"]["generation"]
            if token := fleet["metadata"].get("annotations", {}).get(RESUME):
                status["commands"] = {RESUME: token}
        return await super().read(kind, namespace, name)

    meanwhile: Callable[[Cluster], Any] | None = None
    """What happens before the next write."""

    async def merge(self, kind: Any, obj: Mapping[str, Any], change: Mapping[str, Any], *, exact: bool = False) -> Any:
        self._ask("merge", kind)
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens(self)
        place = (kind.name, obj["metadata"]["namespace"], obj["metadata"]["name"])
        there = self.objects.get(place)
        if there is None:
            return None
        if exact and there["metadata"].get("resourceVersion") != obj["metadata"].get("resourceVersion"):
            raise Conflict("it has changed")
        merged = _merged(there, change)
        merged["metadata"]["generation"] += there["spec"] != merged["spec"]
        return self._store(kind, merged)

    @property
    def fleet(self) -> Any:
        return self.objects["ConsumerFleet", *KEY]


def _merged(there: Any, change: Any) -> Any:
    """RFC 7386."""
    if not isinstance(change, Mapping):
        return change
    found = dict(there) if isinstance(there, Mapping) else {}
    for key, value in change.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), value)
    return found


def made(status: Any = None, **spec: Any) -> Cluster:
    api = Cluster()
    api.add(CONSUMER_FLEET, fleet_object(status, **spec))
    for each in groups():
        api.add(CONSUMER_GROUP, each)
    return api


@pytest.fixture
def reach(monkeypatch: pytest.MonkeyPatch) -> Callable[[Cluster], Cluster]:
    def reached_by(api: Cluster) -> Cluster:
        @asynccontextmanager
        async def reached(context: str | None) -> AsyncIterator[Cluster]:
            yield api

        monkeypatch.setattr(giving, "cluster", reached)
        monkeypatch.setattr(looking, "cluster", reached)
        return api

    return reached_by


Reach = Callable[[Cluster], Cluster]


async def test_a_fleet_is_paused_with_its_reason_and_resumed(reach: Reach) -> None:
    api = reach(made())
    said = await giving.tell(None, KEY, giving.pause("INC-4711"), OBEDIENT)
    assert said == "platform: paused; nothing begins, and what moves stops between two pods, until you resume it"
    assert api.fleet["spec"]["pause"] == "INC-4711"
    assert await giving.tell(None, KEY, giving.resume, OBEDIENT) == "platform: resumed; its pause is over"
    assert "pause" not in api.fleet["spec"]


def _paused_by_somebody(api: Cluster) -> None:
    api.fleet["spec"]["pause"] = "INC-4712: do not touch"
    api.changed_by_somebody(CONSUMER_FLEET, KEY, generation=8)  # type: ignore[arg-type]  # it has both parts


async def test_a_pause_that_nobody_has_read_is_not_ended(reach: Reach) -> None:
    """Of somebody who paused it for another reason between the look and the write."""
    api = reach(made(HALTED, pause="INC-4711"))
    api.meanwhile = _paused_by_somebody
    with pytest.raises(Conflict, match="somebody has just changed ConsumerFleet platform: see what it says now"):
        await giving.tell(None, KEY, giving.resume, OBEDIENT)
    assert (api.fleet["spec"]["pause"], "annotations" in api.fleet["metadata"]) == ("INC-4712: do not touch", False)


async def test_an_operator_that_writes_its_status_meanwhile_stands_in_nobodys_way(reach: Reach) -> None:
    api = reach(made(pause="INC-4711"))
    api.meanwhile = lambda api: api.changed_by_somebody(CONSUMER_FLEET, KEY)  # type: ignore[arg-type]
    assert await giving.tell(None, KEY, giving.resume, OBEDIENT) == "platform: resumed; its pause is over"


async def test_another_reason_takes_the_place_of_the_one_that_stands_there(reach: Reach) -> None:
    reach(made(pause="INC-4711"))
    assert "paused, instead of for 'INC-4711'; nothing" in await giving.tell(None, KEY, giving.pause("INC-2"), OBEDIENT)
    with pytest.raises(NothingToDo, match="platform is paused already, for the same reason"):
        await giving.tell(None, KEY, giving.pause("INC-2"), OBEDIENT)


async def test_a_halt_is_ended_by_a_token_that_the_operator_obeys(reach: Reach) -> None:
    api = reach(made(HALTED, pause="INC-4711"))
    said = await giving.tell(None, KEY, giving.resume, OBEDIENT)
    assert said == "platform: resumed; its pause and its halt are over"
    assert api.fleet["status"]["commands"][RESUME] == api.fleet["metadata"]["annotations"][RESUME]


async def test_what_nobody_has_stopped_is_not_resumed(reach: Reach) -> None:
    closed = {"type": "Open", "status": "False", "reason": "WindowClosed", "message": "window nights opens at ten"}
    api = reach(made({**STATUS, "conditions": [closed]}))
    why = "platform is neither paused nor halted, .*; it is not open, WindowClosed: window nights opens at ten"
    with pytest.raises(NothingToDo, match=why):
        await giving.tell(None, KEY, giving.resume, OBEDIENT)
    assert api.writes() == []


async def test_it_is_opened_for_a_while_in_its_own_time_and_in_the_end_closes_by_itself(reach: Reach) -> None:
    api = reach(made(override={"until": "2026-11-24T18:00", "reason": "x", "selector": {"matchLabels": {"a": "b"}}}))
    before = datetime.now(ZoneInfo("Europe/Berlin")).replace(tzinfo=None)
    said = await giving.tell(None, KEY, giving.let_through(7200, "INC-4711"), OBEDIENT)
    override = api.fleet["spec"]["override"]
    lasts = datetime.fromisoformat(override["until"]) - before
    assert 7200 <= lasts.total_seconds() <= 7260 + OBEDIENT
    assert override == {"until": override["until"], "reason": "INC-4711"}
    assert said.startswith(f"platform: open until {override['until']} (Europe/Berlin), whatever windows, freezes and")


async def test_a_fleet_that_is_not_accepted_is_not_said_to_be_open(reach: Reach) -> None:
    refused = {"type": "Accepted", "status": "False", "message": "freeze xmas: no calendar has 2026-12-32"}
    api = reach(made({**STATUS, "conditions": [refused]}))
    with pytest.raises(NotObeyed, match="nothing begins in platform, which is not accepted: freeze xmas: no calendar"):
        await giving.tell(None, KEY, giving.let_through(7200, "INC-4711"), OBEDIENT)
    api.obeys = False
    said = await giving.tell(None, KEY, giving.let_through(3600, "INC-4711"), 0.0)
    assert said.startswith("platform: open until"), "that condition is of the spec before"


@pytest.mark.parametrize(
    ("now", "until"),
    [
        ("2026-11-24T12:00:31+01:00", "2026-11-25T12:00"),
        ("2026-11-24T12:00:00+01:00", "2026-11-25T11:59"),
        ("2026-10-24T02:30:31+02:00", "2026-10-25T01:59"),
    ],
    ids=["in the middle of a minute", "at its beginning", "where its end comes twice"],
)
def test_a_whole_day_is_not_longer_than_the_operator_accepts(now: str, until: str) -> None:
    """It would not accept the fleet, and nothing would begin, until the rest is short enough."""
    assert giving.local_until(datetime.fromisoformat(now).timestamp(), 24 * 3600, "Europe/Berlin") == until


@given(
    into_the_year_s=st.floats(0, 366 * 24 * 3600),
    duration_s=st.floats(1, 24 * 3600),
    zone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_however_long_it_is_opened_the_operator_accepts_it(
    into_the_year_s: float, duration_s: float, zone: str
) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC).timestamp() + into_the_year_s
    until = giving.local_until(at, duration_s, zone)
    override = Override(until=until, reason="x")
    spec = ConsumerFleetSpec(explicit_selector=LabelSelector(), time_zone=zone, override=override)
    gates = gates_of(Fleet("slackwater", "platform", spec), Scope(), at)
    assert gates.refused is None
    assert gates.override_until is not None
    assert gates.override_until - at >= min(duration_s, 24 * 3600 - 3600 - 90)


async def test_without_a_zone_of_its_own_it_is_opened_in_utc(reach: Reach) -> None:
    api = reach(made(timeZone=None, windows=None, pause="INC-4711"))
    said = await giving.tell(None, KEY, giving.let_through(3600, "now"), OBEDIENT)
    assert api.fleet["spec"]["timeZone"] == "UTC"
    assert said.endswith("budgets hold; its pause holds all the same: INC-4711")


async def test_a_zone_that_nobody_knows_is_said_to_be_so(reach: Reach) -> None:
    reach(made(timeZone="Europe/Berlim"))
    with pytest.raises(InvalidSpec, match="no time zone is called Europe/Berlim"):
        await giving.tell(None, KEY, giving.let_through(3600, "now"), OBEDIENT)


async def test_an_operator_that_is_not_there_is_told_and_the_pause_stands(reach: Reach) -> None:
    api = reach(made())
    api.obeys = False
    with pytest.raises(NotTakenUp, match=r"pause is written, but the operator has not taken it up within 0\.1 s: see"):
        await giving.tell(None, KEY, giving.pause("INC-4711"), 0.1)
    assert api.fleet["spec"]["pause"] == "INC-4711"


async def test_a_fleet_that_goes_is_told_nothing(reach: Reach) -> None:
    api = reach(made())
    api.fleet["metadata"]["deletionTimestamp"] = "2026-11-24T21:30:00Z"
    with pytest.raises(NothingToDo, match="ConsumerFleet platform is being deleted"):
        await giving.tell(None, KEY, giving.pause("INC-4711"), OBEDIENT)


async def test_a_fleet_that_is_deleted_meanwhile(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    api = reach(made())

    async def gone(*_: Any, exact: bool) -> None:
        return None

    monkeypatch.setattr(api, "merge", gone)
    with pytest.raises(Conflict, match="ConsumerFleet platform has just been deleted"):
        await giving.tell(None, KEY, giving.pause("INC-4711"), OBEDIENT)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (Place("slackwater", "platfrom"), "in namespace slackwater: did you mean platform"),
        (Place("slackwater", "x"), "in namespace slackwater: there is platform"),
        (Place("shop", "platform"), "in namespace shop, but there is one in slackwater: use -n slackwater"),
    ],
)
async def test_a_fleet_that_there_is_not(reach: Reach, place: Place, why: str) -> None:
    reach(made())
    with pytest.raises(NoSuchFleet, match=f"there is no ConsumerFleet {place.name} {why}"):
        await giving.tell(None, place, giving.pause("INC-4711"), OBEDIENT)


async def test_a_look_has_all_that_may_be_listed() -> None:
    look = await looking.read_look(_as_api(made()), KEY)
    assert (len(look.groups), look.is_partial) == (12, False)


async def test_who_may_list_one_namespace_only_sees_that_and_that_it_is_not_all() -> None:
    api = made()
    listed = api.list_all

    async def refused(kind: Any, namespace: str | None, label_selector: str = "") -> Any:
        if namespace is None:
            raise Forbidden("consumergroups is forbidden (403)")
        return await listed(kind, namespace, label_selector)

    api.list_all = refused  # type: ignore[method-assign]
    fleets = await looking.read_fleets(_as_api(api), "team-pay")
    assert ({each.facts.namespace for each in fleets.board.groups.values()}, fleets.is_partial) == ({"team-pay"}, True)


async def test_groups_and_fleets_that_cannot_be_read_leave_the_others_to_be_shown() -> None:
    api = made()
    api.add(CONSUMER_FLEET, fleet_object(name="broken", budgets=[{"name": "x"}]))
    api.objects["ConsumerGroup", "team-bi", "new"]["status"] = {"rollout": {"phase": "OfALaterVersion"}}
    fleets = await looking.read_fleets(_as_api(api), "slackwater")
    assert (set(fleets.seen), len(fleets.board.groups)) == ({"slackwater/platform"}, 11)
    planned = forecast(fleets.board, fleets.seen["slackwater/platform"], Question(everybody=True))
    assert planned.narrowest is not None


def test_a_fleet_that_cannot_be_read_is_said_to_be_there(reach: Reach, capsys: pytest.CaptureFixture[str]) -> None:
    api = reach(made())
    api.add(CONSUMER_FLEET, fleet_object(name="broken", budgets=[{"name": "x"}]))
    done = typed(capsys, "fleet", "status", "-n", "slackwater")
    assert (done.code, "platform" in done.out, "broken" in done.out) == (0, True, False)
    assert done.err.startswith("Not shown: ConsumerFleet broken is not valid: spec.budgets[0].max")
    del api.objects["ConsumerFleet", *KEY]
    assert typed(capsys, "fleet", "status", "-A").err == done.err


def test_where_there_is_none_it_says_what_one_is_for(reach: Reach, capsys: pytest.CaptureFixture[str]) -> None:
    api = reach(Cluster())
    api.add(NAMESPACE, {"metadata": {"namespace": "", "name": "shop"}})
    here, everywhere = typed(capsys, "fleet", "status", "-n", "shop"), typed(capsys, "fleet", "status", "-A")
    assert here.err == "There are no ConsumerFleets in shop: -A shows those of all namespaces.\n"
    words = "apply one to say how many groups move at a time"
    assert everywhere.err == f"There are no ConsumerFleets in any namespace: {words}.\n"


async def test_it_is_followed_until_it_goes(reach: Reach) -> None:
    """An API server that is away for a moment ends nothing."""
    api = reach(made())
    shown: list[FleetLook] = []
    answers = iter([None, ClusterUnreachable("away"), None, NoSuchFleet("gone")])
    read_look = looking.read_look

    async def reading(given: Any, place: Place) -> FleetLook:
        if (error := next(answers)) is not None:
            raise error
        return await read_look(given, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "read_look", reading)
        await looking.follow(None, KEY, 0.0, shown.append)
    assert (len(shown), api.writes()) == (2, [])


def _as_api(api: Cluster) -> Any:
    """Where a `KubernetesApi` is wanted."""
    return api

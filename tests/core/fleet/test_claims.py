"""Which cells a group is in, by what fleets say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.consumer_fleet import ConsumerFleetSpec
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.fleet.claim import Cell, Standing
from slackwater.core.fleet.claims import Fleet, claim_of
from slackwater.core.fleet.facts import GroupFacts

PAYMENTS: Final = GroupFacts(
    namespace="team-pay",
    name="payments",
    labels={"tier": "0", "chain": "checkout"},
    topics=("orders", "refunds"),
    cluster="lkc-7f",
    coordinator=2,
    standing=Standing.ASKS,
    asked_at=1000.0,
)
COORDINATORS: Final = {"lkc-7f": frozenset({1, 2, 3})}


def fleet(is_of_the_operator: bool = True, is_overridden: bool = False, **spec: Any) -> Fleet:
    given = {"selector": {}, "namespaces": ["*"], **spec}
    model = ConsumerFleetSpec.model_validate(given, context={"wire": True})
    return Fleet("slackwater", "platform", model, is_of_the_operator, is_overridden)


def places(group: GroupFacts, **budget: Any) -> set[str]:
    """In which places of a budget the group's turn takes room."""
    found = fleet(budgets=[{"name": "some", "max": 1, **budget}])
    claim = claim_of(group, [found], COORDINATORS)
    return {cell.place for cell in claim.takes if cell.budget == "some"}


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ({}, {""}),
        ({"per": "Namespace"}, {"team-pay"}),
        ({"per": "KafkaCluster"}, {"lkc-7f"}),
        ({"per": "Coordinator"}, {"lkc-7f/2"}),
        ({"per": "Topic"}, {"lkc-7f/orders", "lkc-7f/refunds"}),
        ({"per": "Label", "label": "chain"}, {"checkout"}),
        ({"per": "Label", "label": "nobody-has-it"}, {""}),
        ({"reasons": ["ProtocolUpgrade"]}, set()),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_where_a_budget_counts_it(budget: dict[str, Any], expected: set[str]) -> None:
    assert places(PAYMENTS, **budget) == expected


def test_one_whose_coordinator_is_not_known_counts_at_each() -> None:
    unknown = replace(PAYMENTS, coordinator=None)
    assert places(unknown, per="Coordinator") == {"lkc-7f/1", "lkc-7f/2", "lkc-7f/3"}
    assert places(replace(unknown, cluster=None), per="Coordinator") == {"?/?"}


@pytest.mark.parametrize("reason", MoveReason)
def test_scaling_and_starting_ask_only_where_a_budget_names_them(reason: MoveReason) -> None:
    never = {MoveReason.SCALE, MoveReason.START}
    assert (places(replace(PAYMENTS, reason=reason)) == set()) is (reason in never)


@pytest.mark.parametrize(
    ("given", "so"),
    [
        (fleet(), True),
        (fleet(selector={"matchLabels": {"tier": "0"}}), True),
        (fleet(selector={"matchLabels": {"tier": "1"}}), False),
        (fleet(selector={"matchExpressions": [{"key": "tier", "operator": "In", "values": ["0", "1"]}]}), True),
        (fleet(selector={"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["0"]}]}), False),
        (fleet(selector={"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}), False),
        (fleet(namespaces=["team-pay"]), True),
        (fleet(namespaces=["team-x"]), False),
        (fleet(is_of_the_operator=False), False),
        (replace(fleet(is_of_the_operator=False), namespace="team-pay"), True),
    ],
)
def test_whom_a_fleet_selects(given: Fleet, so: bool) -> None:
    """What a fleet outside of the operator's namespace says of others counts for nothing."""
    assert given.selects(PAYMENTS) is so


TIMES: Final[dict[str, Any]] = {"timeZone": "UTC"}
OVERRIDE: Final[dict[str, Any]] = {"until": "2026-11-24T18:00", "reason": "INC-4711"}


@pytest.mark.parametrize(
    ("given", "group", "gates"),
    [
        (fleet(), PAYMENTS, {"accepted", "pause", "windows", "freezes", "halts"}),
        (fleet(), replace(PAYMENTS, is_urgent=True), {"accepted", "pause", "windows", "freezes", "halts"}),
        (
            fleet(urgent=["Windows", "Freezes"]),
            replace(PAYMENTS, is_urgent=True),
            {"accepted", "pause", "halts"},
        ),
        (fleet(is_overridden=True, override=OVERRIDE, **TIMES), PAYMENTS, {"accepted", "pause"}),
        (
            fleet(is_overridden=True, override={**OVERRIDE, "selector": {"matchLabels": {"tier": "1"}}}, **TIMES),
            PAYMENTS,
            {"accepted", "pause", "windows", "freezes", "halts"},
        ),
        (fleet(override=OVERRIDE, **TIMES), PAYMENTS, {"accepted", "pause", "windows", "freezes", "halts"}),
    ],
    ids=["none", "urgent", "urgent passes", "an override", "of others", "one that is over"],
)
def test_what_it_has_to_pass(given: Fleet, group: GroupFacts, gates: set[str]) -> None:
    claim = claim_of(group, [given], COORDINATORS)
    with_sick = gates | ({"halts@lkc-7f/2"} if "halts" in gates else set())
    assert {*claim.takes} == {Cell("slackwater/platform", "", name) for name in with_sick}


def test_who_goes_first() -> None:
    """The longest head start that a fleet gives; a day for who is urgent, where that may pass others, and by
    an override that says so."""
    ordered = fleet(order=[{"selector": {"matchLabels": {"tier": "0"}}, "headStart": "30m"}])
    nobody = fleet(urgent=[])
    overridden = fleet(is_overridden=True, override={**OVERRIDE, "passes": ["Order"]}, **TIMES)
    asked = [
        claim_of(group, fleets, COORDINATORS).order[0]
        for group, fleets in (
            (PAYMENTS, [fleet()]),
            (PAYMENTS, [fleet(), ordered]),
            (replace(PAYMENTS, is_urgent=True), [ordered]),
            (replace(PAYMENTS, is_urgent=True), [nobody]),
            (PAYMENTS, [overridden]),
            (PAYMENTS, [overridden.overridden(False)]),
        )
    ]
    assert asked == [1000.0, -800.0, -85_400.0, 1000.0, -85_400.0, 1000.0]


def test_a_group_without_pods_is_no_part_of_a_share() -> None:
    found = fleet(budgets=[{"name": "some", "max": "10%"}])
    assert claim_of(PAYMENTS, [found], COORDINATORS).member_of == (Cell("slackwater/platform", "some"),)
    assert claim_of(replace(PAYMENTS, replicas=0), [found], COORDINATORS).member_of == ()

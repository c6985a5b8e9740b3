"""What doctor makes of PodDisruptionBudgets: with two of them, no pod of a group is ever evicted."""

from __future__ import annotations

from typing import Any, cast

import pytest

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import ClusterRefused
from slackwater.adapters.cluster.paths import POD, POD_DISRUPTION_BUDGET
from slackwater.api.annotations import GROUP_LABEL
from slackwater.cli.doctor.asking_cluster import read_budgets
from slackwater.cli.doctor.budgets import BudgetFacts, budget_findings
from slackwater.cli.doctor.findings import Finding, Mark, Unread
from slackwater.core.manifests.objects import disruption_budget
from slackwater.ports import Kind
from tests.core.factories import NAME, group

PLACE = group().namespace
OURS = disruption_budget(group())


def pod(ordinal: int = 0, name: str = NAME, **labels: str) -> dict[str, Any]:
    labels = {GROUP_LABEL: name, "app": "shop", "tier": "back"} | labels
    return {"metadata": {"name": f"{name}-{ordinal}", "namespace": PLACE, "labels": labels}}


def budget(name: str = "theirs", place: str = PLACE, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": place}, "spec": {"maxUnavailable": 1} | spec}


def labelled(**labels: str) -> dict[str, Any]:
    return {"selector": {"matchLabels": labels}}


def told(*budgets: Any, pods: tuple[Any, ...] = (pod(0), pod(1))) -> list[Finding]:
    return budget_findings(BudgetFacts(pods, budgets))


def test_a_second_budget_is_told_of_once_for_each_group() -> None:
    (found,) = told(OURS, budget(**labelled(app="shop")))
    assert found == Finding(
        Mark.WARNING,
        f"PodDisruptionBudgets of {PLACE}/{NAME}",
        f"2 select pod {NAME}-0 ({NAME}, theirs): Kubernetes never evicts a pod that more than one selects",
        "delete theirs, or set the ConsumerGroup's disruptionBudget.enabled to false",
    )
    both = told(OURS, budget(selector={}), budget("third", selector={}), pods=(pod(), pod(name="orders")))
    assert [each.subject.rpartition("/")[2] for each in both] == [NAME, "orders"]
    assert both[0].message.startswith(f"3 select pod {NAME}-0 ({NAME}, theirs, third): ")


def test_where_the_operator_makes_none_any_of_two_may_stay() -> None:
    (found,) = told(budget("a", selector={}), budget("b", selector={}))
    assert found.remedy == "delete all of a, b but one"


def test_one_for_each_pod_is_as_it_should_be() -> None:
    assert told(OURS) == [Finding(Mark.OK, "PodDisruptionBudgets", "none of the groups' pods is selected by two")]
    assert told(OURS, budget(selector={}), pods=()) == []


def expressed(operator: str, key: str = "app", *values: str) -> dict[str, Any]:
    return {"selector": {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}}


SELECTED = [
    ("every pod", {"selector": {}}, True),
    ("none", {}, False),
    ("none, as null", {"selector": None}, False),
    ("all labels alike", labelled(app="shop", tier="back"), True),
    ("one label differs", labelled(app="shop", tier="front"), False),
    ("a label that it lacks", labelled(team="a"), False),
    ("in", expressed("In", "app", "shop", "bank"), True),
    ("not in these", expressed("In", "app", "bank"), False),
    ("not in", expressed("NotIn", "app", "bank"), True),
    ("lacks the label, so not in", expressed("NotIn", "team", "a"), True),
    ("in those that it is not to be", expressed("NotIn", "app", "shop"), False),
    ("exists", expressed("Exists"), True),
    ("does not exist", expressed("Exists", "team"), False),
    ("is to be absent, and is", expressed("DoesNotExist", "team"), True),
    ("is to be absent, and is there", expressed("DoesNotExist"), False),
]


@pytest.mark.parametrize(("spec", "is_selected"), [row[1:] for row in SELECTED], ids=[row[0] for row in SELECTED])
def test_whom_a_budget_selects(spec: dict[str, Any], is_selected: bool) -> None:
    (found,) = told(OURS, budget(**spec))
    assert (found.mark is Mark.WARNING) is is_selected


def test_labels_and_expressions_both_have_to_match() -> None:
    selector = labelled(app="shop")["selector"] | expressed("Exists", "team")["selector"]
    assert told(OURS, budget(selector=selector))[0].mark is Mark.OK


def test_a_budget_of_another_namespace_does_no_harm() -> None:
    assert told(OURS, budget(place="elsewhere", selector={}))[0].mark is Mark.OK


class Api:
    def __init__(self, *refused: Kind) -> None:
        self.refused = refused
        self.asked: list[tuple[Kind, str | None, str]] = []

    async def list_all(self, kind: Kind, namespace: str | None, selector: str = "") -> tuple[tuple[Any, ...], int]:
        if kind in self.refused:
            raise ClusterRefused("no")
        self.asked.append((kind, namespace, selector))
        return ((pod(),) if kind is POD else (OURS,)), 1


async def test_pods_of_groups_are_asked_for_and_all_budgets() -> None:
    api = Api()
    assert await read_budgets(cast("KubernetesApi", api), PLACE) == BudgetFacts((pod(),), (OURS,))
    assert api.asked == [(POD, PLACE, GROUP_LABEL), (POD_DISRUPTION_BUDGET, PLACE, "")]


@pytest.mark.parametrize("kind", [POD, POD_DISRUPTION_BUDGET], ids=lambda kind: kind.plural)
async def test_who_may_not_list_them_learns_that_nothing_is_known(kind: Kind) -> None:
    facts = await read_budgets(cast("KubernetesApi", Api(kind)), PLACE)
    assert isinstance(facts, Unread)
    (found,) = budget_findings(facts)
    message = f"not checked, because you may not list pods and poddisruptionbudgets in namespace {PLACE}"
    assert found == Finding(Mark.NOT_CHECKED, "PodDisruptionBudgets", message)

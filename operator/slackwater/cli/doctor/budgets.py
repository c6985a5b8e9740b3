"""Whether a group's pods can be evicted: one that two PodDisruptionBudgets select never is. Pure.

The API server answers each such eviction with 500, and says so to nobody else: a node's drain waits for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.annotations import GROUP_LABEL
from slackwater.cli.doctor.findings import Finding, Mark, Unread, not_checked
from slackwater.core.decision.words import listing

Json = Mapping[str, Any]

_SUBJECT: Final = "PodDisruptionBudgets"


@dataclass(frozen=True, slots=True)
class BudgetFacts:
    pods: Sequence[Json]
    """Those of ConsumerGroups."""
    budgets: Sequence[Json]
    """All that there are in these pods' namespaces, whosever they are."""


def budget_findings(facts: BudgetFacts | Unread) -> list[Finding]:
    """A line for each group with a pod that cannot be evicted; else one for all, or none where there is no pod."""
    if isinstance(facts, Unread):
        return [not_checked(_SUBJECT, facts)]
    crowded: dict[tuple[str, str], Finding] = {}
    for pod in facts.pods:
        metadata = pod["metadata"]
        selecting = [budget for budget in facts.budgets if _selects(budget, metadata)]
        group = (metadata["namespace"], metadata["labels"][GROUP_LABEL])
        if len(selecting) > 1 and group not in crowded:
            crowded[group] = _crowded("/".join(group), metadata["name"], selecting)
    if crowded or not facts.pods:
        return list(crowded.values())
    return [Finding(Mark.OK, _SUBJECT, "none of the groups' pods is selected by two")]


def _crowded(group: str, pod: str, budgets: Sequence[Json]) -> Finding:
    """The operator's own is made again when it is deleted."""
    ours = [each for each in budgets if _is_of_a_group(each)]
    others = listing(each["metadata"]["name"] for each in budgets if not _is_of_a_group(each))
    names = listing(each["metadata"]["name"] for each in budgets)
    remedy = f"delete {others}, or set the ConsumerGroup's disruptionBudget.enabled to false" if ours else ""
    return Finding(
        Mark.WARNING,
        f"{_SUBJECT} of {group}",
        f"{len(budgets)} select pod {pod} ({names}): Kubernetes never evicts a pod that more than one selects",
        remedy or f"delete all of {others} but one",
    )


def _is_of_a_group(budget: Json) -> bool:
    return any(owner["kind"] == "ConsumerGroup" for owner in budget["metadata"].get("ownerReferences") or ())


def _selects(budget: Json, pod: Json) -> bool:
    """As policy/v1 has it: an empty selector selects every pod of the namespace, and none selects nothing."""
    selector = budget["spec"].get("selector")
    if selector is None or budget["metadata"]["namespace"] != pod["namespace"]:
        return False
    labels: Mapping[str, str] = pod["labels"]
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    alike = all(labels.get(key) == value for key, value in wanted.items())
    return alike and all(_matches(each, labels) for each in selector.get("matchExpressions") or ())


def _matches(expression: Json, labels: Mapping[str, str]) -> bool:
    value = labels.get(expression["key"])
    match expression["operator"]:
        case "In":
            return value in expression["values"]
        case "NotIn":
            return value not in expression["values"]
        case "Exists":
            return value is not None
        case _:
            return value is None

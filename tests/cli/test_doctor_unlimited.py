"""Groups that no fleet selects are counted where they would meet: at their coordinators."""

from __future__ import annotations

from collections.abc import Mapping

from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor.findings import Finding, Mark
from slackwater.cli.doctor.unlimited import unlimited_finding
from tests.cli.builders import group

NOBODY = frozenset[str]()


def groups(*names: str) -> list[ConsumerGroup]:
    one = group()
    return [
        one.model_copy(
            update={
                "metadata": one.metadata.model_copy(update={"name": name}),
                "spec": one.spec.model_copy(update={"explicit_group_id": name}),
            }
        )
        for name in names
    ]


def found(
    some: list[ConsumerGroup], selected: frozenset[str] = NOBODY, coordinators: Mapping[str, int] | None = None
) -> Finding | None:
    return unlimited_finding("Kafka of shop/main", some, selected, coordinators or {})


def test_they_are_counted_by_coordinator_the_busiest_first() -> None:
    of = {"a": 1, "b": 2, "c": 2, "d": 3, "e": 4}
    said = found(groups(*of, "unknown"), coordinators=of)
    assert said is not None
    assert (said.mark, said.remedy) == (Mark.OK, "")
    assert said.message == (
        "no ConsumerFleet selects 6 groups, so that all of them may move at once;"
        " by coordinator: 2 at broker 2, 1 at broker 1, 1 at broker 3"
    )


def test_whom_a_fleet_selects_is_not_counted() -> None:
    some = groups("a", "b", "c")
    selected = frozenset(f"{each.namespace}/{each.name}" for each in some[:1])
    said = found(some, selected)
    assert said is not None
    assert said.message == "no ConsumerFleet selects 2 groups, so that all of them may move at once"
    assert found(some, selected | {f"{some[1].namespace}/b"}) is None, "one alone meets nobody"

"""What a StatefulSet's fields say."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.world.workload import Workload
from tests.core.factories import workload


@pytest.mark.parametrize(
    ("fields", "ordinals"),
    [
        ({"replicas": 3}, [0, 1, 2]),
        ({"replicas": 2, "start": 1}, [1, 2]),
        ({"replicas": 0}, []),
        ({"replicas": 0, "start": 4}, []),
    ],
)
def test_its_ordinals_count_from_its_start(fields: dict[str, Any], ordinals: list[int]) -> None:
    made = workload(**fields)
    assert list(made.ordinals) == ordinals
    assert made.end == made.start + made.replicas


@pytest.mark.parametrize(("observed", "settled"), [(1, False), (2, True), (3, True)])
def test_it_is_settled_once_the_controller_has_read_the_last_change(observed: int, settled: bool) -> None:
    assert workload(generation=2, observed_generation=observed).settled is settled


@pytest.mark.parametrize(
    ("made", "in_order"),
    [
        (workload(), False),
        (workload(fixed={"podManagementPolicy": "Parallel"}), False),
        (workload(fixed={"podManagementPolicy": "OrderedReady"}), True),
    ],
)
def test_only_an_adopted_one_may_make_its_pods_in_order(made: Workload, in_order: bool) -> None:
    assert made.in_order is in_order

"""What the API server fills in is no drift; what somebody took out, added to a plain list or changed is."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.core.manifests.drift import holds

TABLE: list[tuple[str, Any, Any, bool]] = [
    ("the same", {"image": "app:1"}, {"image": "app:1"}, True),
    ("another value", {"image": "app:2"}, {"image": "app:1"}, False),
    ("filled in by the API server", {"image": "app:1", "imagePullPolicy": "Always"}, {"image": "app:1"}, True),
    ("taken out", {}, {"image": "app:1"}, False),
    ("nothing asked for, and an empty text there", {"value": ""}, {"value": None}, True),
    ("nothing asked for, and none there", {}, {"value": ""}, True),
    ("nought is not nothing", {"grace": 0}, {"grace": None}, False),
    ("no object where there should be one", {"resources": "none"}, {"resources": {"cpu": "1"}}, False),
    ("a named thing was added", [{"name": "app"}, {"name": "sidecar"}], [{"name": "app"}], True),
    ("named things in another order", [{"name": "b", "v": 1}, {"name": "a", "v": 2}], [{"name": "a", "v": 2}], True),
    ("a named thing was changed", [{"name": "app", "v": 2}], [{"name": "app", "v": 1}], False),
    ("a named thing was taken out", [{"name": "sidecar"}], [{"name": "app"}], False),
    ("a plain list of the same", ["a", "b"], ["a", "b"], True),
    ("a plain list in another order", ["b", "a"], ["a", "b"], False),
    ("something was added to a plain list", ["a", "b"], ["a"], False),
    ("something was taken out of a plain list", ["a"], ["a", "b"], False),
    ("an empty list, and none there", None, [], True),
    ("a list, and none there", None, ["a"], False),
    ("a list, and a text there", "a", ["a"], False),
]


@pytest.mark.parametrize(("live", "wanted", "same"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_whether_an_object_still_holds_what_was_applied(live: Any, wanted: Any, same: bool) -> None:
    assert holds(live, wanted) is same

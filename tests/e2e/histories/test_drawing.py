"""The histories, without a cluster: a seed is a history, and whatever it edits reaches the spec."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.model import ApiModel
from slackwater.api.pod_template import PodTemplate
from tests.e2e.histories.asking import BEGINS_WITH, Place, all_that_people_see, manifest, wanted_of_a_pod
from tests.e2e.histories.drawing import COMMANDS, FEWEST, FIELDS, MOST, NEVER_EDITED, STRIKES, WIDE, draw
from tests.e2e.histories.striking import DEEDS
from tests.e2e.stage.cluster import Cluster

SEEDS: Final = range(1, 201)
PLACE: Final = Place(Cluster(Path("nowhere"), "here"), "h1", "here", "broker:9092", "30s")
ASKED: Final[dict[str, Any]] = {**BEGINS_WITH, "replicas": 2}
NOT_OF_A_POD: Final = {
    *("client", "names container", "metrics", "connection", "consumer", "mode", "maxPollRecords", "objective"),
    *("stableFor", "onFailure", "canary", "maxLag", "strategy", "handover", "surgeTimeout"),
    *("enabled", "maxUnavailable", "unhealthyPodEvictionPolicy", "deletionPolicy"),
}
"""Fields that change no pod's template."""


def test_a_seed_is_a_history() -> None:
    assert [draw(seed) for seed in SEEDS] == [draw(seed) for seed in SEEDS]


def test_two_hundred_of_them_hold_every_deed_and_are_as_long_as_is_asked() -> None:
    histories = [draw(seed) for seed in SEEDS]
    assert all(FEWEST <= len(history.steps) <= MOST for history in histories)
    assert {step.name for history in histories for step in history.steps} == {*FIELDS, *COMMANDS, *STRIKES, *WIDE}
    assert not any(step.name in WIDE for history in histories if history.narrow for step in history.steps)


def test_no_two_of_them_are_the_same() -> None:
    histories = [draw(seed) for seed in SEEDS]
    assert len({repr((history.replicas, history.steps)) for history in histories}) == len(histories)


def test_who_plays_can_do_whatever_is_drawn() -> None:
    assert set(DEEDS) == {*STRIKES, *WIDE} - {"replicas", "stop and upgrade"}


@pytest.mark.parametrize("field", FIELDS)
def test_an_edit_changes_the_spec_and_what_is_wanted_of_a_pod_where_it_reaches_pods(field: str) -> None:
    drawn = [FIELDS[field](Random(seed)) for seed in range(20)]
    values = [True, False] if field == "bad" else drawn
    specs = {repr(manifest({**ASKED, field: value}, PLACE)) for value in values}
    wanted = {repr(wanted_of_a_pod({**ASKED, field: value}, PLACE)) for value in values}
    assert len(specs) > 1
    assert (len(wanted) > 1) is (field not in NOT_OF_A_POD)


def test_every_field_is_edited_or_it_says_why_not() -> None:
    fields = set(fields_of(ConsumerGroupSpec))
    never = {field for field in fields for path in NEVER_EDITED if f"{field}.".startswith(f"{path}.")}
    assert fields - edited_paths() == never


def edited_paths() -> set[str]:
    """Where in the spec two values of one field, or of what a wide history has besides, differ."""
    wide = [{**ASKED, "replicas": 3}, {**ASKED, "target": "Eager", "allowDowntime": True}]
    drawn = [{**ASKED, field: draw(Random(seed))} for field, draw in FIELDS.items() for seed in range(20)]
    before, found = dict(leaves(manifest(ASKED, PLACE)["spec"])), set()
    for asked in (*wide, *drawn):
        after = dict(leaves(manifest(asked, PLACE)["spec"]))
        found |= {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return found


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """A pod template is one."""
    if isinstance(value, dict) and path != "template":
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}" if path else name)
    for each in value if isinstance(value, list) else ():
        yield from leaves(each, path)
    yield path, repr(value)


def fields_of(model: type[ApiModel], before: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        path = f"{before}{field.alias or name}"
        inner = [kind for kind in kinds(field.annotation) if issubclass(kind, ApiModel) and kind is not PodTemplate]
        yield from fields_of(inner[0], f"{path}.") if inner else (path,)


def kinds(annotation: object) -> Iterator[type]:
    """The type, or those of a union."""
    if isinstance(annotation, type):
        yield annotation
    for each in getattr(annotation, "__args__", ()) if not isinstance(annotation, type) else ():
        yield from kinds(each)


@pytest.mark.parametrize("refused", [{"membership": "Dynamic"}, {"target": "Consumer"}])
def test_a_warm_handover_is_asked_for_where_the_api_server_takes_it(refused: dict[str, str]) -> None:
    warm = {**ASKED, "strategy": "WarmHandover"}
    assert manifest(warm, PLACE)["spec"]["rollout"]["strategy"] == "WarmHandover"
    assert manifest({**warm, **refused}, PLACE)["spec"]["rollout"]["strategy"] == "InPlace"


def test_pods_of_two_groups_look_alike_but_for_what_people_can_see() -> None:
    assert all_that_people_see(pod("h0"), "h0") == all_that_people_see(pod("h10"), "h10")
    assert all_that_people_see(pod("h0"), "h0") != all_that_people_see(pod("h10", team="b"), "h10")
    assert all_that_people_see(pod("h0"), "h0") != all_that_people_see(pod("h10", VERSION="2"), "h10")


def pod(group: str, team: str = "a", **env: str) -> dict[str, Any]:
    """As its group's operator and the API server make it, in what differs from group to group."""
    given = {"VERSION": "1", "TOPICS": f"here,here-{group}", "KAFKA_GROUP_ID": f"here-{group}", **env}
    given["KAFKA_GROUP_INSTANCE_ID"] = f"{group}-$(SLACKWATER_ORDINAL)"
    token = {"name": f"kube-api-access-{group}", "mountPath": "/var/run"}
    container = {
        "name": "consumer",
        "env": [{"name": k, "value": v} for k, v in given.items()],
        "volumeMounts": [token],
    }
    labels = {"team": team, "slackwater.dev/group": group, "controller-revision-hash": f"{group}-1"}
    return {
        "metadata": {"name": f"{group}-0", "labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 10},
    }

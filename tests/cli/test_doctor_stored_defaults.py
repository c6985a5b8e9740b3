"""Values that an earlier resource type wrote into objects, and nobody else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings

from slackwater.adapters.cluster.paths import CONSUMER_FLEET, CONSUMER_GROUP
from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.doctor.asking_cluster import read_stored_defaults
from slackwater.cli.doctor.findings import Mark
from slackwater.cli.doctor.stored_defaults import OLD_DEFAULTS, patch_of, stored_defaults, unsaid
from slackwater.core.fleet.layers import FIELDS
from slackwater.core.manifests.template import what_people_gave
from slackwater.core.plan import plan
from slackwater.core.world.world import World
from tests.core.worlds import worlds
from tests.shell.fakes import FakeApi, fleet_object, group_object

STORED: Final[dict[str, Any]] = {
    "protocol": {"allowDowntime": False},
    "timeouts": {"mode": "Off", "session": "30s"},
    "rollout": {
        "strategy": "InPlace",
        "stableFor": "10s",
        "rejoinTimeout": "5m",
        "handover": "Overlapping",
        "onFailure": "Pause",
    },
}
"""As the API server kept it of a group that says its session."""
ALL: Final = tuple(OLD_DEFAULTS)
WRITTEN: Final[dict[str, dict[str, Any]]] = {
    part: {path.partition(".")[2]: value for path, value in OLD_DEFAULTS.items() if path.startswith(f"{part}.")}
    for part in STORED
}
"""By the type, of a group that says nothing."""


def group(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "payments", "namespace": "team", **(metadata or {})}, "spec": {**STORED, **spec}}


def applied(**spec: Any) -> dict[str, Any]:
    written = json.dumps({"spec": spec})
    return {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": written}}


def managed(operation: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"managedFields": [{"operation": operation, "fieldsV1": {"f:spec": fields}, **more}]}


@pytest.mark.parametrize(
    ("obj", "surely", "perhaps"),
    [
        (group(applied(timeouts={"session": "30s"})), ALL, ()),
        (group(applied(rollout={"stableFor": "10s"})), tuple(p for p in ALL if p != "rollout.stableFor"), ()),
        (group(managed("Apply", {"f:timeouts": {"f:session": {}}})), ALL, ()),
        (
            group(managed("Apply", {"f:rollout": {".": {}, "f:onFailure": {}}})),
            tuple(p for p in ALL if p != "rollout.onFailure"),
            (),
        ),
        (group(managed("Update", {"f:rollout": {"f:onFailure": {}}})), (), ALL),
        (group(), (), ALL),
        (
            group(applied(), rollout={"stableFor": "20s", "onFailure": "Rollback"}),
            ("protocol.allowDowntime", "timeouts.mode"),
            (),
        ),
        ({"metadata": {"name": "payments", "namespace": "team"}, "spec": {}}, (), ()),
    ],
    ids=[
        "applied without them",
        "applied with one of them",
        "applied by the server without them",
        "applied by the server with one",
        "an update proves nothing",
        "nothing is known",
        "other values were written by somebody",
        "of a newer type",
    ],
)
def test_what_nobody_wrote(obj: dict[str, Any], surely: tuple[str, ...], perhaps: tuple[str, ...]) -> None:
    found = unsaid(obj)
    assert (found.surely, found.perhaps) == (surely, perhaps)


def test_each_of_them_is_a_default_that_a_fleet_may_give() -> None:
    assert set(OLD_DEFAULTS) <= set(FIELDS)


def test_the_patch_takes_them_away() -> None:
    assert patch_of(("rollout.stableFor", "rollout.onFailure", "timeouts.mode")) == {
        "spec": {"rollout": {"stableFor": None, "onFailure": None}, "timeouts": {"mode": None}}
    }


def test_what_doctor_says_of_it() -> None:
    says = {"team/payments": ("rollout.onFailure", "protocol.target")}
    [finding] = stored_defaults([group(applied())], says)
    assert (finding.mark, finding.subject) == (Mark.WARNING, "ConsumerGroup team/payments")
    assert finding.message == (
        "it has rollout.onFailure Pause, which nobody wrote: an earlier resource type did; what its fleets give there"
        " does not count for it"
    )
    assert finding.remedy == (
        "take it away, which restarts no pod: kubectl patch cg payments -n team --type merge -p"
        """ '{"spec":{"rollout":{"onFailure":null}}}'"""
    )


def test_where_nobody_knows_it_asks_the_team() -> None:
    [finding] = stored_defaults([group()], {"team/payments": ("rollout.onFailure",)})
    assert "as an earlier resource type wrote it" in finding.message
    assert finding.remedy.startswith("if its team does not mean to say so, take it away")


@pytest.mark.parametrize("says", [{}, {"team/payments": ("protocol.target",)}, {"team/other": ("rollout.onFailure",)}])
def test_where_no_fleet_gives_anything_there_is_nothing_to_say(says: dict[str, tuple[str, ...]]) -> None:
    assert stored_defaults([group(applied())], says) == []


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(worlds())
def test_an_object_with_what_the_type_wrote_before_is_run_as_one_without(world: World) -> None:
    """So an upgrade restarts nobody and writes nothing, and neither does taking those values away."""
    spec = world.group.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    without = {**spec}
    for part, values in WRITTEN.items():
        said = {name: value for name, value in spec.get(part, {}).items() if values.get(name) != value}
        without = {**{key: value for key, value in without.items() if key != part}, **({part: said} if said else {})}
    stored = {**spec, **{part: {**values, **spec.get(part, {})} for part, values in WRITTEN.items()}}
    one, other = (replace(world, group=_read(world, each)) for each in (stored, without))
    assert what_people_gave(one) == what_people_gave(other)
    assert plan(one) == plan(other)


def _read(world: World, spec: dict[str, Any]) -> ConsumerGroup:
    return world.group.model_copy(
        update={"spec": ConsumerGroupSpec.model_validate(spec, by_alias=True, by_name=False, context={"wire": True})}
    )


async def test_what_fleets_give_is_asked_of_the_cluster() -> None:
    api = FakeApi()
    api.add(CONSUMER_FLEET, fleet_object(defaults={"rollout": {"onFailure": "Rollback"}}))
    api.add(CONSUMER_GROUP, group_object(rollout={"onFailure": "Pause"}))
    cluster: Any = api
    [finding] = await read_stored_defaults(cluster, None)
    assert finding.subject == "ConsumerGroup default/payments"
    api.forbidden.add("ConsumerFleet")
    assert await read_stored_defaults(cluster, None) == []

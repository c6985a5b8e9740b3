"""`slackwater diff`: what applying a manifest would change, and what that means for the pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml

from slackwater.api.annotations import PAUSE
from slackwater.api.resources import ConsumerGroup
from slackwater.cli.errors import NotInstalled
from slackwater.cli.planning import foreseeing as plan_command
from slackwater.cli.planning.applying import as_applied
from slackwater.cli.planning.changes import Change, changes
from slackwater.cli.planning.difference import (
    Difference,
    consequences,
    difference,
    difference_document,
    difference_picture,
)
from slackwater.cli.planning.outlook import outlook_on
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.api.manifests import Manifest, consumer_group, kafka_connection
from tests.cli import builders
from tests.cli.command import typed
from tests.cli.pictures import held
from tests.cli.test_planning import manifest_of, with_image
from tests.cli.test_tables import drawn
from tests.core.factories import changed

Capsys = pytest.CaptureFixture[str]


def at_rest(of: ConsumerGroup | None = None) -> World:
    return builders.with_status(builders.made_with(Profile.OWN_CHOICE, of or builders.group()))


def applied(world: World, manifest: Manifest, live: Any = ..., **others: Any) -> Difference:
    live = world.group if live is ... else live
    group = as_applied(live, manifest, "shop")
    servers = others.pop("servers", world.bootstrap_servers)
    after = replace(world, group=group, bootstrap_servers=servers)
    return difference(outlook_on(after, "judged from here"), live, others.get("connection"), others.get("beside"))


def fields(found: Difference) -> dict[str, tuple[Any, Any]]:
    return {change.field: (change.before, change.after) for each in found.objects for change in each.changes}


def test_the_same_manifest_again_is_no_difference() -> None:
    world = at_rest()
    found = applied(world, manifest_of(world))
    assert (found.objects, found.new_version, found.settings) == ((), False, ())
    assert difference_document(found)["differs"] is False


def test_another_image_is_another_version_of_every_pod() -> None:
    world = at_rest()
    found = applied(world, with_image(manifest_of(world), "consumer:2"))
    assert fields(found) == {"spec.template.spec.containers[consumer].image": ("consumer:1", "consumer:2")}
    assert (found.new_version, found.settings) == (True, ())
    assert difference_document(found)["pods"] == ["payments-2", "payments-1", "payments-0"]
    assert list(consequences(found)) == [
        "write the new template into StatefulSet payments; no pod moves yet",
        "then 3 pods are restarted, one at a time, each after its gates: payments-2, payments-1, payments-0",
    ]


def test_a_timeout_is_another_setting_in_the_pods() -> None:
    world = at_rest()
    found = applied(world, manifest_of(world, timeouts={"session": "30s"}))
    assert fields(found) == {"spec.timeouts.session": (None, "30s")}
    assert found.settings == (Change("KAFKA_SESSION_TIMEOUT_MS", "45000", "30000"),)


def test_what_is_not_in_the_pods_restarts_none() -> None:
    world = at_rest()
    found = applied(world, manifest_of(world, rollout={"stableFor": "30s"}, deletionPolicy="DeleteGroup"))
    assert fields(found) == {"spec.rollout.stableFor": ("10s", "30s"), "spec.deletionPolicy": ("Retain", "DeleteGroup")}
    assert (found.new_version, list(consequences(found))) == (False, ["no pod is restarted for it"])


def test_another_number_of_pods_restarts_none_of_those_that_stay() -> None:
    world = at_rest()
    found = applied(world, manifest_of(world, replicas=5))
    assert list(consequences(found)) == ["no pod is restarted for it", "5 pods instead of 3"]


def test_no_pods_at_all_are_not_the_same_as_what_is_left_out() -> None:
    world = at_rest()
    assert fields(applied(world, manifest_of(world, replicas=0))) == {"spec.replicas": (3, 0)}


def test_a_protocol_that_cannot_be_had_is_told_with_its_reason() -> None:
    world = at_rest()
    found = applied(world, manifest_of(world, protocol={"target": "Cooperative"}))
    assert fields(found) == {"spec.protocol.target": (None, "Cooperative")}
    said = list(consequences(found))
    assert said[0] == "no pod is restarted for it"
    assert "MixedAssignorsUnsupported: " in said[-1]


def test_a_pause_is_a_difference_that_holds() -> None:
    world = at_rest()
    manifest = with_image(manifest_of(world), "consumer:2")
    manifest["metadata"]["annotations"] = {PAUSE: "holiday"}
    assert fields(applied(world, manifest))[f"metadata.annotations[{PAUSE}]"] == (None, "holiday")


def test_other_brokers_beside_the_group_are_another_setting_of_its_pods() -> None:
    world = at_rest()
    live, beside = kafka_connection(bootstrapServers="broker:9092"), kafka_connection(bootstrapServers="other:9092")
    found = applied(world, manifest_of(world), servers="other:9092", connection=live, beside=beside)
    assert fields(found) == {"spec.bootstrapServers": ("broker:9092", "other:9092")}
    assert found.settings == (Change("KAFKA_BOOTSTRAP_SERVERS", "broker:9092", "other:9092"),)
    assert applied(world, manifest_of(world), connection=live, beside=live).objects == ()


def test_the_last_good_version_again_restarts_nobody_after_a_rollback() -> None:
    """Every pod has it already; that the group is calm is asked for before the rollout is over, and of no concern."""
    world = at_rest()
    assert world.workload is not None
    wrong = as_applied(world.group, with_image(manifest_of(world), "consumer:bad"), "shop")
    memory = replace(world.memory, phase=RolloutPhase.ROLLED_BACK, target_hash="bad", failed_hash="bad", message="no")
    looked_once = replace(world, group=wrong, history=builders.history(builders.observation(), 0))
    found = applied(builders.with_status(changed(looked_once, memory=memory)), manifest_of(world))
    assert found.new_version
    assert list(consequences(found)) == ["no pod is restarted for it: each has this version already"]


def test_a_new_group_is_all_new() -> None:
    world = builders.world(workload=None, pods=())
    found = applied(world, consumer_group(replicas=3), live=None)
    assert (found.objects[0].is_new, found.new_version) == (True, True)
    assert {before for before, _ in fields(found).values()} == {None}
    assert "metadata" not in fields(found)
    assert fields(found)["spec.replicas"] == (None, 3)
    assert list(consequences(found)) == ["create StatefulSet payments with 3 pods"]
    assert Change("KAFKA_GROUP_ID", None, "payments") in found.settings


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", 1, 2)]),
        ({"a": 1}, {}, [("a", 1, None)]),
        ({"a": None}, {}, []),
        ({"a": False}, {}, [("a", False, None)]),
        ({"a": ""}, {"a": None}, [("a", "", None)]),
        ({"a": {}}, {}, [("a", {}, None)]),
        ({"a": ["x"]}, {"a": ["x", "y"]}, [("a", ["x"], ["x", "y"])]),
        ({"a": [{"name": "x", "v": 1}]}, {"a": [{"name": "x", "v": 2}]}, [("a[x].v", 1, 2)]),
        ({"a": [{"name": "x"}]}, {"a": []}, [("a[x]", {"name": "x"}, None)]),
        (
            {"a": [{"name": "x"}, {"name": "y"}]},
            {"a": [{"name": "y"}, {"name": "x"}]},
            [("a, their order", ["x", "y"], ["y", "x"])],
        ),
        ({"example.com/a": "1"}, {"example.com/a": "2"}, [("[example.com/a]", "1", "2")]),
        (None, {"a": {"b": 1}, "c": [1]}, [("a.b", None, 1), ("c", None, [1])]),
    ],
)
def test_changes_go_down_to_single_values(before: Any, after: Any, expected: list[Any]) -> None:
    assert [(each.field, each.before, each.after) for each in changes(before, after, "")] == expected


def test_whatever_differs_is_found() -> None:
    """Also where two parts are of another shape."""
    shapes: list[Any] = [None, 0, 1, "", "a", {}, {"a": 1}, [], [1], [{"name": "a"}], [{"name": "a", "b": {}}]]
    for one in shapes:
        for other in shapes:
            found = list(changes({"x": one}, {"x": other}, ""))
            assert bool(found) is (one != other or type(one) is not type(other)), (one, other)


def test_it_looks_as_it_is_held() -> None:
    world = at_rest()
    manifest = with_image(manifest_of(world, timeouts={"session": "30s"}, replicas=4), "consumer:2")
    held("diff.txt", drawn(difference_picture(applied(world, manifest))))
    held("diff-nothing.txt", drawn(difference_picture(applied(world, manifest_of(world)))))


@pytest.fixture
def differing(monkeypatch: pytest.MonkeyPatch, capsys: Capsys, tmp_path: Any) -> Any:
    """Run the command where the cluster has `world`, or fails."""

    def run(world: World | Exception, manifest: Mapping[str, Any], *arguments: str) -> Any:
        async def found(context: str | None, namespace: str, manifests: Any) -> Difference:
            if isinstance(world, Exception):
                raise world
            assert namespace == "shop"
            return applied(world, manifests.group)

        monkeypatch.setattr(plan_command, "find_difference", found)
        file = tmp_path / "group.yaml"
        file.write_text(yaml.safe_dump(manifest))
        return typed(capsys, "diff", "-f", str(file), *arguments)

    return run


def test_exit_codes_are_those_of_kubectl_diff(differing: Any) -> None:
    world = at_rest()
    same, other = manifest_of(world), with_image(manifest_of(world), "consumer:2")
    nothing = differing(world, same)
    assert (nothing.code, nothing.err) == (0, "")
    assert nothing.out == "Applying it changes nothing of payments in namespace shop.\n"
    something = differing(world, other, "-o", "json")
    assert (something.code, something.err) == (1, "")
    assert json.loads(something.out)["differs"] is True
    failed = differing(NotInstalled("it is not installed"), other)
    assert (failed.code, failed.out, failed.err) == (2, "", "Error: it is not installed.\n")


def test_in_a_pipe_no_line_is_cut(differing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    world, image = at_rest(), "registry.example.com/team/a-consumer-with-a-long-name:2"
    said = differing(world, with_image(manifest_of(world), image)).out
    (line,) = (line for line in said.splitlines() if image in line)
    assert line.strip().startswith("spec.template.spec.containers[consumer].image ")


def test_a_mistake_of_ours_does_not_look_like_a_difference(differing: Any) -> None:
    done = differing(RuntimeError("a bug"), manifest_of(at_rest()))
    assert done.code == 2
    assert "this is a mistake in slackwater" in done.sentence


def test_a_manifest_that_is_not_valid_is_no_difference(differing: Any) -> None:
    done = differing(at_rest(), {**manifest_of(at_rest()), "spec": {}})
    assert done.code == 2
    assert "spec.client is missing" in done.sentence

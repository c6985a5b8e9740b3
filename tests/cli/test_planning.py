"""`slackwater plan` from recorded worlds: the operator's own decision, in words and as a document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.planning.applying import NOT_APPLIED_UID, as_applied
from slackwater.core.decision.reasons import Reason
from slackwater.core.plan import plan
from slackwater.core.rollout.gates import GATES
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.recording import read_world, write_world
from slackwater.core.world.world import World
from tests.api.manifests import Manifest, kafka_connection
from tests.cli import builders
from tests.cli.command import Done, typed

Capsys = pytest.CaptureFixture[str]
RECORDED = sorted((Path(__file__).parent / "worlds").glob("*.json"))


def manifest_of(world: World, **spec: Any) -> Manifest:
    manifest = world.group.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {"name": world.group.name, "namespace": world.group.namespace},
        "spec": {**manifest["spec"], **spec},
    }


def with_image(manifest: Manifest, image: str) -> Manifest:
    changed: Manifest = json.loads(json.dumps(manifest))
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = image
    return changed


@pytest.fixture
def planned(tmp_path: Path, capsys: Capsys) -> Any:
    def run(world: World, *manifests: Mapping[str, Any], output: str = "json") -> Any:
        recording, file = tmp_path / "world.json", tmp_path / "payments.yaml"
        recording.write_text(json.dumps(write_world(world)))
        file.write_text(yaml.safe_dump_all(manifests))
        done: Done = typed(capsys, "plan", "-f", str(file), "--world", str(recording), "-o", output)
        assert (done.code, done.err) == (0, "")
        return json.loads(done.out) if output == "json" else done.out

    return run


def test_the_same_manifest_again_changes_nothing(planned: Any) -> None:
    world = builders.world()
    document = planned(world, manifest_of(world))
    assert (document["outcome"], document["act"], document["hold"]) == ("nothing", None, None)
    assert document["words"] == "nothing to do: 3 pods as wanted, all of them of this version"


def test_a_group_at_rest_that_is_not_known_to_be_ready_is_not_said_to_be_well(planned: Any) -> None:
    blind = Unobserved(Reason.TOPIC_MISSING, "topic refunds does not exist", builders.NOW)
    world = builders.world(kafka=builders.observation(blind_to=blind))
    for given in (world, builders.with_status(world)):
        words = planned(given, manifest_of(given))["words"]
        why = "it is not known whether the group is Ready, TopicMissing: topic refunds does not exist"
        assert words == f"nothing to roll out, but {why}"


def test_the_operators_word_of_what_a_short_look_does_not_show_counts(planned: Any) -> None:
    """It has seen that a member is missing; from here it is not known yet."""
    seen = builders.observation()
    told = builders.with_status(builders.world(kafka=replace(seen, members=seen.members[1:])))
    world = builders.world(group=told.group)
    words = planned(world, manifest_of(world))["words"]
    assert words.startswith("nothing to roll out, but the group is not Ready, MemberMissing: ")


def test_a_new_version_is_written_first_and_then_rolled_out(planned: Any) -> None:
    world = builders.world()
    document = planned(world, with_image(manifest_of(world), "consumer:2"))
    assert (document["act"]["purpose"], document["act"]["disruptive"]) == ("TAKE_TEMPLATE", False)
    assert document["then"]["pods"] == ["payments-2", "payments-1", "payments-0"]
    assert (document["gatesAsked"], {gate["mark"] for gate in document["gates"]}) == (False, {"pass"})
    assert [note["reason"] for note in document["notes"]] == ["RolloutStarted"]


def test_the_next_restart_is_named(planned: Any) -> None:
    world = builders.rolling()
    document = planned(world, manifest_of(world))
    act = document["act"]
    assert (act["purpose"], act["pod"], act["partition"], act["disruptive"]) == ("RESTART", "payments-1", 1, True)
    assert (document["gatesAsked"], document["then"]["pods"]) == (True, ["payments-0"])


def test_a_hold_names_its_gate(planned: Any) -> None:
    world = builders.rolling(kafka=builders.observation(members=builders.observation().members[:2]))
    document = planned(world, manifest_of(world))
    refused = [gate for gate in document["gates"] if gate["mark"] == "refuse"]
    assert [(gate["number"], gate["name"], gate["reason"]) for gate in refused] == [
        (5, "members are ours", "MemberMissing")
    ]
    assert document["hold"]["reason"] == "MemberMissing"
    assert document["words"] == refused[0]["message"]


def test_canary_stops_are_foretold(planned: Any) -> None:
    world = builders.world()
    canary = {"canary": [{"replicas": 1, "hold": "5m"}, {"replicas": 2}]}
    document = planned(world, with_image(manifest_of(world, rollout=canary), "consumer:2"))
    assert document["then"]["words"].endswith("; it stops at 1 pod for 5m, at 2 pods until promoted")


def test_pausing_by_manifest_holds(planned: Any) -> None:
    manifest = manifest_of(builders.rolling())
    manifest["metadata"]["annotations"] = {"slackwater.dev/pause": "holiday"}
    document = planned(builders.rolling(), manifest)
    assert document["hold"]["reason"] == "Paused"


def test_more_replicas_are_a_change_of_scale(planned: Any) -> None:
    world = builders.world()
    document = planned(world, manifest_of(world, replicas=5))
    assert document["words"] == "change StatefulSet payments from 3 to 5 pods"


def test_a_connection_beside_the_group_counts(planned: Any) -> None:
    """Other brokers are another template."""
    world = builders.world()
    connection = kafka_connection("main", bootstrapServers="elsewhere:9092")
    assert planned(world, manifest_of(world), connection)["act"]["purpose"] == "TAKE_TEMPLATE"
    assert planned(world, manifest_of(world), kafka_connection("another"))["outcome"] == "nothing"


def test_several_files_are_read_as_one(tmp_path: Path, capsys: Capsys) -> None:
    """As kubectl does it, in whichever order they are given."""
    world, connection = builders.world(), kafka_connection("main", bootstrapServers="elsewhere:9092")
    recording, group, beside = (tmp_path / name for name in ("world.json", "payments.yaml", "main.yaml"))
    recording.write_text(json.dumps(write_world(world)))
    group.write_text(yaml.safe_dump(manifest_of(world)))
    beside.write_text(yaml.safe_dump(connection))
    for first, second in ((group, beside), (beside, group)):
        words = ("-f", str(first), "-f", str(second), "--world", str(recording), "-o", "json")
        assert json.loads(typed(capsys, "plan", *words).out)["act"]["purpose"] == "TAKE_TEMPLATE"


def test_of_two_connections_of_a_name_the_last_counts(planned: Any) -> None:
    """As where kubectl applies one after the other."""
    world = builders.world()
    same = kafka_connection("main", bootstrapServers=world.bootstrap_servers)
    other = kafka_connection("main", bootstrapServers="elsewhere:9092")
    assert planned(world, manifest_of(world), same, other)["act"]["purpose"] == "TAKE_TEMPLATE"
    assert planned(world, manifest_of(world), other, same)["outcome"] == "nothing"


def test_a_world_may_come_from_standard_input(tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    world, file = builders.world(), tmp_path / "payments.yaml"
    file.write_text(yaml.safe_dump(manifest_of(world)))
    monkeypatch.setattr("sys.stdin", StringIO(json.dumps(write_world(world))))
    done = typed(capsys, "plan", "-f", str(file), "--world", "-")
    assert "judged from standard input, recorded at" in " ".join(done.out.split())


def test_the_table_says_the_same_in_words(planned: Any) -> None:
    text = planned(builders.rolling(), manifest_of(builders.rolling()), output="table")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "Now restart pod payments-1, so that it takes up the new version" in lines
    assert "Then 1 more pod is restarted after its gates: payments-0" in lines
    assert "✓ 7 lag is bounded" in lines


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_worlds_recorded_from_a_real_cluster_can_still_be_planned(file: Path, planned: Any) -> None:
    """Their files were written by an earlier slackwater: recordings are kept."""
    world = read_world(json.loads(file.read_text()))
    document = planned(world, with_image(manifest_of(world), "consumer:2"))
    assert document["act"]["purpose"] == "TAKE_TEMPLATE"
    assert len(document["gates"]) == len(GATES)


def test_the_document_tells_the_plan_of_the_core(planned: Any) -> None:
    """No judgement of its own: what the command says is what the operator would decide."""
    for world in (builders.world(), builders.rolling(), builders.rolling(watched_s=3)):
        decided = plan(world)
        document = planned(world, manifest_of(world))
        assert (document["act"] is None, document["hold"] is None) == (decided.act is None, decided.hold is None)


def test_replicas_that_a_manifest_leaves_out_stay_the_autoscalers() -> None:
    live = builders.group(replicas=7)
    manifest = manifest_of(builders.world())
    del manifest["spec"]["replicas"]
    assert as_applied(live, manifest, "shop").spec.replicas == 7


def test_only_a_changed_spec_is_a_new_generation() -> None:
    live = builders.group()
    same = manifest_of(builders.world(live))
    assert as_applied(live, same, "shop").metadata.generation == live.metadata.generation
    assert as_applied(live, with_image(same, "consumer:2"), "shop").metadata.generation == live.metadata.generation + 1


def test_annotations_are_added_to_those_that_are_there() -> None:
    live = builders.group({"slackwater.dev/retry": "1"})
    manifest = manifest_of(builders.world())
    manifest["metadata"]["annotations"] = {"slackwater.dev/pause": ""}
    applied = as_applied(live, manifest, "shop")
    assert applied.metadata.annotations == {"slackwater.dev/retry": "1", "slackwater.dev/pause": ""}


def test_a_group_that_is_not_there_yet_owns_nothing_that_is() -> None:
    """A StatefulSet of the same name without an owner must not pass for its own."""
    made = as_applied(None, manifest_of(builders.world()), "shop")
    assert (made.metadata.uid, made.namespace, dict(made.status)) == (NOT_APPLIED_UID, "shop", {})
    assert parse_consumer_group(manifest_of(builders.world())).metadata.uid == ""

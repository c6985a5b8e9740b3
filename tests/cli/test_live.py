"""The command against a real cluster, a real broker and a running operator."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slackwater.core.world.recording import read_world
from tests.api.manifests import kafka_connection
from tests.cli.command import COMMAND, Done, ran
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import REPLICAS, with_env
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(4), pytest.mark.timeout(900)]

NAME = "orders"
PATIENTLY = ("--timeout", "3m")


@dataclass(frozen=True)
class Shown:
    """A group at rest, and the command in its namespace."""

    stage: Stage
    group: Json
    directory: Path

    def typed(self, *arguments: str, given: str = "") -> Done:
        environment = {"KUBECONFIG": str(self.stage.cluster.kubeconfig)}
        return ran(*arguments, "-n", self.stage.cluster.namespace, given=given, environment=environment)

    def document(self, *arguments: str, given: str = "") -> Json:
        done = self.typed(*arguments, given=given)
        assert (done.code, done.err) == (0, "")
        document: Json = json.loads(done.out)
        return document


@pytest.fixture(scope="module")
def shown(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    group = stage.group(NAME)
    stage.create(group)
    return Shown(stage, group, tmp_path_factory.mktemp("cli"))


def test_status_shows_every_pod_with_what_it_owns(shown: Shown) -> None:
    def with_the_group() -> str | None:
        """One look is all that the command takes, and a broker that gets no turn for five seconds has none to give."""
        done = shown.typed("status", NAME)
        assert (done.code, done.err) == (0, "")
        return None if "does not answer" in done.out else done.out

    out = wait_for("a status for which Kafka answered", with_the_group)
    for ordinal in range(REPLICAS):
        assert f"{NAME}-{ordinal}" in out
    assert "Stable, Classic, range: 3 members, 6 partitions, lag " in out
    assert "✓ 6 partitions are owned" in out


def test_the_document_agrees_with_the_cluster_and_with_kafka(shown: Shown) -> None:
    document = shown.document("status", NAME, "-o", "json")
    members = [member for pod in document["pods"] for member in pod["members"]]
    assert [pod["name"] for pod in document["pods"]] == [f"{NAME}-{ordinal}" for ordinal in range(REPLICAS)]
    assert [member["instanceId"] for member in members] == [f"{NAME}-{ordinal}" for ordinal in range(REPLICAS)]
    assert len({partition for member in members for partition in member["partitions"]}) == 6
    assert document["status"]["phase"] == "Ready"


def test_a_plan_foretells_a_rollout_and_changes_nothing(shown: Shown) -> None:
    before = shown.stage.cluster.get("sts", NAME)
    document = shown.document("plan", "-f", "-", "-o", "json", given=json.dumps(with_env(shown.group, VERSION="2")))
    assert document["act"]["purpose"] == "TAKE_TEMPLATE"
    assert document["then"]["pods"] == [f"{NAME}-{ordinal}" for ordinal in (2, 1, 0)]
    assert [gate["mark"] for gate in document["gates"][:4]] == ["pass"] * 4
    assert (shown.stage.cluster.get("sts", NAME) or {})["spec"] == (before or {})["spec"]


def test_a_plan_from_a_recording_is_the_plan_from_the_cluster(shown: Shown) -> None:
    recording, manifest = shown.directory / "world.json", json.dumps(with_env(shown.group, VERSION="2"))

    def is_whole() -> bool:
        """A machine that is slow may see the group too seldom, in the time that the command takes, to call it calm."""
        recorded = shown.typed("observe", NAME)
        assert (recorded.code, recorded.err) == (0, "")
        recording.write_text(recorded.out)
        world = read_world(json.loads(recorded.out))
        calm_for_s: float = world.history.calm_for(world.kafka)  # type: ignore[arg-type]
        return calm_for_s >= world.group.spec.rollout.stable_for_ms / 1000

    wait_for("a recording of a calm group", is_whole)
    (shown.directory / "new.json").write_text(manifest)
    offline = ran("plan", "-f", str(shown.directory / "new.json"), "--world", str(recording), "-o", "json")
    assert (offline.code, offline.err) == (0, "")
    live = shown.document("plan", "-f", "-", "-o", "json", given=manifest)
    assert {**json.loads(offline.out), "at": 0, "gates": 0, "rollout": 0} == {**live, "at": 0, "gates": 0, "rollout": 0}


def test_a_plan_foretells_a_refused_protocol(shown: Shown) -> None:
    """librdkafka cannot have both kinds in one group (F1)."""
    document = shown.document("plan", "-f", "-", "-o", "json", given=json.dumps(_toward(shown.group, "Cooperative")))
    assert (document["act"], document["refusal"]["reason"]) == (None, "MixedAssignorsUnsupported")


def test_a_plan_foretells_an_upgrade_by_what_the_brokers_say(shown: Shown) -> None:
    document = shown.document("plan", "-f", "-", "-o", "json", given=json.dumps(_toward(shown.group, "Consumer")))
    assert (document["refusal"], document["act"]["purpose"]) == (None, "TAKE_TEMPLATE")
    protocol = document["protocol"]
    assert (protocol["to"], protocol["strategy"], protocol["step"]) == ("Consumer", "OnlineMigration", "1 of 1")


def _toward(group: Json, target: str) -> Json:
    client = {**group["spec"]["client"], "version": "2.12.1"}
    return {**group, "spec": {**group["spec"], "client": client, "protocol": {"target": target}}}


def test_a_new_group_would_be_created(shown: Shown) -> None:
    document = shown.document("plan", "-f", "-", "-o", "json", given=json.dumps(shown.stage.group("refunds")))
    assert (document["act"]["purpose"], document["act"]["replicas"]) == ("CREATE", REPLICAS)
    assert shown.stage.cluster.get("cg", "refunds") is None


def test_a_kafka_that_cannot_be_seen_from_here_is_said_to_be_so(shown: Shown) -> None:
    """The KafkaConnection beside the group leads nowhere."""
    nowhere = kafka_connection("main", bootstrapServers="127.0.0.1:1")
    done = shown.typed("plan", "-f", "-", given="\n---\n".join(map(json.dumps, (shown.group, nowhere))))
    said = " ".join(done.out.split())
    assert (done.code, done.err) == (0, "")
    assert "from this machine the group cannot be seen in Kafka" in said
    assert "✗ 1 observation is fresh: " in said


def test_a_difference_is_told_by_field_by_pod_and_by_exit_code(shown: Shown) -> None:
    nothing = shown.typed("diff", "-f", "-", given=json.dumps(shown.group))
    assert (nothing.code, nothing.err) == (0, "")
    changed = with_env(shown.group, VERSION="2")
    something = shown.typed("diff", "-f", "-", "-o", "json", given=json.dumps(changed))
    assert (something.code, something.err) == (1, "")
    document = json.loads(something.out)
    fields = {change["field"]: change["after"] for each in document["objects"] for change in each["changes"]}
    assert [after for field, after in fields.items() if field.endswith("env[VERSION].value")] == ["2"]
    assert len(fields) == 1
    assert document["pods"] == [f"{NAME}-{ordinal}" for ordinal in (2, 1, 0)]
    assert (shown.stage.cluster.get("cg", NAME) or {})["spec"].get("template") == shown.group["spec"]["template"]


def test_a_difference_to_nothing_is_a_new_group(shown: Shown) -> None:
    done = shown.typed("diff", "-f", "-", given=json.dumps(shown.stage.group("refunds")))
    assert (done.code, done.err) == (1, "")
    assert "ConsumerGroup refunds would be new" in done.out
    assert f"create StatefulSet refunds with {REPLICAS} pods" in done.out


ABOUT_ONE: Final = (
    "history",
    "status",
    "why",
    "members",
    "lag",
    "observe",
    *("pause", "resume", "promote", "abort", "retry", "restart", "force", "approve"),
)


@pytest.mark.parametrize("command", ABOUT_ONE)
def test_a_mistyped_name_gets_the_nearest_one(shown: Shown, command: str) -> None:
    assert shown.typed(command, "order").sentence.endswith(": did you mean orders?")


def test_members_and_lag_agree_with_kafka(shown: Shown) -> None:
    members = shown.document("members", NAME, "-o", "json")["members"]
    assert [(each["instanceId"], each["pod"]) for each in members] == [(f"{NAME}-{n}", f"{NAME}-{n}") for n in range(3)]
    document = yaml.safe_load(shown.typed("lag", NAME, "-o", "yaml").out)
    owned = {each["instanceId"]: set(each["partitions"]) for each in members}
    for row in document["partitions"]:
        assert f"{row['topic']}-{row['partition']}" in owned[row["owner"]]
        assert row["lag"] == max(0, row["end"] - row["committed"])  # the end may be read a moment before
    assert len(document["partitions"]) == 6


def test_groups_are_listed_with_what_the_operator_says_of_them(shown: Shown) -> None:
    rows: Any = shown.document("list", "-o", "json")
    assert [(row["name"], row["phase"], row["readyReplicas"], row["reason"]) for row in rows] == [
        (NAME, "Ready", REPLICAS, None)
    ]
    everywhere = ran("list", "-A", environment={"KUBECONFIG": str(shown.stage.cluster.kubeconfig)})
    assert shown.stage.cluster.namespace in everywhere.out
    nothing = ran("list", "-n", "kube-public", environment={"KUBECONFIG": str(shown.stage.cluster.kubeconfig)})
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "There are no ConsumerGroups in kube-public.\n")


def test_a_paused_group_is_explained_and_goes_on_when_resumed(shown: Shown) -> None:
    assert shown.typed("pause", NAME, "--reason", "audit", *PATIENTLY).out == (
        f"{NAME}: paused; no pod is restarted until you resume it\n"
    )
    shown.stage.cluster.apply(with_env(shown.group, VERSION="paused"))
    shown.stage.cluster.wait_condition(NAME, "RolloutGated", "True", "Paused")  # what holds it first is another hold
    late = shown.typed("status", NAME, "--wait", "--timeout", "10s")
    assert (late.code, late.out) == (3, "")
    assert late.err == (
        f"Error: ConsumerGroup {NAME} was not Ready within 10 s, it is Paused: slackwater why {NAME} says why.\n"
    )
    said = " ".join(shown.typed("why", NAME).out.split())
    assert "It waits, Paused: " in said
    assert "audit" in said
    assert shown.typed("resume", NAME, *PATIENTLY).out == f"{NAME}: resumed\n"
    done = shown.typed("status", NAME, "--wait", "--timeout", "6m")
    assert (done.code, done.err) == (0, "")
    assert "Ready" in done.out


def test_a_restart_is_a_rollout_that_can_be_waited_for(shown: Shown) -> None:
    before = {pod["metadata"]["uid"] for pod in shown.stage.cluster.pods(NAME)}
    assert shown.typed("restart", NAME, *PATIENTLY).code == 0
    assert shown.typed("status", NAME, "--wait", "--timeout", "6m").code == 0
    assert before.isdisjoint(pod["metadata"]["uid"] for pod in shown.stage.cluster.pods(NAME))


def test_history_has_every_version_with_its_pods(shown: Shown) -> None:
    document = shown.document("history", NAME, "-o", "json")
    assert document["rollout"]["phase"] == "Complete"
    versions = document["versions"]
    assert len(versions) >= 2
    assert [each["revision"] for each in versions] == sorted(each["revision"] for each in versions)
    assert [(each["pods"], each["wanted"], each["lastGood"], each["failed"]) for each in versions[-1:]] == [
        (REPLICAS, True, True, False)
    ]
    assert sum(each["pods"] for each in versions[:-1]) == 0
    image = shown.group["spec"]["template"]["spec"]["containers"][0]["image"]
    assert {each["image"] for each in versions} == {image}
    table = shown.typed("history", NAME)
    assert (table.code, table.err) == (0, "")
    assert "wanted, last good" in table.out


def test_a_command_that_would_change_nothing_says_so(shown: Shown) -> None:
    assert shown.typed("promote", NAME).sentence.endswith("promote: no canary is being held, so nothing changes.")


@pytest.mark.long
def test_a_version_that_fails_ends_the_wait(shown: Shown) -> None:
    rollout = {**shown.group["spec"]["rollout"], "onFailure": "Rollback"}
    failing = with_env(shown.group, CRASH_TIMES="1000")
    shown.stage.cluster.apply({**failing, "spec": {**failing["spec"], "rollout": rollout}})
    done = shown.typed("status", NAME, "--wait", "--timeout", "9m")
    assert done.sentence.startswith(f"the rollout of ConsumerGroup {NAME} is being taken back: ")
    shown.stage.cluster.apply(shown.group)
    assert shown.typed("status", NAME, "--wait", "--timeout", "6m").code == 0


def test_a_command_without_an_operator_is_given_and_said_to_be_waiting(shown: Shown) -> None:
    shown.stage.operator.kill()
    done = shown.typed("pause", NAME, "--timeout", "1s")
    shown.stage.operator.start()
    shown.stage.operator.wait_ready()
    assert done.sentence.startswith("pause is given, but the operator has not taken it up within 1 s: see that it runs")
    shown.stage.cluster.wait_phase(NAME, "Paused")
    assert shown.typed("resume", NAME, *PATIENTLY).code == 0


def test_kubectl_takes_it_for_its_own(shown: Shown) -> None:
    environment = {"KUBECONFIG": str(shown.stage.cluster.kubeconfig), "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
    words = ["kubectl", "slackwater", "list", "-n", shown.stage.cluster.namespace]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert NAME in done.stdout
    words = ["kubectl", "__complete", "slackwater", "wh"]
    done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["why", ":4"]


def test_a_group_of_another_namespace_is_found(shown: Shown) -> None:
    elsewhere = ran("status", NAME, "-n", "default", environment={"KUBECONFIG": str(shown.stage.cluster.kubeconfig)})
    assert "there is no ConsumerGroup orders in namespace default, but there is one in " in elsewhere.sentence


def test_somebody_without_a_right_is_told_which(shown: Shown) -> None:
    token = shown.stage.cluster.kubectl("create", "token", "default").strip()
    content = json.loads(shown.stage.cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    content["users"] = [{"name": content["users"][0]["name"], "user": {"token": token}}]
    kubeconfig = shown.directory / "nobody"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(json.dumps(content))
    done = ran("status", NAME, "-n", shown.stage.cluster.namespace, environment={"KUBECONFIG": str(kubeconfig)})
    assert 'cannot get resource "consumergroups"' in done.sentence
    assert done.sentence.endswith("ask for a role that allows it, or use another --context.")


@pytest.mark.long
def test_a_rollout_can_be_watched_to_its_end(shown: Shown) -> None:
    """Each pod is seen old, then new; the step in hand is seen; and deleting the group ends the watch."""
    with _watched(shown) as (process, file):
        wait_for("the first line", lambda: bool(file.read_text()), 60)
        assert shown.typed("pause", NAME, *PATIENTLY).code == 0
        shown.stage.cluster.apply(with_env(shown.group, VERSION="2"))
        wait_for(
            "every pod to be shown as old", lambda: {pod["version"] for pod in _lines(file)[-1]["pods"]} == {"old"}
        )
        assert shown.typed("resume", NAME, *PATIENTLY).code == 0
        shown.stage.cluster.wait_complete(NAME)
        wait_for("the end of the rollout to be shown", lambda: _lines(file)[-1]["status"]["phase"] == "Ready", 30)
        shown.stage.cluster.kubectl("delete", "cg", NAME)
        assert process.wait(90) == 0
    lines = _lines(file)
    steps = {line["status"].get("rollout", {}).get("step", {}).get("ordinal") for line in lines}
    assert {0, 1, 2} <= steps
    for ordinal in range(REPLICAS):
        versions = [pod["version"] for line in lines for pod in line["pods"] if pod["ordinal"] == ordinal]
        assert {"old", "new"} <= set(versions)


@contextmanager
def _watched(shown: Shown) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    file = shown.directory / "watch.jsonl"
    command = [str(COMMAND), "status", NAME, "-n", shown.stage.cluster.namespace, "--watch", "-o", "json"]
    with file.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL) as process:
        try:
            yield process, file
        finally:
            process.kill()


def _lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]


def test_a_version_is_undone_as_people_wrote_it(shown: Shown) -> None:
    cluster = shown.stage.cluster
    shown.stage.cluster.apply(with_env(shown.group, VERSION="kept"))
    cluster.wait_complete(NAME)
    before = (cluster.get("cg", NAME) or {})["spec"]["template"]
    cluster.apply(with_env(shown.group, VERSION="undone"))
    cluster.wait_complete(NAME)
    done = shown.typed("undo", NAME)
    assert done.code == 0, done
    cluster.wait_complete(NAME)
    assert (cluster.get("cg", NAME) or {})["spec"]["template"] == before
    again = shown.typed("undo", NAME, "--to-revision", "77")
    assert again.code == 1
    assert "keeps no revision 77" in again.err

"""Whoever mistypes anything gets one sentence on standard error that says what to do, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from slackwater.core.world.recording import write_world
from tests.api.manifests import consumer_group, kafka_connection
from tests.cli import builders
from tests.cli.command import COMMAND, ran, typed

Capsys = pytest.CaptureFixture[str]

WHICH: Final = "say which ConsumerGroups: write their names, -l SELECTOR, or --all"
COMMAND_LINES = {
    "a command that there is not": (
        ["statsu", "payments"],
        "No such command 'statsu': did you mean 'status', 'restart'?",
    ),
    "an option that there is not": (["status", "x", "--wat"], "No such option: --wat"),
    "no name": (
        ["status"],
        f"{WHICH}: see slackwater status --help.",
    ),
    "two names to record": (["observe", "a", "b"], "Got unexpected extra argument"),
    "two names to watch": (["status", "a", "b", "--watch"], "--watch shows one group: write one name"),
    "all groups to watch": (["lag", "--all", "--watch"], "--watch shows one group: write one name"),
    "names and labels": (
        ["restart", "a", "-l", "x=y"],
        "say which ConsumerGroups: leave out -l, or the names",
    ),
    "a name and all groups": (["pause", "a", "--all"], "the names say which ConsumerGroups: leave out --all"),
    "labels and all groups": (
        ["abort", "-l", "x=y", "--all"],
        "-l and --all exclude each other: leave",
    ),
    "a name in all namespaces": (["why", "a", "-A"], "a name is of one namespace: leave out -A, or the names"),
    "all namespaces, and not which": (
        ["status", "-A"],
        "-A says where, and not which ConsumerGroups: add --all, or -l SELECTOR",
    ),
    "all groups of all namespaces and of one": (
        ["retry", "--all", "-A", "-n", "shop"],
        "-n and -A exclude each other: leave one of them out",
    ),
    "a fleet to pause, and not why": (["fleet", "pause", "x"], "Missing option '--reason': see slackwater fleet pause"),
    "a fleet to pause for nothing": (["fleet", "pause", "x", "--reason", " "], "say why: --reason TEXT"),
    "a fleet to open, and not for how long": (["fleet", "open", "x", "--reason", "y"], "Missing option '--for'"),
    "a fleet to open for days": (
        ["fleet", "open", "x", "--for", "25h", "--reason", "y"],
        "a fleet is opened for 24 hours at most: change the windows instead",
    ),
    "a fleet to plan later, and not what": (
        ["fleet", "plan", "x", "--at", "2026-12-01T22:00"],
        "--at is for --all-restart or -f: add one of them",
    ),
    "no time to plan for": (
        ["fleet", "plan", "x", "--all-restart", "--at", "tonight"],
        "'tonight' is no local time: write one such as 2026-12-01T22:00, in the fleet's zone",
    ),
    "a time that no calendar has": (
        ["fleet", "plan", "x", "--all-restart", "--at", "2026-13-45T22:00"],
        "'2026-13-45T22:00' is no local time: write one such as 2026-12-01T22:00",
    ),
    "a fleet to open for no time": (
        ["fleet", "open", "x", "--for", "0s", "--reason", "y"],
        "say for how long: --for DURATION, such as 2h",
    ),
    "a default that nobody gives": (
        ["campaign", "start", "x", "--fleet", "y", "--apply-defaults", "--field", "protocol.targe"],
        "'protocol.targe' is no such field: did you mean protocol.target",
    ),
    "a default that needs no campaign": (
        ["campaign", "start", "x", "--fleet", "y", "--apply-defaults", "--field", "onFailure"],
        "'onFailure' is none of what groups take up by a campaign: write one of protocol.target, ",
    ),
    "more failures than there are groups": (
        ["campaign", "start", "x", "--fleet", "y", "--restart", "--max-failures", "10001"],
        "Invalid value for '--max-failures'",
    ),
    "two campaigns to pause": (["campaign", "pause", "a", "b"], "Got unexpected extra argument(s) (b)"),
    "all campaigns, and one": (["campaign", "status", "a", "-A"], "-A and a name exclude each other: leave one"),
    "defaults, and not of which group": (["why", "--defaults"], WHICH),
    "no limit to plan with": (
        ["fleet", "plan", "x", "--max", "coordinators"],
        "'coordinators' is no limit: write BUDGET=NUMBER, such as coordinators=2 or all=10%",
    ),
    "all fleets to watch": (["fleet", "status", "--watch"], "--watch shows the table of one fleet: write its name"),
    "a fleet of all namespaces": (
        ["fleet", "status", "x", "-A"],
        "-A and a name exclude each other: leave one",
    ),
    "an empty selector": (["restart", "-l", ""], "an empty selector would choose every group: write --all where that"),
    "no file to compare": (["diff"], "Missing option '--filename' / '-f': see slackwater diff --help."),
    "no file": (["plan"], "Missing option '--filename' / '-f': see slackwater plan --help."),
    "another output": (["plan", "-f", "x", "-o", "xml"], "'xml' is not one of 'table', 'json', 'yaml'"),
    "a table to record": (["observe", "x", "-o", "table"], "Invalid value for '--output' / '-o': 'table' is not"),
    "both all namespaces and one": (
        ["list", "-A", "-n", "shop"],
        "-n and -A exclude each other: leave one of them out",
    ),
    "both all namespaces and one to examine": (
        ["doctor", "-A", "-n", "shop"],
        "-n and -A exclude each other: leave one of them out",
    ),
    "no workload to import": (["import"], "Missing argument 'KIND/NAME': see slackwater import --help."),
    "a workload without its kind": (
        ["import", "payments"],
        "'payments' is no workload: write statefulset/NAME or deployment/NAME",
    ),
    "a workload of another kind": (
        ["import", "cronjob/payments"],
        "is no workload: write statefulset/NAME or deployment/NAME, in short sts/NAME or deploy/NAME: see",
    ),
    "a workload without its name": (["import", "sts/"], "the name is missing after 'sts/': write sts/NAME: see"),
    "a kind of workload": (["import", "deployment"], "the name is missing after 'deployment': write deployment/NAME"),
    "a workload with a path in it": (["import", "sts/../x"], "'../x' is no name"),
    "a client library that there is not": (["import", "sts/x", "--client", "Kafka"], "'Kafka' is not one of 'Java', "),
    "both to watch and to wait": (["status", "x", "--watch", "--wait"], "--watch and --wait exclude each other"),
    "a timeout for nothing": (["status", "x", "--timeout", "5s"], "--timeout is for --wait: add it"),
    "no shell": (["completion"], "Missing argument 'SHELL'. Choose from: bash, zsh, fish: see"),
    "less than no charts": (
        ["report", "--lake", "l", "--groups", "-1"],
        "Invalid value for '--groups': it cannot be '-1': write 0 or more: see slackwater report --help.",
    ),
    "a word for a number": (
        ["report", "--lake", "l", "--groups", "abc"],
        "Invalid value for '--groups': it cannot be 'abc': write a whole number: see slackwater report --help.",
    ),
    "a shell that there is not": (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    "a command without its group": (
        ["promote"],
        f"{WHICH}: see slackwater promote --help.",
    ),
    "a number for a duration": (
        ["observe", "x", "--for", "30"],
        "write a duration in whole h, m, s and ms, such as 45s",
    ),
    "an empty name": (["observe", ""], "'' is no name: write lower-case letters, digits and -"),
    "a name with a path in it": (["status", "../x"], "'../x' is no name"),
    "a namespace in capitals": (["status", "x", "-n", "Shop"], "'Shop' is no name"),
    "a file that is not there": (["plan", "-f", "nowhere.yaml"], "there is no file nowhere.yaml: correct the path"),
    "a folder": (["plan", "-f", "/"], "/ cannot be read (Is a directory): give a file that can"),
    "a file to compare that is not there": (["diff", "-f", "nowhere.yaml"], "there is no file nowhere.yaml: correct"),
    "a world that is not there": (["plan", "-f", "{group}", "--world", "none.json"], "there is no file none.json"),
    "a manifest for a world": (["plan", "-f", "{group}", "--world", "{group}"], "is not JSON at line 1"),
    "a recording for a manifest": (
        ["plan", "-f", "{world}", "--world", "{world}"],
        "world is a recorded world: give it to plan by --world, and a manifest by -f.",
    ),
    "a recording beside a manifest": (
        ["diff", "-f", "{group}", "-f", "{world}"],
        "world is a recorded world: give it to plan by --world, and a manifest by -f.",
    ),
    "one standard input for two": (
        ["plan", "-f", "-", "--world", "-"],
        "-f and --world cannot both be standard input: give one of them a file",
    ),
    "a world and a namespace": (
        ["plan", "-f", "{group}", "--world", "{world}", "-n", "shop"],
        "--world needs no cluster: leave out -n: see",
    ),
    "a world, a context and a time to watch": (
        ["plan", "-f", "{group}", "--world", "{world}", "--context", "home", "--for", "0s"],
        "--world needs no cluster: leave out --context and --for: see",
    ),
    "two groups in two files": (
        ["plan", "-f", "{group}", "-f", "{other}"],
        "other hold 2 ConsumerGroups (payments, refunds): give one at a time.",
    ),
    "files without a group": (
        ["diff", "-f", "{connection}", "-f", "{connection}"],
        "connection hold no ConsumerGroup, but KafkaConnection, KafkaConnection: give the manifest of one.",
    ),
    "another group's world": (
        ["plan", "-f", "{other}", "--world", "{world}"],
        "records ConsumerGroup shop/payments, not shop/refunds: record that one, or give its manifest.",
    ),
    "a namespace that the manifest does not have": (
        ["plan", "-f", "{group}", "-n", "bank"],
        "the manifest names namespace shop, and -n says bank: leave one of them out.",
    ),
    "another group id": (
        ["plan", "-f", "{renamed}", "--world", "{world}"],
        "ConsumerGroup payments is not valid: spec.groupId: a group's id cannot be changed",
    ),
}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    def manifest(name: str, **spec: Any) -> str:
        obj = consumer_group(name, **spec)
        obj["metadata"]["namespace"] = "shop"
        return yaml.safe_dump(obj)

    written = {
        "group": manifest("payments"),
        "other": manifest("refunds"),
        "renamed": manifest("payments", groupId="another"),
        "connection": yaml.safe_dump(kafka_connection()),
        "world": json.dumps(write_world(builders.world())),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in written}


@pytest.mark.parametrize("mistake", COMMAND_LINES)
def test_a_mistyped_command_line(mistake: str, files: dict[str, str], capsys: Capsys) -> None:
    arguments, expected = COMMAND_LINES[mistake]
    assert expected in typed(capsys, *(argument.format(**files) for argument in arguments)).sentence


def test_a_world_from_an_empty_standard_input(
    files: dict[str, str], capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))
    said = typed(capsys, "plan", "-f", files["group"], "--world", "-").sentence
    assert said == "standard input is empty: give the recording, as slackwater observe NAME prints it."


def _broken(old: str, new: str) -> str:
    return yaml.safe_dump(consumer_group(replicas=6)).replace(old, new)


MANIFESTS = {
    "broken YAML": (
        "kind: ConsumerGroup\n  spec: [",
        "is not YAML at line 2, column 7: mapping values are not allowed",
    ),
    "a tab": ("kind:\tConsumerGroup\n\tspec: 1", "is not YAML at line 1, column 6: found character"),
    "nothing": ("", "is empty: give the manifest of a ConsumerGroup."),
    "only comments": ("# nothing\n---\n", "is empty: give the manifest of a ConsumerGroup."),
    "no object": ("just words", "holds no Kubernetes object, but 'just words': give a manifest."),
    "another kind": (yaml.safe_dump(kafka_connection()), "holds no ConsumerGroup, but KafkaConnection: give the"),
    "a mistyped kind": (
        _broken("ConsumerGroup", "ConsumerGrup"),
        "did you mean kind: ConsumerGroup instead of ConsumerG",
    ),
    "two groups": (
        yaml.safe_dump_all([consumer_group("a"), consumer_group("b")]),
        "holds 2 ConsumerGroups (a, b): give one at a time.",
    ),
    "an unknown field": (_broken("replicas:", "replica:"), "spec.replica is no known field: did you mean replicas?"),
    "another version": (_broken("v1alpha1", "v1"), "apiVersion cannot be 'slackwater.dev/v1': write"),
    "a text for a number": (
        _broken("replicas: 6", "replicas: six"),
        "spec.replicas cannot be 'six': write a whole number.",
    ),
    "no name": (_broken("name: payments", "label: payments"), "metadata.name is missing: add it."),
    "no metadata": (_broken("metadata:\n  name: payments", "metadata: 1"), "metadata cannot be 1: write a mapping"),
}


@pytest.mark.parametrize("mistake", MANIFESTS)
def test_a_mistyped_manifest(mistake: str, tmp_path: Path, capsys: Capsys) -> None:
    text, expected = MANIFESTS[mistake]
    file = tmp_path / "payments.yaml"
    file.write_text(text)
    sentence = typed(capsys, "plan", "-f", str(file)).sentence
    assert expected in sentence
    assert "payments.yaml" in sentence


def test_several_mistakes_are_told_together(tmp_path: Path, capsys: Capsys) -> None:
    """In one sentence still, so that one need not come back for each."""
    file = tmp_path / "payments.yaml"
    file.write_text(yaml.safe_dump(consumer_group(replica=6, topic=["orders"])))
    sentence = typed(capsys, "plan", "-f", str(file)).sentence
    assert "spec.replica is no known field" in sentence
    assert "; spec.topic is no known field" in sentence


KUBECONFIGS = {
    "none": (None, "no Kubernetes cluster is configured, for there is no file"),
    "broken": ("contexts: [", "is not YAML at line 1"),
    "something else": ("a: 1", "is no kubeconfig, for it lists no contexts: set KUBECONFIG to your cluster's."),
    "no current context": (
        "contexts: [{name: home, context: {cluster: c, user: u}}]",
        "has no current-context: choose one with --context (there are home).",
    ),
    "a current context that there is not": (
        "{current-context: hmoe, contexts: [{name: home, context: {cluster: c, user: u}}]}",
        "there is no context hmoe in",
    ),
}


def test_a_kubeconfig_that_is_a_folder(tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    said = typed(capsys, "list").sentence
    assert said == f"the kubeconfig {tmp_path} cannot be read (Is a directory): set KUBECONFIG to another."


def test_a_kubeconfig_that_is_no_text(tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kubeconfig"
    file.write_bytes(b"\xff\xfe")
    monkeypatch.setenv("KUBECONFIG", str(file))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    said = typed(capsys, "list").sentence
    assert said == f"the kubeconfig {file} is not text: set KUBECONFIG to another."


@pytest.mark.parametrize("mistake", KUBECONFIGS)
def test_a_kubeconfig_that_cannot_be_used(
    mistake: str, tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, expected = KUBECONFIGS[mistake]
    file = tmp_path / "kubeconfig"
    if text is not None:
        file.write_text(text)
    monkeypatch.setenv("KUBECONFIG", str(file))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert expected in typed(capsys, "status", "payments").sentence


@pytest.mark.parametrize("words", [("--kubeconfig", "/of/the/line"), ()], ids=["on the line", "in the environment"])
def test_a_kubeconfig_that_somebody_names_counts_in_a_pod_as_well(
    words: tuple[str, ...], capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job of a pipeline is a pod, of another cluster than the one that it is about."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    monkeypatch.setenv("KUBECONFIG", "" if words else "/of/the/environment")
    named = words[-1] if words else "/of/the/environment"
    for command in (("list",), ("abort", "payments"), ("list", "-n", "shop")):
        assert f"there is no file {named}" in typed(capsys, *command, *words).sentence
    monkeypatch.setenv("KUBECONFIG", "")
    assert "Service token file does not exist" in typed(capsys, "list").sentence


KUBECONFIG = """
current-context: home
contexts: [{name: home, context: {cluster: c, user: u, namespace: shop}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
"""


ASKING: Final = [
    ["status", "payments", "--watch"],
    pytest.param(["list"], marks=pytest.mark.slow),
    pytest.param(["status", "payments", "--wait"], marks=pytest.mark.slow),
    pytest.param(["lag", "payments", "--watch"], marks=pytest.mark.slow),
    pytest.param(["pause", "payments"], marks=pytest.mark.slow),
]
"""One of each kind; `test_every_command` tries them all."""


@pytest.mark.parametrize("command", ASKING, ids=" ".join)
def test_a_cluster_that_does_not_answer(command: list[str], tmp_path: Path) -> None:
    """As a process: nothing that a library logs, and no exception at its end, may come besides."""
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG)
    sentence = ran(*command, environment={"KUBECONFIG": str(file)}).sentence
    assert "the Kubernetes API did not answer GET /apis/slackwater.dev/v1alpha1/namespaces/shop/" in sentence
    assert sentence.endswith("see that the cluster runs, and that --context and KUBECONFIG fit.")


def test_a_context_that_there_is_not(tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert "there is no context hom in" in (sentence := typed(capsys, "status", "x", "--context", "hom").sentence)
    assert sentence.endswith("did you mean home?")


def test_a_user_without_a_certificate_file(tmp_path: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the Kubernetes package stumbles over has a sentence as well."""
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG.replace("user: {}", "user: {client-certificate: no.crt, client-key: no.key}"))
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert "no.crt" in typed(capsys, "status", "payments").sentence


def test_debugging_shows_the_traceback_before_the_sentence(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACKWATER_DEBUG", "1")
    done = typed(capsys, "plan", "-f", "nowhere.yaml")
    assert "Traceback" in done.err
    assert done.err.splitlines()[-1].startswith("Error: there is no file nowhere.yaml")


def test_a_reader_who_has_enough_is_told_nothing() -> None:
    """As with `| head -1`, when the pipe is closed before we write."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run([str(COMMAND), "--help"], stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")

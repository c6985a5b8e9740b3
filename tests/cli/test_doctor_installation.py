"""What doctor makes of what it finds in the cluster: the version, the CRDs, the operator, the rights."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from slackwater.api.crd import CONSUMER_GROUPS, custom_resource_definition
from slackwater.cli.doctor import installation, rights
from slackwater.cli.doctor.command import findings_document, findings_table
from slackwater.cli.doctor.findings import Finding, Mark, Unread, is_well
from slackwater.cli.doctor.rights import EVERYWHERE, OPERATOR, PLUGIN, READ_SECRET, Right, Secret
from slackwater.cli.options import print_whole

CHART = Path(__file__).parents[2] / "charts" / "slackwater"
HOST = "https://api:6443"


@pytest.mark.parametrize(
    ("answer", "mark"),
    [
        ({"major": "1", "minor": "36", "gitVersion": "v1.36.3"}, Mark.OK),
        ({"major": "1", "minor": "31+", "gitVersion": "v1.31.2-eks"}, Mark.OK),
        ({"major": "1", "minor": "30", "gitVersion": "v1.30.9"}, Mark.MISSING),
        ({"major": "", "minor": ""}, Mark.NOT_CHECKED),
    ],
)
def test_the_cluster_is_new_enough(answer: dict[str, str], mark: Mark) -> None:
    assert installation.cluster_finding(answer, HOST).mark is mark


def test_the_oldest_kubernetes_is_the_charts() -> None:
    oldest = ".".join(map(str, installation.OLDEST_KUBERNETES))
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["kubeVersion"].startswith(f">={oldest}.")


def definition() -> dict[str, Any]:
    return deepcopy(custom_resource_definition(CONSUMER_GROUPS))


def test_the_crd_of_this_version_is_whole() -> None:
    found = installation.crd_finding(CONSUMER_GROUPS, definition())
    assert (found.mark, found.subject) == (Mark.OK, "CRD consumergroups.slackwater.dev")


def test_a_crd_that_is_not_there_is_missing() -> None:
    assert installation.crd_finding(CONSUMER_GROUPS, None).mark is Mark.MISSING


def test_a_crd_that_does_not_serve_our_version_is_missing() -> None:
    other = definition()
    other["spec"]["versions"][0]["served"] = False
    found = installation.crd_finding(CONSUMER_GROUPS, other)
    assert found.mark is Mark.MISSING
    assert "serves no version, and this slackwater speaks v1alpha1" in found.message


def test_fields_that_an_older_crd_lacks_are_named() -> None:
    """In a list as well."""
    older = definition()
    spec = older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del spec["client"]["properties"]["metrics"]
    del spec["rollout"]["properties"]["canary"]["items"]["properties"]["hold"]
    found = installation.crd_finding(CONSUMER_GROUPS, older)
    assert found.mark is Mark.MISSING
    for path in ("spec.client.metrics", "spec.client.metrics.port", "spec.rollout.canary.hold"):
        assert path in found.message


def test_fields_that_only_a_newer_crd_has_do_no_harm() -> None:
    newer = definition()
    newer["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["more"] = {}
    assert installation.crd_finding(CONSUMER_GROUPS, newer).mark is Mark.OK


def deployment(
    ready: int = 1, replicas: int = 1, watched: str = "", version: str = "1", name: str = "slackwater", lease: str = ""
) -> dict[str, Any]:
    """`lease`: its own where none is given, as the chart has it."""
    env = [
        {"name": "SLACKWATER_NAMESPACE", "value": watched},
        {"name": "SLACKWATER_LEASE", "value": lease or f"ops/{name}-leader"},
    ]
    pod = {"serviceAccountName": "mate", "containers": [{"name": "operator", "env": env}]}
    return {
        "metadata": {
            "name": name,
            "namespace": "ops",
            "labels": {"app.kubernetes.io/version": version},
        },
        "spec": {"replicas": replicas, "template": {"spec": pod}},
        "status": {"readyReplicas": ready},
    }


def operator(*deployments: dict[str, Any], namespace: str | None = "shop") -> Finding:
    (found,) = installation.operator_findings(installation.operators_in(deployments), namespace, "1")
    return found


def test_an_operator_that_is_ready_is_fine() -> None:
    assert operator(deployment()) == Finding(Mark.OK, "operator ops/slackwater", "1 of 1 replicas ready, version 1")


@pytest.mark.parametrize(
    ("found", "mark", "words"),
    [
        (deployment(ready=0), Mark.MISSING, "0 of 1 replicas ready"),
        (deployment(ready=0, replicas=0), Mark.MISSING, "scaled to 0"),
        (deployment(replicas=2), Mark.WARNING, "1 of 2 replicas ready"),
        (deployment(version="2"), Mark.WARNING, "it is of version 2, and this command of 1"),
        (deployment(watched="bank"), Mark.MISSING, "none watches namespace shop: ops/slackwater watches bank"),
    ],
)
def test_an_operator_that_is_not_as_it_should_be(found: dict[str, Any], mark: Mark, words: str) -> None:
    finding = operator(found)
    assert finding.mark is mark
    assert words in finding.message
    assert finding.remedy


@pytest.mark.parametrize(
    ("first", "second", "namespace", "where"),
    [
        ({}, {}, "shop", "2 watch namespace shop (ops/slackwater, ops/second): "),
        ({"watched": "bank,shop"}, {"watched": "shop"}, "shop", "2 watch namespace shop "),
        ({}, {"watched": "shop"}, "shop", "2 watch namespace shop "),
        ({}, {"watched": "shop"}, None, "2 watch some of the same namespaces "),
        ({"watched": "bank,shop"}, {"watched": "shop"}, None, "2 watch some of the same namespaces "),
        ({}, {"watched": "shop", "ready": 0}, "shop", "2 watch namespace shop "),
        ({}, {"watched": "bank"}, "shop", ""),
        ({"watched": "bank"}, {"watched": "shop"}, "shop", ""),
        ({"watched": "bank"}, {"watched": "shop"}, None, ""),
        ({}, {"replicas": 0, "ready": 0}, "shop", ""),
        ({"lease": "ops/leader"}, {"lease": "ops/leader"}, "shop", ""),
    ],
    ids=[
        "both all",
        "one in common",
        "one of all",
        "one of all, asked for all",
        "one in common, asked for all",
        "one that is not ready yet",
        "the other elsewhere",
        "each its own",
        "each its own, asked for all",
        "one is scaled to 0",
        "one Lease",
    ],
)
def test_two_operators_of_one_namespace_are_told(
    first: dict[str, Any], second: dict[str, Any], namespace: str | None, where: str
) -> None:
    """Each was said to be fine, and each restarts a pod of the same group."""
    found = installation.operators_in([deployment(**first), deployment(**second, name="second")])
    findings = installation.operator_findings(found, namespace, "1")
    told = [each for each in findings if each.subject == "operators"]
    assert [each.mark for each in told] == ([Mark.MISSING] if where else [])
    assert all(where in each.message and each.remedy for each in told)


def test_an_operator_that_there_is_not() -> None:
    assert operator().mark is Mark.MISSING


def test_one_of_several_namespaces_is_watched() -> None:
    assert operator(deployment(watched="bank,shop")).mark is Mark.OK
    assert operator(deployment(watched="bank,shop"), namespace=None).mark is Mark.MISSING


def test_a_deployment_of_the_chart_that_is_no_operator_does_not_count() -> None:
    other = deployment()
    other["spec"]["template"]["spec"]["containers"][0]["name"] = "report"
    assert installation.operators_in([other]) == ()


def test_what_may_not_be_read_stays_unknown() -> None:
    unread = Unread("you may not")
    findings = [
        installation.crd_finding(CONSUMER_GROUPS, unread),
        *installation.operator_findings(unread, "shop", "1"),
        *rights.plugin_findings(unread, "shop"),
        rights.operator_findings("ops/mate", unread, None),
    ]
    assert {finding.mark for finding in findings} == {Mark.NOT_CHECKED}
    assert {finding.message for finding in findings} == {"not checked, because you may not"}
    assert is_well(findings)


def test_the_operators_rights_are_those_of_the_chart() -> None:
    """But for Secrets, which it may be granted by name."""
    (file,) = (CHART / "templates").rglob("_rules.tpl")
    rules = file.read_text().partition('define "slackwater.rules"')[2].partition("{{/*")[0].partition("\n")[2]
    granted = [
        (verb, group, resource)
        for rule in yaml.safe_load(re.sub(r"(?m)^.*\{\{.*$", "", rules))
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    needed = (*OPERATOR, *EVERYWHERE, READ_SECRET)
    known = [(r.verb, r.api_group, f"{r.resource}/{r.subresource}".rstrip("/")) for r in needed]
    assert sorted(known) == sorted(granted)


def test_secrets_that_the_operator_may_not_read_are_named() -> None:
    allowed = {Secret("shop", "ca"): True, Secret("shop", "login"): False}
    found = rights.secrets_finding("ops/mate", allowed)
    assert found.mark is Mark.MISSING
    assert found.message.startswith("it may not read shop/login, which a KafkaConnection names: ")
    assert rights.secrets_finding("ops/mate", {Secret("shop", "ca"): True}).mark is Mark.OK


def test_a_subresource_is_asked_for_as_one() -> None:
    assert Right("patch", "slackwater.dev", "consumergroups", "status").attributes("shop") == {
        "verb": "patch",
        "group": "slackwater.dev",
        "resource": "consumergroups",
        "subresource": "status",
        "namespace": "shop",
    }
    assert "namespace" not in Right("list", "", "pods").attributes(None)


def test_an_account_that_lacks_a_right_is_told_which() -> None:
    allowed = dict.fromkeys(OPERATOR, True)
    assert rights.operator_findings("ops/mate", allowed, None).mark is Mark.OK
    allowed |= {right: False for right in OPERATOR if right.resource == "pods" and right.verb in ("watch", "delete")}
    found = rights.operator_findings("ops/mate", allowed, "shop")
    assert found.mark is Mark.MISSING
    assert found.message.startswith("it may not watch or delete pods in namespace shop: ")


def test_a_person_is_told_which_commands_do_not_work() -> None:
    allowed = {right: right.verb != "patch" and right.resource != "secrets" for each in PLUGIN for right in each.rights}
    looking, steering, kafka = rights.plugin_findings(allowed, "shop")
    assert (looking.mark, steering.mark, kafka.mark) == (Mark.OK, Mark.MISSING, Mark.WARNING)
    assert steering.message == (
        "you may not patch consumergroups.slackwater.dev in namespace shop: "
        "pause, resume, promote, abort, retry, restart, force and approve do not work"
    )


def test_only_what_is_missing_is_not_well() -> None:
    fine = [Finding(mark, "x", "y") for mark in (Mark.OK, Mark.WARNING, Mark.NOT_CHECKED)]
    assert findings_document(fine)["well"] is True
    missing = findings_document([*fine, Finding(Mark.MISSING, "x", "y", "do it")])
    assert missing["well"] is False
    assert missing["findings"][-1] == {"result": "missing", "subject": "x", "message": "y", "remedy": "do it"}


def test_each_finding_is_a_line_however_narrow_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    print_whole(findings_table([Finding(Mark.MISSING, "CRD x", f"it is not there: {'why, ' * 50}", "install it")]))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("missing  CRD x  it is not there: why, ")
    assert line.rstrip().endswith("why, . Install it.")

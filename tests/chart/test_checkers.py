"""What others have written to look at charts finds nothing in ours, or what it finds is meant so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chart import readme, tools
from tests.chart.helm import CHART, Refused, helm

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(2)]  # Helm and the other programs are built by the sandbox
checker = pytest.mark.long  # made or fetched for minutes, where they are not yet: `make chart-check`

ALERTS = """groups:
  - name: slackwater
    rules:
      - alert: Down
        expr: up == 0
        annotations: {summary: "of {{ $labels.instance }}"}
"""
EVERYTHING = Path(__file__).with_name("everything.yaml")
CPU = "a throttled operator only makes rollouts wait, and a throttled Spark only takes longer"
PULL = "a version's image never changes; whoever uses a tag that moves sets image.pullPolicy"
OF_CHECKOV = {
    "CKV_K8S_11": CPU,
    "CKV_K8S_15": PULL,
    "CKV_K8S_38": "the operator talks to the API server",
    "CKV_K8S_43": "a digest belongs to a registry, which is the user's: image.tag takes one",
}
OF_KUBE_SCORE = {
    "container-image-pull-policy": PULL,
    "container-ephemeral-storage-request-and-limit": "its volume has a sizeLimit; nodes that count none take no pod",
    "deployment-has-host-podantiaffinity": "the pods are spread by topologySpreadConstraints",
}
MEANT_SO = {
    "everything": (OF_CHECKOV, OF_KUBE_SCORE),
    "default": (OF_CHECKOV, OF_KUBE_SCORE),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chart with alerts, whatever they are."""
    chart = tmp_path_factory.mktemp("chart") / "slackwater"
    shutil.copytree(CHART, chart)
    (chart / "rules").mkdir(exist_ok=True)
    (chart / "rules" / "alerts.yaml").write_text(ALERTS, encoding="utf-8")
    return chart


@pytest.fixture(scope="module", params=list(MEANT_SO))
def rendered(request: pytest.FixtureRequest, whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the chart can make of Kubernetes' own kinds, and what it makes when it is left alone."""
    values = [] if request.param == "default" else [f"--values={EVERYTHING}"]
    path = tmp_path_factory.mktemp("rendered") / f"{request.param}.yaml"
    path.write_text(helm("template", "slackwater", str(whole), "--namespace=operations", *values), encoding="utf-8")
    return path


def test_its_own_tests_pass() -> None:
    said = tools.run(tools.helm_unittest(), "--strict", str(CHART))
    assert "Tests:" in said, said


@checker
def test_the_readme_is_made_from_the_values() -> None:
    assert readme.made() == readme.README.read_text(encoding="utf-8"), "run `make chart-docs`"


def test_the_readme_says_of_every_value_what_it_does() -> None:
    rows = [line for line in readme.README.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 50
    assert [row for row in rows if row.split("|")[-2].strip() == ""] == []


@checker
@pytest.mark.parametrize("kubernetes", ["1.31.0", "1.36.0"])  # the oldest that the chart takes, and the sandbox's
def test_kubernetes_own_schemas_take_it(kubernetes: str, rendered: Path) -> None:
    where = tools.schemas(kubernetes)
    others = "ServiceMonitor,PrometheusRule"  # of these kinds no package that can be pinned here has a schema
    words = ("-strict", "-output=json", "-summary", f"-skip={others}", f"-schema-location={where}", str(rendered))
    summary = json.loads(tools.run(tools.go_program(*tools.KUBECONFORM), *words))["summary"]
    assert (summary["invalid"], summary["errors"]) == (0, 0)
    assert summary["valid"] >= 10


@checker
def test_kube_score_finds_nothing_that_is_not_meant_so(rendered: Path) -> None:
    _, meant_so = MEANT_SO[rendered.stem]
    ignored = [f"--ignore-test={name}" for name in meant_so]
    words = ("score", "--ignore-container-cpu-limit", "--exit-one-on-warning", *ignored, str(rendered))
    assert "apps/v1/Deployment" in tools.run(tools.go_program(*tools.KUBE_SCORE), *words)


@checker
def test_checkov_finds_nothing_that_is_not_meant_so(rendered: Path) -> None:
    words = ("--framework=kubernetes", "--compact", "--quiet", "--skip-download", "--soft-fail", "--output=json")
    found = json.loads(tools.run(tools.checkov(), *words, f"--file={rendered}"))
    meant_so, _ = MEANT_SO[rendered.stem]
    assert found["summary"]["passed"] > 50
    assert {each["check_id"] for each in found["results"]["failed_checks"]} == meant_so.keys()


def test_alerts_are_taken_as_they_are(whole: Path) -> None:
    rule = rendered_rule(whole)
    assert rule["spec"]["groups"][0]["rules"][0]["annotations"] == {"summary": "of {{ $labels.instance }}"}


def test_without_its_alerts_the_chart_says_so(whole: Path, tmp_path: Path) -> None:
    chart = shutil.copytree(whole, tmp_path / "slackwater")
    (chart / "rules" / "alerts.yaml").unlink()
    with pytest.raises(Refused, match=r"this chart has no rules/alerts\.yaml: set it to false"):
        rendered_rule(chart)


def rendered_rule(chart: Path) -> Any:
    words = ("--set=prometheusRule.enabled=true", "--show-only=templates/prometheus-rule.yaml")
    return yaml.safe_load(helm("template", "slackwater", str(chart), *words))

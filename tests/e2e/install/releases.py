"""The chart of this working tree, and one that stands for the release before it; installed, upgraded, rolled back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.chart.helm import CHART, helm
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.rights import RELEASE
from tests.e2e.stage.waiting import wait_for

BEFORE: Final = "0.0.9"
TODAY: Final = str(yaml.safe_load((CHART / "Chart.yaml").read_text())["version"])
FLEET_KINDS: Final = ("consumerfleets", "fleetcampaigns")
_LOG_LEVEL: Final = """\
            - name: SLACKWATER_LOG_LEVEL
              value: {{ .Values.log.level | quote }}
"""


def chart_before(folder: Path) -> Path:
    """What differs between two releases: their version, and with it the labels of everything, so that Helm changes all
    of it; a field that a resource type did not have yet; a variable that the operator was not told yet."""
    chart = Path(shutil.copytree(CHART, folder / "before"))
    _edit(chart / "Chart.yaml", lambda about: about.update(version=BEFORE, appVersion=BEFORE))
    _edit(chart / "files" / "crds" / "slackwater.dev_consumergroups.yaml", _forget_objective)
    deployment = chart / "templates" / "deployment.yaml"
    assert _LOG_LEVEL in deployment.read_text(), "say again what stands for the release before"
    deployment.write_text(deployment.read_text().replace(_LOG_LEVEL, ""))
    return chart


def chart_without_fleets(folder: Path) -> Path:
    """As before there were any: without their types. By its rights today's operator may read them."""
    chart = chart_before(folder)
    for plural in FLEET_KINDS:
        (chart / "files" / "crds" / f"slackwater.dev_{plural}.yaml").unlink()
    return chart


def _forget_objective(crd: dict[str, Any]) -> None:
    """No other test sets it."""
    (version,) = crd["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    del spec["properties"]["timeouts"]["properties"]["objective"]


def _edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = yaml.safe_load(file.read_text())
    change(content)
    file.write_text(yaml.safe_dump(content, sort_keys=False))


@dataclass(frozen=True, slots=True)
class Release:
    """Installed in one namespace. Each of its methods returns when the operator's pods are Ready, or gone; or with
    `--wait=hookOnly` at once."""

    cluster: Cluster

    settings: tuple[str, ...] = ()
    """As behind --set."""
    wait: str = "--wait"

    def install(self, chart: Path) -> None:
        self._put("install", chart)

    def upgrade(self, chart: Path) -> None:
        self._put("upgrade", chart)

    def rollback(self) -> None:
        """To the revision before."""
        self._helm("rollback", RELEASE, "--timeout=90s")

    def uninstall(self) -> None:
        self._helm("uninstall", RELEASE, "--timeout=60s")

    def wait_led_by(self, version: str) -> None:
        """Until a pod of that version leads, no other pod is left, and it has looked at a group."""

        def has_looked() -> bool:
            pods = self._pods_if_all(version)
            leader = self._holder().rpartition("_")[0]
            return leader in pods and 'result="ok"' in self._metrics(leader)

        wait_for(f"an operator of {version} to lead", has_looked)

    def _pods_if_all(self, version: str) -> list[str]:
        selector = f"app.kubernetes.io/instance={RELEASE}"
        found, _ = self.cluster.api.list_all("pods", self.cluster.namespace, selector)
        charts = {pod["metadata"]["labels"]["helm.sh/chart"] for pod in found}
        return [pod["metadata"]["name"] for pod in found] if charts == {f"slackwater-{version}"} else []

    def _holder(self) -> str:
        return self.cluster.kubectl("get", "lease", f"{RELEASE}-leader", "-o", "jsonpath={.spec.holderIdentity}")

    def _metrics(self, pod: str) -> str:
        path = f"/api/v1/namespaces/{self.cluster.namespace}/pods/{pod}:8080/proxy/metrics"
        return self.cluster.kubectl("get", "--raw", path, check=False)

    def _put(self, verb: str, chart: Path) -> None:
        self._helm(verb, RELEASE, str(chart), *(f"--set={setting}" for setting in self.settings), "--timeout=90s")

    def _helm(self, *words: str) -> None:
        helm(*words, f"--namespace={self.cluster.namespace}", self.wait, kubeconfig=self.cluster.kubeconfig)

"""A kubeconfig with the rights of the chart's service account in one namespace, so that a missing right shows."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.chart.helm import CHART, helm
from tests.e2e.stage.cluster import Cluster

_KINDS = ("ServiceAccount", "Role", "RoleBinding", "Lease")
RELEASE = "slackwater"


def operator_kubeconfig(cluster: Cluster, directory: Path) -> Path:
    """Apply what the chart says an operator of this namespace may do; the result is that operator's kubeconfig."""
    settings = ("crds.install=false", f"watchNamespaces={{{cluster.namespace}}}", "anySecret=true")
    words = (f"--namespace={cluster.namespace}", *(f"--set={setting}" for setting in settings))
    rendered = [each for each in yaml.safe_load_all(helm("template", RELEASE, str(CHART), *words)) if each]
    cluster.apply(*(manifest for manifest in rendered if manifest["kind"] in _KINDS))
    return account_kubeconfig(cluster, directory)


def account_kubeconfig(cluster: Cluster, directory: Path) -> Path:
    """The same where the chart's service account is there already, in the cluster's namespace."""
    token = cluster.kubectl("create", "token", RELEASE, "--duration=1h").strip()
    content = json.loads(cluster.kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    content["users"] = [{"name": content["users"][0]["name"], "user": {"token": token}}]
    path = directory / "operator-kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    return path

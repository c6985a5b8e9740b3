"""The tutorial's commands, run as they stand there, give what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.chart.helm import CHART, program
from tests.docs.page import examples
from tests.e2e.stage.cluster import Cluster
from tests.e2e.stage.kafka import Kafka
from tests.e2e.stage.waiting import wait_for
from tests.test_layout import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.minutes(2), pytest.mark.timeout(900)]

NAMESPACE: Final = "slackwater-tutorial"
TOPIC: Final = "tutorial-orders"
PAGE: Final = ROOT / "docs" / "tutorial.md"
_VALUES: Final = "cat > values.yaml <<EOF\n"


@dataclass(frozen=True)
class Reader:
    """Somebody with a terminal in the repository's folder, Helm, and a kubeconfig of their own."""

    folder: Path
    environment: dict[str, str]

    def runs(self, commands: str) -> str:
        # The sandbox's resource types are everybody's, and no release's.
        commands = commands.replace(_VALUES, _VALUES + "crds: {install: false}\n")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture
def reader(crds: None, kubeconfig: Path, bootstrap_servers: str, tmp_path: Path) -> Iterator[Reader]:
    (tmp_path / "charts").symlink_to(CHART.parent)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "helm").symlink_to(program())
    environment = {
        "KUBECONFIG": str(shutil.copy(kubeconfig, tmp_path / "kubeconfig")),
        "PATH": os.pathsep.join((str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
        "KAFKA": bootstrap_servers,
        "IMAGES": "slackwater",
        "COLUMNS": "400",  # nothing is wrapped
    }
    cluster, kafka = Cluster(kubeconfig, NAMESPACE), Kafka(bootstrap_servers)
    remove_what_is_left(cluster, kafka)
    yield Reader(tmp_path, environment)
    remove_what_is_left(cluster, kafka)


def remove_what_is_left(cluster: Cluster, kafka: Kafka) -> None:
    """Of this tutorial, or of one that broke off: then nobody is there to take the finalizer away."""
    cluster.kubectl("delete", "cg", "--all", "--wait=false")
    no_finalizers = '{"metadata":{"finalizers":null}}'
    cluster.kubectl("patch", "cg", "orders", "--type=merge", "-p", no_finalizers, check=False)
    cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=false")
    wait_for(
        "the tutorial's namespace to be gone",
        lambda: not cluster.kubectl("get", "namespace", NAMESPACE, "--ignore-not-found", "-o", "name"),
    )
    kafka.remove_topics_of(TOPIC)
    if not kafka.look(TOPIC).members:  # those of one that broke off stay until their sessions end
        kafka.remove_groups(TOPIC)


def test_its_commands_give_what_it_says(reader: Reader) -> None:
    run = 0
    for example in examples(PAGE.read_text(encoding="utf-8")):
        output = reader.runs(example.commands)
        assert example.missing_in(output) == "", f"{example.commands}\nprinted\n{output}"
        run += 1
    assert run >= 8

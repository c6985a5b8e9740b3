"""The chart's CronJob, run in a cluster by the pipeline's image: telemetry into the lake, a recommendation out of it.

Nothing leaves the sandbox's pods for the world, so what Spark needs is in the image. The namespace is `restricted`, the
lake is a volume that is root's, and the brokers ask for the password that the Secret has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
import yaml

from sandbox import kafka as brokers
from sandbox.images import PIPELINE
from sandbox.layout import Layout
from slackwater.api.recommendation import Recommendation
from slackwater.core.timeouts.reading import advice_of
from tests.chart.helm import CHART, helm
from tests.conftest import sandbox
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.waiting import wait_for
from tests.pipeline.recommend.following import followed, records_of, topics_of_ones_own
from tests.pipeline.recommend.months import RESTARTS, a_month
from tests.pipeline.sending import send

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(1800)]  # `make pipeline-pod`

RELEASE: Final = "slackwater"
CRON_JOB: Final = f"{RELEASE}-pipeline"
GROUP: Final = ("shop", "payments")
NEVER: Final = "0 0 30 2 *"
WITHIN_S: Final = 800.0


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The CronJob is there, and the telemetry in its topic."""

    cluster: Cluster
    events: int
    recommendations: str
    servers: str

    def run(self, name: str) -> dict[str, str]:
        """What each container said, of a Job made from the CronJob."""
        self.cluster.kubectl("create", "job", f"--from=cronjob/{CRON_JOB}", name)
        return self._said(name, "ingest", "recommend")

    def run_entrypoint(self, name: str, *arguments: str) -> str:
        """What the same Job says if it is the image's own program that runs, alone."""
        words = ("create", "job", f"--from=cronjob/{CRON_JOB}", name, "--dry-run=client", "--output=json")
        job = json.loads(self.cluster.kubectl(*words))
        pod = job["spec"]["template"]["spec"]
        del pod["initContainers"], pod["containers"][0]["command"]
        pod["containers"][0]["args"] = list(arguments)
        self.cluster.apply(job)
        return self._said(name, "recommend")["recommend"]

    def _said(self, name: str, *containers: str) -> dict[str, str]:
        def logs() -> dict[str, str]:
            words = ("logs", f"job/{name}", "--container")
            return {each: self.cluster.kubectl(*words, each, check=False).strip() for each in containers}

        assert wait_for(f"the end of {name}", lambda: self._end(name), WITHIN_S, logs) == "Succeeded", logs()
        return logs()

    def _end(self, name: str) -> str | None:
        pods, _ = self.cluster.api.list_all("pods", self.cluster.namespace, f"batch.kubernetes.io/job-name={name}")
        phases = [pod["status"].get("phase") for pod in pods]
        return next((phase for phase in phases if phase in ("Succeeded", "Failed")), None)


@pytest.fixture(scope="module")
def namespace(kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """With the lake's claim, and the brokers' password."""
    sandbox("up", "--pipeline")
    cluster = Cluster(kubeconfig, f"e2e-pipeline-{uuid4().hex[:6]}")
    with ExitStack() as stack:
        cluster.kubectl("create", "namespace", cluster.namespace)
        stack.callback(cluster.kubectl, "delete", "namespace", cluster.namespace, "--wait=false")
        cluster.kubectl("label", "namespace", cluster.namespace, "pod-security.kubernetes.io/enforce=restricted")
        cluster.apply(*lake(cluster.namespace, tmp_path_factory.mktemp("lake")), password())
        stack.callback(cluster.kubectl, "delete", "pv", cluster.namespace, "--wait=false")
        yield cluster


@pytest.fixture(scope="module")
def scheduled(namespace: Cluster, bootstrap_servers: str) -> Iterator[Scheduled]:
    events = a_month()
    secured = bootstrap_servers.replace(str(brokers.PLAINTEXT_PORT), str(brokers.SASL_PLAINTEXT_PORT))
    with topics_of_ones_own(bootstrap_servers, "telemetry", "recommendations") as (told, advised):
        send(bootstrap_servers, told, events)
        values = {
            "enabled": True,
            "image": {"repository": PIPELINE.rpartition(":")[0], "tag": PIPELINE.rpartition(":")[2]},
            "schedule": NEVER,
            "lakeClaim": "lake",
            "bootstrapServers": secured,
            "kafkaConfigSecret": "kafka",
            "telemetryTopic": told,
            "recommendationsTopic": advised,
            # The sandbox's node keeps no account of its disk, and so has none to give.
            "resources": {kind: {"ephemeral-storage": None} for kind in ("requests", "limits")},
        }
        namespace.apply(cron_job(namespace.namespace, {"pipeline": values}))
        yield Scheduled(namespace, len(events), advised, bootstrap_servers)


def cron_job(namespace: str, values: Json) -> Json:
    """As the chart has it."""
    settings = [f"--set-json={name}={json.dumps(value)}" for name, value in values.items()]
    only = "--show-only=templates/pipeline/cron-job.yaml"
    rendered: Json = yaml.safe_load(helm("template", RELEASE, str(CHART), f"--namespace={namespace}", only, *settings))
    return rendered


def lake(name: str, folder: Path) -> tuple[Json, Json]:
    """A folder of the node's own, which is this machine, and the claim on it."""
    here = {"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}
    shared = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    volume = {
        **shared,
        "capacity": {"storage": "1Gi"},
        "claimRef": {"namespace": name, "name": "lake"},
        "local": {"path": str(folder)},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [here]}},
    }
    claim = {**shared, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}
    return (
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "lake"}, "spec": claim},
    )


def password() -> Json:
    known = brokers.credentials(Layout.from_environment())
    login = f'username="{known.user}" password="{known.password}"'
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f"org.apache.kafka.common.security.scram.ScramLoginModule required {login};",
    }
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "kafka"},
        "stringData": {"client.properties": text},
    }


def test_the_image_tells_what_it_can_do(scheduled: Scheduled) -> None:
    said = scheduled.run_entrypoint("help", "pipeline", "--help")
    assert {"ingest", "audit", "report", "recommend"} <= {line.split()[0] for line in said.splitlines() if line.strip()}


def test_a_run_takes_all_telemetry_in_and_recommends(scheduled: Scheduled) -> None:
    said = scheduled.run("first")

    assert said["ingest"].splitlines()[-1] == f"{scheduled.events} events, 0 in quarantine"
    ((key, message),) = records_of(scheduled.servers, scheduled.recommendations)
    found = Recommendation.model_validate_json(message)
    assert (key, found.restarts) == ("/".join(GROUP), RESTARTS)
    assert followed(scheduled.servers, scheduled.recommendations, [GROUP]) == {GROUP: advice_of(found)}


def test_the_next_run_goes_on_where_that_was(scheduled: Scheduled) -> None:
    said = scheduled.run("second")

    assert said["ingest"].splitlines()[-1] == "0 events, 0 in quarantine"
    assert len(records_of(scheduled.servers, scheduled.recommendations)) == 2

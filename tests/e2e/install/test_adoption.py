"""A StatefulSet that runs becomes a ConsumerGroup's, is rolled out and rolled back as one, and is given back again.

One story, in order: each test goes on from where the last one ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import yaml

from tests.cli.command import Done, ran
from tests.e2e.members.members import Watched, started_at
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import PARTITIONS, REPLICAS, consumer_group, with_env
from tests.e2e.stage.kafka import Lookout, Sighting
from tests.e2e.stage.stage import Stage
from tests.e2e.stage.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

NAME = "legacy"
PODS = frozenset(f"{NAME}-{ordinal}" for ordinal in range(REPLICAS))


def stateful_set(stage: Stage) -> Json:
    """As a team would write it: their own labels, and static members that are called as their pods."""
    pod_name = {"fieldRef": {"fieldPath": "metadata.name"}}
    template = with_env(
        consumer_group(stage.cluster, NAME, stage.topic),
        KAFKA_BOOTSTRAP_SERVERS=stage.kafka.bootstrap_servers,
        KAFKA_GROUP_ID=stage.group_id(NAME),
        KAFKA_GROUP_INSTANCE_ID=pod_name,
        KAFKA_SESSION_TIMEOUT_MS="60000",
        NO_LONGER_WANTED="1",
    )["spec"]["template"]
    labels = {"app": NAME}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": NAME, "namespace": stage.cluster.namespace, "labels": {"team": "billing"}},
        "spec": {
            "replicas": REPLICAS,
            "serviceName": NAME,
            "selector": {"matchLabels": labels},
            "minReadySeconds": 1,
            "template": {**template, "metadata": {"labels": labels}},
        },
    }


def service() -> Json:
    spec = {"clusterIP": "None", "selector": {"app": NAME}, "ports": [{"port": 8080}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": NAME}, "spec": spec}


@dataclass
class Story:
    stage: Stage
    lookout: Lookout
    watched: Watched
    before: Sighting
    pods: dict[str, tuple[str, float]]
    """Name → uid and start of the container, before anything was done to them."""
    group: Json = field(default_factory=dict)

    def typed(self, *arguments: str) -> Done:
        environment = {"KUBECONFIG": str(self.stage.cluster.kubeconfig)}
        return ran(*arguments, "-n", self.stage.cluster.namespace, environment=environment)

    def set(self) -> Json:
        found = self.stage.cluster.get("sts", NAME)
        assert found is not None
        return found

    def assert_undisturbed(self, since: float) -> None:
        """No pod was deleted or started again, and no member changed, left or lost a partition."""
        assert running(self.stage) == self.pods
        assert not [record for record in self.stage.recorder.records("pods", since) if record.deleted]
        assert self.watched.touched(PODS, self.before, since) == []
        assert {seen.state for seen in self.lookout.sightings(since)} == {"STABLE"}

    def settle(self) -> None:
        """What the pods are now is what must not be disturbed."""
        self.before = self.watched.wait_whole(REPLICAS, PARTITIONS)
        self.pods = running(self.stage)


def running(stage: Stage) -> dict[str, tuple[str, float]]:
    """By the label that they had at first."""
    found, _ = stage.cluster.api.list_all("pods", stage.cluster.namespace, f"app={NAME}")
    return {each["metadata"]["name"]: (each["metadata"]["uid"], started_at(each) or 0.0) for each in found}


@pytest.fixture(scope="module")
def story(stage: Stage) -> Iterator[Story]:
    stage.cluster.apply(service(), stateful_set(stage))
    try:
        with Lookout(stage.kafka, stage.group_id(NAME)) as lookout:
            watched = Watched(NAME, lookout, stage.recorder)
            before = watched.wait_whole(REPLICAS, PARTITIONS, 180.0)  # one after the other: OrderedReady
            stage.cluster.kubectl("rollout", "status", "statefulset", NAME, "--timeout=60s")
            yield Story(stage, lookout, watched, before, running(stage))
    finally:
        _remove(stage)


def _remove(stage: Stage) -> None:
    stage.cluster.kubectl("delete", "cg", NAME, "--ignore-not-found", "--timeout=60s")
    stage.cluster.kubectl("delete", "sts", NAME, "--ignore-not-found")
    wait_for("its members to be gone", lambda: not stage.kafka.look(stage.group_id(NAME)).members, 60.0)


def test_the_operator_leaves_alone_what_it_was_not_given(story: Story) -> None:
    since = time.time()
    done = story.typed(
        "import", f"sts/{NAME}", "--client", "Librdkafka", "--topic", story.stage.topic, "--connection", "main"
    )
    assert done.code == 0, done
    assert f"kubectl slackwater adopt {NAME}" in done.err
    (story.group,) = (each for each in yaml.safe_load_all(done.out) if each["kind"] == "ConsumerGroup")
    story.group["spec"]["rollout"] = {"stableFor": "2s", "rejoinTimeout": "2m", "onFailure": "Rollback"}
    story.stage.cluster.apply(story.group)
    story.stage.cluster.wait_condition(NAME, "RolloutGated", "True", "ForeignStatefulSet")
    assert "kubectl slackwater adopt" in story.stage.cluster.condition(NAME, "RolloutGated")["message"]
    story.assert_undisturbed(since)


def test_a_dry_run_shows_what_would_differ_and_changes_nothing(story: Story) -> None:
    before = story.set()["metadata"]["generation"]
    done = story.typed("adopt", NAME, "--dry-run")
    assert (done.code, done.err) == (0, ""), done
    assert "none is restarted" in done.out
    assert "env[KAFKA_GROUP_INSTANCE_ID]" in done.out
    after = story.set()
    assert after["metadata"]["generation"] == before
    assert "ownerReferences" not in after["metadata"]


def test_adopting_restarts_no_pod_and_touches_no_member(story: Story) -> None:
    since = time.time()
    done = story.typed("adopt", NAME)
    assert done.code == 0, done
    assert "adopted; 3 pods run on" in done.out
    story.stage.cluster.wait_condition(NAME, "Ready", "True")
    story.stage.cluster.wait_condition(NAME, "RolloutGated", "True", "Paused")
    story.stage.look_again(NAME)
    story.assert_undisturbed(since)
    again = story.typed("adopt", NAME)
    assert (again.code, again.sentence.endswith("there is nothing to adopt.")) == (1, True), again
    assert story.stage.cluster.get("sts", NAME)["spec"]["selector"] == {"matchLabels": {"app": NAME}}  # type: ignore[index]


def test_a_pod_that_is_evicted_before_the_rollout_is_still_seen(story: Story) -> None:
    gone = f"{NAME}-1"
    story.stage.cluster.kubectl("delete", "pod", gone, "--wait=false")
    wait_for(
        "the pod to be made again", lambda: running(story.stage).get(gone, ("",))[0] not in ("", story.pods[gone][0])
    )
    story.stage.cluster.wait_condition(NAME, "Ready", "True")
    others = {name: was for name, was in running(story.stage).items() if name != gone}
    assert others == {name: was for name, was in story.pods.items() if name != gone}
    story.settle()


def test_a_version_that_fails_goes_back_to_what_ran_before(story: Story) -> None:
    cluster = story.stage.cluster
    impatient = {**story.group["spec"]["rollout"], "rejoinTimeout": "20s"}
    bad = {**story.group, "spec": {**story.group["spec"], "rollout": impatient}}
    cluster.apply(with_env(bad, NEVER_JOIN="1"))
    cluster.annotate(NAME, "pause", None)
    cluster.wait_phase(NAME, "RolledBack", 200.0)
    cluster.wait_condition(NAME, "Ready", "True")
    env = {each["name"] for each in story.set()["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert {"NO_LONGER_WANTED", "NEVER_JOIN"} & env == {"NO_LONGER_WANTED"}


def test_the_rollout_is_one_like_any_other_and_takes_away_what_nobody_wants(story: Story) -> None:
    cluster = story.stage.cluster
    story.settle()
    since = time.time()
    story.group = with_env(story.group, NO_LONGER_WANTED=None)
    cluster.apply(story.group)
    cluster.wait_complete(NAME)
    cluster.wait_condition(NAME, "Ready", "True")
    assert {name: was[0] for name, was in running(story.stage).items()}.keys() == PODS
    assert {seen.state for seen in story.lookout.sightings(since)} == {"STABLE"}  # static members: no rebalance
    env = {each["name"] for each in story.set()["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert "KAFKA_GROUP_INSTANCE_ID" in env
    assert "NO_LONGER_WANTED" not in env
    assert story.set()["spec"].get("minReadySeconds", 0) == 0
    assert story.set()["metadata"]["labels"]["team"] == "billing"
    found = story.stage.cluster.kubectl("get", "service", NAME, "-o", "json")
    assert json.loads(found)["spec"]["selector"] == {"app": NAME}


def test_it_is_given_back_without_a_restart(story: Story) -> None:
    story.settle()
    since = time.time()
    done = story.typed("release", NAME)
    assert (done.code, "is yours again" in done.out) == (0, True), done
    assert story.stage.cluster.get("cg", NAME) is None
    assert "ownerReferences" not in story.set()["metadata"]
    theirs = json.dumps(stateful_set(story.stage))
    story.stage.cluster.kubectl("replace", "--dry-run=server", "-f", "-", stdin=theirs)
    story.assert_undisturbed(since)


def test_what_was_given_back_can_be_adopted_again(story: Story) -> None:
    since = time.time()
    story.stage.cluster.apply(story.group)
    story.stage.cluster.wait_condition(NAME, "RolloutGated", "True", "ForeignStatefulSet")
    done = story.typed("adopt", NAME)
    assert done.code == 0, done
    story.stage.cluster.wait_condition(NAME, "Ready", "True")
    story.stage.look_again(NAME)
    story.assert_undisturbed(since)

"""What is made for a group: the same for the same group, in each library's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slackwater.api.annotations import GROUP_LABEL, PROTOCOL, REJOINED, RESTART, RESTARTED_AT, TEMPLATE_HASH
from slackwater.api.resources import ConsumerGroup
from slackwater.core.decision.acts import Purpose, WriteWorkload
from slackwater.core.manifests.objects import disruption_budget, headless_service, stateful_set
from slackwater.core.manifests.template import (
    Template,
    gave_the_same,
    render_template,
    wanted_template,
    what_people_gave,
)
from slackwater.core.manifests.writes import in_place, shape
from slackwater.core.world.memory import RolloutMemory
from slackwater.core.world.profile import Profile
from slackwater.core.world.workload import UpdateStrategy
from tests.api.manifests import template
from tests.core.factories import BOOTSTRAP, NAME, UID, group, pod, workload, world


def rendered(of: ConsumerGroup, profile: Profile = Profile.OWN_CHOICE) -> Template:
    return render_template(of, BOOTSTRAP, profile)


def variables(protocol: str = "", **spec: Any) -> dict[str, str | None]:
    body = rendered(group(**spec), Profile(protocol)).body
    container = body["spec"]["containers"][0]
    return {entry["name"]: entry.get("value") for entry in container["env"]}


def test_the_same_group_gives_the_same_template() -> None:
    assert rendered(group()) == rendered(group())


def test_what_is_rendered_leaves_the_group_as_it_was() -> None:
    """Most of its template is not copied."""
    written = template(env=("X",), readinessGates=[{"conditionType": "a"}], volumes=[{"name": "v"}])
    written["metadata"] |= {"annotations": {"a": "b"}}
    of = group(template=written, readinessGate=True)
    first = render_template(of, BOOTSTRAP, Profile.COOPERATIVE, restart="now")
    assert render_template(of, BOOTSTRAP, Profile.COOPERATIVE, restart="now") == first
    assert of.spec.template.to_manifest() == written


def test_what_concerns_no_pod_gives_the_same_template() -> None:
    plain = rendered(group())
    for other in (group(replicas=9), group(rollout={"stableFor": "1s"}), group(generation=7, annotations={"x": "y"})):
        assert rendered(other) == plain


@pytest.mark.parametrize(
    "changed",
    [
        {"timeouts": {"session": "60s"}},
        {"timeouts": {"maxPollInterval": "10m"}},
        {"groupId": "another"},
        {"membership": "Dynamic"},
        {"template": template(env=("X",))},
    ],
    ids=str,
)
def test_what_concerns_pods_gives_another_template(changed: dict[str, Any]) -> None:
    assert rendered(group(**changed)).hash != rendered(group()).hash


def test_a_restart_gives_another_template_whether_its_annotation_is_still_there_or_not() -> None:
    """Whoever prunes annotations (`kubectl replace`, Argo CD) restarts nobody."""
    never = wanted_template(world())
    told = RolloutMemory(restart="1")
    restarted = wanted_template(world(memory=told, group=group(annotations={RESTART: "1"})))
    assert restarted.hash != never.hash
    assert wanted_template(world(memory=told, group=group())).hash == restarted.hash


def test_another_broker_or_protocol_gives_another_template() -> None:
    variants = [
        (servers, protocol)
        for servers in ("a:1", "b:1")
        for protocol in (Profile.OWN_CHOICE, Profile.EAGER, Profile.CONSUMER)
    ]
    assert len({render_template(group(), servers, protocol).hash for servers, protocol in variants}) == 6


def test_the_digest_stands_in_the_template_and_the_users_own_parts_stay() -> None:
    made = wanted_template(world(memory=RolloutMemory(restart="now")))
    metadata = made.body["metadata"]
    assert metadata["annotations"] == {TEMPLATE_HASH: made.hash, PROTOCOL: "", RESTARTED_AT: "now"}
    assert metadata["labels"] == {"app": "payments", GROUP_LABEL: NAME}
    sidecar = made.body["spec"]["containers"][1]
    assert sidecar["env"] == [{"name": "KAFKA_GROUP_ID", "value": "of its own"}]


def test_classic_settings() -> None:
    assert variables() == {
        "KAFKA_BOOTSTRAP_SERVERS": BOOTSTRAP,
        "KAFKA_GROUP_ID": NAME,
        "KAFKA_MAX_POLL_INTERVAL_MS": "300000",
        "KAFKA_SESSION_TIMEOUT_MS": "45000",
        "KAFKA_HEARTBEAT_INTERVAL_MS": "3000",
        "SLACKWATER_ORDINAL": None,
        "KAFKA_GROUP_INSTANCE_ID": f"{NAME}-$(SLACKWATER_ORDINAL)",
    }


def test_settings_of_the_new_protocol_hold_no_classic_one() -> None:
    """F7: a client that gets both does not start."""
    assert variables("Consumer") == {
        "KAFKA_BOOTSTRAP_SERVERS": BOOTSTRAP,
        "KAFKA_GROUP_ID": NAME,
        "KAFKA_MAX_POLL_INTERVAL_MS": "300000",
        "KAFKA_GROUP_PROTOCOL": "consumer",
        "SLACKWATER_ORDINAL": None,
        "KAFKA_GROUP_INSTANCE_ID": f"{NAME}-$(SLACKWATER_ORDINAL)",
    }


ASSIGNOR = "KAFKA_PARTITION_ASSIGNMENT_STRATEGY"


@pytest.mark.parametrize(
    ("library", "protocol", "words"),
    [
        ("Java", "Eager", "org.apache.kafka.clients.consumer.RangeAssignor"),
        ("Java", "Cooperative", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"),
        ("Librdkafka", "Eager", "range"),
        ("Librdkafka", "Cooperative", "cooperative-sticky"),
        ("FranzGo", "Cooperative", "cooperative-sticky"),
        ("KafkaStreams", "Cooperative", None),
        ("Other", "Eager", None),
        ("Java", "", None),
    ],
)
def test_each_library_gets_its_own_words(library: str, protocol: str, words: str | None) -> None:
    assert variables(protocol, client={"library": library}).get(ASSIGNOR) == words


def test_kafka_streams_gets_its_application_id_and_its_threads() -> None:
    """It has its group's id from the one, and as many members as the other says."""
    given = variables(client={"library": "KafkaStreams"}, groupId="counts", membersPerPod=2)
    assert (given["KAFKA_APPLICATION_ID"], given["KAFKA_NUM_STREAM_THREADS"]) == ("counts", "2")
    assert not {"KAFKA_APPLICATION_ID", "KAFKA_NUM_STREAM_THREADS"} & variables(client={"library": "Java"}).keys()


def test_what_the_template_says_of_that_itself_stays() -> None:
    own = template(env=("KAFKA_APPLICATION_ID", "KAFKA_NUM_STREAM_THREADS"))
    given = variables(client={"library": "KafkaStreams"}, groupId="counts", membersPerPod=2, template=own)
    assert (given["KAFKA_APPLICATION_ID"], given["KAFKA_NUM_STREAM_THREADS"]) == ("x", "x")


def test_only_java_knows_max_poll_records() -> None:
    limited: dict[str, Any] = {"timeouts": {"maxPollRecords": 50}}
    assert variables(client={"library": "Java"}, **limited)["KAFKA_MAX_POLL_RECORDS"] == "50"
    assert "KAFKA_MAX_POLL_RECORDS" not in variables(client={"library": "Librdkafka"}, **limited)


def test_the_prefix_is_the_users() -> None:
    spring = variables(client={"library": "Java", "envPrefix": "SPRING_KAFKA_CONSUMER_PROPERTIES_"})
    ours = {"SLACKWATER_ORDINAL"}
    assert all(name.startswith("SPRING_KAFKA_CONSUMER_PROPERTIES_") for name in spring.keys() - ours)


def test_dynamic_members_get_no_instance_id() -> None:
    assert "KAFKA_GROUP_INSTANCE_ID" not in variables(membership="Dynamic")


def test_the_instance_id_is_made_of_the_ordinal_whatever_the_statefulset_is_called() -> None:
    """Kubernetes resolves a variable only in those that come after it."""
    body = rendered(group()).body
    ordinal, instance_id = body["spec"]["containers"][0]["env"][-2:]
    assert ordinal["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['apps.kubernetes.io/pod-index']"
    assert instance_id["value"] == f"{NAME}-$({ordinal['name']})"


def write(body: Mapping[str, Any], strategy: UpdateStrategy, partition: int) -> WriteWorkload:
    return WriteWorkload(Purpose.RESTART, body, 3, strategy, partition, "7")


def test_stateful_set() -> None:
    body = rendered(group()).body
    made = stateful_set(group(), write(body, UpdateStrategy.ROLLING_UPDATE, 2))
    assert made["spec"]["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    assert (made["spec"]["replicas"], made["spec"]["podManagementPolicy"]) == (3, "Parallel")
    assert made["spec"]["selector"]["matchLabels"].items() <= body["metadata"]["labels"].items()
    on_delete = stateful_set(group(), write(body, UpdateStrategy.ON_DELETE, 0))
    assert on_delete["spec"]["updateStrategy"] == {"type": "OnDelete"}


def test_the_second_stateful_set_has_its_own_name_and_range() -> None:
    act = replace(write(rendered(group()).body, UpdateStrategy.ROLLING_UPDATE, 3), name=f"{NAME}-alt", start=2)
    made = stateful_set(group(), act)
    assert (made["metadata"]["name"], made["spec"]["ordinals"]) == (f"{NAME}-alt", {"start": 2})
    assert made["spec"]["serviceName"] == NAME


def test_the_budget_is_as_people_ask() -> None:
    asked = group(disruptionBudget={"maxUnavailable": 2, "unhealthyPodEvictionPolicy": "IfHealthyBudget"})
    found = disruption_budget(asked)["spec"]
    assert (found["maxUnavailable"], found["unhealthyPodEvictionPolicy"]) == (2, "IfHealthyBudget")


def test_the_readiness_gate_stands_beside_those_of_the_template_and_once() -> None:
    own = template(readinessGates=[{"conditionType": "mesh.example/ready"}, {"conditionType": REJOINED}])
    gates = rendered(group(template=own, readinessGate=True)).body["spec"]["readinessGates"]
    assert gates == [{"conditionType": "mesh.example/ready"}, {"conditionType": REJOINED}]
    assert "readinessGates" not in rendered(group()).body["spec"]


def test_everything_made_belongs_to_the_group() -> None:
    body = rendered(group()).body
    made = stateful_set(group(), write(body, UpdateStrategy.ROLLING_UPDATE, 3)), headless_service(group())
    assert disruption_budget(group())["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    for manifest in (*made, disruption_budget(group())):
        owner = manifest["metadata"]["ownerReferences"][0]
        assert (owner["uid"], owner["controller"], manifest["metadata"]["name"]) == (UID, True, NAME)


def test_of_a_library_that_only_its_users_know_what_they_say_wins() -> None:
    own = {"profiles": {"Eager": {"session.timeout.ms": "7000", "assignor": "mine"}}}
    body = rendered(group(client={"library": "Other"}, protocol=own), Profile.EAGER).body
    made = {entry["name"]: entry.get("value") for entry in body["spec"]["containers"][0]["env"]}
    assert (made["KAFKA_SESSION_TIMEOUT_MS"], made["KAFKA_ASSIGNOR"]) == ("7000", "mine")


@pytest.mark.parametrize(("pods", "replicas", "partition"), [((), 0, 0), ((), 3, 3), ((pod(0),), 0, 3)])
def test_pods_that_come_where_there_is_none_have_the_template_and_all_others_stay(
    pods: Any, replicas: int, partition: int
) -> None:
    given = world(pods=pods, workload=workload(replicas=replicas))
    assert shape(given, rendered(group()), Purpose.SCALE).partition == partition


@pytest.mark.parametrize(
    ("purpose", "strategy"),
    [
        (Purpose.OPEN_OUT_OF_ORDER, UpdateStrategy.ON_DELETE),
        (Purpose.CLOSE_OUT_OF_ORDER, UpdateStrategy.ROLLING_UPDATE),
        (Purpose.RESTART, UpdateStrategy.ROLLING_UPDATE),
    ],
)
def test_out_of_order_no_controller_restarts_a_pod(purpose: Purpose, strategy: UpdateStrategy) -> None:
    given = world()
    assert in_place(given, given.sets[0], rendered(group()), purpose, 2).strategy is strategy


KNOWN_AS = ("e4198309918f30d9", "764d80f17cf829b3")
"""Today, and before `connectionRef` counted."""


def test_what_people_gave_is_the_same_for_the_next_slackwater() -> None:
    """By it a version that was given up is known. Another default, or another field's name, would try all of them again
    when the operator is upgraded: then what is remembered has to be read as it was written."""
    assert what_people_gave(world()) == "e4198309918f30d9"
    assert all(gave_the_same(world(memory=RolloutMemory(target_given=each))) for each in KNOWN_AS)
    assert not gave_the_same(world(memory=RolloutMemory(target_given="another")))


@pytest.mark.parametrize(
    ("asked", "written"),
    [({}, ""), ({"serviceAccountName": "worker"}, "worker"), ({"serviceAccount": "worker"}, "worker")],
    ids=["none", "by its name", "by the older name"],
)
def test_a_service_account_is_written_by_both_names(asked: dict[str, Any], written: str) -> None:
    """The API server copies the newer name to the older one, and from there back: a field that is not ours keeps what
    nobody asks for any more, so that no rollback took an account away again."""
    body = {"metadata": {}, "spec": {"containers": [], **asked}}
    spec = stateful_set(group(), write(body, UpdateStrategy.ROLLING_UPDATE, 3))["spec"]["template"]["spec"]
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == (written, written)

"""Objects become models, or sentences."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from slackwater.api.errors import InvalidSpec
from slackwater.api.kept import LARGEST_SPEC, MOST_VALUES, SMALL, CutSpec, PackedJson, cut_to_size, unpacked, weight_of
from slackwater.api.parsing import (
    parse_consumer_fleet,
    parse_consumer_group,
    parse_fleet_campaign,
    parse_kafka_connection,
)
from slackwater.api.settings_profiles import ProfileName
from tests.api.manifests import Manifest, consumer_group, kafka_connection, template
from tests.api.refusal import Refusal
from tests.api.refusals import REFUSALS

PARSE: dict[str, Callable[[Manifest], object]] = {
    "ConsumerGroup": parse_consumer_group,
    "ConsumerFleet": parse_consumer_fleet,
    "FleetCampaign": parse_fleet_campaign,
    "KafkaConnection": parse_kafka_connection,
    "ClusterKafkaConnection": parse_kafka_connection,
}


def problems(manifest: Manifest) -> tuple[str, ...]:
    with pytest.raises(InvalidSpec) as refused:
        PARSE[manifest["kind"]](manifest)
    return refused.value.problems


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_a_broken_rule_gives_one_sentence_at_its_place(refusal: Refusal) -> None:
    [problem] = problems(refusal.manifest)
    assert problem.startswith(refusal.path or "the object")
    assert refusal.sentence in problem


DEEP = 9_990
"""The API server takes 10,000 levels of one object."""
OF_A_DEEP_OBJECT = """
import json, sys
from slackwater.api.depth import allow_deep_objects
from slackwater.api.errors import InvalidSpec
from slackwater.api.parsing import parse_consumer_group
allow_deep_objects()
try:
    parse_consumer_group(json.loads(sys.stdin.read()))
except InvalidSpec as error:
    print(error)
"""


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"x":', "}")], ids=["lists", "mappings"])
def test_an_object_as_deep_as_the_api_server_takes_is_refused_and_ends_nothing(begin: str, end: str) -> None:
    """In a process of its own, since it is told to go that deep once for all."""
    whole = json.dumps(consumer_group(template=template(x="DEEP")))
    text = whole.replace('"DEEP"', begin * DEEP + "1" + end * DEEP)
    with pytest.raises(RecursionError):
        json.loads(text)
    done = subprocess.run(
        [sys.executable, "-c", OF_A_DEEP_OBJECT], input=text, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("ConsumerGroup payments is not valid. spec.template.spec.x")
    assert "nest it less deep" in done.stdout
    assert len(done.stdout) < 400


def test_a_date_in_a_yaml_file_is_refused_at_its_field() -> None:
    metadata = {"annotations": {"released": datetime.date(2026, 11, 27)}}
    [problem] = problems(consumer_group(template={**template(), "metadata": metadata}))
    assert problem.startswith("spec.template.metadata")


def test_letters_count_by_their_bytes() -> None:
    parse_consumer_group(consumer_group(template=template(x="я" * (LARGEST_SPEC // 2 - 1000))))


def test_a_spec_that_is_too_large_is_refused() -> None:
    [problem] = problems(consumer_group(template=template(x="a" * LARGEST_SPEC)))
    assert problem.endswith("bytes: keep it to 262,144; long texts go into a ConfigMap.")


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ({}, ("metadata is missing: add it.", "spec is missing: add it.")),
        ([], ("the object cannot be []: write a mapping of fields.",)),
        (consumer_group() | {"spec": []}, ("spec cannot be []: write a mapping of fields.",)),
        (consumer_group() | {"kind": "Deployment"}, ("kind cannot be 'Deployment': write 'ConsumerGroup'.",)),
        (
            consumer_group(connection_ref={"name": "a"}),
            ("spec.connection_ref is no known field: did you mean connectionRef?",),
        ),
    ],
    ids=["nothing", "a list", "a list for a spec", "another kind", "Python's name of a field"],
)
def test_things_that_are_no_consumer_group_are_refused_in_words(shape: Any, found: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSpec) as refused:
        parse_consumer_group(shape)
    assert refused.value.problems == found


def test_every_problem_is_named_at_once() -> None:
    found = problems(consumer_group(topics=[], replicas=-1, timeouts={"session": "10m"}))
    assert [problem.partition(":")[0] for problem in found] == ["spec.topics", "spec.replicas", "spec.timeouts.session"]


def test_a_refusal_reads_as_one_text() -> None:
    with pytest.raises(InvalidSpec) as refused:
        parse_consumer_group(consumer_group(replicas=-1))
    assert str(refused.value) == (
        "ConsumerGroup payments is not valid. spec.replicas: set replicas to 0 or more; 0 stops the consumers and"
        " keeps the group's offsets."
    )


def test_what_is_not_said_has_its_default() -> None:
    spec = parse_consumer_group(consumer_group()).spec
    assert spec.replicas == 1
    assert spec.members_per_pod == 1
    assert spec.membership == "Static"
    assert spec.protocol.target is None
    assert spec.client.env_prefix == "KAFKA_"
    assert spec.deletion_policy == "Retain"
    assert spec.timeouts.mode == "Off"
    assert spec.timeouts.session_timeout_ms is None
    assert spec.timeouts.classic_session_timeout_ms == 45_000
    assert spec.timeouts.classic_heartbeat_interval_ms == 3_000
    assert spec.timeouts.max_poll_interval_ms is None
    assert spec.timeouts.given_max_poll_interval_ms == 300_000
    assert spec.rollout.strategy == "InPlace"
    assert spec.rollout.on_failure == "Pause"
    assert spec.rollout.stable_for_ms == 10_000
    assert spec.rollout.rejoin_timeout_ms == 300_000
    assert spec.rollout.canary == ()
    assert spec.rollout.max_unavailable == 1
    assert spec.rollout.max_lag is None


def test_a_null_means_that_nothing_was_said() -> None:
    group = parse_consumer_group(consumer_group(replicas=None, timeouts={"session": None}, rollout=None))
    assert group.spec == parse_consumer_group(consumer_group()).spec


def test_the_group_id_is_the_name_unless_it_is_given() -> None:
    assert parse_consumer_group(consumer_group(name="payments")).group_id == "payments"
    assert parse_consumer_group(consumer_group(name="payments", groupId="Payments.EU")).group_id == "Payments.EU"


def test_durations_are_milliseconds() -> None:
    group = consumer_group(
        timeouts={"session": "1m30s", "heartbeat": "500ms", "maxPollInterval": "1h"},
        rollout={"stableFor": "0s", "canary": [{"replicas": 1, "hold": "5m"}, {"replicas": 3}]},
    )
    spec = parse_consumer_group(group).spec
    assert spec.timeouts.session_timeout_ms == 90_000
    assert spec.timeouts.heartbeat_interval_ms == 500
    assert spec.timeouts.max_poll_interval_ms == 3_600_000
    assert spec.rollout.stable_for_ms == 0
    assert [(step.replicas, step.hold_ms) for step in spec.rollout.canary] == [(1, 300_000), (3, None)]


def test_a_short_session_has_a_heartbeat_to_match() -> None:
    spec = parse_consumer_group(consumer_group(timeouts={"session": "6s"})).spec
    assert spec.timeouts.classic_heartbeat_interval_ms == 2_000


def test_what_the_broker_keeps_is_left_to_it_unless_it_is_given() -> None:
    spec = parse_consumer_group(consumer_group(timeouts={"consumer": {"session": "50s"}})).spec
    assert (spec.timeouts.consumer.session_timeout_ms, spec.timeouts.consumer.heartbeat_interval_ms) == (50_000, None)
    assert spec.timeouts.classic_session_timeout_ms == 45_000, "the two protocols' timeouts are two matters"


def test_profiles_are_those_that_are_spelled_out() -> None:
    given = {"Eager": {"partition.assignment.strategy": "range"}, "Consumer": {"group.protocol": "consumer"}}
    group = consumer_group(client={"library": "Other"}, protocol={"profiles": given})
    protocol = parse_consumer_group(group).spec.protocol
    assert protocol.profiles == {ProfileName.EAGER: given["Eager"], ProfileName.CONSUMER: given["Consumer"]}
    assert parse_consumer_group(consumer_group()).spec.protocol.profiles == {}


def test_the_version_that_streams_ran_before_is_a_text() -> None:
    group = consumer_group(
        client={"library": "KafkaStreams"}, protocol={"target": "Cooperative", "upgradeFrom": "0.11.0"}
    )
    assert parse_consumer_group(group).spec.protocol.upgrade_from == "0.11.0"


@pytest.mark.parametrize(
    ("library", "protocol"),
    [("KafkaStreams", {}), ("Java", {"target": "Cooperative"})],
    ids=["without a target", "of another library"],
)
def test_upgrade_from_in_the_environment_is_the_consumers_own_matter(library: str, protocol: Manifest) -> None:
    own = template(env=("KAFKA_UPGRADE_FROM",))
    group = consumer_group(client={"library": library}, protocol=protocol, template=own)
    assert parse_consumer_group(group).spec.consumer_container.env[0].name == "KAFKA_UPGRADE_FROM"


def test_the_template_comes_back_as_it_was_written() -> None:
    written = template(env=("LOG_LEVEL",), volumes=[{"name": "tmp", "emptyDir": None}], terminationGracePeriodSeconds=5)
    assert parse_consumer_group(consumer_group(template=written)).spec.template.to_manifest() == written


def test_a_written_template_is_its_readers_to_change() -> None:
    group = parse_consumer_group(consumer_group())
    taken: Any = group.spec.template.to_manifest()
    taken["spec"]["containers"][0]["env"] = [{"name": "ADDED", "value": "later"}]
    taken["spec"]["containers"].append({"name": "another"})
    assert group.spec.template.to_manifest() == parse_consumer_group(consumer_group()).spec.template.to_manifest()


def test_what_is_not_modelled_of_a_template_is_not_copied() -> None:
    """Of 20,000 values each copy took four megabytes and 15 ms, in each plan."""
    spec = parse_consumer_group(consumer_group(template=template(x=[{"a": 0}]))).spec.template.spec
    assert spec.to_manifest()["x"] is (spec.model_extra or {})["x"]


def version(number: int, **changes: Any) -> Manifest:
    obj = consumer_group(**changes)
    obj["metadata"] |= {"uid": "u", "generation": 1, "resourceVersion": str(number)}
    return obj


def test_a_spec_is_read_once_for_each_generation() -> None:
    first = parse_consumer_group(version(1))
    again = parse_consumer_group(version(2), first)
    assert again.spec is first.spec
    assert again == parse_consumer_group(version(2))


@pytest.mark.parametrize("other", [{"uid": "v"}, {"generation": 2}, {"uid": ""}, {"generation": 0}], ids=str)
def test_another_spec_is_read_again(other: dict[str, Any]) -> None:
    obj = version(2, replicas=5)
    obj["metadata"] |= other
    assert parse_consumer_group(obj, parse_consumer_group(version(1))).spec.replicas == 5


def test_what_is_kept_no_longer_is_not_read_from_an_earlier_version() -> None:
    cut = {**version(2), "spec": CutSpec({}, "there is no room.")}
    with pytest.raises(InvalidSpec, match="there is no room"):
        parse_consumer_group(cut, parse_consumer_group(version(1)))


def test_the_assignor_is_the_consumers_own_matter_without_a_target() -> None:
    own = template(env=("KAFKA_PARTITION_ASSIGNMENT_STRATEGY",))
    assert parse_consumer_group(consumer_group(template=own)).spec.protocol.target is None


def test_settings_of_other_containers_are_nobodys_business() -> None:
    spec = parse_consumer_group(consumer_group()).spec
    assert spec.consumer_container.name == "consumer"
    assert [entry.name for entry in spec.template.spec.containers[1].env] == ["KAFKA_GROUP_ID"]


def test_a_written_spec_says_the_same_when_it_is_read_again() -> None:
    group = parse_consumer_group(consumer_group(timeouts={"session": "1h30m", "maxPollInterval": "2h"}, replicas=6))
    written = group.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert written["spec"]["timeouts"]["session"] == "1h30m"
    assert parse_consumer_group(written) == group


def test_metadata_of_the_api_server_is_read() -> None:
    manifest = consumer_group()
    manifest["metadata"] |= {
        "namespace": "shop",
        "uid": "4f1c",
        "generation": 3,
        "resourceVersion": "812",
        "deletionTimestamp": "2026-11-21T19:00:00Z",
        "finalizers": ["slackwater.dev/members"],
        "managedFields": [{"manager": "kubectl"}],
    }
    manifest["status"] = {"phase": "Stable"}
    group = parse_consumer_group(manifest)
    assert (group.namespace, group.metadata.uid, group.metadata.generation) == ("shop", "4f1c", 3)
    assert group.metadata.is_being_deleted
    assert group.status == {"phase": "Stable"}


def test_a_connection_says_how_often_groups_are_looked_at() -> None:
    observe = parse_kafka_connection(kafka_connection()).spec.observe
    assert (observe.moving_interval_ms, observe.rest_interval_ms) == (1_000, 15_000)


def test_a_field_that_nobody_can_see_is_written_out() -> None:
    unseen: dict[str, Any] = {"topics\x1b[31m\u202e\u00ad\U000e0041": ["orders"]}
    manifest = consumer_group(**unseen)
    with pytest.raises(InvalidSpec) as caught:
        parse_consumer_group(manifest)
    (sentence,) = (each for each in caught.value.problems if "no known field" in each)
    assert sentence.startswith("spec.topics\\x1b[31m\\u202e\\xad\\U000e0041 is no known field")


def test_the_first_of_very_many_problems_are_said_and_the_others_counted() -> None:
    """A schema was made for each of them: a thousand took half a minute, in the loop that all groups share."""
    fields: dict[str, Any] = {f"field{number}": 0 for number in range(1_000)}
    with pytest.raises(InvalidSpec) as caught:
        parse_consumer_group(consumer_group(**fields))
    assert len(caught.value.problems) == 51
    assert caught.value.problems[-1] == "The object has 950 more problems."


def test_many_small_values_are_refused_as_well_as_many_bytes() -> None:
    [problem] = problems(consumer_group(template=template(x=[[]] * MOST_VALUES)))
    assert "values: keep it to 20,000" in problem
    parse_consumer_group(consumer_group(template=template(x=[[]] * (MOST_VALUES // 3))))


@pytest.mark.parametrize("huge", [{"x": "a" * LARGEST_SPEC}, {"x": [[]] * MOST_VALUES}], ids=["bytes", "values"])
def test_what_is_kept_of_a_spec_that_is_too_large_says_whose_group_it_claims_and_why_it_is_not_read(huge: Any) -> None:
    obj = consumer_group(template=template(**huge), groupId="orders", connectionRef={"name": "main"})
    obj["metadata"]["managedFields"] = [{"manager": "kubectl"}]
    kept = cut_to_size(obj)
    assert kept["spec"] == {"groupId": "orders", "connectionRef": {"name": "main"}}
    assert "managedFields" not in kept["metadata"]
    assert problems(dict(kept)) == problems(obj)


def test_a_small_one_is_kept_whole() -> None:
    obj = consumer_group()
    assert cut_to_size(obj)["spec"] == obj["spec"]


NESTED: Any = json.loads("[" + ",".join(['{"a":' * 100 + "0" + "}" * 100] * 195) + "]")


@pytest.mark.parametrize("large", [NESTED, "я\ud800" * 20_000], ids=["values", "letters"])
def test_a_large_one_is_kept_as_its_text_and_read_as_it_was(large: Any) -> None:
    """Of 20,000 values, in 120 KiB, four megabytes would be kept; a hundred and fifty of these ended the operator."""
    obj = consumer_group(template=template(x=large), groupId="orders", connectionRef={"name": "main"})
    kept = cut_to_size(obj)
    assert isinstance(kept["spec"], PackedJson)
    assert kept["spec"] == {"groupId": "orders", "connectionRef": {"name": "main"}}
    assert len(kept["spec"].text) < SMALL < kept["spec"].weight
    assert unpacked(kept["spec"]) == obj["spec"]
    assert cut_to_size(kept)["spec"] is kept["spec"]
    if large is NESTED:
        assert parse_consumer_group(kept) == parse_consumer_group(obj)


def test_a_spec_weighs_what_python_needs_for_it() -> None:
    assert weight_of('"aaaa"') == 6
    assert weight_of('"яaaa"') == 24
    assert weight_of('{"a":[1,2]}') == 11 + 3 * 200

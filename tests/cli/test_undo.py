"""Going back: what is written is what people wrote for that version, and nothing that the operator put there."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.adapters.cluster.errors import Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP, CONTROLLER_REVISION, STATEFUL_SET
from slackwater.adapters.cluster.snapshot import read_snapshot, to_world
from slackwater.api.annotations import PAUSE, TEMPLATE_HASH
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.errors import NoSuchRevision, NothingToDo
from slackwater.cli.reaching.choice import Place
from slackwater.cli.undoing.command import undo
from slackwater.cli.undoing.template import merge_patch, own_part
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import Template, render_template, what_people_gave
from slackwater.core.world.broker import Bounds
from slackwater.core.world.history import GroupHistory
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, read_memory, write_memory
from slackwater.core.world.observation import Unobserved
from slackwater.core.world.profile import Profile
from tests.api.manifests import consumer_group, template
from tests.cli.command import typed
from tests.cli.test_adopting import merged
from tests.cli.test_history import owned, stateful_set
from tests.shell.fakes import FakeApi

Json = dict[str, Any]
PLACE = Place("shop", "payments")
UID = "uid-of-group"
RICH: Mapping[str, Json] = {
    "plain": template(),
    "without variables of its own": {"spec": {"containers": [{"name": "consumer", "image": "consumer:1"}]}},
    "variables of its own": template(env=("LOG_LEVEL", "JAVA_OPTS")),
    "links to Services": template(enableServiceLinks=False),
    "a readiness gate": template(readinessGates=[{"conditionType": "example.com/warm"}]),
    "annotations": {**template(), "metadata": {"annotations": {"prometheus.io/scrape": "true"}, "labels": {"a": "b"}}},
}


class Cluster(FakeApi):
    async def read(self, kind: Any, namespace: str, name: str) -> Any:
        return {} if kind.name == "APIResourceList" else await super().read(kind, namespace, name)

    async def merge(self, kind: Any, obj: Mapping[str, Any], change: Json, *, exact: bool = False) -> Any:
        assert exact, "somebody may have changed it meanwhile"
        place = (kind.name, obj["metadata"]["namespace"], obj["metadata"]["name"])
        self._ask("merge", kind)
        if self.objects[place]["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
            raise Conflict("it has changed")
        return self._store(kind, merged(self.objects[place], change))

    def asks_for(self, image: str, **memory: Any) -> None:
        """People have applied another template; the operator remembers what it did, but for `memory`."""
        self.group["spec"]["template"] = of_version(image)
        self.group["status"] = {"rollout": write_memory(replace(read_memory(self.group["status"]), **memory))}

    async def remembers_what_was_given(self) -> None:
        """As the operator notes it when it begins what is asked for now."""
        snapshot = await read_snapshot(self, *PLACE)
        assert snapshot is not None
        world = to_world(snapshot, Unobserved(Reason.OBSERVATION_INCOMPLETE, "", 0.0), GroupHistory(), 0.0)
        memory = replace(world.memory, target_given=what_people_gave(world))
        self.group["status"] = {"rollout": write_memory(memory)}

    def keeps(self, number: int, rendered: Template) -> None:
        """A ControllerRevision, made on that day."""
        data = {"spec": {"template": {"$patch": "replace", **with_defaults(rendered.body, pulled=True)}}}
        made_at = f"2025-11-{number:02}T12:00:00Z"
        name, owner = f"payments-{number}", "uid-of-payments"
        labels = {"labels": {"slackwater.dev/group": "payments"}}
        self.add(
            CONTROLLER_REVISION,
            owned("ControllerRevision", name, name, owner, made_at, revision=number, data=data, metadata=labels),
        )

    def kept(self, revision: str) -> Json:
        """Its pod template."""
        found: Json = self.objects[CONTROLLER_REVISION.name, "shop", revision]["data"]["spec"]["template"]
        return found

    def hash_of(self, revision: str) -> str:
        return str(self.kept(revision)["metadata"]["annotations"][TEMPLATE_HASH])

    @property
    def group(self) -> Json:
        return self.objects[CONSUMER_GROUP.name, *PLACE]

    @property
    def template(self) -> Json:
        found: Json = self.group["spec"]["template"]
        return found


def of_version(image: str, **more: Any) -> Json:
    found = template(env=("LOG_LEVEL",), **more)
    found["spec"]["containers"][0]["image"] = image
    return found


def manifest(body: Json, **spec: Any) -> Json:
    found = consumer_group(replicas=3, template=body, **spec)
    found["spec"]["client"] = found["spec"]["client"] | {"container": "consumer"}
    found["metadata"] |= {"namespace": "shop", "uid": UID, "generation": 1, "resourceVersion": "1"}
    return found


def with_defaults(body: Mapping[str, Any], *, pulled: bool = False) -> Json:
    """As the API server keeps a pod template."""
    found = deepcopy(dict(body))
    for container in found["spec"]["containers"] if pulled else ():
        container |= {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log"}
    found["spec"] = {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "securityContext": {}} | found["spec"]
    found["metadata"] = {"creationTimestamp": None} | (found.get("metadata") or {})
    return found


def cluster_with(*images: str, failed: str = "", wanted: str = "", **more: Any) -> Cluster:
    """Its revisions, the oldest first; the last image is wanted, or `wanted`. `more`: of each version's pods."""
    api, hashes = Cluster(), {}
    for number, image in enumerate(images, 1):
        rendered = render_template(parse_consumer_group(manifest(of_version(image, **more))), "b:9092", Profile.EAGER)
        hashes[image] = rendered.hash
        api.keeps(number, rendered)
    group = manifest(of_version(wanted or images[-1], **more))
    memory = RolloutMemory(
        phase=RolloutPhase.COMPLETE, target_hash=hashes[wanted or images[-1]], failed_hash=hashes.get(failed, "")
    )
    api.add(CONSUMER_GROUP, {**group, "status": {"rollout": write_memory(memory)}})
    api.add(STATEFUL_SET, stateful_set("payments", UID))
    return api


async def undone(api: Any, number: int | None = None) -> str:
    return await undo(number)(api, PLACE, 0.0)


async def test_the_version_before_is_asked_for_again() -> None:
    api = cluster_with("consumer:1", "consumer:2")
    said = await undone(api)
    assert said == (
        "payments: spec.template is that of revision 1 again (image consumer:1; spec.containers[consumer].image), and"
        " is rolled out; what a GitOps tool keeps elsewhere is to go back there, too"
    )
    assert api.template == of_version("consumer:1")
    assert api.writes() == ["merge ConsumerGroup"]


async def test_of_a_paused_group_it_is_said_what_it_waits_for() -> None:
    api = cluster_with("consumer:1", "consumer:2")
    api.group["metadata"]["annotations"] = {PAUSE: "Black Friday"}
    assert ", and is rolled out once you resume it; what" in await undone(api)


async def test_what_people_say_themselves_comes_back_though_it_is_a_default() -> None:
    api = cluster_with("consumer:1", "consumer:2")
    api.template["spec"]["containers"][0]["imagePullPolicy"] = "Always"
    await undone(api)
    assert api.template["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert "imagePullPolicy" not in api.template["spec"]["containers"][1]


async def test_an_edit_of_which_no_pod_has_anything_yet_is_taken_back_whole() -> None:
    """A single default that came along would make another version of it, and restart every pod for nothing."""
    api = cluster_with("consumer:1", "consumer:2")
    api.asks_for("consumer:3", phase=RolloutPhase.PROGRESSING, target_hash="of consumer:3")
    await undone(api)
    assert api.template == of_version("consumer:2")


async def test_after_a_rollback_the_version_is_asked_for_that_runs() -> None:
    """Kubernetes gives a version that comes back the next number: the one before the failed one would be older."""
    api = cluster_with("consumer:1", "consumer:2", "consumer:3", failed="consumer:3")
    api.asks_for("consumer:3", phase=RolloutPhase.ROLLED_BACK, last_good_revision="payments-2")
    api.objects[CONTROLLER_REVISION.name, "shop", "payments-2"]["revision"] = 4
    assert "that of revision 4 again (image consumer:2;" in await undone(api)
    assert api.template == of_version("consumer:2")


async def test_who_goes_back_once_more_does_not_come_to_what_had_failed() -> None:
    api = cluster_with("consumer:1", "consumer:2", "consumer:3", failed="consumer:3")
    failed = read_memory(api.group["status"]).failed_hash
    memory = {"failed_hash": "", "given_up_before": failed, "target_hash": api.hash_of("payments-2")}
    api.asks_for("consumer:2", phase=RolloutPhase.COMPLETE, **memory)
    api.objects[CONTROLLER_REVISION.name, "shop", "payments-2"]["revision"] = 4
    await undone(api)
    assert api.template == of_version("consumer:1")


@pytest.mark.parametrize("number", [None, 2])
async def test_an_edit_that_no_operator_has_seen_is_what_is_taken_back(number: int | None) -> None:
    """Or one that it refuses: what it rolled out last is the version before."""
    api = cluster_with("consumer:1", "consumer:2")
    await api.remembers_what_was_given()
    api.asks_for("consumer:3")
    await undone(api, number)
    assert api.template == of_version("consumer:2")


async def test_what_such_an_edit_has_left_out_comes_back() -> None:
    api = cluster_with("consumer:1", "consumer:2", nodeSelector={"disk": "ssd"})
    await api.remembers_what_was_given()
    api.asks_for("consumer:2")
    await undone(api)
    assert api.template == of_version("consumer:2", nodeSelector={"disk": "ssd"})


async def test_versions_of_the_same_template_are_passed_over() -> None:
    """`restart`, other timeouts and each step to another protocol make such."""
    api = cluster_with("consumer:1", "consumer:2")
    api.keeps(3, render_template(parse_consumer_group(api.group), "b:9092", Profile.EAGER, restart="2026-11-30"))
    api.asks_for("consumer:2", target_hash=api.hash_of("payments-3"))
    await undone(api)
    assert api.template == of_version("consumer:1")


@pytest.mark.parametrize("is_noted", [True, False])
async def test_what_a_policy_has_put_into_all_versions_stays_out(is_noted: bool) -> None:
    """An operator before this one did not note what it was given: then it comes along, as nobody knows whose it is."""
    api = cluster_with("consumer:1", "consumer:2")
    for name in ("payments-1", "payments-2"):
        api.kept(name)["spec"]["priorityClassName"] = "batch"
    if is_noted:
        await api.remembers_what_was_given()
    await undone(api, 1)
    assert api.template == of_version("consumer:1", **({} if is_noted else {"priorityClassName": "batch"}))


async def test_with_what_a_policy_has_put_there_it_is_still_the_version_that_is_asked_for() -> None:
    """Where a fleet gives defaults, what was noted is another thing than the group's own words."""
    api = cluster_with("consumer:1", "consumer:2")
    for name in ("payments-1", "payments-2"):
        api.kept(name)["spec"]["priorityClassName"] = "batch"
    api.group["status"]["observedGeneration"] = 1
    assert "that of revision 1 again" in await undone(api)
    api.asks_for("consumer:3")
    api.group["status"]["observedGeneration"] = 1
    assert "that of revision 2 again" in await undone(api)


def test_it_is_for_one_group_and_its_help_offers_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    offered = typed(capsys, "undo", "--help").out
    assert [each for each in ("--selector", "--all", "[NAME]...") if each in offered] == []
    assert "extra argument" in typed(capsys, "undo", "payments", "refunds").sentence


FULL: Final[Json] = {
    "containers": [
        {
            "name": "consumer",
            "image": "registry:5000/team/consumer",
            "ports": [{"containerPort": 8080}],
            "livenessProbe": {"httpGet": {"port": 8080}},
            "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
        },
        {"name": "sidecar", "image": "sidecar@sha256:ab", "startupProbe": {"grpc": {"port": 9}}},
    ],
    "initContainers": [{"name": "first", "image": "first:latest"}],
    "serviceAccountName": "consumer",
    "nodeSelector": {"protocol": "TCP"},
    "volumes": [
        {"name": "config", "configMap": {"name": "config"}},
        {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
        {"name": "logs", "hostPath": {"path": "/var/log"}},
    ],
}


def filled_in(pod: Json) -> Json:
    """As an API server of Kubernetes 1.36 keeps it."""
    found = deepcopy(pod)
    probe = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    consumer, sidecar = found["containers"]
    consumer["ports"][0]["protocol"] = "TCP"
    consumer["livenessProbe"] |= probe
    consumer["livenessProbe"]["httpGet"] |= {"path": "/", "scheme": "HTTP"}
    consumer["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] = "v1"
    sidecar["startupProbe"] |= probe
    sidecar["startupProbe"]["grpc"]["service"] = ""
    pulled = ("Always", "IfNotPresent", "Always")
    for container, policy in zip((consumer, sidecar, *found["initContainers"]), pulled, strict=True):
        terminated = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
        container |= {"imagePullPolicy": policy, "resources": {}, **terminated}
    config, token, logs = found["volumes"]
    config["configMap"]["defaultMode"] = token["projected"]["defaultMode"] = 420
    token["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"] = 3600
    logs["hostPath"]["type"] = ""
    usual = {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler"}
    of_pods = {"terminationGracePeriodSeconds": 30, "securityContext": {}, "serviceAccount": "consumer"}
    return found | usual | of_pods


def test_what_the_api_server_fills_in_is_left_out_wherever_it_stands() -> None:
    group = parse_consumer_group(manifest(template()))
    assert own_part({"spec": filled_in(FULL)}, group, template()) == {"spec": FULL}


def test_what_people_say_themselves_stays_though_it_would_be_filled_in() -> None:
    said = {"spec": filled_in(FULL)}
    assert own_part(said, parse_consumer_group(manifest(template())), said) == said


async def test_any_that_is_kept_can_be_asked_for() -> None:
    api = cluster_with("consumer:1", "consumer:2", "consumer:3")
    await undone(api, 1)
    assert api.template == of_version("consumer:1")


async def test_one_that_failed_is_passed_over_but_may_be_asked_for() -> None:
    api = cluster_with("consumer:1", "consumer:2", "consumer:3", failed="consumer:2")
    await undone(api)
    assert api.template == of_version("consumer:1")
    await undone(cluster_with("consumer:1", "consumer:2", "consumer:3", failed="consumer:2"), 2)


@pytest.mark.parametrize(
    ("images", "number", "error", "words"),
    [
        (("consumer:1",), None, NoSuchRevision, "keeps no earlier version of payments: apply a manifest that works"),
        (("consumer:1", "consumer:2"), 7, NoSuchRevision, "keeps no revision 7 of payments, but 1, 2"),
        (("consumer:1", "consumer:2"), 2, NothingToDo, "payments is as it was: revision 2 is what is asked for"),
    ],
)
async def test_what_cannot_be_gone_back_to(images: Any, number: Any, error: Any, words: str) -> None:
    api = cluster_with(*images)
    with pytest.raises(error, match=words):
        await undone(api, number)
    assert api.writes() == []


async def test_where_other_fields_make_the_difference_nothing_is_written() -> None:
    api = cluster_with("consumer:1", "consumer:2")
    api.objects[CONSUMER_GROUP.name, *PLACE]["spec"]["template"] = of_version("consumer:1")
    with pytest.raises(NothingToDo, match=r"spec\.template is that of revision 1 already"):
        await undone(api, 1)


def meanwhile(api: Cluster, times: int, **metadata: Any) -> None:
    """So often the group changes before it is written."""
    merge, left = api.merge, iter(range(times))

    async def after_a_change(*what: Any, exact: bool = False) -> Any:
        if next(left, None) is not None:
            api.changed_by_somebody(CONSUMER_GROUP, PLACE, **metadata)  # type: ignore[arg-type]  # it has both parts
        return await merge(*what, exact=exact)

    api.merge = after_a_change  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize("changed", [{"generation": 2}, {"uid": "of another"}], ids=["edited", "made again"])
async def test_somebody_who_changes_it_meanwhile_is_not_overwritten(changed: Json) -> None:
    api = cluster_with("consumer:1", "consumer:2")
    meanwhile(api, 1, **changed)
    with pytest.raises(Conflict, match="somebody has just changed ConsumerGroup payments: see what it says now"):
        await undone(api)
    assert api.template == of_version("consumer:2")


async def test_an_operator_that_writes_its_status_meanwhile_stands_in_nobodys_way() -> None:
    api = cluster_with("consumer:1", "consumer:2")
    meanwhile(api, 3)
    assert "that of revision 1 again" in await undone(api)
    meanwhile(api, 1000)
    with pytest.raises(Conflict, match="ConsumerGroup payments changes all the time: try again"):
        await undone(api, 2)


@pytest.mark.parametrize("body", RICH.values(), ids=RICH)
@pytest.mark.parametrize("profile", list(Profile), ids=lambda each: each.value or "own choice")
@pytest.mark.parametrize("membership", ["Static", "Dynamic"])
@pytest.mark.parametrize("library", ["Java", "KafkaStreams"])
def test_nothing_that_the_operator_put_there_comes_back(
    body: Json, profile: Profile, membership: str, library: str
) -> None:
    client = {"library": library, "version": "3.9"}
    then = parse_consumer_group(manifest(body, client=client, membership=membership, readinessGate=True))
    rendered = render_template(then, "broker:9092", profile, Bounds(10_000, 20_000), restart="2026-11-30")
    now = parse_consumer_group(manifest(template(), client=client))
    assert own_part(with_defaults(rendered.body), now, body) == {"spec": {}} | without_nothing(body)


def without_nothing(body: Json) -> Json:
    """An empty list of variables is none."""
    found = deepcopy(body)
    for container in found["spec"]["containers"]:
        if not container.get("env", True):
            del container["env"]
    return found


def test_a_container_of_another_name_is_said_to_need_more() -> None:
    renamed = deepcopy(template())
    renamed["spec"]["containers"][0]["name"] = "worker"
    with pytest.raises(NoSuchRevision, match=r"was not called consumer in that version, so client\.container has to"):
        own_part(renamed, parse_consumer_group(manifest(template())), template())


def test_variables_of_another_prefix_are_said_to_need_more() -> None:
    """They would stand in spec.template as if people had written them, with the brokers and timeouts of then."""
    then, now = (
        parse_consumer_group(manifest(template(), client={"library": "Java", "envPrefix": each}))
        for each in ("KAFKA_", "SPRING_")
    )
    rendered = render_template(then, "broker:9092", Profile.EAGER)
    with pytest.raises(NoSuchRevision, match=r"did not begin with SPRING_ in that version, so client\.envPrefix has"):
        own_part(rendered.body, now, template())


_JSON = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(before=st.dictionaries(st.sampled_from("abc"), _JSON), after=st.dictionaries(st.sampled_from("abc"), _JSON))
def test_the_patch_makes_the_one_of_the_other(before: Json, after: Json) -> None:
    assert merged(before, merge_patch(before, after)) == after

"""Groups that cannot be handed over: nothing is touched, and the reason names the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slackwater.core.decision.acts import Purpose, RemoveMembers, WriteWorkload
from slackwater.core.decision.reasons import Reason
from slackwater.core.handover.refusals import IMPOSSIBLE, may_not_begin
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import group, members, observation, pod, workload, world

WARM: dict[str, Any] = {"rollout": {"strategy": "WarmHandover"}}
CLAIM = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "orders-data"}}]}
OWN_CLAIM = {"metadata": {"name": "state"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
CONTAINERS = [{"name": "consumer", "image": "consumer:v2"}]
AT_REST = RolloutMemory(phase=RolloutPhase.COMPLETE)
MODERN = replace(observation(members(0, 1, 2)), type=GroupType.CONSUMER, epoch=3, settings={})


@pytest.mark.parametrize(
    ("of", "changes", "why"),
    [
        (group(**WARM), {"kafka": MODERN}, "KIP-848"),
        (group(**WARM), {"pods": tuple(pod(o, protocol=Profile.CONSUMER) for o in range(3))}, "KIP-848"),
        (group(**WARM, client={"library": "KafkaStreams", "version": "3.9"}), {}, "Streams"),
        (group(**WARM, client={"library": "Other"}), {}, "Other"),
        (group(**WARM, template={"spec": {"containers": CONTAINERS, **CLAIM}}), {}, "orders-data"),
    ],
    ids=["on KIP-848", "made for KIP-848", "Streams", "of no known library", "with a claim"],
)
def test_it_is_refused_with_the_way_out(of: Any, changes: dict[str, Any], why: str) -> None:
    decided = plan(world(group=of, memory=AT_REST, **changes))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.HANDOVER_IMPOSSIBLE
    assert why in decided.hold.message
    assert "set rollout.strategy to InPlace" in decided.hold.message


def test_claims_that_the_stateful_set_still_has_are_shared_by_nobody() -> None:
    """Taken out of the spec in the same apply that asks for a warm handover."""
    hold = may_not_begin(world(group=group(**WARM), workload=workload(fixed={"volumeClaimTemplates": [OWN_CLAIM]})))
    assert hold is not None
    assert "two pods cannot share the volume claim state: set rollout.strategy to InPlace" in hold.message


REFUSED: dict[str, dict[str, Any]] = {
    "it cannot be handed over": {"group": {**WARM, "client": {"library": "Other"}}},
    "the other name is taken": {"group": WARM, "names_taken": {"payments-alt": ""}},
}


def refused(why: str, replicas: int = 3, **changes: Any) -> World:
    """At rest with the template before; what is asked for cannot be begun."""
    known = workload(template={"spec": {"containers": []}}, template_hash="before")
    of = group(**REFUSED[why]["group"], replicas=replicas)
    return world(**({"memory": AT_REST, "workload": known} | {**REFUSED[why], "group": of} | changes))


@pytest.mark.parametrize("why", REFUSED)
def test_meanwhile_the_pods_are_as_many_as_are_wanted_with_the_template_that_they_have(why: str) -> None:
    """`replicas: 0` is taken up at once, as always; another number with the next pass."""
    given = refused(why, replicas=0)
    stopped = plan(given).act
    assert isinstance(stopped, WriteWorkload)
    before = given.sets[0].template
    assert (stopped.purpose, stopped.replicas, stopped.template) == (Purpose.SCALE, 0, before)
    given = refused(why, replicas=5)
    for _ in range(2):
        decided = plan(given)
        given = given.remembering(decided.memory)
    assert isinstance(decided.act, WriteWorkload)
    assert (decided.act.purpose, decided.act.replicas, decided.act.template) == (Purpose.SCALE, 5, before)


@pytest.mark.parametrize("why", REFUSED)
def test_meanwhile_members_are_cared_for(why: str) -> None:
    kafka = observation(members(0, 1, 2, 3))
    decided = plan(refused(why, kafka=kafka, memory=replace(AT_REST, ids_given=4)))
    assert isinstance(decided.act, RemoveMembers)


@pytest.mark.parametrize(
    ("owner", "way_out"),
    [("", "is not ours: delete it"), ("ConsumerGroup payments-alt", "belongs to ConsumerGroup payments-alt: give one")],
    ids=["nobody's", "another group's"],
)
def test_a_name_that_somebody_else_has_is_not_taken(owner: str, way_out: str) -> None:
    decided = plan(world(group=group(**WARM), memory=AT_REST, names_taken={"payments-alt": owner}))
    assert decided.act is None
    assert decided.hold is not None
    assert decided.hold.reason is Reason.FOREIGN_STATEFUL_SET
    assert decided.hold.message.startswith(f"StatefulSet payments-alt is there already and {way_out}")


@pytest.mark.parametrize(
    ("given", "check"),
    [
        (world(kafka=MODERN), "members_are_kip_848s"),
        (world(memory=replace(AT_REST, protocol=Profile.CONSUMER)), "members_are_kip_848s"),
        (world(pods=(pod(0, protocol=Profile.CONSUMER),)), "members_are_kip_848s"),
        (world(group=group(client={"library": "KafkaStreams", "version": "3.9"})), "tasks_need_their_state"),
        (world(group=group(client={"library": "Other"})), "library_is_not_known"),
        (world(group=group(template={"spec": {"containers": CONTAINERS, **CLAIM}})), "volume_is_claimed"),
        (world(), ""),
    ],
)
def test_each_check_refuses_what_it_is_for_and_nothing_else(given: World, check: str) -> None:
    assert [each.__name__ for each in IMPOSSIBLE if each(given)] == ([check] if check else [])


@pytest.mark.parametrize(
    ("library", "kafka", "checks"),
    [
        ("KafkaStreams", MODERN, ["members_are_kip_848s", "tasks_need_their_state", "volume_is_claimed"]),
        ("Other", MODERN, ["members_are_kip_848s", "library_is_not_known", "volume_is_claimed"]),
        ("Other", observation(), ["library_is_not_known", "volume_is_claimed"]),
    ],
)
def test_of_several_refusals_people_read_the_first(library: str, kafka: Any, checks: list[str]) -> None:
    client = {"library": library, "version": "3.9"}
    given = world(kafka=kafka, group=group(client=client, template={"spec": {"containers": CONTAINERS, **CLAIM}}))
    refused = [each for each in IMPOSSIBLE if each(given)]
    assert [each.__name__ for each in refused] == checks
    hold = may_not_begin(given)
    assert hold is not None
    assert hold.message.startswith(refused[0](given))

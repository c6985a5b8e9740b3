"""Carrying an adoption out, or showing what it would do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.adapters.cluster.errors import Conflict, Forbidden, KindMissing
from slackwater.adapters.cluster.paths import (
    CONSUMER_GROUP,
    CONTROLLER_REVISION,
    HORIZONTAL_POD_AUTOSCALER,
    POD,
    POD_DISRUPTION_BUDGET,
    STATEFUL_SET,
)
from slackwater.adapters.cluster.snapshot import Snapshot
from slackwater.adapters.cluster.translation import controller_uid, group_of, to_workload
from slackwater.cli.adopting.at_rest import check_alone, check_at_rest
from slackwater.cli.adopting.refusals import (
    check_adoptable,
    check_members,
    check_unchanged,
    check_unscaled,
    remarks,
)
from slackwater.cli.adopting.steps import Standing, Wait, next_step
from slackwater.cli.errors import CannotBeAdopted, NothingToDo, NotReached
from slackwater.cli.importing.template import cleaned
from slackwater.cli.looking.lookout import Lookout
from slackwater.cli.planning.changes import Change, changes
from slackwater.cli.reaching.choice import Place
from slackwater.cli.reaching.cluster import read_group
from slackwater.core.decision.words import seconds
from slackwater.core.manifests.template import wanted_template
from slackwater.core.plan import plan
from slackwater.core.world.world import World
from slackwater.terminal import one_line

Json = Mapping[str, Any]
Say = Callable[[str], None]

POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What adopting would do."""

    name: str
    pods: int
    doubt: str | None
    """Why it is not known whether the members in Kafka are the pods'."""
    template: tuple[Change, ...] | None
    """How the pods' template will differ, once the group is resumed and rolled out; None where that is not known."""
    remarks: tuple[str, ...]


async def foresee(api: KubernetesApi, place: Place) -> Foreseen:
    """Changes nothing. Raises CannotBeAdopted, NothingToDo, InvalidSpec, and as `read_group`."""
    snapshot, standing, cautions = await _begin(api, *place)
    world = await _world(api, snapshot, standing)
    doubt = check_members(world)
    return Foreseen(place.name, len(standing.pods), doubt, _template_changes(world, standing), cautions)


async def adopt(api: KubernetesApi, place: Place, timeout_s: float, say: Say) -> str:
    """Do it, and return what came of it. May be broken off and begun again at any moment.

    Raises as `foresee`, and NotReached where the StatefulSet controller or the pods take longer than `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    snapshot, standing, cautions = await _begin(api, *place)
    for remark in cautions:
        say(remark)
    if doubt := check_members(await _world(api, snapshot, standing)):
        say(doubt)
    await _carry_out(api, standing, deadline, timeout_s, say)
    paused = f"The group is paused: kubectl slackwater resume {place.name} -n {place.namespace} rolls out what differs"
    run = "pod runs on as it was" if len(standing.pods) == 1 else "pods run on as they were"
    return f"{place.name}: adopted; {len(standing.pods)} {run}. {paused}"


async def _begin(api: KubernetesApi, namespace: str, name: str) -> tuple[Snapshot, Standing, tuple[str, ...]]:
    """The group and the objects, once nothing that the cluster shows speaks against it; and what it does not show."""
    snapshot = await read_group(api, namespace, name)
    standing = await _stand(api, namespace, name)
    if standing.is_adopted:
        raise NothingToDo(f"StatefulSet {name} is ConsumerGroup {name}'s already, so there is nothing to adopt")
    scalers = await _autoscalers(api, namespace)
    await _check(api, snapshot, standing)
    check_unscaled(standing, scalers)
    return snapshot, standing, tuple(remarks(standing, scalers))


async def _autoscalers(api: KubernetesApi, namespace: str) -> Sequence[Json] | None:
    """None where one may not see them, or the cluster does not know them."""
    try:
        found, _ = await api.list_all(HORIZONTAL_POD_AUTOSCALER, namespace)
    except (Forbidden, KindMissing):
        return None
    return found


async def _carry_out(api: KubernetesApi, standing: Standing, deadline: float, timeout_s: float, say: Say) -> None:
    said, namespace = "", standing.group["metadata"]["namespace"]
    while (step := next_step(standing)) is not None:
        if step.words == said:  # the cluster's part; or somebody has undone it, or changed the object in between
            if time.monotonic() >= deadline:
                waited = f"{step.words} took longer than {seconds(timeout_s)}: no pod was restarted"
                raise NotReached(f"{waited}, and the same command goes on from here")
            await asyncio.sleep(POLL_S)
        else:
            say(step.words)
        said = step.words
        if not isinstance(step, Wait):
            await _check_pods_template(api, standing)
            with suppress(Conflict):
                await api.merge(step.kind, step.obj, step.body, exact=True)
        standing = await _stand(api, namespace, standing.name)
        if not standing.is_adopted:
            check_adoptable(standing)


async def _stand(api: KubernetesApi, namespace: str, name: str) -> Standing:
    group, workload = await asyncio.gather(
        api.read(CONSUMER_GROUP, namespace, name), api.read(STATEFUL_SET, namespace, name)
    )
    if group is None or "deletionTimestamp" in group["metadata"]:
        raise CannotBeAdopted(f"ConsumerGroup {name} is being deleted: apply it again once it is gone")
    if workload is None:
        raise CannotBeAdopted(await _who_is_there(api, namespace, name))
    pods, _ = await api.list_all(POD, namespace)
    uid = workload["metadata"]["uid"]
    theirs = [pod for pod in pods if controller_uid(pod) == uid and "deletionTimestamp" not in pod["metadata"]]
    return Standing(group, workload, sorted(theirs, key=lambda pod: str(pod["metadata"]["name"])))


async def _who_is_there(api: KubernetesApi, namespace: str, name: str) -> str:
    found, _ = await api.list_all(STATEFUL_SET, namespace)
    close = get_close_matches(name, [each["metadata"]["name"] for each in found], n=1)
    message = f"there is no StatefulSet {name} in namespace {namespace}"
    if close:
        return f"{message}, but {close[0]}: a ConsumerGroup adopts the one that has its name"
    return f"{message} to adopt: without one, the operator makes it by itself"


async def _check(api: KubernetesApi, snapshot: Snapshot, standing: Standing) -> None:
    left = (each for each in snapshot.workloads if group_of(each) == standing.name and not controller_uid(each))
    check_alone(standing, map(to_workload, left))
    check_adoptable(standing)
    for each in map(to_workload, snapshot.workloads):
        if each.owner_uid == standing.group["metadata"]["uid"]:
            raise CannotBeAdopted(
                f"ConsumerGroup {standing.name} runs in StatefulSet {each.name} already: delete the one that is called"
                f" {standing.name}, or give it another name"
            )
    if not standing.was_revision:
        check_at_rest(standing)
    budget = await api.read(POD_DISRUPTION_BUDGET, standing.group["metadata"]["namespace"], standing.name)
    if budget is not None and group_of(budget) != standing.name:
        raise CannotBeAdopted(
            f"PodDisruptionBudget {standing.name} is there already: delete it, since the operator makes one"
            " of that name, and a pod with two of them cannot be evicted"
        )


async def _check_pods_template(api: KubernetesApi, standing: Standing) -> None:
    """Pods are only said to be of a revision that they are of."""
    if not standing.was_revision or standing.relabelled:
        return
    namespace = standing.group["metadata"]["namespace"]
    revisions = (standing.revision, standing.was_revision)
    newest, before = [await api.read(CONTROLLER_REVISION, namespace, each) for each in revisions]
    check_unchanged(standing, newest, before)


async def _world(api: KubernetesApi, snapshot: Snapshot, standing: Standing) -> World:
    lookout = Lookout(api)
    pods = Snapshot(standing.group, snapshot.connection, (standing.workload,), standing.pods)
    try:
        await lookout.aim(lookout.world(pods).group, snapshot.connection)
        await lookout.look()
        return lookout.world(pods)
    finally:
        await lookout.close()


def _template_changes(world: World, standing: Standing) -> tuple[Change, ...] | None:
    """As if it were the group's already. None where no connection tells the address that the pods are to have."""
    if world.bootstrap_servers is None or world.workload is None:
        return None
    uid = world.group.metadata.uid
    memory = plan(replace(world, sets=(replace(world.workload, owner_uid=uid),))).memory
    wanted = wanted_template(world.remembering(memory)).body
    running = cleaned(standing.workload["spec"]["template"])
    return tuple(changes(running, cleaned(wanted), "spec.template"))


def foreseen_in_words(found: Foreseen) -> list[str]:
    """For people, a line each."""
    pods = "pod as it runs" if found.pods == 1 else "pods as they run"
    lines = [
        f"StatefulSet {found.name} would become ConsumerGroup {found.name}'s, with its {found.pods} {pods}:"
        " none is restarted.",
        "It keeps its selector, serviceName and podManagementPolicy; its updateStrategy becomes the operator's.",
        "The group would be paused. Once it is resumed, a rollout changes in each pod, behind all gates:",
    ]
    if found.template is None:
        lines.append("  what, is not known yet: there is no usable KafkaConnection")
    else:
        lines += [f"  {one_line(f'{change.field}: {change.words}')}" for change in found.template] or ["  nothing"]
    doubts = [f"Not checked: {found.doubt}."] if found.doubt else []
    return [*lines, *map(one_line, (*found.remarks, *doubts))]

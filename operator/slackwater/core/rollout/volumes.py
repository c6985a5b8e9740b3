"""Volume claims that are asked for otherwise than the StatefulSet has them.

Kubernetes changes `volumeClaimTemplates` of no StatefulSet. So it is deleted without its pods and made again, which
takes them back: no pod moves, and no claim is touched. That is safe where its pods have every claim of the new one.
Where they lack one, its controller would try to give it to them, be refused, and do nothing else any more
(`storageMatches` in Kubernetes' `stateful_set_utils.go`): there it waits until no pod is left.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Final

from slackwater.api.annotations import PAUSE
from slackwater.api.volume_claims import Retention
from slackwater.core.decision.acts import DeleteWorkload, Purpose, WriteWorkload
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import count, listing
from slackwater.core.manifests.claims import (
    claims_asked_for,
    has_the_claims_asked_for,
    names_of_claims,
    retention,
)
from slackwater.core.manifests.template import Template
from slackwater.core.world.remaking import Remaking
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World

ANNOUNCED_FOR_S: Final = 30.0
"""For so long people can read what is about to be done, and put the claims back or pause the group."""
_AGAIN_S: Final = 30.0
_LET_GO_AGAIN_S: Final = 1.0


def change_claims(world: World, workload: Workload, template: Template) -> Decision | None:
    """The next step towards the claims that are asked for; None where there is none, or where the rollout under way
    comes first."""
    remaking = world.memory.remaking
    if not (workload.claims or world.group.spec.volume_claim_templates or remaking):
        return None  # as nearly always
    if workload.is_ending and remaking is not None and remaking.uid == workload.uid:
        return Decision(world.memory, hold=_until_it_is_gone(workload))  # whatever is asked for by then
    if has_the_claims_asked_for(workload, world.group):
        return _as_asked_for(world, workload)
    announced = Decision(world.memory)
    if remaking is None or remaking.claims != _digest(world):
        announced = _announced(world, workload)
        world = world.remembering(announced.memory)
    later = _towards_them(world, workload, template)
    return announced.then(later) if later is not None else announced if announced.notes else None


def are_worth_waiting_for(world: World, workload: Workload, hold: Hold) -> bool:
    """Pods that are to be added get the claims that are asked for, where those come soon.

    A pause may last for days: meanwhile they are added with claims as they were, unless they would lack one.
    """
    if hold.reason is not Reason.VOLUME_CLAIMS_CHANGE:
        return False
    return workload.is_ending or not _is_paused(world) or bool(_missing(world, workload))


def cannot_be_made(world: World) -> Hold | None:
    """A StatefulSet that somebody deleted without its pods, which lack a claim that is asked for: another one with it
    would do nothing for them any more."""
    remaking, asked = world.memory.remaking, names_of_claims(claims_asked_for(world.group))
    lacking = tuple(each for each in remaking.lacks if each in asked) if remaking is not None else ()
    if not lacking or not _has_pods(world):
        return None
    return Hold(Reason.VOLUME_CLAIMS_FIXED, f"the pods have lost their StatefulSet, and {_taken_up(lacking)}", _AGAIN_S)


def _taken_up(lacking: tuple[str, ...]) -> str:
    return (
        f"lack volume {listing(lacking)}: take it out of volumeClaimTemplates again, and a StatefulSet takes them up;"
        " or delete the pods"
    )


def _as_asked_for(world: World, workload: Workload) -> Decision | None:
    if world.memory.remaking is None:
        return _set_retention(world, workload)
    known = world.remembering(replace(world.memory, remaking=None))
    return _set_retention(known, workload) or Decision(known.memory)


def _announced(world: World, workload: Workload) -> Decision:
    lacking = _lacking(world, workload)
    what = _only_without_pods(world, lacking) if lacking else f"{_in_words(workload)} {_its_claims(world)}"
    reason = Reason.VOLUME_CLAIMS_FIXED if lacking else Reason.VOLUME_CLAIMS_CHANGE
    note = Note(reason, what, warning=bool(lacking))
    return Decision(replace(world.memory, remaking=Remaking(_digest(world), world.now, lacks=lacking)), notes=(note,))


def _towards_them(world: World, workload: Workload, template: Template) -> Decision | None:
    """What is asked for is announced already."""
    remaking = world.memory.remaking
    if remaking is None or remaking.uid not in ("", workload.uid):
        return _set_retention(world, workload)  # made again with them: somebody, such as a webhook, has them otherwise
    if lacking := _lacking(world, workload):
        hold = Hold(Reason.VOLUME_CLAIMS_FIXED, _only_without_pods(world, lacking), _AGAIN_S)
        return Decision(replace(world.memory, remaking=replace(remaking, lacks=lacking)), hold=hold)
    return _made_again(world, workload, template, remaking)


def _made_again(world: World, workload: Workload, template: Template, remaking: Remaking) -> Decision | None:
    """Step by step: each is written down before, and whoever looks again goes on from there."""
    memory = world.memory
    if not _is_at_rest(world, workload, template):
        return None
    if hold := _awaits_people(world, workload, remaking):
        return Decision(memory, hold=hold)
    if workload.retention.get("whenDeleted") == Retention.DELETE:
        return Decision(memory, _with_the_same_pods(workload, Purpose.KEEP_CLAIMS))
    fixed = {name: value for name, value in workload.fixed.items() if name != "volumeClaimTemplates"}
    act = DeleteWorkload(
        workload.name, workload.uid, "it is made again with other volume claims; its pods stay", orphans=True
    )
    message = f"StatefulSet {workload.name} is made again with other volume claims: {_what_stays(world)}"
    note = Note(Reason.VOLUME_CLAIMS_CHANGED, message, of_act=True)
    return Decision(replace(memory, remaking=replace(remaking, uid=workload.uid, fixed=fixed)), act, notes=(note,))


def _until_it_is_gone(workload: Workload) -> Hold:
    message = f"waiting for Kubernetes to let the pods of StatefulSet {workload.name} go"
    return Hold(Reason.VOLUME_CLAIMS_CHANGE, message, _LET_GO_AGAIN_S)


def _is_at_rest(world: World, workload: Workload, template: Template) -> bool:
    """Every pod has the version of the StatefulSet, and so of the one that is made again: none moves by that. A pod
    that ends meanwhile comes back with the same version. The very first version may never come to its end without
    other claims."""
    memory = world.memory
    is_over = not (memory.phase.under_way and memory.last_good_revision)
    is_whole = is_over and workload.template_hash == template.hash and not world.outdated
    in_order = workload.settled and not workload.is_ending and workload.strategy is UpdateStrategy.ROLLING_UPDATE
    return not _has_pods(world) or (in_order and is_whole)


def _awaits_people(world: World, workload: Workload, remaking: Remaking) -> Hold | None:
    if _is_paused(world):
        until = "" if _missing(world, workload) else "; pods that are added before have claims as they were"
        message = f"{_in_words(workload)} Not while the group is paused: remove the annotation {PAUSE}{until}"
        return Hold(Reason.VOLUME_CLAIMS_CHANGE, message, _AGAIN_S)
    left_s = remaking.announced_at + ANNOUNCED_FOR_S - world.now
    if left_s <= 0.0 or not _has_pods(world):
        return None
    return Hold(Reason.VOLUME_CLAIMS_CHANGE, f"{_in_words(workload)} {_its_claims(world)}", left_s)


def _set_retention(world: World, workload: Workload) -> Decision | None:
    """What becomes of the claims can be changed at any time, and moves no pod."""
    its_own = workload.settled and not workload.is_ending and not workload.replicas_by
    if not (workload.claims and its_own) or dict(workload.retention) == retention(world.group, workload.end):
        return None
    return Decision(world.memory, _with_the_same_pods(workload, Purpose.SET_RETENTION))


def _with_the_same_pods(workload: Workload, purpose: Purpose) -> WriteWorkload:
    """Also of a rollout under way: what its controller may restart stays as it is."""
    return WriteWorkload(
        purpose=purpose,
        template=workload.template,
        replicas=workload.replicas,
        strategy=workload.strategy,
        partition=workload.partition,
        resource_version=workload.resource_version,
        name=workload.name,
        start=workload.start,
    )


def _lacking(world: World, workload: Workload) -> tuple[str, ...]:
    """The claims that are asked for and that its pods, where there are any, do not have."""
    return _missing(world, workload) if _has_pods(world) else ()


def _missing(world: World, workload: Workload) -> tuple[str, ...]:
    there, asked = names_of_claims(workload.claims), names_of_claims(claims_asked_for(world.group))
    return tuple(name for name in asked if name not in there)


def _is_paused(world: World) -> bool:
    return PAUSE in world.group.metadata.annotations


def _has_pods(world: World) -> bool:
    return bool(world.all_pods or world.orphans or world.loose)


def _only_without_pods(world: World, lacking: tuple[str, ...]) -> str:
    asked = world.group.spec.persistent_volume_claim_retention_policy
    keeps = asked is None or asked.when_scaled is Retention.RETAIN
    first = "" if keeps else "set persistentVolumeClaimRetentionPolicy.whenScaled to Retain, or their data goes; then "
    return (
        f"the pods lack volume {listing(lacking)}, and Kubernetes gives no pod a volume that runs: {first}set replicas"
        " to 0, and back once the pods have ended; or take it out of volumeClaimTemplates again"
    )


def _in_words(workload: Workload) -> str:
    return (
        "volumeClaimTemplates have changed, which Kubernetes allows in no StatefulSet: once no rollout is under way,"
        f" StatefulSet {workload.name} is deleted without its pods and made again, and takes them back."
    )


def _its_claims(world: World) -> str:
    return f"{_what_stays(world)[0].upper()}{_what_stays(world)[1:]}"


def _what_stays(world: World) -> str:
    pods = count(world.replicas, "pod")
    return f"claims of its {pods} stay as they are, and what is asked for holds for those that are made from then on"


def _digest(world: World) -> str:
    asked = sorted(claims_asked_for(world.group), key=lambda claim: str(claim["metadata"]["name"]))
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]

"""From one state of a handover to the next: what is written down, and when.

Each is written before the act that it stands for, and an act that did not come to pass is decided again from it.
"""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.handover.foresight import joins_of
from slackwater.core.members.presence import consumes_unready, is_down, is_overdue, lives
from slackwater.core.world.handover import Begun, Handover, Held, Over, Reached, Replacement, TakenOver, Undone
from slackwater.core.world.pods import Pod
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def member_ids(world: World, ordinal: int) -> dict[str, str]:
    """Instance id → member id of an ordinal's members; empty where Kafka could not be asked."""
    return {m.instance_id: m.member_id for m in world.members_at(ordinal) if m.instance_id is not None}


def changed_ids(world: World, handover: Handover) -> tuple[str, ...]:
    """Instance ids of the ordinal that another member has than before."""
    now = member_ids(world, handover.ordinal)
    return tuple(key for key, member_id in now.items() if handover.before.get(key) != member_id)


def _is_at_work(world: World, pod: Pod) -> bool:
    """Ready, and a member of it lives: not all that there should be, perhaps, or without the id that it should have."""
    return pod.ready and not pod.terminating and lives(world, pod)


def begun(world: World, ordinal: int, to: Workload, old: Pod | None) -> Handover:
    """Before the replacement is made: who has the ids, and in which run. `to`: the StatefulSet that makes it."""
    known, version = world.memory.handover, to.template_hash
    ids = member_ids(world, ordinal)
    works = old is not None and (_is_at_work(world, old) or consumes_unready(world, old))
    idle = old is not None and old.ready and is_down(world, old) and is_overdue(world, old)
    held = Held(ids, old.run if old is not None else None, down=not works, idle=idle)
    return Handover(
        ordinal,
        to.name,
        world.now,
        Begun(held),
        Replacement(version, joined_after_s=joins_of(world, known, version)),
        alone_since=known.alone_since if known is not None and known.ordinal == ordinal else None,
        fenced=known.fenced if known is not None else 0,
        cold=known.cold if known is not None else False,
        returned=returned_so_far(world, ordinal),
    )


def taken_over(world: World, handover: Handover, new: Pod | None) -> Handover:
    """From now on the replacement has the ordinal.

    Its run is written down if it was seen to be under way before the ids changed hands: an earlier one may have joined.
    """
    ids = member_ids(world, handover.ordinal)
    known = new is not None and all(_came_with(world, instance_id, new) for instance_id in ids)
    held = Held(ids, new.run if new is not None and known else None)
    return replace(handover, state=TakenOver(held, handover.before), returned=0)


def undone(world: World, handover: Handover, old: Pod | None) -> Handover:
    """The replacement goes. What the old pod held is known only if it has run without a break since it was written.

    Nor is it where nobody had an id in between: the old process may have joined again, and is not fenced then.
    """
    reached, watched = handover.reached, world.history.members
    after_nobody = any(key in watched and watched[key].after_nobody for key in changed_ids(world, handover))
    if isinstance(reached, Begun) and old is not None and reached.held.runs_on(old) and not after_nobody:
        return replace(handover, state=Undone(reached.held))
    return lost(world, handover.ordinal, handover.to)


def lost(world: World, ordinal: int, to: str) -> Handover:
    """Nothing is known of the ordinal: the pod in `to` goes, and what is seen after its end is the other one's."""
    known = world.memory.handover
    fenced, cold = (known.fenced, known.cold) if known is not None else (0, False)
    returned = returned_so_far(world, ordinal)
    return Handover(ordinal, to, world.now, Undone(), fenced=fenced, cold=cold, returned=returned)


def returned_so_far(world: World, ordinal: int) -> int:
    """How often in a row the ordinal's old pod came back: in handovers that began while it was down, or to fence its
    replacement."""
    known = world.memory.handover
    return known.returned if known is not None and known.ordinal == ordinal else 0


def over(world: World, handover: Handover) -> Handover:
    """One of the two pods has ended."""
    return replace(handover, state=Over(handover.reached), alone_since=world.now)


def counted(handover: Handover) -> Handover:
    """One of the two processes has fenced the other once more."""
    return replace(handover, fenced=handover.fenced + 1)


def returned(handover: Handover) -> Handover:
    """The old pod, which was down when the handover began, is back; or it has come back to its replacement's cost."""
    return replace(handover, returned=handover.returned + 1)


def started_again(handover: Handover) -> Handover:
    """The pod that is left has not joined, and goes once more."""
    return replace(handover, not_come=handover.not_come + 1)


def without_its_run(handover: Handover) -> Handover:
    """The run that was written down has ended, and what followed from it is done."""
    return replace(handover, state=Over(_without_its_run(handover.reached)))


def _without_its_run(reached: Reached) -> Reached:
    return replace(reached, held=replace(reached.held, run=None))


def _came_with(world: World, instance_id: str, pod: Pod) -> bool:
    sighting = world.history.members.get(instance_id)
    if sighting is None or sighting.absent_at is None or pod.runs_since is None:
        return False
    return sighting.absent_at >= pod.runs_since

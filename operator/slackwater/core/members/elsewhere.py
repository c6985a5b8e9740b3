"""Does the group run elsewhere: in another Kubernetes cluster, or in a copy of the namespace that nobody here sees?

Before the first pod of ours runs, Kafka is the only one who knows. A pod with an instance id that a living member has
would fence it, and be fenced by it, without an end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Hold, Reason
from slackwater.core.decision.words import listing
from slackwater.core.members.ownership import given, name_in_words, never_ran
from slackwater.core.members.sessions import longest_session_s
from slackwater.core.world.observation import Member, Unobserved
from slackwater.core.world.world import World

AGAIN_S: Final = 5.0
UNSEEN_AGAIN_S: Final = 30.0
"""What is in the way somebody has to change, and a change of the connection is seen at once."""
SOON_S: Final = 1.0
GRACE_S: Final = 15.0
"""A broker may be late to end a session."""


_HIDES_MEMBERS: Final = frozenset({Reason.CONNECTION_INVALID, Reason.NOT_AUTHORIZED, Reason.ANSWER_TOO_LONG})
"""For as long as nobody corrects what the message names: a Secret that comes after its ConsumerGroup, for one."""


def runs_elsewhere(world: World) -> Hold | None:
    """Why the first pod is not made yet; None where it may be, and where pods of this have run before."""
    somebody_is_there = world.all_pods or world.loose or world.orphans or world.made
    if somebody_is_there or world.replicas == 0 or not world.has_static or not never_ran(world):
        return None
    if isinstance(world.kafka, Unobserved):
        return _until_it_was_seen(Reason(world.kafka.reason), world.kafka.message)
    if not (there := ids_in_use(world)):
        return None
    message = (
        f"no pod of this ConsumerGroup has ever run, and others have its pods' instance ids in the group:"
        f" {listing(map(name_in_words, there))}. Stop them, in another Kubernetes cluster perhaps, or make this one"
        " again with another groupId; where they are dead, they go when their sessions end"
    )
    return Hold(Reason.INSTANCE_IDS_IN_USE, message, AGAIN_S, look_s=AGAIN_S)


def _until_it_was_seen(reason: Reason, message: str) -> Hold | None:
    """Of the other reasons none hides members: of a topic that is missing, say, which the consumers may make."""
    if not reason.passes and reason not in _HIDES_MEMBERS:
        return None
    if reason is Reason.OBSERVATION_INCOMPLETE:  # it is about to be asked
        return Hold(reason, message, SOON_S)
    message = f"{message.rstrip('.')}. No pod is made before the operator has seen the group once"
    return Hold(reason, message, SOON_S if reason.passes else UNSEEN_AGAIN_S)


def somebody_is_in_it(world: World, since: float | None) -> Decision | None:
    """Why a group is not deleted yet in which members are that are called as ours: those of our pods, which have ended,
    leave when their sessions end. One that is there after that lives, in another Kubernetes cluster perhaps.

    None of them is taken out: one that lives would be back only at its next poll, and the group be gone by then.
    `since`: when the last of our pods had ended, or this process first saw that.
    """
    there = given(world)
    if not there:
        return None  # of others in it Kafka says so
    message = (
        "waiting until nobody is in the group, to delete it with its offsets. The members of pods that have ended leave"
        f" when their sessions end; who stays lives elsewhere, and is to be stopped there:"
        f" {listing(name_in_words(member) for member, _ in there)}. To keep it, set spec.deletionPolicy to Retain"
    )
    hold = Hold(Reason.DRAINING, message, AGAIN_S)
    late = outlived(world, since)
    return Decision(world.memory, hold=hold, notes=(Note(Reason.DRAINING, message, warning=True),) if late else ())


def until_they_have_left(members: Iterable[Member]) -> Hold:
    """This process has not seen their pods end: it has started since, or they never were in this Kubernetes cluster."""
    message = (
        f"waiting for the sessions of {listing(name_in_words(member) for member in members)} to end: the operator has"
        " not seen their pods end. Who stays in the group after that lives elsewhere, and is left alone"
    )
    return Hold(Reason.DRAINING, message, AGAIN_S)


def outlived(world: World, since: float | None) -> bool:
    """Whoever is in the group is no member of a pod of ours: the last of those ended then."""
    return since is not None and world.now - since > longest_session_s(world) + GRACE_S


def ids_in_use(world: World) -> tuple[Member, ...]:
    """Members that are called as those of our pods would be, whoever runs them."""
    return tuple(member for member in world.members if world.ordinal_of(member.instance_id) is not None)

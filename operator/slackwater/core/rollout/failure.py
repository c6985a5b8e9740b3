"""Has the version that is being rolled out failed? Judged by the pods that already run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from slackwater.core.decision.reasons import Reason
from slackwater.core.decision.words import listing, seconds
from slackwater.core.manifests.needs import needs_otherwise
from slackwater.core.members.duplicates import was_taken_from
from slackwater.core.members.presence import absent_since, serves
from slackwater.core.members.shortfall import shortfall
from slackwater.core.members.standing import find_halted, version_hangs
from slackwater.core.members.subscriptions import forgotten_topics
from slackwater.core.members.surplus import has_too_many, members_for_good, what_to_correct
from slackwater.core.members.work import find_stall, find_unread, partitions_in_words
from slackwater.core.rollout.excuses import CRASH_LOOP, EXCUSES, is_yet_to_be_tried, works
from slackwater.core.world.observation import OLDEST_OBSERVATION_S, TopicPartition
from slackwater.core.world.pods import Pod
from slackwater.core.world.world import World

STUCK: Final = ("InvalidImageName", "ErrImageNeverPull")
"""States of a container that no waiting mends."""
MAY_PASS: Final = ("ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError")
"""States that a registry, or whoever makes a Secret, may mend within moments: the kubelet tries again."""
MAY_PASS_FOR: Final = 0.5
"""The part of `rejoinTimeout` that they have, since the pod was made, ended or ceased to be Ready."""
CRASHES_BEFORE_STUCK: Final = 3
"""A first crash may be chance, and the kubelet's pauses are still short."""
JUDGED_BY_A_WEBHOOK: Final = "denied the request"
JUDGED: Final = ("is forbidden", "is invalid")
"""As the API server puts it when it is the pod that it refuses. Anything else is its own trouble, or a webhook's."""


@dataclass(frozen=True, slots=True)
class Failure:
    reason: Reason
    message: str
    ordinal: int
    halted: tuple[TopicPartition, ...] = ()
    """Partitions stand by the version's doing."""


def find_failure(world: World) -> Failure | None:
    """The highest pod of the newest version that is stuck, or not back after `rejoinTimeout`."""
    if world.workload is None or not world.settled or not _is_in_sight(world):
        return None  # without Kafka no consumer gets Ready, and none is to blame
    step = world.memory.step
    in_hand = step.ordinals if step is not None else ()
    missing = {ordinal for ordinal in in_hand if ordinal < world.replicas}  # for what their version is
    for ordinal in sorted({pod.ordinal for pod in world.wanted_pods} | missing, reverse=True):
        pod = world.pod(ordinal)
        failure = _never_made(world, ordinal) if pod is None else _failed(world, pod)
        # One that is to be tried again is replaced for what it failed by: that is known, and no news.
        if failure is not None and not (pod is not None and world.memory.retries(pod)):
            return _with_whose_id(world, failure)
    return _topic_forgotten(world)


def _is_in_sight(world: World) -> bool:
    """By a look that is old nobody knows who is back by now, as where the operator's process did not run meanwhile."""
    return world.seen is not None and world.now - world.seen.observed_at <= OLDEST_OBSERVATION_S


def _with_whose_id(world: World, failure: Failure) -> Failure:
    """And of which other pod an instance id was taken: a version may give one to all its pods."""
    taken = next((taken for pod in world.outdated if (taken := was_taken_from(world, pod))), "")
    if not taken:
        return failure
    message = f"{failure.message}; meanwhile another process than its pod's may have joined with instance id {taken}"
    return replace(failure, message=message)


def _topic_forgotten(world: World) -> Failure | None:
    """Every pod has the version and works, nothing has changed for `rejoinTimeout`, and nobody reads a topic.

    After `stableFor` a member is taken out, so that the group rebalances: not sooner than that may have helped.
    Partitions that a topic was given lately have no owner until the clients look; others of it do.
    """
    kafka = world.seen
    if kafka is None or world.outdated or not kafka.calm or not all(works(world, pod) for pod in world.wanted_pods):
        return None
    unowned, forgotten = find_unread(kafka), forgotten_topics(world, kafka)
    rollout, begun_s = world.group.spec.rollout, world.now - (world.memory.started_at or 0.0)
    timeout_s = rollout.rejoin_timeout_s
    if not (unowned or forgotten) or min(begun_s, world.history.calm_for(kafka)) <= timeout_s + rollout.stable_for_s:
        return None
    what = f"owns {partitions_in_words(unowned)}" if unowned else f"reads {listing(forgotten)}, which spec.topics names"
    message = f"every pod has the version and was in the group for {seconds(timeout_s)}, and nobody {what}"
    step = world.memory.step
    return Failure(Reason.PARTITIONS_NOT_OWNED, message, step.ordinal if step is not None else 0)


def has_failed(world: World, pod: Pod) -> bool:
    """By what it shows now; somebody may have asked to try again since it was made."""
    return _failed(world, pod) is not None


def _failed(world: World, pod: Pod) -> Failure | None:
    """Where nothing excuses the pod, the first failure that is found."""
    if any(excuses(world, pod) for excuses in EXCUSES):
        return None
    return next((failure for find in FAILURES if (failure := find(world, pod)) is not None), None)


def stuck(world: World, pod: Pod) -> Failure | None:
    """In a state that no waiting mends, or that has had its time: there is no point in all of `rejoinTimeout`."""
    if pod.ready or not is_stuck(world, pod):
        return None
    message = f"pod {pod.name} is stuck in {pod.waiting}: {pod.waiting_message or 'see its events'}"
    return Failure(Reason.POD_STUCK, message, pod.ordinal)


def stalled(world: World, pod: Pod) -> Failure | None:
    """It is in the group, and has not been seen to work there for longer than `rejoinTimeout`."""
    stall = find_stall(world, pod) if serves(world, pod) else None
    if stall is None:
        return None
    message = f"{stall.hold.message}, for more than {seconds(world.group.spec.rollout.rejoin_timeout_s)}"
    return Failure(Reason.REJOIN_TIMEOUT, message, pod.ordinal)


def halted(world: World, pod: Pod) -> Failure | None:
    """It gets on, but not in a partition where whoever had it before did."""
    partitions = find_halted(world, pod) if serves(world, pod) else ()
    if not partitions:
        return None
    where, for_s = partitions_in_words(partitions), seconds(world.group.spec.rollout.rejoin_timeout_s)
    message = f"pod {pod.name} has committed nothing in {where} for more than {for_s}, where the one before it got on"
    return Failure(Reason.REJOIN_TIMEOUT, message, pod.ordinal, partitions)


def hung(world: World, pod: Pod) -> Failure | None:
    """It got on, and has stopped, as another one of its version has, while pods of the version before get on."""
    if not version_hangs(world, pod):
        return None
    for_s = seconds(world.group.spec.rollout.rejoin_timeout_s)
    message = f"pod {pod.name} got on, and has committed nothing for more than {for_s} since, nor has another one"
    return Failure(Reason.REJOIN_TIMEOUT, message, pod.ordinal)


def crowded(world: World, pod: Pod) -> Failure | None:
    """It has a consumer more than its version says: no gate lets the next pod go, as long as it has."""
    if not has_too_many(world, pod):
        return None
    number, for_s = members_for_good(world, pod), seconds(world.group.spec.rollout.rejoin_timeout_s)
    message = (
        f"pod {pod.name} has had {number} members in the group for more than {for_s}, and membersPerPod is"
        f" {world.made_with(pod).members_per_pod}: {what_to_correct(world, pod)}, and retry"
    )
    return Failure(Reason.FOREIGN_MEMBERS, message, pod.ordinal)


def not_back_in_time(world: World, pod: Pod) -> Failure | None:
    """Out of the group for longer than `rejoinTimeout`."""
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    if world.now - absent_since(world, pod) <= timeout_s:
        return None
    lacks, _, advice = shortfall(world, pod).partition(": ")
    what = f"is Ready but {lacks}" if pod.ready else "is not Ready"
    after = f"{',' if pod.ready and advice else ''} after {seconds(timeout_s)} (rejoinTimeout){_what_it_did(pod)}"
    message = f"pod {pod.name} {what}{after}{f'; {advice}' if pod.ready and advice else ''}"
    return Failure(Reason.REJOIN_TIMEOUT, message, pod.ordinal)


def _what_it_did(pod: Pod) -> str:
    """As Kubernetes has it."""
    did = [pod.waiting] if pod.waiting else []
    did += [f"it has ended {pod.restarts} times"] if pod.restarts > 1 else []
    return f": {', '.join(did)}" if did else ""


FAILURES: Final[tuple[Callable[[World, Pod], Failure | None], ...]] = (
    stuck,
    stalled,
    halted,
    hung,
    crowded,
    not_back_in_time,
)
"""The first that is found is what people read."""


def _never_made(world: World, ordinal: int) -> Failure | None:
    """Kubernetes refuses the pod being restarted, for what its version is; another one's absence is not its doing."""
    step = world.memory.step
    timeout_s = world.group.spec.rollout.rejoin_timeout_s
    if step is None or ordinal not in step.unmade:
        return None
    if world.now - max(step.started_at, world.memory.retried_at or 0.0) <= timeout_s:
        return None  # a controller that was refused tries again after a while
    said = world.why_not_made(ordinal)
    if not said or not _is_of_the_version(world, said):
        return None
    message = f"pod {world.pod_name(ordinal)} was not made within {seconds(timeout_s)}: {said}"
    return Failure(Reason.REJOIN_TIMEOUT, message, ordinal)


def _is_of_the_version(world: World, said: str) -> bool:
    """A quota, or a missing ServiceAccount, refuses both versions alike, where they ask for the same."""
    judged = any(words in said for words in JUDGED)
    return JUDGED_BY_A_WEBHOOK in said or (judged and world.once(needs_otherwise))


def is_stuck(world: World, pod: Pod) -> bool:
    """No waiting mends it, or what might have passed has not."""
    if pod.waiting in MAY_PASS:
        since = max(pod.created_at, pod.ended_at or 0.0, pod.ready_changed_at or 0.0)
        return world.now - since > MAY_PASS_FOR * world.group.spec.rollout.rejoin_timeout_s
    crashes = pod.waiting == CRASH_LOOP and pod.restarts >= CRASHES_BEFORE_STUCK
    return pod.waiting in STUCK or (crashes and not is_yet_to_be_tried(world, pod))

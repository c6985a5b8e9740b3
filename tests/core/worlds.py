"""Worlds of any kind, for Hypothesis: every field as it pleases, reachable or not.

All moments are whole seconds and `now` is half a second past one, so that no deadline falls between two looks at the
same world.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hypothesis import strategies as st

from slackwater.api.annotations import ABORT, PAUSE, PROMOTE, RETRY, TEMPLATE_HASH
from slackwater.api.fleet_budgets import MoveReason
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import render_template
from slackwater.core.members.work import what_is_read
from slackwater.core.world.claims import Claim
from slackwater.core.world.history import GroupHistory, advance, interrupted
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.observation import (
    GroupObservation,
    GroupState,
    GroupType,
    KafkaView,
    PartitionOffsets,
    Unobserved,
)
from slackwater.core.world.pods import Pod
from slackwater.core.world.profile import Profile
from slackwater.core.world.step import Step
from slackwater.core.world.turn import Turn, TurnRecord, TurnStanding
from slackwater.core.world.workload import UpdateStrategy, Workload
from slackwater.core.world.world import World
from tests.core.factories import (
    BOOTSTRAP,
    BROKER,
    NAME,
    UID,
    group,
    member,
    members,
    observation,
    stranger,
    tp,
    watched,
)

NOW: Final = 1_000_000.5
REVISIONS: Final = ("payments-rev1", "payments-rev2")
PAST = st.sampled_from((0, 1, 5, 8, 12, 30, 59, 70, 299, 302, 5000)).map(lambda seconds: NOW - 0.5 - seconds)
LOOKS: Final = (5000, 400, 310, 70, 20, 5, 1)
"""Seconds before the newest observation at which there may have been others."""
SPECS: Final[list[dict[str, Any]]] = [
    {},
    {},
    {"rollout": {"onFailure": "Rollback"}},
    {"rollout": {"canary": [{"replicas": 1, "hold": "10s"}, {"replicas": 2}]}},
    {"rollout": {"maxLag": {"absolute": 50}}},
    {"rollout": {"maxLag": {"growth": 50}, "stableFor": "0s"}},
    {"membership": "Dynamic"},
    {"membersPerPod": 2},
]
FIRST, LATER, NEVER = (Claim("elsewhere", NAME, since=since, older=True) for since in (NOW - 9999, NOW - 1, None))
"""Others that have the same group in Kafka."""
ANNOTATIONS = st.dictionaries(st.sampled_from((PAUSE, ABORT, RETRY, PROMOTE)), st.sampled_from(("1", "2")), max_size=2)


ASKED: Final = TurnRecord(MoveReason.ROLLOUT, NOW - 900.5)
TURNS: Final = (
    ASKED,
    replace(ASKED, given_at=NOW - 300.5),
    replace(ASKED, given_at=NOW - 5.5),
    replace(ASKED, given_at=NOW - 300.5, done_at=NOW - 200.5),
    replace(ASKED, yielded=1),
    replace(ASKED, given_at=NOW - 9000.5, stands=True),
    replace(ASKED, given_at=NOW - 9000.5, stands=True, tried_since=NOW - 4000.5),
    replace(ASKED, given_at=NOW - 9000.5, tried_since=NOW - 15.5),
    replace(ASKED, reason=MoveReason.SCALE),
    replace(ASKED, reason=MoveReason.START),
    replace(ASKED, reason=MoveReason.PROTOCOL_UPGRADE),
)
STANDINGS: Final = (Turn(), *(Turn(each, ("slackwater/platform",)) for each in TurnStanding if each.value != "NoFleet"))
EVERYTHING_ASKS: Final = replace(STANDINGS[1], asks=frozenset(MoveReason))


def rarely(value: Any, usual: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from((usual,) * 15 + (value,))


@st.composite
def pods(draw: st.DrawFn, ordinal: int) -> Pod:
    """Five of six are long up and well."""
    if draw(st.integers(0, 5)) > 0:
        up = NOW - 0.5 - 9000
        revision = draw(st.sampled_from(REVISIONS))
        address = f"10.0.0.{ordinal}"
        return Pod(
            f"{NAME}-{ordinal}", ordinal, f"uid-{ordinal}", revision, up, True, up, up, address=address, workload=NAME
        )
    started = draw(st.none() | PAST)
    return Pod(
        name=f"{NAME}-{ordinal}",
        ordinal=ordinal,
        uid=f"uid-{ordinal}",
        revision=draw(st.sampled_from(REVISIONS)),
        created_at=draw(PAST),
        ready=started is not None and draw(st.booleans()),
        ready_changed_at=draw(st.none() | PAST),
        started_at=started,
        restarts=draw(st.sampled_from((0, 1, 4))),
        waiting=draw(st.sampled_from(("", "CrashLoopBackOff", "ImagePullBackOff"))),
        terminating=draw(rarely(True, False)),
        address=f"10.0.0.{ordinal}",
        workload=NAME,
    )


@st.composite
def observations(draw: st.DrawFn, at: float, replicas: int) -> GroupObservation:
    listed = [member(o, draw(rarely("b", "a"))) for o in range(replicas) if draw(rarely(False, True))]
    listed += draw(rarely([stranger()], []))
    state = draw(st.sampled_from((GroupState.STABLE,) * 6 + (GroupState.PREPARING_REBALANCE, GroupState.EMPTY)))
    offsets = {
        tp(i): PartitionOffsets(draw(st.sampled_from((None, 5, 9))), draw(st.sampled_from((9, 99))))
        for i in range(2 * replicas)
    }
    return GroupObservation(
        NAME,
        at,
        state,
        draw(rarely(GroupType.CONSUMER, GroupType.CLASSIC)),
        members=tuple(listed),
        partitions=frozenset(offsets),
        offsets=offsets,
    )


@st.composite
def views(draw: st.DrawFn, replicas: int) -> tuple[KafkaView, GroupHistory]:
    """Half of them of a group that has been calm for long."""
    if draw(st.booleans()):
        calm = observation(members(*range(replicas)), at=NOW - 0.5, replicas=replicas)
        return calm, watched(calm, 5000)
    history, newest = GroupHistory(), NOW - 0.5 - draw(rarely(20, 0))
    seen = draw(observations(newest, replicas))
    for ago in LOOKS:
        if draw(st.booleans()):
            earlier = draw(observations(newest - ago, replicas) | st.just(seen))
            history = advance(history, _at(earlier, newest - ago))
        if draw(rarely(True, False)):
            history = interrupted(history)
    if draw(rarely(True, False)):
        return Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", NOW - 3), interrupted(history)
    return seen, advance(history, seen)


@st.composite
def memories(draw: st.DrawFn, target: str) -> RolloutMemory:
    good = draw(st.booleans())
    before, halted = st.just({f"{NAME}-1": f"{NAME}-1-a"}), st.sampled_from([(), ("orders-3",)])
    steps = st.builds(Step, st.integers(0, 3), PAST, before, st.booleans(), before, halted)
    held = (st.integers(0, 2), PAST, st.booleans(), st.none() | st.integers(1, 3), st.booleans())
    under_way = (RolloutPhase.PROGRESSING,) * 6 + (RolloutPhase.ROLLING_BACK,) * 4
    phase = draw(st.sampled_from((*under_way, *RolloutPhase)))
    gave_up = phase.goes_back or phase is RolloutPhase.FAILED
    return RolloutMemory(
        phase=phase,
        target_hash=draw(rarely("another", target)),
        last_good_revision=REVISIONS[0] if good else "",
        last_good_hash="good" if good else "",
        failed_hash=target if gave_up else "",
        retried_at=draw(st.none() | PAST),
        lag_before=draw(st.none() | st.just(3)),
        read_before=draw(st.sampled_from(("", what_is_read(observation()), "another"))),
        read_by_each=draw(st.sampled_from((None, (), ("orders",)))),
        session_timeout_ms=draw(st.sampled_from((0, 45_000, 90_000))),
        never_ran=draw(rarely(True, False)),
        step=draw(st.none() | steps),
        canary=draw(st.none() | st.builds(Canary, *held)),
        turn=draw(st.none() | st.sampled_from(TURNS)),
    )


@st.composite
def workloads(draw: st.DrawFn, replicas: int, template_hash: str) -> Workload:
    return Workload(
        name=NAME,
        uid="set-uid",
        resource_version="7",
        generation=2,
        observed_generation=draw(rarely(1, 2)),
        replicas=draw(rarely(replicas + 1, replicas)),
        partition=draw(st.sampled_from((replicas, replicas, *range(replicas + 1)))),
        strategy=draw(rarely(UpdateStrategy.ON_DELETE, UpdateStrategy.ROLLING_UPDATE)),
        current_revision=draw(st.sampled_from(REVISIONS)),
        update_revision=draw(st.sampled_from(REVISIONS)),
        template_hash=draw(rarely("another", template_hash)),
        owner_uid=draw(rarely("not-us", UID)),
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    replicas = draw(st.integers(0, 4))
    spec = draw(st.sampled_from(SPECS))
    wanted = group(draw(rarely({PAUSE: "1"}, {}) | ANNOTATIONS), replicas=replicas, **spec)
    target = render_template(wanted, BOOTSTRAP, Profile.OWN_CHOICE).hash
    memory = draw(memories(target))
    kafka, history = draw(views(replicas))
    made = [draw(pods(ordinal)) for ordinal in range(replicas + 1) if ordinal < replicas or draw(rarely(True, False))]
    template = {"metadata": {"annotations": {TEMPLATE_HASH: "good"}}}
    return World(
        now=NOW,
        group=wanted,
        kafka=kafka,
        history=history,
        sets=draw(rarely((), (draw(workloads(replicas, "good" if memory.phase.goes_back else target)),))),
        all_pods=tuple(pod for pod in made if draw(rarely(False, True))),
        memory=memory,
        bootstrap_servers=draw(rarely(None, BOOTSTRAP)),
        last_good_template=draw(rarely(None, template)),
        broker=draw(rarely(None, BROKER)),
        cluster_id=draw(rarely(None, "cluster-1")),
        claims=draw(rarely((FIRST,), ()) | rarely((LATER,), ()) | rarely((NEVER,), ())),
        turn=draw(st.just(Turn()) | st.sampled_from((*STANDINGS, EVERYTHING_ASKS))),
    )


def _at(observation: GroupObservation, at: float) -> GroupObservation:
    return GroupObservation(
        observation.group_id,
        at,
        observation.state,
        observation.type,
        members=observation.members,
        partitions=observation.partitions,
        offsets=observation.offsets,
    )

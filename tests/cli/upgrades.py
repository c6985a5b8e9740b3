"""Worlds of groups on their way to another protocol, or refused it, or under KIP-848; to show and to plan from."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from slackwater.core.manifests.template import render_template
from slackwater.core.world.memory import Release, RolloutPhase, Upgrade
from slackwater.core.world.observation import GroupObservation, GroupState
from slackwater.core.world.profile import Profile, StrategyName
from slackwater.core.world.world import World
from tests.cli import builders
from tests.cli.builders import NEW, NOW, OLD, pod
from tests.core.factories import changed

BOTH: Final = Profile.EAGER_AND_COOPERATIVE
JAVA: Final = {"library": "Java", "version": "2.8"}


def two_bounce(step: int = 1) -> World:
    """Java, eager to cooperative: payments-2 has the step's settings, and its group is rebalancing."""
    path = (BOTH, Profile.COOPERATIVE)
    here, behind = path[step - 1], (Profile.EAGER, *path)[step - 1]
    of = builders.group(client=JAVA, protocol={"target": "Cooperative"})
    made = builders.made_with(here, of)
    assert made.workload is not None
    assert isinstance(made.kafka, GroupObservation)
    memory = replace(
        made.memory,
        phase=RolloutPhase.PROGRESSING,
        started_at=NOW - 60,
        last_good_revision=OLD,
        last_good_hash=render_template(of, builders.SERVERS, behind).hash,
        upgrade=Upgrade(Profile.EAGER, StrategyName.TWO_BOUNCE, path, step, started_at=NOW - 60),
    )
    pods = (pod(0, OLD, protocol=behind), pod(1, OLD, protocol=behind), pod(2, NEW, protocol=here))
    workload = replace(made.workload, partition=2, current_revision=OLD)
    kafka = replace(made.kafka, state=GroupState.PREPARING_REBALANCE)
    return changed(made, memory=memory, pods=pods, workload=workload, kafka=kafka)


def drain_cutover() -> World:
    """librdkafka, eager to cooperative with a stop: two pods have ended, the third is about to; members stay."""
    of = builders.group(protocol={"target": "Cooperative", "allowDowntime": True})
    made = builders.made_with(Profile.EAGER, of)
    assert made.workload is not None
    memory = replace(
        made.memory,
        phase=RolloutPhase.PROGRESSING,
        protocol=Profile.COOPERATIVE,
        target_hash=render_template(of, builders.SERVERS, Profile.COOPERATIVE).hash,
        started_at=NOW - 6,
        upgrade=Upgrade(Profile.EAGER, StrategyName.DRAIN_CUTOVER, (Profile.COOPERATIVE,), started_at=NOW - 6),
    )
    workload = replace(made.workload, replicas=0, partition=0)
    last = replace(made.pods[0], terminating=True)
    return changed(made, memory=memory, workload=workload, pods=(last,))


def refused() -> World:
    """librdkafka, eager: asked for cooperative, and nobody has allowed a stop."""
    return builders.made_with(Profile.EAGER, builders.group(protocol={"target": "Cooperative"}))


def released() -> World:
    """KIP-848: payments-1 crashed and is back, not Ready yet; the id that its dead member holds was released."""
    of = builders.group(protocol={"target": "Consumer"}, timeouts={"consumer": {"session": "90s"}})
    made = builders.made_with(Profile.CONSUMER, of)
    assert isinstance(made.kafka, GroupObservation)
    settings = {"consumer.session.timeout.ms": "60000"}
    dead = made.kafka.members[1]
    members = (made.kafka.members[0], replace(dead, epoch=-2), made.kafka.members[2])
    kafka = replace(made.kafka, members=members, settings=settings)
    back = replace(made.pods[1], ready=False, started_at=NOW - 2, ended_at=NOW - 4, restarts=1)
    held = {"payments-1": Release(dead.member_id, NOW - 3)}
    memory = replace(made.memory, released=held, group_settings=settings)
    pods = (made.pods[0], back, made.pods[2])
    return changed(made, kafka=kafka, pods=pods, memory=memory)


def crashed() -> World:
    """KIP-848: payments-1's process is a new one, and the dead member still holds its id."""
    made = released()
    assert isinstance(made.kafka, GroupObservation)
    forgotten = replace(made.memory, released={})
    members = tuple(replace(member, epoch=7) for member in made.kafka.members)
    return replace(made, kafka=replace(made.kafka, members=members), memory=forgotten)


def refused_at_start() -> World:
    """KIP-848: payments-1 met its predecessor when it started, and has been out of the group since, though Ready."""
    made = released()
    assert isinstance(made.kafka, GroupObservation)
    kafka = replace(made.kafka, members=(made.kafka.members[0], made.kafka.members[2]))
    lost = replace(made.pods[1], ready=True, started_at=NOW - 30, ended_at=NOW - 32)
    release = replace(made.memory.released["payments-1"], released_at=NOW - 25)
    memory = replace(made.memory, released={"payments-1": release})
    return changed(made, kafka=kafka, pods=(made.pods[0], lost, made.pods[2]), memory=memory)


def scaled_down() -> World:
    """Of three pods two are wanted, and the third has ended; its member is still there."""
    made = builders.made_with(Profile.EAGER, builders.group(protocol={"target": "Eager"}))
    assert made.workload is not None
    of = builders.group(protocol={"target": "Eager"}, replicas=2)
    return changed(made, group=of, workload=replace(made.workload, replicas=2, partition=2), pods=made.pods[:2])

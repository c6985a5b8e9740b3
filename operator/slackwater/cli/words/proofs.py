"""Which proof is missing, where a rollout waits because a member is not known to be back. Pure."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.decision.decision import Decision
from slackwater.core.members.presence import missing_proofs
from slackwater.core.rollout.candidates import known_down
from slackwater.core.world.world import World


def proof_awaited(world: World, plan: Decision) -> str:
    """What would prove that the pod which the gates wait for is back; empty where that cannot be said from here."""
    world = replace(world, memory=plan.memory)
    down = known_down(world, world.workload) if world.workload is not None else frozenset[int]()
    for pod in reversed(world.wanted_pods):
        if pod.ordinal not in down and (missing := missing_proofs(world, pod)):
            what = "This" if len(missing) == 1 else "Any of these"
            return f"{what} proves that {pod.name} is back: {'; '.join(missing)}"
    return ""

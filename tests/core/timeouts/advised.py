"""Groups for which something is recommended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slackwater.core.manifests.template import render_template
from slackwater.core.world.advice import Advice, AdviceStatus, Range, Subject
from slackwater.core.world.memory import RolloutMemory, RolloutPhase
from slackwater.core.world.observation import GroupType
from slackwater.core.world.profile import Profile
from slackwater.core.world.world import World
from tests.core.factories import BOOTSTRAP, NAME, NOW, OLD, group, observation, workload, world

DAY = 86_400.0


def session(target_s: float, lower_s: float | None = None, upper_s: float | None = None) -> dict[Subject, Range]:
    """A session with as much room to either side as nobody minds, and a heartbeat of a third."""
    lower = target_s * 0.9 if lower_s is None else lower_s
    upper = target_s * 1.1 if upper_s is None else upper_s
    return {
        Subject.SESSION: Range(int(lower * 1000), int(target_s * 1000), int(upper * 1000), "because"),
        Subject.HEARTBEAT: Range(1, int(target_s * 1000) // 3, int(target_s * 1000) // 3),
    }


def advice(ranges: dict[Subject, Range] | None = None, **changes: Any) -> Advice:
    usual = Advice(
        group_id=NAME,
        as_of=NOW - 3600,
        generation=1,
        status=AdviceStatus.RECOMMENDED,
        why="restarts take 12 s here",
        restarts=120,
        ranges=session(20) if ranges is None else ranges,
    )
    return replace(usual, **changes)


def at_rest(mode: str = "Auto", profile: Profile = Profile.OWN_CHOICE, **changes: Any) -> World:
    """Every pod runs what the spec asks for; the same spec with a recommendation is what a test is about."""
    spec: dict[str, Any] = {**changes.pop("spec", {})}
    spec["timeouts"] = {"mode": mode, **spec.get("timeouts", {})}
    if profile is Profile.CONSUMER:
        spec["protocol"] = {"target": "Consumer"}
    told = group(changes.pop("annotations", None), **spec)
    template = render_template(told, BOOTSTRAP, profile)
    memory = RolloutMemory(
        phase=RolloutPhase.COMPLETE,
        target_hash=template.hash,
        last_good_hash=template.hash,
        last_good_revision=OLD,
        protocol=profile,
        session_timeout_ms=45_000,
    )
    if profile is Profile.CONSUMER:
        changes.setdefault("kafka", observation(type=GroupType.CONSUMER, settings={}))
    usual: dict[str, Any] = {
        "group": told,
        "memory": memory,
        "advice": advice(),
        "workload": workload(template_hash=template.hash, template=template.body, update_revision=OLD),
    }
    return world(**(usual | changes))

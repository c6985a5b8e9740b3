"""The end of a rollout, or of the way back: every pod is done."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.decision.decision import Decision
from slackwater.core.decision.notes import Note
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import Template
from slackwater.core.members.work import what_is_read_if_calm
from slackwater.core.protocol.upgrade import finish_step
from slackwater.core.rollout.beginning import session_timeout_ms
from slackwater.core.timeouts.adoption import completed
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.workload import Workload
from slackwater.core.world.world import World


def rolled(world: World, workload: Workload, template: Template) -> Decision:
    """Every pod is done. `world`: with the memory of the last step."""
    back = world.memory.phase is RolloutPhase.ROLLING_BACK
    step = Decision(world.memory) if back else finish_step(world, workload)
    if step.refusal is not None:
        return Decision(world.memory, hold=step.refusal)
    done = replace(
        step.memory,
        phase=RolloutPhase.ROLLED_BACK if back else RolloutPhase.COMPLETE,
        retried_at=None,
        canary=None,
        forced_hash="",
        message=step.memory.message if back else "",  # what an earlier try failed by is over
    )
    if world.replicas > 0:  # a version that no pod has run is not known to be good
        done = replace(done, last_good_revision=workload.update_revision, last_good_hash=template.hash)
    if not back:  # after a rollback the pods have the session timeout of an earlier spec
        read = what_is_read_if_calm(world.seen) or done.read_before
        done = replace(completed(done), session_timeout_ms=session_timeout_ms(world), read_before=read)
    what = "every pod runs the last good version again" if back else "every pod runs the new version"
    note = Note(Reason.ROLLED_BACK if back else Reason.ROLLOUT_COMPLETE, what)
    return Decision(done, notes=(note, *step.notes))

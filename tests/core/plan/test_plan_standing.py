"""A first version that fails for a partition that stands: it is in the group all the same."""

from __future__ import annotations

from dataclasses import replace

from slackwater.core.manifests.template import wanted_template, what_people_gave
from slackwater.core.plan import plan
from slackwater.core.world.memory import RolloutPhase
from tests.core.factories import NEW, NOW, changed, fresh_pod, pod, workload
from tests.core.members.test_standing import HALTED, halting


def test_a_first_version_of_which_a_partition_stands_is_not_good_a_pass_later() -> None:
    """It is in the group, and that is not all that it has to do."""
    made = halting(*HALTED, pods=(pod(0, NEW), fresh_pod(1, 60), pod(2, NEW)))
    template = wanted_template(made)
    memory = replace(
        made.memory,
        target_hash=template.hash,
        target_given=what_people_gave(made),
        started_at=NOW - 100,
        session_timeout_ms=45_000,
        made_with={template.hash: made.asked_for},
    )
    built = workload(template_hash=template.hash, template=template.body, partition=0, current_revision=NEW)
    pods = tuple(replace(each, template_hash=template.hash) for each in made.pods)
    failed = plan(changed(made, workload=built, memory=memory, pods=pods))
    again = plan(changed(made, workload=built, memory=failed.memory, pods=pods))
    assert (failed.memory.phase, again.memory.phase) == (RolloutPhase.FAILED, RolloutPhase.FAILED)
    assert again.memory.last_good_hash == ""

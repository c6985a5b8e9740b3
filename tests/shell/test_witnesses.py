"""What witnesses are shown of a pass, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.adapters.cluster.errors import ClusterRefused, Conflict
from slackwater.adapters.cluster.paths import CONSUMER_GROUP
from slackwater.core.decision.acts import Act, kind_of
from slackwater.core.decision.decision import Decision
from slackwater.core.world.world import World
from slackwater.shell.store import Key
from slackwater.shell.witnesses import Witness
from tests.shell.fakes import KEY
from tests.shell.reconciler_stage import Stage


class Notebook(Witness):
    def __init__(self, stage: Stage) -> None:
        self.lines: list[str] = []
        self._writes = stage.api.writes

    def decided(self, key: Key, world: World, decision: Decision) -> None:
        before = "before" if "apply StatefulSet" not in self._writes() else "after"
        self.lines.append(f"decided, {before} the act")

    def acted(self, key: Key, act: Act) -> None:
        self.lines.append(f"acted: {kind_of(act)}")

    def saw(self, key: Key, world: World, decision: Decision, done: Act | None) -> None:
        self.lines.append(f"saw: {kind_of(done) if done is not None else 'nothing done'}")

    def forget(self, key: Key) -> None:
        self.lines.append("forget")


def watched(**group: Any) -> tuple[Stage, list[Notebook]]:
    """A stage with two witnesses more."""
    stage = Stage(**group)
    notebooks = [Notebook(stage), Notebook(stage)]
    stage.reconciler._witnesses = (*stage.reconciler._witnesses, *notebooks)
    return stage, notebooks


async def test_every_witness_is_shown_a_pass_in_this_order() -> None:
    stage, notebooks = watched()
    await stage.run()
    made = "create the StatefulSet"
    for notebook in notebooks:
        assert notebook.lines == ["decided, before the act", f"acted: {made}", f"saw: {made}"]


async def test_a_pass_that_is_refused_has_no_end_to_see() -> None:
    stage, (notebook, _) = watched()
    stage.api.failures["apply StatefulSet"] = ClusterRefused("exceeded quota: pods")
    with pytest.raises(ClusterRefused):
        await stage.run()
    assert notebook.lines == ["decided, before the act"]


async def test_an_act_on_a_world_that_had_changed_was_not_done() -> None:
    stage, (notebook, _) = watched()
    stage.api.failures["apply StatefulSet"] = Conflict("it has changed")
    await stage.run()
    assert notebook.lines == ["decided, before the act", "saw: nothing done"]


async def test_the_acts_of_a_deletion_are_seen_and_then_the_group_is_forgotten() -> None:
    stage, (notebook, _) = watched()
    obj = stage.api.changed_by_somebody(CONSUMER_GROUP, KEY, deletionTimestamp="2026-01-01T00:00:00Z")
    stage.see(obj)
    del stage.api.objects["KafkaConnection", "default", "main"]
    await stage.run()
    stage.store.drop(CONSUMER_GROUP, obj)
    await stage.run()
    assert notebook.lines == ["acted: let go", "forget"]


async def test_an_act_is_counted_once() -> None:
    stage, _ = watched()
    await stage.run()
    assert 'slackwater_acts_total{act="create the StatefulSet"} 1.0' in stage.metrics_text()

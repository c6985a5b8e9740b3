"""What a campaign orders, as the group remembers it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.api.annotations import CAMPAIGN, RESTART
from slackwater.api.consumer_group import ConsumerGroupSpec
from slackwater.api.fleet_campaign import Action
from slackwater.api.fleet_defaults import PinnedField
from slackwater.core.commands import obey
from slackwater.core.fleet.claim import Cell
from slackwater.core.fleet.defaults import Own
from slackwater.core.fleet.layers import Giver, nearest
from slackwater.core.fleet.order import Order
from slackwater.core.fleet.orders import obeyed
from slackwater.core.fleet.participants import Progress, progress_of, shown_by
from slackwater.core.fleet.records import Record, record_of, with_done
from slackwater.core.manifests.template import wanted_template
from slackwater.core.world.inherited import Pin
from slackwater.core.world.memory import RolloutMemory, RolloutPhase, Upgrade, read_memory, write_memory
from slackwater.core.world.profile import Profile, StrategyName
from tests.api.manifests import consumer_group
from tests.core.factories import NOW, group, world

RESTARTS: Final = Order("uid-1", "slackwater/platform", "canary", NOW, Cell("c", "canary"), "uid-1")
TARGET, POLLS = PinnedField.PROTOCOL_TARGET, PinnedField.MAX_POLL_INTERVAL
APPLIES: Final = replace(RESTARTS, restart="", applies={TARGET: "Consumer", POLLS: "10m"})
CHANGES: Final = replace(RESTARTS, restart="")
REST: Final = RolloutMemory(phase=RolloutPhase.COMPLETE)
ROLLS: Final = replace(REST, phase=RolloutPhase.PROGRESSING)


def own(**spec: Any) -> Own:
    written = consumer_group(**spec)["spec"]
    return Own.of(ConsumerGroupSpec.model_validate(written, by_alias=True, by_name=False, context={"wire": True}))


def ordered(memory: RolloutMemory, begin: Order, **spec: Any) -> RolloutMemory:
    return obeyed(memory, begin, own(**spec), {}, {})


def test_a_restart_is_another_template_and_remembered() -> None:
    found = ordered(REST, RESTARTS)
    assert (found.restart, record_of(found.commands, "uid-1")) == ("uid-1", Record("canary"))
    before, after = (wanted_template(world(memory=each)).hash for each in (REST, found))
    assert before != after


def test_a_restart_that_people_asked_for_before_does_not_count_again() -> None:
    asked = world(group=group({RESTART: "t1"}), memory=replace(REST, restart="t1"))
    found = obeyed(asked.memory, RESTARTS, own(), {}, asked.group.metadata.annotations)
    assert obey(asked.remembering(found)).memory.restart == "uid-1"
    later = world(group=group({RESTART: "t2"}), memory=found)
    assert obey(later).memory.restart == "t2"


def test_defaults_are_pinned_but_for_what_the_group_says_itself() -> None:
    found = ordered(REST, APPLIES, timeouts={"maxPollInterval": "9m"})
    assert found.inherited == {TARGET: Pin("Consumer", "slackwater/platform")}
    assert read_memory({"rollout": write_memory(found), "commands": dict(found.commands)}) == found


def test_what_a_nearer_fleet_gives_is_not_pinned_over() -> None:
    given = nearest("team", [Giver("team", "pay", {"timeouts.maxPollInterval": "1h"})])
    found = obeyed(REST, APPLIES, own(), given, {})
    assert found.inherited == {TARGET: Pin("Consumer", "slackwater/platform")}


def test_of_a_change_nothing_is_ordered_but_that_it_may_begin() -> None:
    found = ordered(ROLLS, replace(CHANGES, named="slackwater/run"))
    assert found == replace(ROLLS, commands=found.commands)
    assert record_of(found.commands, "uid-1") == Record("canary")
    assert found.commands[CAMPAIGN] == "slackwater/run", "who has called it, for when that is deleted"


@pytest.mark.parametrize("begin", [RESTARTS, APPLIES], ids=["a restart", "defaults"])
@pytest.mark.parametrize(
    "memory",
    [
        ROLLS,
        replace(REST, phase=RolloutPhase.FAILED),
        replace(REST, phase=RolloutPhase.ROLLED_BACK),
        replace(REST, upgrade=Upgrade(Profile.EAGER, StrategyName.ONE_BOUNCE, (Profile.COOPERATIVE,), started_at=NOW)),
    ],
    ids=["rolls", "failed", "went back", "between two steps"],
)
def test_nothing_is_ordered_of_a_group_that_is_not_at_rest(memory: RolloutMemory, begin: Order) -> None:
    assert ordered(memory, begin) is memory


def test_what_does_not_go_together_is_not_ordered() -> None:
    assert ordered(REST, APPLIES, timeouts={"session": "30s"}) is REST


def test_what_was_ordered_is_not_ordered_again() -> None:
    """Neither by another leader, nor once it is done."""
    once = ordered(REST, RESTARTS)
    assert ordered(once, replace(RESTARTS, wave="rest")) is once
    done = replace(once, commands=with_done(once.commands, NOW), restart="")
    assert ordered(done, RESTARTS) is done


def test_two_campaigns_each_have_their_own_and_none_restarts_for_the_other() -> None:
    first = ordered(REST, RESTARTS)
    first = replace(first, commands=with_done(first.commands, NOW))
    both = ordered(first, replace(RESTARTS, campaign="uid-2", restart="uid-2"))
    action = Action.model_validate({"restart": {}})
    shown = shown_by(both, is_observed=True, oldest_pod_at=NOW - 9999)
    assert progress_of(action, shown, "uid-1", NOW - 100, {}) is Progress.DONE
    assert progress_of(action, shown, "uid-2", NOW - 100, {}) is Progress.MOVES

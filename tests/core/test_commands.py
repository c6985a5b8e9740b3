"""Commands by annotation: each value is obeyed once, and says what it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from slackwater.api.annotations import ABORT, FORCE, PROMOTE, RESTART, RETRY, TOKEN_COMMANDS
from slackwater.core.commands import obey, obey_force
from slackwater.core.decision.decision import Decision
from slackwater.core.decision.reasons import Reason
from slackwater.core.manifests.template import wanted_template, what_people_gave
from slackwater.core.plan import plan
from slackwater.core.world.memory import Canary, RolloutMemory, RolloutPhase
from slackwater.core.world.world import World
from tests.core.factories import NOW, OLD, group, world

PROGRESSING, FAILED, COMPLETE = RolloutPhase.PROGRESSING, RolloutPhase.FAILED, RolloutPhase.COMPLETE
ROLLING_BACK, ROLLED_BACK = RolloutPhase.ROLLING_BACK, RolloutPhase.ROLLED_BACK


def memory(
    phase: RolloutPhase, *, failed: bool = False, known_good: bool = True, canary: Canary | None = None
) -> RolloutMemory:
    return RolloutMemory(
        phase=phase,
        target_hash="v2",
        last_good_revision=OLD if known_good else "",
        last_good_hash="v1" if known_good else "",
        failed_hash="v2" if failed else "",
        canary=canary,
    )


HELD = Canary(0, NOW)
TABLE = [
    (ABORT, memory(PROGRESSING), ROLLING_BACK, Reason.ABORTED),
    (ABORT, memory(FAILED, failed=True), ROLLING_BACK, Reason.ABORTED),
    (ABORT, memory(PROGRESSING, known_good=False), FAILED, Reason.NO_EARLIER_VERSION),
    (ABORT, memory(COMPLETE), COMPLETE, Reason.ABORTED),
    (ABORT, memory(ROLLING_BACK, failed=True), ROLLING_BACK, Reason.ABORTED),
    (RETRY, memory(FAILED, failed=True), PROGRESSING, Reason.RETRYING),
    (RETRY, memory(ROLLED_BACK, failed=True), PROGRESSING, Reason.RETRYING),
    (RETRY, memory(ROLLING_BACK, failed=True), PROGRESSING, Reason.RETRYING),
    (RETRY, memory(PROGRESSING), PROGRESSING, Reason.RETRYING),
    (RETRY, memory(COMPLETE), COMPLETE, Reason.RETRYING),
    (PROMOTE, memory(PROGRESSING, canary=HELD), PROGRESSING, Reason.PROMOTED),
    (PROMOTE, memory(PROGRESSING), PROGRESSING, Reason.PROMOTED),
    (FORCE, memory(PROGRESSING), PROGRESSING, Reason.FORCED),
    (FORCE, memory(FAILED, failed=True), FAILED, Reason.FORCED),
]
IDS = [f"{command.split('/')[1]} while {before.phase}" for command, before, _, _ in TABLE]


def ask(command: str) -> Callable[[World], Decision]:
    """Who obeys it: `force` is obeyed once it is known what is asked for."""
    return obey_force if command == FORCE else obey


@pytest.mark.parametrize(("command", "before", "phase", "reason"), TABLE, ids=IDS)
def test_command(command: str, before: RolloutMemory, phase: RolloutPhase, reason: Reason) -> None:
    obeyed = ask(command)(world(memory=before, group=group(annotations={command: "1"})))
    after = obeyed.memory
    assert after.phase is phase
    assert [note.reason for note in obeyed.notes] == [reason]
    assert after.commands == {command: "1"}


@pytest.mark.parametrize(
    ("annotations", "before", "after"),
    [({RESTART: "2"}, "1", "2"), ({}, "1", "1"), ({RESTART: "1"}, "", "1"), ({}, "", "")],
    ids=["another one", "its annotation is gone", "an operator before this one has seen it", "never"],
)
def test_the_token_of_a_restart_is_remembered(annotations: dict[str, str], before: str, after: str) -> None:
    """Not from `commands`: a token that was not rendered any more would restart all pods."""
    known = RolloutMemory(restart=before, commands={RESTART: "1"})
    assert obey(world(memory=known, group=group(annotations=annotations))).memory.restart == after


@pytest.mark.parametrize(
    ("phase", "reason"),
    [(FAILED, Reason.ROLLOUT_FAILED), (ROLLING_BACK, Reason.ROLLED_BACK), (ROLLED_BACK, Reason.ROLLED_BACK)],
)
def test_a_restart_does_not_try_a_version_again_that_was_given_up(phase: RolloutPhase, reason: Reason) -> None:
    """It rolled the given-up version out once more, and a good pod was gone for it."""
    given = world(group=group(annotations={RESTART: "1"}))
    before = replace(memory(phase, failed=True), target_given=what_people_gave(given), target_hash="v2")
    refused = obey(given.remembering(before))
    assert (refused.memory.restart, [note.reason for note in refused.notes]) == ("", [reason])
    retried = replace(refused.memory, phase=PROGRESSING, failed_hash="")
    assert obey(given.remembering(retried)) == Decision(retried)
    again = world(memory=retried, group=group(annotations={RESTART: "2"}))
    assert obey(again).memory.restart == "2"


def test_a_restart_beside_a_retry_comes_after_it() -> None:
    """It was refused for good by what the retry ended in the same look."""
    given = world(group=group(annotations={RESTART: "1", RETRY: "1"}))
    before = replace(memory(FAILED, failed=True), target_given=what_people_gave(given), target_hash="v2")
    once = obey(given.remembering(before))
    assert (once.memory.restart, once.memory.restart_refused, once.memory.phase) == ("", "", PROGRESSING)
    assert [note.reason for note in once.notes] == [Reason.RETRYING]
    assert obey(given.remembering(once.memory)).memory.restart == "1"


def test_a_restart_with_another_version_than_the_one_given_up_counts() -> None:
    given = world(memory=replace(memory(ROLLED_BACK, failed=True), target_given="the bad one"))
    given = replace(given, group=group(annotations={RESTART: "1"}))
    assert obey(given).memory.restart == "1"


@pytest.mark.parametrize("command", [ABORT, RETRY, PROMOTE, RESTART, FORCE])
def test_a_token_is_obeyed_once(command: str) -> None:
    given = world(memory=memory(PROGRESSING, canary=HELD), group=group(annotations={command: "1"}))
    once = ask(command)(given).memory
    assert ask(command)(world(memory=once, group=given.group)) == Decision(once)
    again = ask(command)(world(memory=once, group=group(annotations={command: "2"}))).memory
    assert again.commands == {command: "2"}


@pytest.mark.parametrize("command", TOKEN_COMMANDS)
def test_to_remove_it_does_nothing_and_neither_does_its_return(command: str) -> None:
    """As by `kubectl replace`, and by a backup that is restored later."""
    given = world(memory=memory(PROGRESSING, canary=HELD), group=group(annotations={command: "1"}))
    once = ask(command)(given).memory
    removed = ask(command)(world(memory=once, group=group()))
    assert removed == Decision(once)
    assert ask(command)(given.remembering(removed.memory)) == Decision(once)


@pytest.mark.parametrize(("phase", "forced"), [(PROGRESSING, True), (FAILED, False), (COMPLETE, False)])
def test_a_rollout_under_way_is_forced_and_no_other(phase: RolloutPhase, forced: bool) -> None:
    given = world(group=group(annotations={FORCE: "1"}))
    target = wanted_template(given).hash
    given = given.remembering(replace(memory(phase), target_hash=target))
    assert obey_force(given).memory.is_forced is forced


def test_a_version_that_is_applied_and_forced_in_one_go_is_forced() -> None:
    """The command is obeyed before the rollout begins."""
    given = world(memory=memory(COMPLETE), group=group(annotations={FORCE: "1"}))
    assert plan(given).memory.is_forced


@pytest.mark.parametrize("ends", [RETRY, ABORT])
def test_what_was_forced_is_not_after_it_has_ended(ends: str) -> None:
    forced = replace(memory(FAILED, failed=True), forced_hash="v2")
    assert not obey(world(memory=forced, group=group(annotations={ends: "1"}))).memory.is_forced


def test_promote_passes_the_canary_that_is_held() -> None:
    after = obey(world(memory=memory(PROGRESSING, canary=HELD), group=group(annotations={PROMOTE: "1"}))).memory
    assert after.canary == Canary(0, NOW, passed=True)


@pytest.mark.parametrize("phase", [ROLLING_BACK, ROLLED_BACK])
def test_abort_on_the_way_back_changes_nothing_and_says_so(phase: RolloutPhase) -> None:
    obeyed = obey(world(memory=memory(phase, failed=True), group=group(annotations={ABORT: "1"})))
    assert [note.message for note in obeyed.notes] == [
        "abort: the group is on its way back already, so nothing changes"
        if phase is ROLLING_BACK
        else "abort: the group has gone back already, so nothing changes"
    ]
    assert obeyed.memory.phase is phase


def test_abort_gives_the_version_up_and_retry_takes_it_up_again() -> None:
    aborted = obey(world(memory=memory(PROGRESSING, canary=HELD), group=group(annotations={ABORT: "1"}))).memory
    assert (aborted.failed_hash, aborted.canary, aborted.message) == ("v2", None, "aborted by annotation")
    retried = obey(world(memory=aborted, group=group(annotations={ABORT: "1", RETRY: "1"}))).memory
    assert (retried.failed_hash, retried.retried_at, retried.message) == ("", NOW, "")


def test_restart_is_only_noted_since_it_is_a_part_of_the_template() -> None:
    before = memory(COMPLETE)
    obeyed = obey(world(memory=before, group=group(annotations={RESTART: "1"})))
    assert (obeyed.memory.phase, obeyed.notes) == (COMPLETE, ())


def test_a_retry_of_what_has_stopped_goes_on_with_the_number_of_pods_that_is_asked_for_then() -> None:
    for phase, replicas in ((FAILED, None), (ROLLED_BACK, None), (ROLLING_BACK, 5)):
        before = replace(memory(phase, failed=True), replicas=5)
        assert obey(world(memory=before, group=group(annotations={RETRY: "1"}))).memory.replicas == replicas


def test_promote_says_so_where_the_hold_is_over_already() -> None:
    passed = memory(PROGRESSING, canary=replace(HELD, passed=True))
    (note,) = obey(world(memory=passed, group=group(annotations={PROMOTE: "1"}))).notes
    assert note.message == "promote: no canary is being held, so nothing changes"

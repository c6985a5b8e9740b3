"""What acts say as Events."""

from __future__ import annotations

import pytest

from slackwater.core.decision.acts import (
    Act,
    AlterGroupSettings,
    Cause,
    DeletePod,
    DeleteWorkload,
    Purpose,
    ReleaseMembers,
    RemoveMembers,
)
from slackwater.core.decision.notes import Note, notes_of, start_note, workload_note
from slackwater.core.decision.reasons import Reason
from tests.core.decision.test_acts import write
from tests.core.factories import workload, world


@pytest.mark.parametrize(
    ("act", "reason", "message"),
    [
        (
            DeletePod("payments-1", "uid-1", 1, Cause.DOWN),
            Reason.RESTARTING_POD,
            "deleting pod payments-1: it is down, and its replacement has what is asked for",
        ),
        (
            RemoveMembers((), "their pods are gone"),
            Reason.MEMBERS_REMOVED,
            "taking members out of the group: their pods are gone",
        ),
        (ReleaseMembers((), "payments-1 is dead"), Reason.MEMBERS_RELEASED, "payments-1 is dead"),
        (
            AlterGroupSettings({"a": "1", "b": None}),
            Reason.SETTINGS_CHANGED,
            "setting a=1, b=as the brokers have it for the group, without a restart",
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_an_act_says_what_it_does(act: Act, reason: Reason, message: str) -> None:
    assert notes_of(act) == (Note(reason, message, of_act=True),)


WRITES = {
    Purpose.DRAIN: (Reason.DRAINING, "stop every pod, so that all can change their protocol at once"),
    Purpose.START: (Reason.DRAINING, "start all pods again with the other protocol"),
    Purpose.RESTART: (Reason.RESTARTING_POD, "restarting pod with ordinal 2: all gates hold"),
    Purpose.HAND_OVER: (Reason.HANDING_OVER, "starting payments-alt-2 beside the pod that it replaces"),
    Purpose.LET_GO: (Reason.HANDED_OVER, "removing payments-alt-2: its replacement has taken over"),
    Purpose.LET_GO_EARLY: (Reason.HANDED_OVER, "removing payments-alt-2: its replacement is about to join"),
    Purpose.GIVE_UP: (Reason.RESTARTING_POD, "removing payments-alt-2 before its replacement works"),
    Purpose.TAKE_BACK: (Reason.HANDING_OVER, "removing payments-alt-2, which has not taken over"),
}


@pytest.mark.parametrize("purpose", Purpose, ids=lambda purpose: purpose.name)
def test_a_write_says_what_it_does_to_a_pod_and_nothing_where_it_moves_none(purpose: Purpose) -> None:
    act = write(purpose, ordinal=2, name="payments-alt")
    said = WRITES.get(purpose)
    assert notes_of(act) == ((Note(*said, of_act=True),) if said is not None else ())


@pytest.mark.parametrize("act", [None, DeleteWorkload("payments", "uid", "")])
def test_nothing_is_said_of_what_moves_no_pod(act: Act | None) -> None:
    assert notes_of(act) == ()


def test_what_a_rollout_and_a_statefulset_begin_with() -> None:
    given = world()
    assert start_note(given, "abc") == Note(Reason.ROLLOUT_STARTED, "version abc is to be rolled out to 3 pods")
    assert workload_note(Purpose.CREATE, given) == Note(
        Reason.CREATED, "created StatefulSet payments with 3 pods", of_act=True
    )
    upper = workload_note(Purpose.SCALE, world(workload=workload(start=1, replicas=2)))
    assert upper == Note(Reason.SCALED, "scaled from 2 to 3 pods", of_act=True)
    scaled = workload_note(Purpose.SCALE, world(workload=workload(replicas=1)))
    assert scaled == Note(Reason.SCALED, "scaled from 1 to 3 pods", of_act=True)

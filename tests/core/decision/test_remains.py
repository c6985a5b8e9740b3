"""What is left of a group that is being deleted, after each act."""

from __future__ import annotations

from slackwater.core.decision.acts import DeleteGroup, DeleteWorkload, LetGo, RemoveMembers
from slackwater.core.decision.remains import Remains
from tests.core.factories import workload


def test_what_is_left_after_an_act() -> None:
    first, second = workload(uid="1"), workload(name="payments-alt", uid="2")
    left = Remains((first, second)).after(DeleteWorkload("payments", "1", ""))
    assert (left.sets, left.pods, left.fresh) == ((second,), True, False)
    assert Remains().after(RemoveMembers((), "")) == Remains(members=False)
    assert Remains().after(DeleteGroup()) == Remains(group=False)
    assert Remains().after(LetGo("")) == Remains()

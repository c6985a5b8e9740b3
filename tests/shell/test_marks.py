"""How often pods' readiness gates are written: a broker may say at each look that all have left, or are back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from slackwater.adapters.cluster.errors import ClusterUnreachable
from slackwater.core.members.rejoined import Mark
from slackwater.core.world.world import World
from slackwater.shell import marks as module
from slackwater.shell.marks import A_PASS, AGAIN_S, AT_ONCE, OF_A_GROUP_AGAIN_S, OF_A_GROUP_AT_ONCE, Marks
from slackwater.shell.store import Key, Store
from tests.core.factories import NOW, pod, world
from tests.shell.fakes import KEY

ROUND_S: Final = 0.5
"""A pass twice a second: the pace that the queue gives a group for good."""
PLAIN: Final = world()


class Gates:
    """Pods of one group that have the gate, and a broker that says of all of them the same."""

    def __init__(self, pods: int) -> None:
        self.now, self.written, self.fails, self.life = NOW, 0, False, 0
        self.says = True
        self.said = [False] * pods
        """By ordinal."""
        api: Any = self
        self.marks = Marks(api, Store(), lambda: self.now)

    async def apply_status(self, kind: Any, namespace: str, name: str, uid: str, status: Any) -> dict[str, Any]:
        if self.fails:
            raise ClusterUnreachable("it does not answer")
        self.written += 1
        self.said[int(name.rpartition("-")[2])] = status["conditions"][0]["status"] == "True"
        return {"metadata": {"namespace": namespace, "name": name, "uid": uid, "resourceVersion": str(self.written)}}

    def replace_pods(self) -> None:
        self.life += 1
        self.said = [False] * len(self.said)

    def due(self, given: World) -> tuple[Mark, ...]:
        return tuple(Mark(each, self.says) for each in given.all_pods if each.rejoined is not self.says)

    async def a_pass(self, *, are_in: bool) -> bool:
        """Returns whether something was written."""
        self.says = are_in
        pods = tuple(pod(n, uid=f"uid-{self.life}-{n}", rejoined=said) for n, said in enumerate(self.said))
        await self.marks.put_right(KEY, replace(PLAIN, now=self.now, all_pods=pods))
        return self.marks.were_written(KEY)

    async def run(self, *, are_in: bool) -> float:
        """Passes until no more may be written now; returns in how many seconds it may."""
        while await self.a_pass(are_in=are_in):
            pass
        return self.marks.again_s(KEY)


@pytest.fixture(autouse=True)
def due_by_what_the_broker_says(monkeypatch: pytest.MonkeyPatch, gates: Gates) -> None:
    """What the gates are to say is `core`'s, and tested there."""
    monkeypatch.setattr(module, "marks_due", gates.due)


@pytest.fixture
def gates(pods: int) -> Gates:
    return Gates(pods)


async def flap(gates: Gates, rounds: int) -> None:
    for number in range(rounds):
        gates.now += ROUND_S
        await gates.run(are_in=number % 2 == 0)


@pytest.mark.parametrize("pods", [100])
async def test_the_first_change_of_each_pod_is_written_at_once(gates: Gates) -> None:
    assert await gates.run(are_in=True) == float("inf")
    assert all(gates.said)
    assert gates.written == 100


@pytest.mark.parametrize("pods", [30])
async def test_a_pod_that_is_made_again_begins_like_new_whatever_the_others_did(gates: Gates) -> None:
    await flap(gates, 200)
    gates.replace_pods()
    gates.now += ROUND_S
    assert await gates.run(are_in=True) == float("inf")
    assert all(gates.said)
    assert len(gates.marks._of_pods[KEY]) == 30, "nothing is kept of pods that are gone"


@pytest.mark.parametrize("pods", [20])
async def test_pods_that_flap_have_a_few_writes_each_and_their_group_a_few_more(gates: Gates) -> None:
    rounds = 60
    await flap(gates, rounds)
    for_all = OF_A_GROUP_AT_ONCE + rounds * ROUND_S / OF_A_GROUP_AGAIN_S
    assert gates.written <= 20 * (AT_ONCE + 1) + for_all
    assert gates.written >= 20 * AT_ONCE


@pytest.mark.parametrize("pods", [50])
@pytest.mark.parametrize("are_in", [True, False])
async def test_in_the_end_each_says_what_is_so(are_in: bool, gates: Gates) -> None:
    await flap(gates, 60)
    stopped_at = gates.now
    while (again_s := await gates.run(are_in=are_in)) != float("inf"):
        gates.now += max(again_s, ROUND_S)
    assert gates.said == [are_in] * 50
    assert gates.now - stopped_at <= AGAIN_S


@pytest.mark.parametrize("pods", [1])
async def test_a_write_that_fails_costs_nothing(gates: Gates) -> None:
    gates.fails = True
    for _ in range(AT_ONCE + OF_A_GROUP_AT_ONCE + 1):
        with pytest.raises(ClusterUnreachable):
            await gates.run(are_in=True)
    gates.fails = False
    assert await gates.run(are_in=True) == float("inf")
    assert gates.said == [True]


@pytest.mark.parametrize("pods", [2 * A_PASS])
async def test_a_few_are_written_in_a_pass(gates: Gates) -> None:
    assert await gates.a_pass(are_in=True)
    assert gates.written == A_PASS
    assert not gates.marks.were_written(KEY)


@pytest.mark.parametrize("pods", [3])
async def test_a_group_that_is_gone_leaves_nothing(gates: Gates) -> None:
    await flap(gates, 100)
    gates.marks.forget(KEY)
    gates.marks.forget(Key("shop", "nobody"))
    assert not (gates.marks._of_pods or gates.marks._of_groups or gates.marks._written or gates.marks._again_s)

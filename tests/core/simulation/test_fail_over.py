"""A fail-over to another cluster: our members are gone before the others come, so that nobody sees them take an id."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from slackwater.core.decision.reasons import Reason
from slackwater.core.world.memory import RolloutPhase
from slackwater.core.world.observation import MemberRef, Unobserved
from tests.core.simulation.broker import RANGE, Process
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

KINDS = pytest.mark.parametrize("kip848", [False, True], ids=["classic", "KIP-848"])


class Sites:
    """Ours, of which no process gets into the group any more; and those of another cluster with the same ids."""

    def __init__(self, kip848: bool) -> None:
        self.run = Run(Outside(kip848=kip848))
        self.run.until(RolloutPhase.COMPLETE)
        self.run.for_seconds(100)
        self.theirs: list[Process] = []
        self.ours_may_join = False
        broker = self.run.outside.broker
        self._join: Callable[[Process, float], None] = broker.join
        self._protocols = () if kip848 else RANGE
        broker.join = self._let_in  # type: ignore[method-assign]

    def _let_in(self, process: Process, now: float) -> None:
        if process in self.theirs or self.ours_may_join:
            self._join(process, now)

    def ours_hang(self) -> None:
        for pod in self.run.outside.pods:
            for process in pod.processes:
                process.alive = False
        self.run.for_seconds(40)
        assert not self.run.outside.broker.group.members

    def ours_crash(self) -> None:
        for ordinal in range(3):
            self.run.outside.crash(ordinal)

    def fail_over(self) -> list[str]:
        self.theirs += [Process(f"payments-{each}", f"10.9.9.{each}", protocols=self._protocols) for each in range(3)]
        self.for_seconds(60)
        return self.members()

    def members(self) -> list[str]:
        return [each.member_id for each in self.theirs]

    def for_seconds(self, duration_s: float, crash_every: int = 0) -> None:
        for second in range(1, round(duration_s) + 1):
            self.run.step()
            if crash_every and second % crash_every == 0:
                self.ours_crash()
            for process in self.theirs:
                self._join(process, self.run.outside.now)


@KINDS
def test_a_site_that_fell_out_and_is_scaled_to_nothing_leaves_the_other_one_alone(kip848: bool) -> None:
    sites = Sites(kip848)
    sites.ours_hang()
    before = sites.fail_over()
    sites.run.do("scaled to nothing", lambda o: o.scale(0))
    sites.for_seconds(120)
    assert sites.members() == before


@KINDS
@pytest.mark.parametrize("saw_them_come", [False, True])
def test_so_does_one_that_does_not_see_kafka_by_then(
    kip848: bool, saw_them_come: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = Sites(kip848)
    outside = sites.run.outside
    before: list[str] = []
    if saw_them_come:
        sites.ours_hang()
        before = sites.fail_over()
    with monkeypatch.context() as cut_off:
        unseen = Unobserved(Reason.KAFKA_UNREACHABLE, "no broker answers", outside.now)
        cut_off.setattr(outside, "observe", lambda: unseen)
        if not saw_them_come:
            sites.ours_hang()
            before = sites.fail_over()
        sites.run.do("scaled to nothing", lambda o: o.scale(0))
        sites.for_seconds(60)
        assert not outside.pods, "the play is another one"
    sites.for_seconds(120)
    assert sites.members() == before


def test_a_crash_of_ours_frees_no_id_of_a_living_member_of_another_site() -> None:
    """KIP-848: brokers would refuse ours as long as the others live."""
    sites = Sites(kip848=True)
    broker = sites.run.outside.broker
    freed: list[str] = []
    release = broker.release

    def released(members: Iterable[MemberRef], now: float) -> None:
        living = {each.member_id for each in sites.theirs if each.alive}
        refs = tuple(members)
        freed.extend(each.member_id for each in refs if each.member_id in living)
        release(refs, now)

    broker.release = released  # type: ignore[method-assign]
    sites.ours_crash()
    sites.run.for_seconds(40)
    sites.fail_over()
    sites.ours_may_join = True
    sites.for_seconds(200, crash_every=25)
    assert not freed

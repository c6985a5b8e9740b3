"""`kubectl rollout restart` and `rollout undo` on the StatefulSet of a group whose rollout goes on, or is paused."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

import pytest

from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.broker import Broker, Process
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run
from tests.core.simulation.stateful_set import RESTARTED_AT
from tests.core.simulation.versions import VERSIONS, Version

JOINS_LATE_S: Final = 12.0
"""Ready after a second, so that its controller goes on to the next pod long before."""


def restart(outside: Outside) -> None:
    template = deepcopy(dict(outside.set.template))
    template["metadata"]["annotations"][RESTARTED_AT] = str(outside.now)
    _edit(outside, template)


def undo(outside: Outside) -> None:
    _edit(outside, [each for each in outside.set.revisions.values() if each != outside.set.template][-1])


def _edit(outside: Outside, template: Any) -> None:
    outside.set.template, outside.set.edited = template, True
    outside.set.generation += 1
    outside.set.version += 1


@pytest.mark.parametrize("pods", [2, 3])
@pytest.mark.parametrize("deed", [restart, undo])
@pytest.mark.parametrize("where", ["under way", "paused", "at a canary"])
def test_the_pods_that_have_the_version_already_do_not_go_without_the_gates(
    monkeypatch: pytest.MonkeyPatch, where: str, deed: Callable[[Outside], None], pods: int
) -> None:
    """The one that the controller takes at once cannot be saved."""
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=JOINS_LATE_S))
    canary: dict[str, Any] = {"canary": [{"replicas": pods}]} if where == "at a canary" else {}
    run = Run(Outside(replicas=6, stableFor="5s", rejoinTimeout="60s", **canary))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("a good version", lambda there: there.apply("v2"))
    run.until_it_is("in so many pods", lambda o: sum(o.image(p) == "v2" and o.serves(p) for p in o.pods) == pods)
    if where == "paused":
        run.do("paused", Outside.pause)
    run.for_seconds(3)
    run.do(deed.__name__, deed)
    for _ in range(60):
        run.for_seconds(1)
        assert sum(map(run.outside.serves, run.outside.pods)) >= 5


@pytest.mark.parametrize("deed", [restart, undo])
def test_nor_do_they_after_a_failure_that_waits_for_a_person(
    monkeypatch: pytest.MonkeyPatch, deed: Callable[[Outside], None]
) -> None:
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=JOINS_LATE_S))
    run = Run(Outside(replicas=6, stableFor="5s", rejoinTimeout="60s", onFailure="Pause"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    join = Broker.join

    def joins(broker: Broker, process: Process, now: float) -> None:
        pod = run.outside.set.pods.get(3)
        if pod is None or process not in pod.processes or run.outside.image(pod) != "v2":
            join(broker, process, now)

    monkeypatch.setattr(Broker, "join", joins)
    run.do("a version that fails in the third pod", lambda there: there.apply("v2"))
    run.until(RolloutPhase.FAILED)
    run.for_seconds(10)
    for each in run.outside.sets.values():
        each.before_update = lambda _pod: None  # the first one goes because of the person
    run.do(deed.__name__, deed)
    for _ in range(120):
        run.for_seconds(1)
        assert sum(map(run.outside.serves, run.outside.pods)) >= 4, "more than the one that failed and one more"


def account(outside: Outside) -> None:
    """`kubectl set serviceaccount`, where the spec asks for none."""
    template = deepcopy(dict(outside.set.template))
    template["spec"]["serviceAccountName"] = template["spec"]["serviceAccount"] = "worker"
    _edit(outside, template)


@pytest.mark.parametrize("canary", [{}, {"canary": [{"replicas": 1, "hold": "20s"}]}], ids=["", "canary"])
def test_an_account_that_was_set_by_hand_is_taken_back_before_another_pod_goes(
    monkeypatch: pytest.MonkeyPatch, canary: dict[str, Any]
) -> None:
    """What takes it back makes another revision: a pod that has the account goes once more, and no second one."""
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=JOINS_LATE_S))
    run = Run(Outside(replicas=5, stableFor="5s", rejoinTimeout="60s", **canary))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("a good version", lambda there: there.apply("v2"))
    run.until_it_is("in one pod", lambda o: sum(o.image(p) == "v2" and o.serves(p) for p in o.pods) == 1)
    run.for_seconds(1)
    run.do("an account is set", account)
    for _ in range(300):
        run.for_seconds(1)
        assert sum(map(run.outside.serves, run.outside.pods)) >= 4
    assert run.phase is RolloutPhase.COMPLETE
    assert not any(
        run.outside.set.revisions[pod.revision]["spec"].get("serviceAccountName") for pod in run.outside.pods
    )


def test_whoever_is_restarted_while_it_starts_goes_once_more_and_not_twice() -> None:
    """Its controller takes it at once; what it comes back with is the newest."""
    run = Run(Outside(replicas=3, stableFor="3s", rejoinTimeout="60s"))
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    before = max(int(pod.uid) for pod in run.outside.pods)
    run.do("a good version", lambda there: there.apply("v2"))
    run.until_it_is("in one pod", lambda o: [o.image(pod) for pod in o.pods].count("v2") == 1)
    run.do("restart", restart)
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}
    assert max(int(pod.uid) for pod in run.outside.pods) - before == 4


def test_the_pod_of_a_step_that_was_not_taken_yet_stays_while_another_one_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The StatefulSet was edited by hand in that second."""
    monkeypatch.setitem(VERSIONS, "v2", Version(join_s=JOINS_LATE_S))
    run = Run(Outside(replicas=5, stableFor="5s", rejoinTimeout="60s"))
    for each in run.outside.sets.values():
        each.before_update = lambda _pod: None  # the first one goes because of the person
    run.until(RolloutPhase.COMPLETE)
    run.for_seconds(20)
    run.do("a good version", lambda there: there.apply("v2"))
    run.until_it_is("at its second step", lambda o: o.set.partition == 3)
    assert run.outside.set.pods[3].gone_at is None, "its controller has not taken it yet"
    run.do("an account is set", account)
    serving = []
    for _ in range(60):
        run.for_seconds(1)
        serving.append(sum(map(run.outside.serves, run.outside.pods)))
    assert min(serving) >= 4, run.operator.log[-30:]

"""Volume claims are changed under pods that run: the StatefulSet is made again, and no pod and no claim goes."""

from __future__ import annotations

from typing import Any

import pytest

from slackwater.api.volume_claims import Retention
from slackwater.core.decision.reasons import Reason
from slackwater.core.rollout.volumes import ANNOUNCED_FOR_S
from slackwater.core.world.memory import RolloutPhase
from tests.core.simulation.operator import Crash, Crashes
from tests.core.simulation.outside import Outside
from tests.core.simulation.runs import Run

COMPLETE, FAILED = RolloutPhase.COMPLETE, RolloutPhase.FAILED


def claim(name: str = "state", storage: str = "1Gi") -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"metadata": {"name": name}, "spec": spec}


MORE = [claim(), claim("cache")]


def policy(when_deleted: str = "Retain", when_scaled: str = "Retain") -> dict[str, str]:
    return {"whenDeleted": when_deleted, "whenScaled": when_scaled}


def with_claims(crash: Crash | None = None, *, retention: Any = None, claims: Any = None, **rollout: Any) -> Run:
    outside = Outside(**rollout)
    outside.spec["volumeClaimTemplates"] = [claim()] if claims is None else claims
    if retention is not None:
        outside.spec["persistentVolumeClaimRetentionPolicy"] = retention
    run = Run(outside, crashes=Crashes(crash))
    run.until(COMPLETE)
    run.for_seconds(20)
    return run


def uids(run: Run) -> dict[str, str]:
    return {pod.name: pod.uid for pod in run.outside.pods}


def claims_there(run: Run) -> list[str]:
    return sorted(run.outside.set.kept_claims)


def storage(run: Run) -> list[Any]:
    return [each["spec"]["resources"]["requests"]["storage"] for each in run.outside.set.claims]


def names(run: Run) -> list[str]:
    return [each["metadata"]["name"] for each in run.outside.set.claims]


def held_by(run: Run) -> tuple[Reason, str] | None:
    hold = run.operator.last.hold if run.operator.last is not None else None
    return None if hold is None else (hold.reason, hold.message)


def is_made_again(run: Run) -> bool:
    seen = run.outside.set.seen()
    return seen is not None and seen.uid != "payments-1" and run.outside.status["rollout"].get("remaking") is None


@pytest.mark.parametrize("crash", [None, *Crash])
@pytest.mark.parametrize("when_deleted", ["Retain", "Delete"])
def test_larger_claims(when_deleted: str, crash: Crash | None) -> None:
    """And the operator is killed before or after each act."""
    run = with_claims(crash, retention=policy(when_deleted))
    pods, claims = uids(run), claims_there(run)
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.until_it_is("made again", lambda _: is_made_again(run), within_s=120)
    run.for_seconds(60)
    assert storage(run) == ["2Gi"]
    assert (uids(run), claims_there(run)) == (pods, claims)
    assert claims == ["state-payments-0", "state-payments-1", "state-payments-2"]
    assert run.outside.set.retention == policy(when_deleted)
    assert run.phase is COMPLETE


def test_what_an_adopted_one_has_its_successor_has() -> None:
    """Its pods are found under the name of another Service, and their labels are others."""
    run = with_claims()
    run.outside.set.fixed = {"serviceName": "headless"}
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.until_it_is("made again", lambda _: is_made_again(run), within_s=120)
    assert run.outside.set.fixed == {"serviceName": "headless"}


def test_it_is_announced_before_and_can_be_put_back() -> None:
    run = with_claims()
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.for_seconds(ANNOUNCED_FOR_S / 2)
    held = held_by(run)
    assert held is not None
    assert held[0] is Reason.VOLUME_CLAIMS_CHANGE
    assert "deleted without its pods and made again" in held[1]
    run.do("they are put back", lambda o: o.change_spec(volumeClaimTemplates=[claim()]))
    run.for_seconds(2 * ANNOUNCED_FOR_S)
    assert not is_made_again(run)
    assert held_by(run) is None


def test_nothing_is_done_while_the_group_is_paused() -> None:
    run = with_claims()
    run.do("pause", Outside.pause)
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.for_seconds(3 * ANNOUNCED_FOR_S)
    assert not is_made_again(run)
    run.do("resume", Outside.resume)
    run.until_it_is("made again", lambda _: is_made_again(run), within_s=60)


@pytest.mark.parametrize("storage_asked", ["1Gi", "2Gi"])
def test_a_paused_group_grows_with_claims_as_they_were(storage_asked: str) -> None:
    """Its team may need those pods long before the pause ends."""
    run = with_claims()
    run.do("pause", Outside.pause)
    asked = {"replicas": 5, "volumeClaimTemplates": [claim(storage=storage_asked)]}
    run.do("5 pods", lambda o: o.change_spec(**asked))
    run.until_it_is("grown", lambda o: len(o.pods) == 5, within_s=120)
    run.for_seconds(60)
    assert (storage(run), is_made_again(run)) == (["1Gi"], False)
    pods = uids(run)
    run.do("resume", Outside.resume)
    run.for_seconds(3 * ANNOUNCED_FOR_S)
    assert (storage(run), uids(run)) == ([storage_asked], pods)


def test_a_paused_group_that_was_stopped_for_a_volume_more_begins_with_it() -> None:
    """Pods without it would have to be stopped once more."""
    run = with_claims()
    run.do("a volume more", lambda o: o.change_spec(volumeClaimTemplates=MORE))
    run.do("pause", Outside.pause)
    run.do("replicas 0", lambda o: o.scale(0))
    run.until_it_is("no pod is left", lambda o: not o.pods, within_s=60)
    run.do("replicas 3", lambda o: o.scale(3))
    run.for_seconds(60)
    assert not run.outside.pods
    run.do("resume", Outside.resume)
    run.until_it_is("back", lambda o: len(o.pods) == 3, within_s=120)
    assert names(run) == ["state", "cache"]


def test_a_volume_that_is_taken_away_goes_with_the_next_version() -> None:
    run = with_claims(claims=[claim(), claim("cache")])
    run.do("one claim is left", lambda o: o.apply("v2", volumeClaimTemplates=[claim()]))
    run.until_it_is("made again", lambda _: is_made_again(run), within_s=300)
    assert names(run) == ["state"]
    run.until(COMPLETE)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}
    assert "cache-payments-0" in claims_there(run)


@pytest.mark.parametrize("crash", [None, *Crash])
def test_a_volume_more_waits_until_no_pod_is_left(crash: Crash | None) -> None:
    """Its controller would try to give it to pods that run, and stop working on all of them."""
    run = with_claims(crash)
    pods = uids(run)
    run.do("a claim more, and a version that mounts it", lambda o: o.apply("v2", volumeClaimTemplates=MORE))
    run.for_seconds(4 * ANNOUNCED_FOR_S)
    held = held_by(run)
    assert held is not None
    assert held[0] is Reason.VOLUME_CLAIMS_FIXED
    assert "the pods lack volume cache" in held[1]
    assert "set replicas to 0" in held[1]
    assert uids(run) == pods
    run.do("replicas 0", lambda o: o.scale(0))
    run.until_it_is("no pod is left", lambda o: not o.pods, within_s=60)
    run.for_seconds(10)
    run.do("replicas 3", lambda o: o.scale(3))
    run.until(COMPLETE)
    run.for_seconds(20)
    assert names(run) == ["state", "cache"]
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}
    assert len(claims_there(run)) == 6


def test_what_becomes_of_claims_is_written_at_once_and_moves_no_pod() -> None:
    run = with_claims()
    pods = uids(run)
    asked = policy("Delete", "Delete")
    run.do("claims go with pods", lambda o: o.change_spec(persistentVolumeClaimRetentionPolicy=asked))
    run.for_seconds(10)
    assert run.outside.set.retention == asked
    assert uids(run) == pods


def test_a_drain_keeps_claims_that_go_with_pods_that_nobody_wants() -> None:
    outside = Outside(protocol={"target": "Eager", "allowDowntime": True})
    outside.spec |= {
        "volumeClaimTemplates": [claim()],
        "persistentVolumeClaimRetentionPolicy": policy("Retain", "Delete"),
    }
    run = Run(outside)
    run.until(COMPLETE)
    run.for_seconds(20)
    claims = claims_there(run)
    run.do("the target is cooperative", lambda o: o.change_target("Cooperative"))
    run.until_it_is("drained", lambda o: not o.pods, within_s=200)
    run.until(COMPLETE)
    assert claims_there(run) == claims
    run.for_seconds(20)
    run.do("scaled down", lambda o: o.scale(2))
    run.until_it_is("scaled down", lambda o: len(o.pods) == 2, within_s=60)
    assert claims_there(run) == claims[:2]
    assert run.outside.set.retention["whenScaled"] == Retention.DELETE


def test_a_rollout_under_way_comes_first() -> None:
    run = with_claims()
    run.do("another version", lambda o: o.apply("v2"))
    run.for_seconds(8)
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.until_it_is("made again", lambda _: is_made_again(run), within_s=300)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}


def test_claims_that_a_webhook_has_otherwise_are_asked_for_once() -> None:
    run = with_claims()
    run.do("claims of 2Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="2Gi")]))
    run.until_it_is("made again", lambda _: is_made_again(run), within_s=120)
    run.outside.set.claims = [claim(storage="3Gi")]
    run.do("claims of 4Gi are asked for", lambda o: o.change_spec(volumeClaimTemplates=[claim(storage="4Gi")]))
    made: list[str] = []
    for _ in range(200):
        run.step()
        seen = run.outside.set.seen()
        if seen is not None and seen.uid not in made:
            made.append(seen.uid)
            run.outside.set.claims = [claim(storage="3Gi")]
    assert made == ["payments-2", "payments-3"]


@pytest.mark.parametrize("on_failure", ["Rollback", "Pause"])
def test_a_volume_more_keeps_no_bad_version_from_going_back(on_failure: str) -> None:
    """Found by a fresh reader: whoever adds one as a fix would have stopped everything with a pod away."""
    run = with_claims(onFailure=on_failure)
    run.do("a bad version", lambda o: o.apply("never-joins"))
    run.for_seconds(8)
    run.do("a volume more", lambda o: o.change_spec(volumeClaimTemplates=MORE))
    run.for_seconds(100)
    if on_failure == "Pause":
        assert run.phase is RolloutPhase.FAILED
        run.do("abort", Outside.abort)
        run.for_seconds(100)
    assert run.phase is RolloutPhase.ROLLED_BACK
    assert all(run.outside.serves(pod) for pod in run.outside.pods)
    assert (held_by(run) or (None,))[0] is Reason.VOLUME_CLAIMS_FIXED


def test_nor_one_that_works_from_going_on() -> None:
    run = with_claims()
    run.do("another version", lambda o: o.apply("v2"))
    run.for_seconds(8)
    run.do("a volume more", lambda o: o.change_spec(volumeClaimTemplates=MORE))
    run.for_seconds(100)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v2"}
    assert (held_by(run) or (None,))[0] is Reason.VOLUME_CLAIMS_FIXED


def test_abort_goes_back_from_one_whose_fix_has_a_volume_more() -> None:
    run = with_claims()
    run.do("a bad version", lambda o: o.apply("never-ready"))
    run.for_seconds(6)
    run.do("its fix", lambda o: o.apply("v3", volumeClaimTemplates=MORE))
    run.for_seconds(30)
    run.do("abort", Outside.abort)
    run.for_seconds(200)
    assert all(run.outside.serves(pod) for pod in run.outside.pods)
    assert {run.outside.image(pod) for pod in run.outside.pods} == {"v1"}


def test_pods_that_lost_their_set_and_lack_a_volume_get_no_set_that_has_it() -> None:
    """`kubectl delete sts --cascade=orphan`, as for other fields: the controller could do nothing for them."""
    run = with_claims()
    pods = uids(run)
    run.do("a volume more", lambda o: o.change_spec(volumeClaimTemplates=MORE))
    run.for_seconds(40)
    run.do("kubectl delete sts --cascade=orphan", lambda o: o.orphan("payments"))
    run.for_seconds(30)
    held = held_by(run)
    assert held is not None
    assert (held[0], "lost their StatefulSet" in held[1]) == (Reason.VOLUME_CLAIMS_FIXED, True)
    run.do("it is taken out again", lambda o: o.change_spec(volumeClaimTemplates=[claim()]))
    run.for_seconds(30)
    assert (names(run), uids(run), run.phase) == (["state"], pods, COMPLETE)


def test_pods_that_are_added_with_larger_claims_get_those() -> None:
    run = with_claims()
    run.do("2Gi and 5 pods", lambda o: o.change_spec(replicas=5, volumeClaimTemplates=[claim(storage="2Gi")]))
    run.until_it_is("grown", lambda o: 3 in o.set.pods, within_s=120)
    assert storage(run) == ["2Gi"]

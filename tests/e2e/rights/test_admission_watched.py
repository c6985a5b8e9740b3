"""The same policies with `watchNamespaces`: what this release looks after, and what it leaves to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.api.manifests import cluster_kafka_connection, consumer_fleet, consumer_group, kafka_connection
from tests.e2e.rights.admission import HOME, LOGIN, MEMORY, OPERATOR, PODS, TEAM, Writes, installed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

OTHERS: Final = "team-b"


@pytest.fixture(scope="module")
def writes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writes]:
    settings = f"watchNamespaces={{{TEAM}}}"
    with installed(tmp_path_factory.mktemp("watched"), (TEAM, OTHERS), settings) as found:
        yield found


def there(manifest: Any, namespace: str) -> Any:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


@pytest.mark.parametrize("namespace", [TEAM, OTHERS])
def test_pods_and_secrets_are_lent_to_nobody_in_any_namespace(writes: Writes, namespace: str) -> None:
    """Another release may look after the others, without policies of its own."""
    assert PODS in writes.apply("tenant", there(consumer_group("mine"), namespace))
    assert "kafka-login" in writes.apply("tenant", there(kafka_connection("mine", **LOGIN), namespace))
    assert writes.apply("developer", there(consumer_group("mine"), namespace)) == ""
    assert writes.apply("developer", there(kafka_connection("mine", **LOGIN), namespace)) == ""


@pytest.mark.parametrize("made", [consumer_group("claims"), kafka_connection("connects"), consumer_fleet("bounds")])
def test_a_status_is_the_operators_where_it_watches(writes: Writes, made: Any) -> None:
    status = {"observedGeneration": 1}
    for namespace in (TEAM, OTHERS):
        assert writes.apply("", there(made, namespace)) == ""
    assert MEMORY in writes.apply_status("administrator", there(made, TEAM), status)
    assert writes.apply_status(OPERATOR, there(made, TEAM), status) == ""
    assert writes.apply_status("administrator", there(made, OTHERS), status) == "", "another release's operator may"
    assert "forbidden" in writes.apply_status(OPERATOR, there(made, OTHERS), status)


def test_a_cluster_connection_is_no_affair_of_this_release(writes: Writes) -> None:
    """It uses none, so that it has no say in who makes one."""
    shared = cluster_kafka_connection("shared", **LOGIN)
    assert "forbidden" in writes.apply("tenant", shared)
    assert writes.apply("", shared) == ""
    assert "forbidden" in writes.apply_status(OPERATOR, shared, {"observedGeneration": 1})


def test_the_operator_runs_pods_only_where_it_watches(writes: Writes) -> None:
    may = ("auth", "can-i", "create", "statefulsets.apps")
    assert writes.refusal(OPERATOR, *may, f"--namespace={TEAM}") == ""
    for namespace in (OTHERS, HOME):
        assert writes.kubectl(*may, f"--namespace={namespace}", who=OPERATOR).stdout.strip() == "no"

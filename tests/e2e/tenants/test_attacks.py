"""Attacks are attacks: the API server takes each of their objects, and the servers do as they say."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from slackwater.api.kept import LARGEST_SPEC, too_large
from tests.chart.helm import CHART, helm
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION
from tests.e2e.stage.own_api_server import own_api_server
from tests.e2e.stage.waiting import wait_for
from tests.e2e.tenants.attacks import CAMPAIGNS, FLEETS, attacks, borrowed_pods, borrowed_secret, large_fleet
from tests.e2e.tenants.evil_servers import BANNER, servers
from tests.e2e.tenants.neighbours import put

pytestmark = [pytest.mark.e2e, pytest.mark.minutes(1), pytest.mark.timeout(400)]


def test_the_api_server_takes_every_object_of_every_attack(tmp_path: Path) -> None:
    with own_api_server(tmp_path) as server, servers() as at:
        evil = Cluster(server.kubeconfig, "evil")
        evil.kubectl("create", "namespace", evil.namespace)
        helm("install", "slackwater", str(CHART), f"--namespace={evil.namespace}", kubeconfig=server.kubeconfig)
        made = attacks(evil, at, "kafka:9092", "good", "good")
        for name, objects in made.items():
            few = objects[:3] if name == "s3-claimant-0" else objects  # one is as good as the others
            put(evil, *few)
        assert len(evil.api.list_all("consumerfleets", evil.namespace)[0]) == FLEETS + 2
        assert len(evil.api.list_all("fleetcampaigns", evil.namespace)[0]) == CAMPAIGNS
        assert evil.get("kafkaconnection", CONNECTION) is not None


def is_refused(evil: Cluster, made: Json, why: str) -> bool:
    """A policy that was just made holds in a moment."""
    try:
        evil.kubectl("--as=tenant", "create", "--dry-run=server", "-f", "-", stdin=json.dumps(made))
    except AssertionError as error:
        return why in str(error)
    return False


def test_a_tenant_is_lent_neither_pods_nor_secrets(tmp_path: Path) -> None:
    """Who may write our objects in one namespace, and nothing else."""
    with own_api_server(tmp_path) as server, servers() as at:
        evil = Cluster(server.kubeconfig, "evil")
        evil.kubectl("create", "namespace", evil.namespace)
        helm("install", "slackwater", str(CHART), f"--namespace={evil.namespace}", kubeconfig=server.kubeconfig)
        ours = "--resource=consumergroups.slackwater.dev,kafkaconnections.slackwater.dev"
        evil.kubectl("create", "role", "tenant", "--verb=get,create,patch", ours)
        evil.kubectl("create", "rolebinding", "tenant", "--role=tenant", "--user=tenant")
        for made, refused in (
            (borrowed_pods(evil), "you need the right to create StatefulSets in this namespace"),
            (borrowed_secret(at), "you need the right to get login in namespace evil"),
        ):
            wait_for("the policy to hold", partial(is_refused, evil, made, refused), 30.0)
            evil.apply(made)  # who may do these things by himself may
        assert at.weak.logged_in_with == []


def test_the_large_fleet_is_larger_than_is_read() -> None:
    assert f"keep it to {LARGEST_SPEC:,}" in too_large(large_fleet()["spec"])


def test_a_flapping_broker_hangs_up_and_refuses_in_turns() -> None:
    with servers() as at:
        host, _, port = at.flapping.rpartition(":")
        seen: set[str] = set()

        def both() -> bool:
            with suppress(ConnectionResetError):
                try:
                    with socket.create_connection((host, int(port)), timeout=5) as connection:
                        seen.add("hung up" if connection.recv(1) == b"" else "answered")
                except ConnectionRefusedError:
                    seen.add("refused")
            return seen >= {"hung up", "refused"}

        wait_for("a connection that is hung up on, and one that is refused", both, 20.0, lambda: seen)
        assert "answered" not in seen


def test_what_is_no_broker_greets() -> None:
    with servers() as at:
        host, _, port = at.no_broker.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            assert connection.recv(4096) == BANNER

"""`up` and `down`: the whole sandbox, whatever was there before."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from sandbox import cleanup, cluster, images, kafka, kind, network, packages, processes
from sandbox.console import note, step
from sandbox.errors import SandboxError
from sandbox.layout import Layout, read_state, update_state
from sandbox.provider import Choice, ClusterProvider, choose


@contextmanager
def exclusive(layout: Layout) -> Iterator[None]:
    """Let no other sandbox command change things at the same time. Raises SandboxError when one does."""
    layout.cache.mkdir(parents=True, exist_ok=True)
    with (layout.cache / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SandboxError(
                "Another sandbox command is at work on this machine.", todo="Wait until it has ended, then try again."
            ) from error
        yield


@dataclass(frozen=True, slots=True)
class Wish:
    """What `up` is asked for: the number of brokers (None: keep those that are up, else 1), a cluster, its images."""

    brokers: int | None = None
    cluster: bool = True
    images: bool = True


def up(layout: Layout, wish: Wish, environment: Mapping[str, str] = os.environ) -> None:
    """Start what is not up yet, and wait until it is ready.

    What a crashed run left is removed first. Raises SandboxError.
    """
    choice = choose(layout, environment, with_cluster=wish.cluster)
    if choice.cluster is ClusterProvider.OWN or choice.bootstrap_servers is None:
        cluster.refuse_impossible()
        _make_ground(layout, choice)
    else:
        cleanup.claim(layout)
    _start_cluster(layout, choice)
    _start_brokers(layout, choice, wish.brokers)
    if wish.images:
        _load_images(layout, choice)


def down(layout: Layout) -> None:
    """Stop everything and check that nothing is left. Raises LeftBehind with a list when something is."""
    state = read_state(layout)
    if state.get("cluster") == ClusterProvider.KIND:
        with step("Deleting the kind cluster"):
            kind.stop()
    if _is_only_given(state):
        cleanup.forget(layout)
        return
    cluster.refuse_impossible()
    with step("Stopping the sandbox"):
        kafka.stop_all(layout)
        cleanup.sweep(layout)


def _is_only_given(state: Mapping[str, object]) -> bool:
    """Whether nothing of the sandbox's own was started, so that ending it takes no root."""
    return state.get("cluster") in (ClusterProvider.GIVEN, ClusterProvider.NONE) and bool(state.get("bootstrap_given"))


def _make_ground(layout: Layout, choice: Choice) -> None:
    """Clean up after a crash if there was one, and make the network."""
    packages.ensure_packages(packages.NETWORK)
    if not _is_intact(layout, choice):
        if cleanup.leftovers(layout) or cleanup.was_here(layout):
            with step("Cleaning up what an earlier run left"):
                cleanup.sweep(layout)
        cleanup.claim(layout)
    if not network.exists():
        network.create()


def _is_intact(layout: Layout, choice: Choice) -> bool:
    """Whether all that earlier commands started still runs, so that it can be kept."""
    if not (network.exists() and cleanup.was_here(layout)):
        return False
    if any(not processes.is_running(layout, name) for name in processes.names(layout)):
        return False  # something died that no command had stopped
    started = any(processes.is_running(layout, name) for name in cluster.PROCESSES)
    return not started or choice.cluster is not ClusterProvider.OWN or cluster.is_up(layout)


def _start_cluster(layout: Layout, choice: Choice) -> None:
    update_state(layout, cluster=choice.cluster, kubeconfig=str(choice.kubeconfig or layout.kubeconfig))
    if choice.cluster is ClusterProvider.KIND:
        kind.start(layout)
    elif choice.cluster is ClusterProvider.OWN and not cluster.is_up(layout):
        prepared = cluster.prepare(layout)
        cluster.start(layout, prepared, images.ensure_pause_image(layout))


def _load_images(layout: Layout, choice: Choice) -> None:
    if choice.cluster is ClusterProvider.OWN:
        images.load_images(layout)
    elif choice.cluster is ClusterProvider.KIND:
        for archive in images.ensure_images(layout).values():
            kind.import_image(archive)
    elif choice.cluster is ClusterProvider.GIVEN:
        note("Your own cluster is used: bring it the images yourself (docs/sandbox.md).")


def _start_brokers(layout: Layout, choice: Choice, brokers: int | None) -> None:
    if choice.bootstrap_servers is not None:
        update_state(layout, bootstrap_servers=choice.bootstrap_servers, bootstrap_given=True)
        return
    state = read_state(layout)
    wanted = brokers or state.get("brokers") or 1
    running = [name for name in processes.names(layout) if name.startswith("kafka-")]
    if not isinstance(wanted, int) or len(running) != wanted:
        count = wanted if isinstance(wanted, int) else 1
        with step(f"Starting Kafka: {count} broker{'s' if count > 1 else ''}"):
            kafka.start_all(layout, count)
        update_state(layout, brokers=count, bootstrap_servers=kafka.bootstrap_servers(layout), bootstrap_given=None)

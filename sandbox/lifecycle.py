"""`up` and `down`: the whole sandbox, whatever was there before."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from sandbox import cleanup, cluster, images, kafka, kind, network, packages, processes
from sandbox.console import note, step
from sandbox.errors import MissingPrerequisite, SandboxError
from sandbox.layout import Layout, read_state, update_state
from sandbox.provider import Choice, ClusterProvider, choose

PROGRAMS, MACHINE, IMAGES = "programs", "machine", "images"
WAIT_FOR_OTHERS_S = 1800


@contextmanager
def exclusive(layout: Layout, what: str, deadline_s: float = WAIT_FOR_OTHERS_S) -> Iterator[None]:
    """Let no other sandbox command change `what` at the same time: wait for it to end.

    The kernel frees the lock of a command that dies. Raises SandboxError after `deadline_s` seconds.
    """
    layout.cache.mkdir(parents=True, exist_ok=True)
    with (layout.cache / f"{what}.lock").open("w") as lock:
        if not _locked(lock):
            with step(f"Waiting for another sandbox command that changes the {what}"):
                _wait_for_lock(lock, what, deadline_s)
        yield


def _wait_for_lock(lock: TextIO, what: str, deadline_s: float) -> None:
    deadline = time.monotonic() + deadline_s
    while not _locked(lock):
        if time.monotonic() > deadline:
            raise SandboxError(
                f"Another sandbox command has been changing the {what} for more than {deadline_s:.0f} s.",
                todo="Wait until it has ended, or end it, then try again.",
            )
        time.sleep(0.2)


def _locked(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Wish:
    """What `up` is asked for: the number of brokers (None: keep those that are up, else 1), a cluster, its images.

    `pipeline`: the pipeline's image among them, which is large.
    """

    brokers: int | None = None
    cluster: bool = True
    images: bool = True
    pipeline: bool = False


def up(layout: Layout, wish: Wish, environment: Mapping[str, str] = os.environ) -> None:
    """Start what is not up yet, and wait until it is ready.

    What a crashed run left is removed first. Raises SandboxError.
    """
    choice = choose(layout, environment, with_cluster=wish.cluster)
    takes_root = choice.cluster is ClusterProvider.OWN or choice.bootstrap_servers is None
    if takes_root:
        cluster.refuse_impossible()
        with exclusive(layout, PROGRAMS):
            packages.ensure_packages(packages.NETWORK)
            prepared = cluster.prepare(layout) if choice.cluster is ClusterProvider.OWN else None
    with exclusive(layout, MACHINE):
        if takes_root:
            _make_ground(layout, choice)
        else:
            cleanup.claim(layout)
        if takes_root and prepared is not None and not cluster.is_up(layout):
            cluster.start(layout, prepared)
        _note_cluster(layout, choice)
        _start_brokers(layout, choice, wish.brokers)
    # Building images takes minutes when something has changed, and changes nothing that another command would use.
    if wish.images:
        with exclusive(layout, IMAGES):
            _load_images(layout, choice, pipeline=wish.pipeline)


def write_image(layout: Layout, which: images.Released, target: Path) -> None:
    """Build the image if its files have changed, and write it to `target` as a docker archive.

    Raises MissingPrerequisite, and CommandFailed when the build fails.
    """
    if platform.system() != "Linux" or os.geteuid() != 0:
        raise MissingPrerequisite(
            "Without docker and podman, the image is built by buildah, as root on Linux.",
            todo="Run it with sudo, or install docker or podman.",
        )
    with exclusive(layout, IMAGES):
        archive = images.ensure_released_image(layout, which)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(archive, target)


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
    with exclusive(layout, MACHINE), step("Stopping the sandbox"):
        kafka.stop_all(layout)
        cleanup.sweep(layout)


def _is_only_given(state: Mapping[str, object]) -> bool:
    """Whether nothing of the sandbox's own was started, so that ending it takes no root."""
    return state.get("cluster", ClusterProvider.GIVEN) == ClusterProvider.GIVEN and bool(state.get("bootstrap_given"))


def _make_ground(layout: Layout, choice: Choice) -> None:
    """Clean up after a crash if there was one, and make the network."""
    if not _is_intact(layout, choice):
        if cleanup.leftovers(layout) or layout.is_ours:
            with step("Cleaning up what an earlier run left"):
                cleanup.sweep(layout)
        cleanup.claim(layout)
    if not network.exists():
        network.create()


def _is_intact(layout: Layout, choice: Choice) -> bool:
    """Whether all that earlier commands started still runs, so that it can be kept."""
    if not (network.exists() and read_state(layout)):
        return False  # nothing is up, or what is up has lost its record
    if any(not processes.is_running(layout, name) for name in processes.names(layout)):
        return False  # something died that no command had stopped
    started = any(processes.is_running(layout, name) for name in cluster.PROCESSES)
    return not started or choice.cluster is not ClusterProvider.OWN or cluster.is_up(layout)


def _note_cluster(layout: Layout, choice: Choice) -> None:
    if choice.cluster is ClusterProvider.KIND:
        kind.start(layout)
    if choice.cluster is not ClusterProvider.NONE:  # one that an earlier command started stays in the record
        update_state(layout, cluster=choice.cluster, kubeconfig=str(choice.kubeconfig or layout.kubeconfig))


def _load_images(layout: Layout, choice: Choice, *, pipeline: bool) -> None:
    if choice.cluster is ClusterProvider.OWN:
        images.load_images(layout, pipeline=pipeline)
    elif choice.cluster is ClusterProvider.KIND:
        for archive in images.ensure_images(layout, pipeline=pipeline).values():
            kind.import_image(archive)
    elif choice.cluster is ClusterProvider.GIVEN:
        note("Your own cluster is used: bring it the images yourself (docs/sandbox.md).")


def _start_brokers(layout: Layout, choice: Choice, brokers: int | None) -> None:
    """Start those that are missing; another number than before means new, empty ones."""
    if choice.bootstrap_servers is not None:
        update_state(layout, bootstrap_servers=choice.bootstrap_servers, bootstrap_given=True)
        return
    had = read_state(layout).get("brokers")
    wanted = brokers or (had if isinstance(had, int) else 1)
    if wanted == had:
        for number in range(1, wanted + 1):
            kafka.start_broker(layout, number)
        return
    with step(f"Starting Kafka: {wanted} broker{'s' if wanted > 1 else ''}"):
        kafka.start_all(layout, wanted)
    update_state(layout, brokers=wanted, bootstrap_servers=kafka.bootstrap_servers(layout), bootstrap_given=None)

"""What the tests against the sandbox share: it is brought up once (in seconds when it is up already) and stays up."""

from __future__ import annotations

import atexit
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from sandbox import kafka
from sandbox.layout import Layout
from tests.e2e.stage.waiting import BUSY

ROOT = Path(__file__).resolve().parents[1]

# How long an example takes is the machine's doing; everything else stays as Hypothesis has it here, or in CI.
settings.register_profile("untimed", parent=settings(), deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Without the garbage collector, which takes a third of the time: what the modules make stays until the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
        atexit.register(gc.unfreeze)  # some libraries count what is left when the interpreter ends


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest modules begin first: what begins last must not be what takes longest, when they are shared out.

    And a test may take as many times as long as what it waits for.
    """
    items.sort(key=_minutes, reverse=True)
    for item in items:
        timeout = item.get_closest_marker("timeout")
        if timeout is not None:
            item.add_marker(pytest.mark.timeout(BUSY * timeout.args[0]), append=False)


def _minutes(item: pytest.Item) -> float:
    mark = item.get_closest_marker("minutes")
    return float(mark.args[0]) if mark else 0.0


def sandbox(*arguments: str) -> str:
    """Run a sandbox command; its output, or a failure that shows it."""
    command = [sys.executable, "-m", "sandbox", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"`sandbox {' '.join(arguments)}` failed:\n{done.stdout}{done.stderr}", pytrace=False)
    return done.stdout.strip()


@pytest.fixture(scope="session")
def sandbox_up() -> None:
    sandbox("up")


@pytest.fixture(scope="session")
def kubeconfig(sandbox_up: None) -> Iterator[Path]:
    path = Path(sandbox("kubeconfig").splitlines()[-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(path))
        yield path


@pytest.fixture(scope="session")
def bootstrap_servers(sandbox_up: None) -> str:
    return os.environ.get("SLACKWATER_BOOTSTRAP_SERVERS") or kafka.bootstrap_servers(Layout.from_environment())

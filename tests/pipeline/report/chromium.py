"""A browser for the tests: the Chromium of this machine, installed first where apt and the rights to it are there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> Path:
    """Its executable; SLACKWATER_CHROMIUM names another. RuntimeError says what to do where there is none."""
    if named := os.environ.get("SLACKWATER_CHROMIUM"):
        return Path(named)
    return _on_path() or _install()


def _on_path() -> Path | None:
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def _install() -> Path:
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "capture_output": True}
        subprocess.run(["apt-get", "update", "-q", "-o", "DPkg::Lock::Timeout=600"], check=False, **quiet)  # type: ignore[call-overload]
        command = ["apt-get", "install", "-qy", "-o", "DPkg::Lock::Timeout=600", "--no-install-recommends", "chromium"]
        done = subprocess.run(command, check=False, text=True, **quiet)  # type: ignore[call-overload]
        if done.returncode == 0 and (found := _on_path()):
            return found
    raise RuntimeError("no Chromium here: install it, or name its executable in SLACKWATER_CHROMIUM")


@contextmanager
def browser() -> Iterator[Browser]:
    """Headless, and without its sandbox where we are root, who has none."""
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=find_chromium(), args=arguments)
        try:
            yield launched
        finally:
            launched.close()

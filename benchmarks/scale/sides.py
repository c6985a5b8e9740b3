"""The processes of the comparison: the API server, the operator and its twin in Go. Each has ports of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from slackwater.api.errors import SlackwaterError

SOURCE: Final = Path(__file__).resolve().parents[1] / "twin"
_STARTS_WITHIN_S: Final = 120.0
_ENDS_WITHIN_S: Final = 30.0
_ANSWERS_WITHIN_S: Final = 300.0
_MIB: Final = 1024 * 1024


class NoTwin(SlackwaterError):
    """Why there is none to measure beside."""


def built(folder: Path, go: str | None = None) -> Path:
    """The twin's program. Raises NoTwin where Go is not there, or cannot build it."""
    program = folder / "twin"
    go = go or shutil.which("go")
    if go is None:
        raise NoTwin("the twin is left out: Go is not there to build it; install Go 1.26 or newer")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [go, "build", "-o", str(program), "."], cwd=SOURCE, check=False, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise NoTwin(f"the twin is left out: Go does not build it: {done.stderr.strip()[-500:]}")
    return program


@dataclass(frozen=True)
class Process:
    pid: int
    ready: str
    """An address that answers once it works."""

    def cpu_s(self) -> float:
        return cpu_s_in(Path(f"/proc/{self.pid}/stat").read_text())

    def rss_mib(self) -> float:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return round(pages * os.sysconf("SC_PAGE_SIZE") / _MIB, 1)

    def peak_mib(self) -> float:
        return peak_mib_in(Path(f"/proc/{self.pid}/status").read_text())


def peak_mib_in(status: str) -> float:
    """The most that was resident at once."""
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return round(int(line.split()[1]) / 1024, 1)


def cpu_s_in(stat: str) -> float:
    """Of all threads, both for itself and in the kernel. The program's name may have blanks and brackets."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    url: str

    def make(self, groups: int, pods: int) -> None:
        ask("POST", f"{self.url}/bench/groups", number=groups, pods=pods)

    def fill(self, groups: int, pods: int) -> None:
        """With groups that are at rest."""
        ask("POST", f"{self.url}/bench/rested", number=groups, pods=pods)

    def change(self, stable_for_s: int) -> None:
        ask("POST", f"{self.url}/bench/change", stable_for=stable_for_s)

    def seen(self) -> dict[str, Any]:
        found: dict[str, Any] = ask("GET", f"{self.url}/bench/seen")
        return found

    def objects(self, plural: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ask("GET", f"{self.url}/bench/objects", plural=plural)
        return found


def ask(method: str, url: str, **query: object) -> Any:
    with urlopen(Request(f"{url}?{urlencode(query)}", method=method), timeout=_ANSWERS_WITHIN_S) as answer:
        return json.loads(answer.read() or b"null")


@contextmanager
def served() -> Iterator[Server]:
    port = _free_port()
    with _running([sys.executable, "-m", "benchmarks.scale.served", str(port)], f"http://127.0.0.1:{port}/version"):
        yield Server(f"http://127.0.0.1:{port}")


@contextmanager
def ours(server: Server) -> Iterator[Process]:
    port = _free_port()
    with TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        kubeconfig.write_text(json.dumps(kubeconfig_of(server.url)))
        settings = {"KUBECONFIG": str(kubeconfig), "SLACKWATER_PORT": str(port), "SLACKWATER_LOG_LEVEL": "error"}
        command = [sys.executable, "-m", "benchmarks.scale.ours"]
        with _running(command, f"http://127.0.0.1:{port}/readyz", settings) as process:
            yield process


@contextmanager
def twin(server: Server, program: Path) -> Iterator[Process]:
    control = f"127.0.0.1:{_free_port()}"
    command = [str(program), "-server", server.url, "-control", control]
    # Lists, as our own operator asks for them: the server streams none by a watch.
    with _running(command, f"http://{control}/readyz", {"KUBE_FEATURE_WatchListClient": "false"}) as process:
        yield process


def kubeconfig_of(url: str) -> dict[str, Any]:
    context = {"name": "bench", "context": {"cluster": "bench", "user": "bench"}}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "contexts": [context],
        "clusters": [{"name": "bench", "cluster": {"server": url}}],
        "users": [{"name": "bench", "user": {"token": "bench"}}],
    }


@contextmanager
def _running(command: Sequence[str], ready: str, settings: Mapping[str, str] | None = None) -> Iterator[Process]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLACKWATER_")}
    process = subprocess.Popen(command, env=environment | dict(settings or {}), stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: _answers(ready, process), _STARTS_WITHIN_S, f"{command[0]} {command[-1]} to begin")
        yield Process(process.pid, ready)
    finally:
        process.terminate()
        try:
            process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(is_so: Callable[[], bool], within_s: float, what: str) -> None:
    """Raises TimeoutError."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {within_s:.0f} s for {what}")
        time.sleep(0.1)


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        raise NoTwin(f"{process.args!r} ended by itself, with {process.returncode}")
    try:
        with urlopen(url, timeout=5.0):
            return True
    except (URLError, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port

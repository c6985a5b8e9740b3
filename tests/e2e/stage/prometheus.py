"""A Prometheus of one's own on loopback, which looks at an operator every second."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import yaml

from sandbox.binaries import ensure_promtool
from sandbox.layout import Layout
from tests.e2e.stage.stage import free_port
from tests.e2e.stage.waiting import wait_for

SCRAPE_EVERY_S: Final = 1
_REQUEST_S: Final = 10.0

Series = list[tuple[Mapping[str, str], list[float]]]
"""Labels and values."""


@dataclass(frozen=True)
class Prometheus:
    address: str
    began: float

    def graph(self, expr: str) -> Series:
        """Second by second since it began, as Grafana asks for a graph. Without what is no number."""
        answer = self._ask("query_range", query=expr, start=str(self.began), end=str(time.time()), step="1")
        return _numbers((each["metric"], each["values"]) for each in answer["result"])

    def now(self, expr: str) -> Series:
        answer = self._ask("query", query=expr)
        return _numbers((each["metric"], [each["value"]]) for each in answer["result"])

    def label_values(self, series: str, label: str) -> list[str]:
        found: list[str] = self._ask(f"label/{label}/values", **{"match[]": series})
        return found

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/-/ready", timeout=_REQUEST_S) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _ask(self, what: str, **parameters: str) -> Any:
        try:
            with urllib.request.urlopen(
                f"{self.address}/api/v1/{what}?{urlencode(parameters)}", timeout=_REQUEST_S
            ) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {json.load(error)['error']}") from error


@contextmanager
def prometheus(target_port: int, folder: Path) -> Iterator[Prometheus]:
    """`folder`: for its configuration, what it keeps, and its log."""
    job = {
        "job_name": "slackwater",
        "honor_labels": True,  # as in the chart's ServiceMonitor
        "static_configs": [{"targets": [f"127.0.0.1:{target_port}"]}],
    }
    configuration = folder / "prometheus.yaml"
    configuration.write_text(
        yaml.safe_dump({"global": {"scrape_interval": f"{SCRAPE_EVERY_S}s"}, "scrape_configs": [job]})
    )
    address = f"127.0.0.1:{free_port()}"
    options = {"config.file": configuration, "storage.tsdb.path": folder / "data", "web.listen-address": address}
    command = [str(_program()), *(f"--{name}={value}" for name, value in options.items())]
    log = folder / "prometheus.log"
    with log.open("wb") as written, subprocess.Popen(command, stdout=written, stderr=written) as process:
        found = Prometheus(f"http://{address}", time.time())
        try:
            wait_for("Prometheus", found.is_ready, 60.0, log.read_text)
            yield found
        finally:
            process.terminate()


def _numbers(found: Iterator[tuple[Mapping[str, str], list[tuple[float, str]]]]) -> Series:
    series = ((labels, [float(value) for _, value in samples]) for labels, samples in found)
    told = ((labels, [value for value in values if math.isfinite(value)]) for labels, values in series)
    return [(labels, values) for labels, values in told if values]


def _program() -> Path:
    """PROMETHEUS, the one on the PATH, or the one that lies beside the sandbox's promtool."""
    given = os.environ.get("PROMETHEUS") or shutil.which("prometheus")
    return Path(given) if given else ensure_promtool(Layout.from_environment()).with_name("prometheus")

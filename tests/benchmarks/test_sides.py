from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from benchmarks.scale.sides import SOURCE, NoTwin, built, cpu_s_in, peak_mib_in, served, wait_until
from slackwater.api.annotations import (
    API_VERSION,
    FIELD_MANAGER,
    FINALIZER,
    GROUP_LABEL,
    PROTOCOL,
    TEMPLATE_HASH,
)

TICKS = os.sysconf("SC_CLK_TCK")


def program(folder: Path, script: str) -> str:
    path = folder / "go"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_without_go_there_is_no_twin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoTwin, match="Go is not there"):
        built(tmp_path)


def test_where_go_cannot_build_it_its_words_are_passed_on(tmp_path: Path) -> None:
    with pytest.raises(NoTwin, match=r"Go does not build it: no network$"):
        built(tmp_path, program(tmp_path, "echo no network >&2; exit 1"))


def test_what_go_builds_is_what_is_measured(tmp_path: Path) -> None:
    found = built(tmp_path / "bench", program(tmp_path, 'touch "$3"; test -f go.mod'))
    assert found == tmp_path / "bench" / "twin"
    assert found.exists()


@pytest.mark.parametrize("name", ["twin", "a twin) R 1"])
def test_processor_time_is_that_of_the_program_and_of_the_kernel_for_it(name: str) -> None:
    fields = ["S", *map(str, range(1, 11)), str(3 * TICKS), str(2 * TICKS), "77", "88"]
    assert cpu_s_in(f"12 ({name}) {' '.join(fields)}") == 5.0


def test_the_most_memory_is_what_the_kernel_remembers() -> None:
    assert peak_mib_in("Name:\ttwin\nVmPeak:\t  9999 kB\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n") == 2.0


def test_what_does_not_come_about_has_an_end() -> None:
    with pytest.raises(TimeoutError, match="for the moon"):
        wait_until(lambda: False, 0.0, "the moon")


def test_the_server_is_a_process_of_its_own_and_ends() -> None:
    with served() as server:
        server.make(2, 0)
        assert server.seen()["counts"]["ConsumerGroup"] == 2
        assert len(server.objects("consumergroups")) == 2
    with pytest.raises(OSError, match="refused"):
        server.seen()


def test_the_twin_has_the_names_that_the_operator_has() -> None:
    """By what it writes, each would take the other for itself."""
    text = (SOURCE / "group.go").read_text()
    found = dict(re.findall(r'^\t(\w+) += "([^"]+)"$', text, re.MULTILINE))
    assert found == {
        "fieldManager": FIELD_MANAGER,
        "finalizer": FINALIZER,
        "groupLabel": GROUP_LABEL,
        "templateHash": TEMPLATE_HASH,
        "protocol": PROTOCOL,
    }
    group, version = API_VERSION.split("/")
    assert f'Group: "{group}", Version: "{version}"' in text


def test_the_twins_modules_are_locked() -> None:
    required = re.findall(r"^\t(\S+) v\S+", (SOURCE / "go.mod").read_text(), re.MULTILINE)
    locked = {line.split()[0] for line in (SOURCE / "go.sum").read_text().splitlines()}
    assert required
    assert not set(required) - locked
    assert not (SOURCE / "vendor").exists()

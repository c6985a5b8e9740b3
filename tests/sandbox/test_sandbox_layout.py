"""Folders and addresses, and the record of what is up."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import layout as layouts
from sandbox.errors import SandboxError
from sandbox.layout import Layout, broker_address, read_state, update_state


def test_folders_come_from_the_environment_or_have_usual_places(tmp_path: Path) -> None:
    usual = Layout.from_environment({"HOME": "/home/ann"})
    chosen = Layout.from_environment(
        {"HOME": "/home/ann", "SLACKWATER_SANDBOX_CACHE": f"{tmp_path}/c", "SLACKWATER_SANDBOX_RUN": f"{tmp_path}/r"}
    )

    assert usual == Layout(Path("/home/ann/.cache/slackwater-sandbox"), Path("/run/slackwater-sandbox"))
    assert chosen == Layout(tmp_path / "c", tmp_path / "r")


def test_addresses_do_not_meet() -> None:
    fixed = {layouts.GATEWAY, layouts.HOST, *(broker_address(number) for number in (1, 2, 3))}
    first_pod, last_pod = layouts.POD_RANGE

    assert len(fixed) == 5
    assert all(address in layouts.NETWORK and not first_pod <= address <= last_pod for address in fixed)
    assert first_pod in layouts.NETWORK
    assert last_pod in layouts.NETWORK
    assert layouts.API_SERVICE in layouts.SERVICES
    assert not layouts.SERVICES.overlaps(layouts.NETWORK)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "precious"
    run.mkdir()
    (run / "thesis.tex").write_text("…")

    with pytest.raises(SandboxError, match="is not empty, and was not made by the sandbox"):
        Layout(tmp_path / "cache", run).make()

    assert [path.name for path in run.iterdir()] == ["thesis.tex"]


def test_the_record_is_merged_and_a_none_removes(layout: Layout) -> None:
    update_state(layout, cluster="own", brokers=1)
    update_state(layout, brokers=3, cluster=None)

    assert read_state(layout) == {"brokers": 3}


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_a_damaged_record_counts_as_none(layout: Layout, content: str) -> None:
    layout.state_file.write_text(content)

    assert read_state(layout) == {}

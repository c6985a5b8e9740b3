"""What the operator's image holds and what it does not, read from the archive that the node's was loaded from."""

from __future__ import annotations

import filecmp
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.images import OPERATOR
from sandbox.layout import Layout
from tests.sandbox.image_archives import HOME, ROOT, Image, locked, read_archive

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(660)]


@pytest.fixture(scope="module")
def archive(sandbox_up: None) -> Path:
    stem = OPERATOR.replace("/", "-").replace(":", "-")
    archives = list(Layout.from_environment().images.glob(f"{stem}-*.tar"))
    if not archives:
        pytest.skip("the sandbox has built no image here: the cluster is not its own")
    (archive,) = archives
    return archive


@pytest.fixture(scope="module")
def image(archive: Path) -> Image:
    return read_archive(archive)


def test_make_image_writes_the_one_that_the_node_has(archive: Path) -> None:
    written = ROOT / "build" / "operator.tar"
    written.unlink(missing_ok=True)
    done = subprocess.run(["make", "image"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    if written.exists():  # no docker or podman runs here
        assert filecmp.cmp(written, archive, shallow=False)


def test_it_runs_as_nobody_in_particular(image: Image) -> None:
    assert image.config["User"] == "65532:65532"
    assert image.config["Entrypoint"] == ["slackwater"]


def test_nothing_can_be_built_or_installed_in_it(image: Image) -> None:
    assert HOME / "bin/slackwater" in image.programs
    assert image.build_tools == set()
    assert image.left_by_pip == []


def test_it_holds_the_operator_and_what_that_depends_on_and_nothing_else(image: Image) -> None:
    assert image.packages == locked("operator") | {"slackwater"}
    assert "pyspark" not in image.packages


def test_it_is_small(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    """As the base that the sandbox makes, 123 MB of it; half of the rest are the statistics of `slackwater recommend`
    (numpy, scipy). The limit is there to notice a mistake by."""
    whole, own = sum(image.files.values()), image.above_base
    with capsys.disabled():
        sys.stdout.write(f"\n{OPERATOR}: {whole / 1e6:.0f} MB, {own / 1e6:.0f} MB above the base\n")
    assert own < 500e6

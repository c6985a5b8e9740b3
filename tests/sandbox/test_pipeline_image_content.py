"""What the pipeline's image holds and what it does not, as `make image TARGET=pipeline` writes it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pyspark
import pytest

from sandbox.images import PIPELINE
from slackwater.pipeline.packages import KAFKA_CONNECTOR
from tests.sandbox.image_archives import HOME, ROOT, Image, locked, read_archive

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(1800)]  # `make pipeline-pod`

CONNECTOR = frozenset(
    {
        "commons-pool2",
        "kafka-clients",
        "spark-sql-kafka-0-10_2.13",
        "spark-token-provider-kafka-0-10_2.13",
    }
)
SPARK = Path(pyspark.__file__).parent
"""The one that the tests run on: of the same version."""


@pytest.fixture(scope="module")
def image(sandbox_up: None) -> Iterator[Image]:
    written = ROOT / "build" / "pipeline.tar"
    written.unlink(missing_ok=True)
    command = ["make", "image", "TARGET=pipeline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1700, check=False)
    assert done.returncode == 0, done.stderr
    if not written.exists():
        pytest.skip("docker or podman has built it, and keeps it")
    yield read_archive(written)
    written.unlink()


def test_it_runs_as_nobody_in_particular(image: Image) -> None:
    assert image.config["User"] == "65532:65532"
    assert image.config["Entrypoint"] == ["slackwater"]


def test_nothing_can_be_built_or_installed_in_it(image: Image) -> None:
    assert {PurePosixPath("usr/bin/java"), HOME / "bin/slackwater", HOME / "bin/spark-submit"} <= image.programs
    assert image.build_tools == set()
    assert image.left_by_pip == []


def test_it_holds_the_package_and_what_the_pipeline_depends_on_and_nothing_else(image: Image) -> None:
    assert image.packages == locked("pipeline") | {"slackwater"}


def test_spark_has_the_connector_for_kafka_besides_its_own_jars_and_none_of_these_twice(image: Image) -> None:
    jars = {path.name for path in image.files if path.match("pyspark/jars/*.jar")}
    own = {path.name for path in SPARK.glob("jars/*.jar")}
    _, name, version = KAFKA_CONNECTOR.split(":")
    assert own < jars
    assert f"{name}-{version}.jar" in jars
    assert {re.sub(r"-[\d.]+\.jar$", "", jar) for jar in jars - own} == CONNECTOR
    left = [path for path in image.files if ".ivy" in str(path) or ".m2" in str(path) or path.parts[0] == "tmp"]
    assert left == []


def test_how_large_it_is(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    """The limit is there to notice a mistake by."""
    whole, own = sum(image.files.values()), image.above_base
    with capsys.disabled():
        sys.stdout.write(f"\n{PIPELINE}: {whole / 1e6:.0f} MB, {own / 1e6:.0f} MB above Java and the base\n")
    assert own < 1.5e9

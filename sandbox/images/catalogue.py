"""Which images there are and what each is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.images.applications import ensure_application
from sandbox.images.context import Context
from sandbox.kafka.libraries import ensure_libraries
from sandbox.layout import Layout
from slackwater.pipeline.packages import KAFKA_CONNECTOR

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_SANDBOX = _ROOT / "sandbox"

OPERATOR = "slackwater/operator:dev"
PIPELINE = "slackwater/pipeline:dev"
CONSUMER = "slackwater/consumer:dev"
KAFKA_TOOLS = "slackwater/kafka-tools:dev"
FRANZ = "slackwater/franz:dev"
STREAMS = "slackwater/streams:dev"


class Released(StrEnum):
    """The images that are not the sandbox's own, by their stages in the Dockerfile that everybody builds them with."""

    OPERATOR = "operator"
    PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True)
class Image:
    """An image, the files it is built from, and the requirement files whose wheels its build installs.

    `target`: the stage of its Dockerfile, if not its last. `jars`: what its build fetches from a Maven repository.
    `go_module`: the folder of a program that is compiled on this machine, for images that hold nothing else.
    """

    name: str
    context: Context
    requirements: tuple[Path, ...] = ()
    target: str = ""
    jars: str = ""
    go_module: Path | None = None


def images(layout: Layout, *, pipeline: bool) -> tuple[Image, ...]:
    """All images that go into the node, the pipeline's if it is wanted. Fetches Kafka's jars if they are not there yet.

    Raises SandboxError when a source file is missing, and what `ensure_libraries` raises.
    """
    released = [Released.OPERATOR, *([Released.PIPELINE] if pipeline else [])]
    every = (*map(released_image, released), _consumer(), _kafka_tools(layout), _franz(), _streams(layout))
    missing = [str(path) for image in every for path in image.context.inputs.values() if not path.exists()]
    if missing:
        raise SandboxError(f"The images cannot be built: {', '.join(missing)} is not there.")
    return every


def released_image(which: Released) -> Image:
    is_pipeline = which is Released.PIPELINE
    locks = [f"requirements/{name}.txt" for name in ("operator", "build", *(["pipeline"] if is_pipeline else []))]
    hashes = ("requirements/jars.sha256",) if is_pipeline else ()
    files = ("Dockerfile", "pyproject.toml", "README.md", "LICENSE", "operator", *locks, *hashes)
    return Image(
        PIPELINE if is_pipeline else OPERATOR,
        Context({name: _ROOT / name for name in files}),
        tuple(_ROOT / lock for lock in locks),
        target=which,
        jars=KAFKA_CONNECTOR if is_pipeline else "",
    )


def _consumer() -> Image:
    lock = "sandbox/images/consumer/requirements.txt"
    files = ("sandbox/__init__.py", "sandbox/workload", lock)
    inputs = {name: _ROOT / name for name in files} | {"Dockerfile": _HERE / "consumer" / "Dockerfile"}
    return Image(CONSUMER, Context(inputs), (_ROOT / lock,))


def _kafka_tools(layout: Layout) -> Image:
    own = _HERE / "kafka-tools"
    lock = _HERE / "consumer" / "requirements.txt"
    inputs = {
        "requirements.txt": lock,
        "sandbox/__init__.py": _SANDBOX / "__init__.py",
        "sandbox/workload": _SANDBOX / "workload",
        "Dockerfile": own / "Dockerfile",
        "run.py": own / "run.py",
        "log4j2.yaml": _SANDBOX / "kafka" / "log4j2.yaml",
        "jars": ensure_libraries(layout),
    }
    return Image(KAFKA_TOOLS, Context(inputs), (lock,))


def _franz() -> Image:
    own = _HERE / "franz"
    files = ("Dockerfile", "go.mod", "go.sum", "main.go")
    return Image(FRANZ, Context({name: own / name for name in files}), go_module=own)


def _streams(layout: Layout) -> Image:
    own = _HERE / "streams"
    inputs = {
        "Dockerfile": own / "Dockerfile",
        "log4j2.yaml": _SANDBOX / "kafka" / "log4j2.yaml",
        "jars": ensure_application(layout, own),
    }
    return Image(STREAMS, Context(inputs))

"""Which images there are and what each is made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.images.context import Context
from sandbox.kafka.libraries import ensure_libraries
from sandbox.layout import Layout

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_SANDBOX = _ROOT / "sandbox"

OPERATOR = "slackwater/operator:dev"
CONSUMER = "slackwater/consumer:dev"
KAFKA_TOOLS = "slackwater/kafka-tools:dev"
FRANZ = "slackwater/franz:dev"


@dataclass(frozen=True, slots=True)
class Image:
    """An image, the files it is built from, and the requirement files whose wheels its build installs.

    `go_module`: the folder of a program that is compiled on this machine, for images that hold nothing else.
    """

    name: str
    context: Context
    requirements: tuple[Path, ...] = ()
    go_module: Path | None = None


def images(layout: Layout) -> tuple[Image, ...]:
    """All images that go into the node. Fetches Kafka's jars if they are not there yet.

    Raises SandboxError when a source file is missing, and what `ensure_libraries` raises.
    """
    every = (operator_image(), _consumer(), _kafka_tools(layout), _franz())
    missing = [str(path) for image in every for path in image.context.inputs.values() if not path.exists()]
    if missing:
        raise SandboxError(f"The images cannot be built: {', '.join(missing)} is not there.")
    return every


def operator_image() -> Image:
    """By the Dockerfile that everybody builds it with."""
    lock, tools = (f"requirements/{name}.txt" for name in ("operator", "build"))
    files = ("Dockerfile", "pyproject.toml", "README.md", "LICENSE", "operator", lock, tools)
    return Image(OPERATOR, Context({name: _ROOT / name for name in files}), (_ROOT / lock, _ROOT / tools))


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

"""How each consumer of examples/consumers is built: in `build/consumers`, once for each state of its sources.

`python -m tests.consumers.building` builds all of them; `--lock` writes which jars the Java ones were built with.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slackwater.api.client import Library

ROOT: Final = Path(__file__).resolve().parents[2]
CONSUMERS: Final = ROOT / "examples" / "consumers"
BUILT: Final = ROOT / "build" / "consumers"
JARS: Final = "jars.sha256"
BUILDS_WITHIN_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Example:
    """A consumer: its folder, what a ConsumerGroup calls its library, how it is built and run."""

    name: str
    library: Library
    programs: tuple[str, ...]
    build: Callable[[Path], None]
    command: Callable[[Path], tuple[str, ...]]
    prefix: str = "KAFKA_"
    suffix: str = ""
    """What the library puts behind the instance id of a pod's first member."""

    def member(self, instance_id: str) -> str:
        return instance_id + self.suffix

    def missing(self) -> list[str]:
        """Programs that its build needs and that are not here."""
        return [each for each in self.programs if shutil.which(each) is None]

    def built(self) -> tuple[str, ...]:
        """Its command; it is built where these sources were not yet."""
        source = CONSUMERS / self.name
        files = sorted(path for path in source.rglob("*") if path.is_file())
        digest = hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in files)).hexdigest()[:12]
        folder = BUILT / f"{self.name}-{digest}"
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
            self.build(folder)
            (folder / "complete").touch()
        return self.command(folder)


def _run(folder: Path, *command: str, **variables: str) -> str:
    """Raises AssertionError with the program's last words."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILDS_WITHIN_S,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{' '.join(command)}: {(done.stdout + done.stderr)[-3000:]}"
    return done.stdout


def _nothing(_: Path) -> None:
    """What is locked for the Python consumer, the operator's environment has as well."""


def _go(folder: Path) -> None:
    _run(folder, "go", "vet", "./...")
    _run(folder, "go", "build", "-mod=readonly", "-o", "consumer", ".")


def _maven(folder: Path) -> None:
    _run(folder, "mvn", "-q", "-B", "compile")
    into = f"-DoutputDirectory={folder / 'target' / 'lib'}"
    _run(folder, "mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", into)
    assert (folder / JARS).read_text() == jars(folder), "other jars than those that jars.sha256 has"


def jars(folder: Path) -> str:
    """As sha256sum writes them."""
    found = sorted((folder / "target" / "lib").glob("*.jar"))
    return "".join(f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in found)


def _node(folder: Path) -> None:
    """The client's native part comes from its own sources: where this is tested nothing else can be fetched."""
    _run(folder, "npm", "ci", "--ignore-scripts")
    client = folder / "node_modules" / "@confluentinc" / "kafka-javascript"
    sources, made = client / "deps" / "librdkafka", folder / "librdkafka"
    _run(sources, "./configure", f"--prefix={made}", "--disable-gssapi", "--disable-curl")
    for part in ("src", "src-cpp"):
        _run(sources, "make", "-j2", "-C", part)
        _run(sources, "make", "-C", part, "install")
    global_packages = Path(_run(folder, "npm", "root", "--global").strip())
    gyp = global_packages / "npm" / "node_modules" / "node-gyp" / "bin" / "node-gyp.js"
    headers = Path(shutil.which("node") or "").resolve().parents[1]
    _run(
        client,
        "node",
        str(gyp),
        "rebuild",
        f"--nodedir={headers}",
        BUILD_LIBRDKAFKA="0",
        CPATH=f"{made}/include:{made}/include/librdkafka",
        LIBRARY_PATH=f"{made}/lib",
        LDFLAGS=f"-L{made}/lib -Wl,-rpath,{made}/lib",
    )


def _java(main: str) -> Callable[[Path], tuple[str, ...]]:
    def command(folder: Path) -> tuple[str, ...]:
        return ("java", "-Xmx128m", "-XX:+UseSerialGC", "-cp", f"{folder}/target/classes:{folder}/target/lib/*", main)

    return command


_PACKAGE: Final = "dev.slackwater.examples"
_MAVEN: Final = ("java", "mvn")
EXAMPLES: Final = (
    Example(
        "python",
        Library.LIBRDKAFKA,
        (),
        _nothing,
        lambda folder: (sys.executable, str(folder / "consumer.py")),
    ),
    Example("go-franz", Library.FRANZ_GO, ("go",), _go, lambda folder: (str(folder / "consumer"),)),
    Example("go-confluent", Library.LIBRDKAFKA, ("go", "gcc"), _go, lambda folder: (str(folder / "consumer"),)),
    Example("java", Library.JAVA, _MAVEN, _maven, _java(f"{_PACKAGE}.Main")),
    Example("kafka-streams", Library.KAFKA_STREAMS, _MAVEN, _maven, _java(f"{_PACKAGE}.Main"), suffix="-1"),
    Example(
        "spring-boot",
        Library.JAVA,
        _MAVEN,
        _maven,
        _java(f"{_PACKAGE}.Application"),
        prefix="SPRING_KAFKA_CONSUMER_PROPERTIES_",
        suffix="-0",
    ),
    Example(
        "node",
        Library.LIBRDKAFKA,
        ("node", "npm", "g++", "make"),
        _node,
        lambda folder: ("node", str(folder / "consumer.js")),
    ),
)
UNTRIED: Final = ("csharp",)
"""Their toolchain is not on the machines of this project."""


def _main(arguments: list[str]) -> None:
    for each in EXAMPLES:
        if each.build is _maven and arguments == ["--lock"]:
            (CONSUMERS / each.name / JARS).touch()
            try:
                each.built()
            except AssertionError:
                folder = max(BUILT.glob(f"{each.name}-*"), key=lambda path: path.stat().st_mtime)
                (CONSUMERS / each.name / JARS).write_text(jars(folder))
        if not each.missing():
            sys.stdout.write(f"{each.name}: {' '.join(each.built())}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _main(sys.argv[1:])

"""Start one of Kafka's own clients in a container with the settings that its environment holds.

`run.py VerifiableConsumer [options]`, `run.py VerifiableProducer …`, or any class by its full name. `KAFKA_*` variables
become properties, as for the Python consumer; the topics come from `TOPICS`. Only the standard library is there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

JARS = Path("/opt/kafka/jars")
CLASSES = "/opt/kafka/classes.jsa"
LOGGING = "/opt/kafka/log4j2.yaml"
TOOLS = "org.apache.kafka.tools"

# These clients set some properties from their options' defaults, over whatever the file says: they must be options.
CONSUMER_OPTIONS = {
    "bootstrap.servers": "--bootstrap-server",
    "group.id": "--group-id",
    "group.instance.id": "--group-instance-id",
    "group.protocol": "--group-protocol",
    "group.remote.assignor": "--group-remote-assignor",
    "partition.assignment.strategy": "--assignment-strategy",
    "session.timeout.ms": "--session-timeout",
    "auto.offset.reset": "--reset-policy",
}
PRODUCER_OPTIONS = {"bootstrap.servers": "--bootstrap-server", "acks": "--acks"}
_ASSIGNORS = "org.apache.kafka.clients.consumer."
# What a Java consumer has when nothing is set (F5); left to itself, VerifiableConsumer narrows it to the first.
OWN_CHOICE = f"{_ASSIGNORS}RangeAssignor,{_ASSIGNORS}CooperativeStickyAssignor"
OPTIONS = {"VerifiableConsumer": CONSUMER_OPTIONS, "VerifiableProducer": PRODUCER_OPTIONS}


def properties(environment: Mapping[str, str]) -> dict[str, str]:
    """`KAFKA_SESSION_TIMEOUT_MS` is `session.timeout.ms`; empty variables count as unset."""
    return {
        name.removeprefix("KAFKA_").lower().replace("_", "."): value
        for name, value in sorted(environment.items())
        if name.startswith("KAFKA_") and value
    }


def command(tool: str, arguments: list[str], environment: Mapping[str, str], file: str) -> list[str]:
    """The Java command line; `file` is where the remaining properties are."""
    heap = environment.get("HEAP") or "96m"
    java = ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
    java += [_archive(environment), f"-Dlog4j2.configurationFile={LOGGING}", "-cp", _class_path()]
    if tool not in OPTIONS:
        return [*java, tool, *arguments]
    given = properties(environment)
    if tool == "VerifiableConsumer" and given.get("group.protocol", "classic").lower() == "classic":
        given.setdefault("partition.assignment.strategy", OWN_CHOICE)
    options = [word for name, option in OPTIONS[tool].items() if name in given for word in (option, given[name])]
    if topic := environment.get("TOPICS"):
        options += ["--topic", topic]
    if given.get("enable.auto.commit", "").lower() == "true":
        options.append("--enable-autocommit")
    return [*java, f"{TOOLS}.{tool}", *options, "--command-config", file, *arguments]


def _archive(environment: Mapping[str, str]) -> str:
    """Where Java finds its classes ready made, or, while the image is built, where it puts them at its end."""
    option = "ArchiveClassesAtExit" if environment.get("ARCHIVE_CLASSES") else "SharedArchiveFile"
    return f"-XX:{option}={CLASSES}"


def _class_path() -> str:
    """In one order: an archive is good for the class path that it was made with."""
    return ":".join(str(jar) for jar in sorted(JARS.glob("*.jar")))


def main() -> None:
    tool, *arguments = sys.argv[1:] or ["VerifiableConsumer"]
    taken = OPTIONS.get(tool, {})
    rest = {name: value for name, value in properties(os.environ).items() if name not in taken}
    # In memory, for the container's file system may be read-only; open files outlive exec, unless told otherwise.
    file = os.memfd_create("properties", 0)
    os.write(file, "".join(f"{name}={value}\n" for name, value in rest.items()).encode())
    words = command(tool, arguments, os.environ, f"/proc/self/fd/{file}")
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()

"""From a workload, and what somebody says of it, to the manifests that stand for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from slackwater.api.annotations import API_VERSION
from slackwater.api.client import Library
from slackwater.api.parsing import parse_consumer_group, parse_kafka_connection
from slackwater.cli.errors import OptionMissing
from slackwater.cli.importing.claims import claims_of
from slackwater.cli.importing.left_behind import check_importable, left_behind
from slackwater.cli.importing.owned import Moved, move_owned
from slackwater.cli.importing.settings_found import Found, Told, found_in
from slackwater.cli.importing.template import cleaned
from slackwater.core.decision.words import shown

Json = dict[str, Any]

DEFAULT_PREFIX: Final = "KAFKA_"
_LONGEST_QUOTED: Final = 400
"""Characters of a value that a remark quotes: addresses of five brokers, and so that its own words are still seen."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the person says; None where they leave it to be found out."""

    group_id: str | None = None
    connection: str | None = None
    library: Library | None = None
    topics: Sequence[str] = ()
    container: str | None = None
    env_prefix: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    documents: Sequence[Json]
    remarks: Sequence[str]
    """What is not in the documents, or in another place than before."""
    group_id: str
    replicas: int
    env_prefix: str


def imported(workload: Mapping[str, Any], said: Said, connections: Sequence[Mapping[str, Any]]) -> Imported:
    """`connections`: the KafkaConnections of the namespace.

    Raises CannotBeImported, OptionMissing for what nobody says, and InvalidSpec where the models refuse the result.
    """
    check_importable(workload)
    name, namespace = workload["metadata"]["name"], workload["metadata"]["namespace"]
    template = cleaned(workload["spec"]["template"])
    container = _consumer(template["spec"]["containers"], said.container)
    found = found_in(container)
    answers = _Answers(said, found, name, connections)
    if answers.asked:
        raise OptionMissing(answers.question)
    moved = _taken_out(container, answers.env_prefix)
    several = len(template["spec"]["containers"]) > 1
    members = found.members_per_pod.value
    replicas = workload["spec"].get("replicas", 1)
    spec: Json = {
        **({"groupId": answers.group_id} if answers.group_id != name else {}),
        "connectionRef": {"name": answers.connection},
        "topics": answers.topics,
        "replicas": replicas,
        **({"membersPerPod": int(members)} if members and members.isdecimal() and int(members) > 1 else {}),
        "client": {
            "library": str(answers.library),
            **({"envPrefix": answers.env_prefix} if answers.env_prefix != DEFAULT_PREFIX else {}),
            **({"container": container["name"]} if several else {}),
        },
        **({"protocol": moved.protocol} if moved.protocol else {}),
        **({"timeouts": moved.timeouts} if moved.timeouts else {}),
        **claims_of(workload),
        "template": template,
    }
    documents = [*answers.skeleton(namespace), _object("ConsumerGroup", name, namespace, spec)]
    for document in documents:
        (parse_consumer_group if document["kind"] == "ConsumerGroup" else parse_kafka_connection)(document)
    remarks = (*left_behind(workload), *moved.remarks, *answers.remarks)
    return Imported(documents, remarks, answers.group_id, replicas, answers.env_prefix)


def _taken_out(container: Json, env_prefix: str) -> Moved:
    """What the operator sets from now on is taken out of the container's environment."""
    moved = move_owned(container.get("env") or (), env_prefix)
    if moved.env:
        container["env"] = list(moved.env)
    else:
        container.pop("env", None)
    return moved


def _object(kind: str, name: str, namespace: str, spec: Json) -> Json:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _consumer(containers: Sequence[Json], named: str | None) -> Json:
    """The container that is the consumer: the one named, the only one, or the only one that looks like it."""
    names = [each["name"] for each in containers]
    if named is not None and named not in names:
        raise OptionMissing(f"there is no container {named}, but {', '.join(names)}: give one of them as --container")
    wanted = [each for each in containers if named in (None, each["name"])]
    if len(wanted) > 1:
        wanted = [each for each in wanted if found_in(each).is_a_consumer]
    if len(wanted) != 1:
        raise OptionMissing(f"which of the containers {', '.join(names)} is the consumer? Give it as --container")
    return wanted[0]


class _Answers:
    """What was said, else what was found; `asked` has the option for each that is neither, and what it is."""

    def __init__(self, said: Said, found: Found, name: str, connections: Sequence[Mapping[str, Any]]) -> None:
        self.asked: dict[str, str] = {}
        self.remarks: list[str] = []
        self._name = name
        self._connections = connections
        self._servers = found.bootstrap_servers
        self.group_id = said.group_id or self._or_ask(found.group_id, "the group's id", "--group-id")
        topics = ",".join(said.topics) or self._or_ask(found.topics, "its topics", "--topic")
        self.topics = [topic for part in topics.split(",") if (topic := part.strip())]
        self.library = said.library or found.library or self._ask("the client library", "--client")
        self.env_prefix = (
            said.env_prefix
            or found.env_prefix
            or self._ask(
                "how the names of the variables begin that its Kafka client reads (such as KAFKA_)", "--env-prefix"
            )
        )
        self.connection = said.connection or self._connection()
        known = found.group_id.value
        if said.group_id and known and said.group_id != known:
            self.remarks.append(
                f"the workload's own group id is {_quoted(known)}: group {said.group_id} has offsets of its own"
            )

    @property
    def question(self) -> str:
        return f"nothing tells {', nor '.join(self.asked.values())}: give {', '.join(self.asked)}"

    def skeleton(self, namespace: str) -> list[Json]:
        """A KafkaConnection, where the one named is not there."""
        there = next((c for c in self._connections if c["metadata"]["name"] == self.connection), None)
        servers = self._servers.value
        if there is None:
            if servers is None:
                raise OptionMissing(
                    f"there is no KafkaConnection {self.connection}, and nothing tells Kafka's address to write one:"
                    " apply it first, or give another as --connection"
                )
            self.remarks.append(
                f"KafkaConnection {self.connection} has the address only: add spec.tls and spec.authentication where"
                " Kafka asks for them"
            )
            return [_object("KafkaConnection", self.connection, namespace, {"bootstrapServers": servers})]
        if servers is not None and _brokers(servers) != _brokers(there["spec"]["bootstrapServers"]):
            self.remarks.append(
                f"the workload's own bootstrap servers are {_quoted(servers)}, and KafkaConnection {self.connection}"
                f" has {_quoted(there['spec']['bootstrapServers'])}: see that both are one Kafka cluster"
            )
        return []

    def _connection(self) -> str:
        """The one that has the workload's own bootstrap servers; a new one where there is none at all."""
        servers = self._servers.value
        if servers is None or (self._connections and not self._same(servers)):
            return self._ask(f"the KafkaConnection{_doubt(self._servers)}", "--connection")
        same = self._same(servers)
        return str(same[0]["metadata"]["name"]) if same else self._name

    def _same(self, servers: str) -> list[Mapping[str, Any]]:
        return [c for c in self._connections if _brokers(c["spec"]["bootstrapServers"]) == _brokers(servers)]

    def _or_ask(self, told: Told, what: str, option: str) -> str:
        return told.value or self._ask(f"{what}{_doubt(told)}", option)

    def _ask(self, what: str, option: str) -> str:
        self.asked[option] = what
        return ""


def _doubt(told: Told) -> str:
    return f" for certain ({_quoted(told.doubt)})" if told.doubt else ""


def _quoted(value: str) -> str:
    return shown(value, _LONGEST_QUOTED)


def _brokers(servers: str) -> frozenset[str]:
    return frozenset(each.strip() for each in servers.split(","))

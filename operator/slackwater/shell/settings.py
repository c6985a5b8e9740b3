"""Settings of the operator process, from the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from slackwater.adapters.cluster.paths import CLUSTER_KAFKA_CONNECTION
from slackwater.api.errors import SlackwaterError
from slackwater.api.sentences import remedy
from slackwater.core.fleet import surplus
from slackwater.ports import Kind
from slackwater.shell import campaign_folds
from slackwater.shell.leadership import LONGEST_LEASE_S
from slackwater.shell.places import Place, parse_place
from slackwater.shell.shown_groups import ALL, read_shown
from slackwater.shell.store import WATCHED, Key

PREFIX = "SLACKWATER_"
_HOST = re.compile(r"(\*\.)?[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?")
_NAME = re.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class InvalidSettings(SlackwaterError):
    """An environment variable of the operator has a value that it cannot use, or a name that is misspelt."""


def _namespace(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("write lower-case letters, digits and -, with commas between namespaces")
    return value


def _host(value: str) -> str:
    if not _HOST.fullmatch(value):
        raise ValueError("write host names, such as login.example.com or *.example.com, with commas between them")
    return value


Host = Annotated[str, AfterValidator(_host)]
Namespace = Annotated[str, AfterValidator(_namespace)]
"""A name as Kubernetes has it: kopf would take a `*` for a pattern."""


def _place(value: object) -> object:
    return parse_place(value) if isinstance(value, str) else value


def _lease(value: object) -> object:
    if not isinstance(value, str):
        return value
    parts = value.split("/")
    if len(parts) != 2 or not all(parts):
        raise ValueError("write <namespace>/<name>")
    return Key(*parts)


def _words(value: object) -> object:
    """A list in one variable; what is in it twice counts once."""
    return tuple(dict.fromkeys(word.strip() for word in value.split(","))) if isinstance(value, str) else value


class Settings(BaseModel):
    """`SLACKWATER_<NAME>` in the environment; an unset or empty variable means the default."""

    model_config = ConfigDict(frozen=True)

    namespace: Annotated[tuple[Namespace, ...], BeforeValidator(_words)] = ()
    """The namespaces to work in, with commas between them; none means all of them."""
    moving_interval_s: float | None = Field(None, gt=0)
    """How often groups in motion are looked at, for all connections; their own `observe` when unset."""
    rest_interval_s: float | None = Field(None, gt=0)
    """How often groups at rest are looked at, for all connections; their own `observe` when unset."""
    workers: int = Field(16, ge=1)
    """How many groups are reconciled at the same time."""
    resync_interval_s: float = Field(600.0, gt=0)
    """How often all pods and StatefulSets are listed again, in case a watch lost an event."""
    recommendations: Annotated[Place | None, BeforeValidator(_place)] = None
    """Where recommended timeouts come from: file:<path> of JSON lines, or kafka:<namespace>/<KafkaConnection>/<topic>;
    nowhere when unset."""
    telemetry: Annotated[Place | None, BeforeValidator(_place)] = None
    """Where events about what happened go: file:<folder> for files of JSON lines, or
    kafka:<namespace>/<KafkaConnection>/<topic>; nowhere when unset."""
    token_hosts: Annotated[tuple[Host, ...], BeforeValidator(_words)] = ()
    """The hosts that may be asked for OAuth tokens, with commas between them; `*.` stands for any name below. None
    means any host that a KafkaConnection's Secret names."""
    largest_answer_mb: int = Field(4, ge=1, le=100)
    """How much of one answer of a broker is read, in megabytes. Decoded, it takes twenty times as much memory."""
    most_partitions: int = Field(10_000, ge=1_000, le=1_000_000)
    """Groups of more partitions are not looked at, nor of more than a fifth as many members. One of 49,000 partitions
    keeps the event loop for a tenth of a second, and takes 60 MiB."""
    most_per_namespace: int = Field(300_000, ge=10_000, le=10_000_000)
    """Partitions and members of all groups of one namespace together that are looked at, a fifth of it for groups that
    grow. Each takes a kilobyte. Large objects of the namespace have a hundred bytes for each, too."""
    most_fleets: int = Field(surplus.MOST, ge=1, le=1_000)
    """How many ConsumerFleets of one namespace count, the oldest; the operator's own namespace has no bound. A look at
    one may keep the event loop for a twentieth of a second, twice a minute."""
    most_campaigns: int = Field(campaign_folds.MOST, ge=1, le=1_000)
    """How many FleetCampaigns of one namespace that are not over count, the oldest. Each asks each of its groups, once
    a second while any of them changes, twenty microseconds a group."""
    pod_namespace: Namespace | None = None
    """Where the operator itself runs: ConsumerFleets there may reach into other namespaces. And it reads the Secrets of
    ClusterKafkaConnections there; it uses none of these when unset, and none where it works in some namespaces only."""
    lease: Annotated[Key | None, BeforeValidator(_lease)] = None
    """The Lease whose holder acts, <namespace>/<name>, so that several replicas can run; without it this one acts."""
    lease_s: int = Field(15, ge=3, le=LONGEST_LEASE_S)
    """How long a leader that falls silent holds the Lease: for so long nobody acts."""
    identity: str = ""
    """What this replica is called in the Lease, with something unique appended; the host's name when unset."""
    port: int = Field(8080, ge=0, le=65535)
    """For /healthz, /readyz and /metrics."""
    metrics_readers: Literal["Anybody", "Authorized"] = "Anybody"
    """Who may read /metrics: whoever can connect; or whoever shows a token that may get /metrics, as a ClusterRole with
    that nonResourceURL allows."""
    metrics_per_group: Annotated[str, AfterValidator(read_shown)] = ALL
    """Which ConsumerGroups have series of their own in /metrics, three kilobytes each: All, Summary for none, or those
    with all of these labels, <label>=<value> or <label>, with commas between them. The totals are of all groups."""
    log_format: Literal["auto", "json", "text"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def secrets_namespace(self) -> str:
        """Where the Secrets of ClusterKafkaConnections are; empty: none of these is used."""
        return self.pod_namespace or "" if not self.namespace else ""

    @property
    def own_fleets_in(self) -> str:
        """The operator's own namespace, where it is not watched: its fleets are listed apart. Empty: it is, or it is
        not known."""
        own = self.pod_namespace or ""
        return own if self.namespace and own not in self.namespace else ""

    @property
    def watched(self) -> tuple[Kind, ...]:
        return tuple(kind for kind in WATCHED if kind is not CLUSTER_KAFKA_CONNECTION or self.secrets_namespace)

    @property
    def of_connections(self) -> Mapping[str, Any]:
        """What every connection to Kafka is opened with; it goes before what a KafkaConnection says."""
        return self.model_dump(include={"moving_interval_s", "rest_interval_s", "token_hosts"})

    @property
    def most_kept(self) -> int:
        """Bytes of what `kept.excess_of` counts, of all objects of one namespace together."""
        return 100 * self.most_per_namespace

    @property
    def of_answers(self) -> Mapping[str, int]:
        """How much of what brokers say is looked at."""
        return {
            "answer_megabytes": self.largest_answer_mb,
            "partitions": self.most_partitions,
            "per_namespace": self.most_per_namespace,
        }


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Raises InvalidSettings with a sentence for each variable that cannot be used, or whose name is misspelt."""
    if misspelt := list(_misspelt(environment)):
        raise InvalidSettings("; ".join(misspelt))
    given = {name: environment.get(PREFIX + name.upper()) for name in Settings.model_fields}
    try:
        return Settings.model_validate({name: value for name, value in given.items() if value})
    except ValidationError as error:
        problems = [f"{PREFIX}{str(e['loc'][0]).upper()} cannot be {e['input']!r}: {remedy(e)}" for e in error.errors()]
        raise InvalidSettings("; ".join(problems)) from error


def _misspelt(environment: Mapping[str, str]) -> Iterator[str]:
    """An operator whose SLACKWATER_NAMESPACE is misspelt would work in all namespaces. What is like no setting is not
    ours: Kubernetes itself sets SLACKWATER_PORT_8080_TCP where a Service is called slackwater.
    """
    names = [PREFIX + field.upper() for field in Settings.model_fields]
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in names or not environment[name]:
            continue
        for meant in get_close_matches(name.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in names], n=1):
            yield f"{name} is no setting: write {PREFIX}{meant}, or leave it out"

"""The ways from one protocol to another that the tests of faults go, each with a client that can go it.

The franz-go client stands in for Java where only the brokers' part is looked at: it offers what Java offers, and a
group of it runs in a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.images import CONSUMER, FRANZ
from tests.e2e.stage.cluster import Json
from tests.e2e.stage.groups import with_env, with_image
from tests.e2e.stage.stage import Stage

RDKAFKA: Final = {"library": "Librdkafka", "version": "2.16.1"}
FRANZ_GO: Final = {"library": "FranzGo"}
JAVA: Final = {"library": "Java", "version": "4.3"}

PROTOCOL_ANNOTATION: Final = "slackwater.dev/protocol"


@dataclass(frozen=True)
class Way:
    name: str
    client: Mapping[str, str]
    image: str
    path: tuple[str, ...]
    """The profiles of the pods: before it, and after each of its steps; "" is the consumers' own choice."""
    elsewhere: str
    """Another target, for somebody who changes his mind in the middle of a step."""
    shows: tuple[str, str]
    """The group's type and assignor as the brokers tell them when it is there; assignors of KIP-848 are theirs."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def before(self) -> str:
        return self.path[0]

    @property
    def target(self) -> str:
        return self.path[-1]

    @property
    def steps(self) -> int:
        return len(self.path) - 1

    @property
    def drains(self) -> bool:
        return bool(self.options.get("allowDowntime"))


def _way(name: str, client: Mapping[str, str], *path: str, elsewhere: str = "", **options: Any) -> Way:
    image = CONSUMER if client is RDKAFKA else FRANZ
    shows = {
        "Eager": ("CLASSIC", "range"),
        "Cooperative": ("CLASSIC", "cooperative-sticky"),
        "Consumer": ("CONSUMER", "uniform"),
    }
    return Way(name, client, image, path, elsewhere or path[0], shows[path[-1]], options)


TWO_BOUNCE: Final = _way("two-bounce", FRANZ_GO, "Eager", "EagerAndCooperative", "Cooperative")
TWO_BOUNCE_BACK: Final = _way("two-bounce-back", FRANZ_GO, "Cooperative", "EagerAndCooperative", "Eager")
ONE_BOUNCE: Final = _way("one-bounce", JAVA, "", "Cooperative", elsewhere="Eager")
DRAIN: Final = _way("drain", RDKAFKA, "Eager", "Cooperative", allowDowntime=True)
ONLINE: Final = _way("online", RDKAFKA, "Eager", "Consumer")
ONLINE_BACK: Final = _way("online-back", RDKAFKA, "Consumer", "Cooperative", elsewhere="Consumer")

WAYS: Final = (TWO_BOUNCE, TWO_BOUNCE_BACK, ONE_BOUNCE, DRAIN, ONLINE, ONLINE_BACK)


def group_before(stage: Stage, name: str, way: Way) -> Json:
    """A ConsumerGroup at the beginning of its way, not applied yet."""
    made = stage.group(name, client=way.client, rollout={"stableFor": "1s"}, protocol=_protocol(way, way.before))
    return with_env(with_image(made, way.image), START_DELAY_SECONDS=None)


def aiming_at(group: Json, way: Way, target: str) -> Json:
    return {**group, "spec": {**group["spec"], "protocol": _protocol(way, target)}}


def profile_of(pod: Json) -> str:
    """What the pod was made with."""
    return str(pod["metadata"]["annotations"][PROTOCOL_ANNOTATION])


def _protocol(way: Way, target: str) -> Json:
    return {"target": target, **way.options} if target else dict(way.options)

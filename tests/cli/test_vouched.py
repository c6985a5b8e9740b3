"""Whoever may write a KafkaConnection has no Secret that he may not read sent to brokers of his by those who look."""

from __future__ import annotations

from typing import Any, Final

import pytest

from slackwater.adapters.cluster.paths import SECRET
from slackwater.api.parsing import parse_consumer_group
from slackwater.cli.looking.lookout import Lookout
from slackwater.cli.looking.vouched import ASK_VARIABLE, as_it_is_known, has_logged_in
from slackwater.core.decision.reasons import Reason
from slackwater.core.world.observation import Unobserved
from tests.shell.fakes import KEY, FakeApi, group_object

LOGIN: Final[dict[str, Any]] = {
    "bootstrapServers": "attacker:9092",
    "tls": {},
    "authentication": {"type": "ScramSha512", "secretRef": {"name": "login"}},
}
CONNECTED: Final[dict[str, Any]] = {"type": "Ready", "status": "True", "reason": "Connected", "observedGeneration": 3}


def connection(status: Any = None, *, generation: int | None = 3, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "evil", "namespace": KEY.namespace, "uid": "u"}
    metadata |= {} if generation is None else {"generation": generation}  # type: ignore[dict-item]
    made = {"apiVersion": "slackwater.dev/v1alpha1", "kind": "KafkaConnection", "metadata": metadata}
    return {**made, "spec": {**LOGIN, **spec}} | ({} if status is None else {"status": status})


def said(generation: int = 3, **condition: Any) -> dict[str, Any]:
    return {"observedGeneration": generation, "conditions": [CONNECTED | condition]}


async def looked(through: dict[str, Any]) -> tuple[Unobserved, int]:
    """What was seen, and how many Secrets were asked for. There is none, so that Kafka is never asked."""
    api: Any = FakeApi()
    lookout = Lookout(api)
    await lookout.aim(parse_consumer_group(group_object(connectionRef={"name": "evil"})), through)
    assert isinstance(lookout.view, Unobserved)
    return lookout.view, api.requests["GET", SECRET.plural]


@pytest.mark.parametrize(
    "through",
    [
        connection(),
        connection({}),
        connection(said(status="False", reason="KafkaUnreachable")),
        connection(said(status="Unknown")),
        connection(said(type="CertificatesValid")),
        connection(said(generation=2)),
        connection(said(observedGeneration=2)),
        connection(said(), generation=4),
        connection({"conditions": [{"type": "Ready", "status": "True"}]}, generation=None),
    ],
    ids=["new", "empty", "not connected", "unknown", "another condition", "before", "of before", "patched", "a file's"],
)
async def test_secrets_go_only_to_where_the_operator_has_logged_in(through: dict[str, Any]) -> None:
    seen, asked = await looked(through)
    assert asked == 0
    assert seen.reason is Reason.NOT_AUTHORIZED
    assert seen.message == (
        "the operator has not logged in to Kafka by KafkaConnection evil as it is now, so this command sends its"
        " Secrets nowhere; --ask-kafka sends them to attacker:9092"
    )


async def test_where_the_operator_has_logged_in_by_the_same_version_this_command_does() -> None:
    seen, asked = await looked(connection(said()))
    assert (seen.reason, asked) == (Reason.CONNECTION_INVALID, 1)


@pytest.mark.parametrize(("value", "asked"), [("1", 1), ("0", 0), ("", 0)])
async def test_people_may_ask_for_it(monkeypatch: pytest.MonkeyPatch, value: str, asked: int) -> None:
    monkeypatch.setenv(ASK_VARIABLE, value)
    assert (await looked(connection()))[1] == asked


async def test_where_no_secret_is_named_kafka_is_asked() -> None:
    api: Any = FakeApi()
    lookout = Lookout(api)
    through = connection()
    through["spec"] = {"bootstrapServers": "kafka:9092"}
    await lookout.aim(parse_consumer_group(group_object(connectionRef={"name": "evil"})), through)
    assert lookout._watch is not None
    await lookout.close()


async def test_a_connection_that_the_operator_logs_in_by_meanwhile_is_looked_through() -> None:
    api: Any = FakeApi()
    lookout, group = Lookout(api), parse_consumer_group(group_object(connectionRef={"name": "evil"}))
    await lookout.aim(group, connection())
    await lookout.aim(group, connection(said()))
    assert api.requests["GET", SECRET.plural] == 1
    await lookout.aim(group, connection(said()))
    assert api.requests["GET", SECRET.plural] == 1


def test_what_a_file_says_as_well_is_known_of_the_cluster() -> None:
    live = connection(said())
    assert as_it_is_known(connection(generation=None), live) is live


@pytest.mark.parametrize(
    ("beside", "live"),
    [
        (connection(said(), bootstrapServers="elsewhere:9092"), connection(said())),
        (
            connection(said(), authentication={"type": "ScramSha512", "secretRef": {"name": "database"}}),
            connection(said()),
        ),
        (connection(said(), bootstrapServers=7), connection(said())),
        (connection(said()), connection(bootstrapServers="")),
        (connection(said()), None),
    ],
    ids=["other brokers", "another Secret", "invalid", "hidden", "new"],
)
def test_what_only_a_file_says_the_operator_has_not_tried(beside: dict[str, Any], live: Any) -> None:
    """Whoever wrote it may have written a status as well."""
    known = as_it_is_known(beside, live)
    assert known["spec"] == beside["spec"]
    assert not has_logged_in(known)

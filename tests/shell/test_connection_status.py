"""The status of a KafkaConnection: one verdict, whichever of its groups is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slackwater.adapters.cluster.paths import KAFKA_CONNECTION
from slackwater.adapters.kafka.unseen import Unseen
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity
from slackwater.core.world.observation import KafkaView, Unobserved
from slackwater.shell.connection_status import report
from tests.core.factories import observation
from tests.shell.fakes import CONNECTION, FakeApi, connection_object

DAY_S = 86_400.0
NOW = 1_000_000.0
SEEN = observation()
AWAY = Unobserved(Reason.KAFKA_UNREACHABLE, "Kafka broker 1 does not answer", 5.0)
OTHERWISE_AWAY = Unobserved(Reason.KAFKA_UNREACHABLE, "Kafka broker 1 cannot be reached: refused", 6.0)
NO_TOPIC = Unobserved(Reason.TOPIC_MISSING, "topic orders does not exist", 5.0)


class Stage:
    def __init__(self) -> None:
        self.api = FakeApi()
        self.api.add(KAFKA_CONNECTION, connection_object())
        self.certificates: list[Validity] | None = []

    async def passes(self, views: Sequence[KafkaView]) -> None:
        """One pass over each group of the connection."""
        api: Any = self.api
        unseen = Unseen()
        for number, view in enumerate(views):
            unseen.keep(str(number), view)
        worst = unseen.first_of_the_connection()
        for seen in views:
            obj = self.api.objects["KafkaConnection", *CONNECTION]
            await report(api, obj, seen, lambda: worst, self.certificates, NOW)

    @property
    def conditions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.objects["KafkaConnection", *CONNECTION]["status"]["conditions"]
        return found

    def said(self, kind: str) -> tuple[str, str]:
        condition = next(each for each in self.conditions if each["type"] == kind)
        return condition["status"], condition["reason"]

    @property
    def ready(self) -> tuple[str, str]:
        return self.said("Ready")


async def test_a_certificate_that_ends_soon_is_told_beside_whether_kafka_answers() -> None:
    stage = Stage()
    stage.certificates = [Validity("tls.crt of Secret shown", NOW - 90 * DAY_S, NOW + 90 * DAY_S)]
    await stage.passes([SEEN, SEEN])
    assert stage.said("CertificatesValid") == ("True", "CertificatesValid")
    stage.certificates = [Validity("tls.crt of Secret shown", NOW - 90 * DAY_S, NOW + DAY_S)]
    await stage.passes([SEEN, SEEN, AWAY])
    assert stage.said("CertificatesValid") == ("False", "CertificateExpires")
    assert stage.ready == ("False", "KafkaUnreachable")
    assert len(stage.api.asked) == 2
    stage.certificates = []
    await stage.passes([SEEN, SEEN])
    assert [each["type"] for each in stage.conditions] == ["Ready"]


async def test_what_was_said_of_certificates_stands_while_they_are_not_known() -> None:
    stage = Stage()
    stage.certificates = [Validity("tls.crt of Secret shown", NOW - 90 * DAY_S, NOW + DAY_S)]
    await stage.passes([SEEN])
    stage.certificates = None
    await stage.passes([AWAY])
    assert stage.said("CertificatesValid") == ("False", "CertificateExpires")
    assert stage.ready == ("False", "KafkaUnreachable")


async def test_a_certificate_is_told_while_nobody_knows_whether_kafka_answers() -> None:
    stage = Stage()
    await stage.passes([SEEN])
    stage.certificates = [Validity("tls.crt of Secret shown", NOW - 90 * DAY_S, NOW + DAY_S)]
    await stage.passes([NO_TOPIC])
    assert stage.said("CertificatesValid") == ("False", "CertificateExpires")
    assert stage.ready == ("True", "Connected")
    stage.certificates = []
    await stage.passes([NO_TOPIC])
    assert [each["type"] for each in stage.conditions] == ["Ready"]


async def test_groups_that_see_different_things_do_not_contradict_each_other() -> None:
    stage = Stage()
    for _ in range(3):
        await stage.passes([SEEN, AWAY, SEEN, OTHERWISE_AWAY])
    assert stage.ready == ("False", "KafkaUnreachable")
    assert len(stage.api.asked) == 1


async def test_it_is_well_again_when_every_group_is() -> None:
    stage = Stage()
    await stage.passes([AWAY, AWAY])
    await stage.passes([SEEN, AWAY])
    assert stage.ready == ("False", "KafkaUnreachable")
    await stage.passes([SEEN, SEEN])
    assert stage.ready == ("True", "Connected")
    assert len(stage.api.asked) == 2


async def test_an_outage_is_told_once_however_it_shows() -> None:
    stage = Stage()
    await stage.passes([AWAY])
    await stage.passes([OTHERWISE_AWAY])
    assert len(stage.api.asked) == 1


async def test_what_is_wrong_with_the_connection_itself_is_told_again_when_it_changes() -> None:
    stage = Stage()
    await stage.passes([Unobserved(Reason.CONNECTION_INVALID, "Secret a is missing", 1.0)])
    await stage.passes([Unobserved(Reason.CONNECTION_INVALID, "Secret b is missing", 2.0)])
    assert len(stage.api.asked) == 2


async def test_what_concerns_one_group_says_nothing_about_the_connection() -> None:
    stage = Stage()
    await stage.passes([NO_TOPIC])
    assert stage.api.asked == []
    await stage.passes([NO_TOPIC, SEEN])
    assert stage.ready == ("True", "Connected")


async def test_a_new_spec_is_reported_on_again() -> None:
    stage = Stage()
    await stage.passes([AWAY])
    stage.api.changed_by_somebody(KAFKA_CONNECTION, CONNECTION, generation=2)
    await stage.passes([AWAY])
    assert stage.api.objects["KafkaConnection", *CONNECTION]["status"]["observedGeneration"] == 2

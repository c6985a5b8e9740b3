"""A KafkaConnection in use, and when its Secrets are read again."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from slackwater.ports import KafkaCluster, Secrets
from slackwater.shell.elapsed import elapsed_s
from slackwater.shell.store import Key

SECRETS_AGAIN_S: Final = 30.0
LOOKS_FOR_A_RENEWED_ONE: Final = 4
"""At least, between the moment from which its end is told and that end."""
CERTIFICATES_AGAIN_S: Final = 300.0
"""One that ends soon is renewed in its Secret, as a rule, before brokers refuse it."""


@dataclass
class Open:
    """A connection in use."""

    generation: int
    uid: str
    secrets: Secrets = field(repr=False)
    secrets_read_at: float
    kafka: KafkaCluster
    groups: set[Key] = field(default_factory=set)


def wants_secrets_again(opened: Open, now: float) -> bool:
    """Kafka does not let us in, or soon will not: somebody may have changed the Secret, of which no watch tells."""
    refused = any(reason.lifted_by_a_secret for reason in opened.kafka.unseen_for)
    ending = [each for each in opened.kafka.certificates if now >= each.told_from]
    soon_s = min((each.told_for_s / LOOKS_FOR_A_RENEWED_ONE for each in ending), default=math.inf)
    read_s_ago = elapsed_s(opened.secrets_read_at, now)
    unread = any(opened.secrets_read_at < each.told_from for each in ending)
    ends_soon = bool(ending) and (unread or read_s_ago >= max(SECRETS_AGAIN_S, min(CERTIFICATES_AGAIN_S, soon_s)))
    return (refused and read_s_ago >= SECRETS_AGAIN_S) or ends_soon


def hash_of(secrets: Secrets) -> int:
    """By which one knows them again in this process, without keeping them."""
    return hash(frozenset((name, frozenset(data.items())) for name, data in secrets.items()))

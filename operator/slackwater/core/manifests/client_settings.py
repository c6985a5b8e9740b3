"""Client settings, in the words of each library, as environment variables of the consumer's container.

Which profile a set is made for is one choice (F7): classic settings and KIP-848 settings are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from slackwater.api.client import Library
from slackwater.api.consumer_group import Membership
from slackwater.api.owned_settings import OwnedSetting
from slackwater.api.resources import ConsumerGroup
from slackwater.api.settings_profiles import ProfileName
from slackwater.core.timeouts.classic import classic_timeouts
from slackwater.core.world.broker import Bounds
from slackwater.core.world.identity import instance_id
from slackwater.core.world.profile import Profile

_JAVA: Final = "org.apache.kafka.clients.consumer."
_BY_CLASS: Final = {
    Profile.EAGER: f"{_JAVA}RangeAssignor",
    Profile.EAGER_AND_COOPERATIVE: f"{_JAVA}RangeAssignor,{_JAVA}CooperativeStickyAssignor",
    Profile.COOPERATIVE: f"{_JAVA}CooperativeStickyAssignor",
}
_BY_NAME: Final = {Profile.EAGER: "range", Profile.COOPERATIVE: "cooperative-sticky"}
_ASSIGNORS: Final[Mapping[Library, Mapping[Profile, str]]] = {
    Library.JAVA: _BY_CLASS,
    Library.LIBRDKAFKA: _BY_NAME,  # both at once is refused (F1)
    Library.FRANZ_GO: _BY_NAME | {Profile.EAGER_AND_COOPERATIVE: "range,cooperative-sticky"},
}
"""The eager one first: members vote for the first that all of them know (F4). Kafka Streams brings its own assignor; of
other libraries nothing is known."""
_STREAMS_EAGER: Final = (Profile.EAGER, Profile.EAGER_AND_COOPERATIVE)
_POD_INDEX: Final = "apps.kubernetes.io/pod-index"
"""A label that the StatefulSet controller gives (Kubernetes 1.28 and newer)."""
_ORDINAL: Final = "SLACKWATER_ORDINAL"
_APPLICATION_ID, _THREADS = "APPLICATION_ID", "NUM_STREAM_THREADS"
_KNOW_MAX_POLL_RECORDS: Final = (Library.JAVA, Library.KAFKA_STREAMS)
"""librdkafka refuses to start with it."""


def settings(
    group: ConsumerGroup, bootstrap_servers: str, profile: Profile, session_bounds: Bounds | None = None
) -> list[dict[str, Any]]:
    """Environment variables, in a fixed order: the same group gives the same list, or pods would restart for nothing.

    `session_bounds`: what the brokers allow classic sessions to be, where that is known to bind.
    """
    prefix = group.spec.client.env_prefix
    values = {name.variable(prefix): text for name, text in _values(group, profile, session_bounds).items()}
    own = {_variable(prefix, name): text for name, text in _own_profile(group, profile).items()}
    values = {OwnedSetting.BOOTSTRAP_SERVERS.variable(prefix): bootstrap_servers, **values, **own}
    variables: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in values.items()]
    if group.spec.membership is Membership.STATIC:
        # From the pod's label: the same template has to do for both StatefulSets.
        field = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{_POD_INDEX}']"}}
        variables.append({"name": _ORDINAL, "valueFrom": field})
        name = OwnedSetting.GROUP_INSTANCE_ID.variable(prefix)
        variables.append({"name": name, "value": instance_id(group.name, f"$({_ORDINAL})")})
    return variables


def offered(group: ConsumerGroup) -> list[dict[str, Any]]:
    """What a template that does not say it itself gets: Kafka Streams has its group's id from `application.id`, and as
    many members as threads."""
    if group.spec.client.library is not Library.KAFKA_STREAMS:
        return []
    values = {_APPLICATION_ID: group.group_id, _THREADS: str(group.spec.members_per_pod)}
    prefix = group.spec.client.env_prefix
    return [{"name": f"{prefix}{name}", "value": value} for name, value in values.items()]


def _values(group: ConsumerGroup, profile: Profile, session_bounds: Bounds | None) -> dict[OwnedSetting, str]:
    timeouts, library = group.spec.timeouts, group.spec.client.library
    classic = classic_timeouts(timeouts, session_bounds)
    values = {
        OwnedSetting.GROUP_ID: group.group_id,
        OwnedSetting.MAX_POLL_INTERVAL_MS: str(timeouts.given_max_poll_interval_ms),
    }
    if timeouts.max_poll_records is not None and library in _KNOW_MAX_POLL_RECORDS:
        values[OwnedSetting.MAX_POLL_RECORDS] = str(timeouts.max_poll_records)
    if profile is Profile.CONSUMER:
        return values | {OwnedSetting.GROUP_PROTOCOL: "consumer"}
    values[OwnedSetting.MAX_POLL_INTERVAL_MS] = str(classic.max_poll_interval_ms)
    values[OwnedSetting.SESSION_TIMEOUT_MS] = str(classic.session_ms)
    values[OwnedSetting.HEARTBEAT_INTERVAL_MS] = str(classic.heartbeat_ms)
    if assignor := _ASSIGNORS.get(library, {}).get(profile):
        values[OwnedSetting.PARTITION_ASSIGNMENT_STRATEGY] = assignor
    if library is Library.KAFKA_STREAMS and profile in _STREAMS_EAGER and group.spec.protocol.upgrade_from:
        values[OwnedSetting.UPGRADE_FROM] = group.spec.protocol.upgrade_from
    return values


def _own_profile(group: ConsumerGroup, profile: Profile) -> Mapping[str, str]:
    """Of a library that only its users know; what they say wins."""
    if profile is Profile.OWN_CHOICE:
        return {}
    return group.spec.protocol.profiles.get(ProfileName(profile.value), {})


def _variable(prefix: str, property_name: str) -> str:
    return f"{prefix}{property_name.replace('.', '_').upper()}"

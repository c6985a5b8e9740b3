"""What is refused, and in which words: one table, for the models and for the API server.

Each entry breaks one rule. `sentence` has to stand in the refusal, at `path`. Where the API server has words of its own
(types, enums, unknown fields), `server` is what it says.
"""

from __future__ import annotations

from typing import Any

from slackwater.api.settings_profiles import SAID_ELSEWHERE
from tests.api.campaign_refusals import REFUSALS as OF_CAMPAIGNS
from tests.api.manifests import (
    ABSENT,
    Manifest,
    cluster_kafka_connection,
    consumer_fleet,
    consumer_group,
    kafka_connection,
    template,
)
from tests.api.refusal import DURATION, POSITIVE, Refusal

HOST_PORT = "write host:port of one or more brokers, with commas between them, such as broker-0:9092,broker-1:9092"
UNPRINTABLE = ("\x1b", "\x9b", "\u061c", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff")
"""What steers a terminal, turns a line around or is not seen."""
AT_ONCE = "write how many pods may be away at once: 1 or more, or 1% to 100%"


def _env(variable: str, source: str, prefix: str = "KAFKA_", library: str = "Java") -> Refusal:
    return _variable(variable, f"the operator sets it from {source}", prefix, library)


def _variable(variable: str, whose: str, prefix: str = "KAFKA_", library: str = "Java") -> Refusal:
    return Refusal(
        f"template sets {variable}",
        consumer_group(
            client={"library": library, "envPrefix": prefix},
            protocol={"target": "Cooperative"},
            template=template(env=(f"{prefix}{variable}",)),
        ),
        "spec.template",
        f"remove {prefix}{variable} from the env of the consumer container: {whose}",
    )


def _profiles(name: str, profiles: Manifest, path: str, sentence: str, server: str = "") -> Refusal:
    manifest = consumer_group(client={"library": "Other"}, protocol={"profiles": profiles})
    return Refusal(name, manifest, path, sentence, server)


def _duration(field: str, value: str, sentence: str) -> Refusal:
    part, _, name = field.partition(".")
    fields: Manifest = {part: {name: value}}
    return Refusal(f"{field} {value!r}", consumer_group("payments", **fields), f"spec.{field}", sentence)


TOPICS = (
    Refusal(
        "no topics",
        consumer_group(topics=ABSENT),
        "spec.topics",
        "name at least one topic to consume, for example topics: [orders]",
    ),
    Refusal(
        "empty topics",
        consumer_group(topics=[]),
        "spec.topics",
        "name at least one topic to consume, for example topics: [orders]",
    ),
    Refusal(
        "topic with a blank",
        consumer_group(topics=["orders", "my refunds"]),
        "spec.topics[1]",
        "write a topic's name: 1 to 249 letters, digits, ., _ and -",
    ),
    Refusal(
        "topic twice",
        consumer_group(topics=["orders", "orders"]),
        "spec.topics",
        "keep each only once, not so orders",
        server="Duplicate value",
    ),
    Refusal(
        "empty group id",
        consumer_group(groupId=""),
        "spec.groupId",
        "write the Kafka group's id: 1 to 249 printable characters",
    ),
    *(
        Refusal(
            f"group id with U+{ord(character):04X}",
            consumer_group(groupId=f"pay{character}ments"),
            "spec.groupId",
            "write the Kafka group's id: 1 to 249 printable characters",
        )
        for character in UNPRINTABLE
    ),
)
NAMES = (
    Refusal(
        "long name",
        consumer_group(name="p" * 49),
        "",
        "the name becomes part of the names of pods and a Service: use at most 48 lower-case letters, digits and -",
    ),
    Refusal(
        "name with a dot",
        consumer_group(name="payments.v2"),
        "",
        "the name becomes part of the names of pods and a Service: use at most 48 lower-case letters, digits and -",
    ),
)
NUMBERS = (
    Refusal(
        "negative replicas",
        consumer_group(replicas=-1),
        "spec.replicas",
        "set replicas to 0 or more; 0 stops the consumers and keeps the group's offsets",
    ),
    Refusal(
        "too many replicas",
        consumer_group(replicas=2_147_483_647),
        "spec.replicas",
        "set replicas to 10000 or less: no group has use for more pods than its topics have partitions",
    ),
    Refusal(
        "too many members in a pod",
        consumer_group(membersPerPod=1_001),
        "spec.membersPerPod",
        "write 1000 or less",
        server="should be less than or equal to 1000",
    ),
    Refusal(
        "too many pods in a canary",
        consumer_group(rollout={"canary": [{"replicas": 10_001}]}),
        "spec.rollout.canary[0].replicas",
        "write 10000 or less",
        server="should be less than or equal to 10000",
    ),
    Refusal(
        "no members in a pod",
        consumer_group(membersPerPod=0),
        "spec.membersPerPod",
        "write 1 or more",
        server="should be greater than or equal to 1",
    ),
    Refusal(
        "max lag 0",
        consumer_group(rollout={"maxLag": {"growth": 0}}),
        "spec.rollout.maxLag.growth",
        "write 1 or more",
        server="should be greater than or equal to 1",
    ),
    Refusal(
        "max lag without a bound",
        consumer_group(rollout={"maxLag": {}}),
        "spec.rollout.maxLag",
        "give maxLag one bound: either absolute, the most records that the group may lag, or growth",
    ),
    Refusal(
        "max lag with two bounds",
        consumer_group(rollout={"maxLag": {"absolute": 5, "growth": 5}}),
        "spec.rollout.maxLag",
        "give maxLag one bound: either absolute, the most records that the group may lag, or growth",
    ),
    Refusal(
        "no pod may be away",
        consumer_group(rollout={"maxUnavailable": 0}),
        "spec.rollout.maxUnavailable",
        AT_ONCE,
    ),
    Refusal(
        "a share of the pods that is none",
        consumer_group(rollout={"maxUnavailable": "0%"}),
        "spec.rollout.maxUnavailable",
        AT_ONCE,
    ),
    Refusal(
        "more than all pods",
        consumer_group(rollout={"maxUnavailable": "101%"}),
        "spec.rollout.maxUnavailable",
        AT_ONCE,
    ),
    Refusal(
        "canary of no size",
        consumer_group(rollout={"canary": [{"hold": "5m"}]}),
        "spec.rollout.canary[0]",
        "say how many pods the canary step has: either replicas, a number, or percent, a share of all pods",
    ),
    Refusal(
        "canary of two sizes",
        consumer_group(rollout={"canary": [{"replicas": 1, "percent": 10}]}),
        "spec.rollout.canary[0]",
        "say how many pods the canary step has: either replicas, a number, or percent, a share of all pods",
    ),
    Refusal(
        "canary of a share that is more than all",
        consumer_group(rollout={"canary": [{"percent": 101}]}),
        "spec.rollout.canary[0].percent",
        "write 100 or less",
        server="should be less than or equal to 100",
    ),
    Refusal(
        "canary by numbers and shares",
        consumer_group(rollout={"canary": [{"replicas": 1}, {"percent": 50}]}),
        "spec.rollout.canary",
        "list the canary steps by growing replicas, or all of them by growing percent",
    ),
    Refusal(
        "canary of shares that shrink",
        consumer_group(rollout={"canary": [{"percent": 50}, {"percent": 10}]}),
        "spec.rollout.canary",
        "list the canary steps by growing replicas, or all of them by growing percent",
    ),
    Refusal(
        "canary that shrinks",
        consumer_group(rollout={"canary": [{"replicas": 2}, {"replicas": 1, "hold": "5m"}]}),
        "spec.rollout.canary",
        "list the canary steps by growing replicas",
    ),
)
TIMEOUTS = (
    Refusal(
        "session longer than the default max poll interval",
        consumer_group(timeouts={"session": "6m"}),
        "spec.timeouts.session",
        "lower timeouts.session (45s when it is not given) or raise timeouts.maxPollInterval",
    ),
    Refusal(
        "max poll interval shorter than the default session",
        consumer_group(timeouts={"maxPollInterval": "30s"}),
        "spec.timeouts.session",
        "a session longer than the max poll interval keeps clients from starting",
    ),
    Refusal(
        "heartbeat more than a third of the session",
        consumer_group(timeouts={"session": "9s", "heartbeat": "3001ms"}),
        "spec.timeouts.heartbeat",
        "a session must have room for three heartbeats: lower timeouts.heartbeat or raise timeouts.session",
    ),
    Refusal(
        "heartbeat more than a third of the default session",
        consumer_group(timeouts={"heartbeat": "16s"}),
        "spec.timeouts.heartbeat",
        "a session must have room for three heartbeats: lower timeouts.heartbeat or raise timeouts.session",
    ),
    Refusal(
        "more milliseconds than 32 bits",
        consumer_group(timeouts={"maxPollInterval": "577h"}),
        "spec.timeouts.maxPollInterval",
        "Kafka cannot count beyond 24 days: lower timeouts.maxPollInterval to 576h or less",
    ),
    Refusal(
        "session with target Consumer",
        consumer_group(protocol={"target": "Consumer"}, timeouts={"session": "45s"}),
        "spec.timeouts",
        "move timeouts.session and timeouts.heartbeat to timeouts.consumer, or remove them",
    ),
    Refusal(
        "heartbeat with target Consumer",
        consumer_group(protocol={"target": "Consumer"}, timeouts={"heartbeat": "5s"}),
        "spec.timeouts",
        "with protocol.target Consumer the broker keeps session and heartbeat for the whole group",
    ),
    Refusal(
        "heartbeat more than a third of the session that the broker keeps",
        consumer_group(timeouts={"consumer": {"session": "45s", "heartbeat": "15001ms"}}),
        "spec.timeouts.consumer.heartbeat",
        "a session must have room for three heartbeats: lower timeouts.consumer.heartbeat or raise",
    ),
    Refusal(
        "a session that the broker keeps, without a unit",
        consumer_group(timeouts={"consumer": {"session": "45", "heartbeat": "5s"}}),
        "spec.timeouts.consumer.session",
        DURATION,
    ),
    Refusal(
        "no heartbeat at all for the broker to keep",
        consumer_group(timeouts={"consumer": {"heartbeat": "0s"}}),
        "spec.timeouts.consumer.heartbeat",
        POSITIVE,
    ),
    _duration("timeouts.session", "45", DURATION),
    _duration("timeouts.session", "", DURATION),
    _duration("timeouts.session", "1.5m", DURATION),
    _duration("timeouts.session", "30s1m", DURATION),
    _duration("timeouts.heartbeat", "3 s", DURATION),
    _duration("timeouts.maxPollInterval", "1d", DURATION),
    _duration("timeouts.session", "0s", POSITIVE),
    _duration("rollout.stableFor", "-10s", DURATION),
    _duration("rollout.rejoinTimeout", "0m0s", POSITIVE),
    Refusal(
        "a duration that is a number",
        consumer_group(timeouts={"session": 45}),
        "spec.timeouts.session",
        DURATION,
        server="must be of type string",
    ),
    Refusal(
        "a bare Off",
        consumer_group(timeouts={"mode": False}),
        "spec.timeouts.mode",
        "write one of 'Off', 'Recommend' or 'Auto' in quotes",
        server="must be of type string",
    ),
)
CLIENTS = (
    Refusal(
        "warm handover of dynamic members",
        consumer_group(membership="Dynamic", rollout={"strategy": "WarmHandover"}),
        "spec.rollout.strategy",
        "use strategy InPlace, or set membership to Static and a protocol.target other than Consumer",
    ),
    Refusal(
        "warm handover under KIP-848",
        consumer_group(protocol={"target": "Consumer"}, rollout={"strategy": "WarmHandover"}),
        "spec.rollout.strategy",
        "a warm handover needs static members of the classic protocol",
    ),
    Refusal(
        "unknown library",
        consumer_group(client={"library": "librdkafka"}),
        "spec.client.library",
        "write one of 'Java', 'KafkaStreams', 'Librdkafka', 'FranzGo' or 'Other'",
        server='supported values: "Java", "KafkaStreams", "Librdkafka", "FranzGo", "Other"',
    ),
    Refusal(
        "a version that is a number",
        consumer_group(client={"library": "Java", "version": 4.3}),
        "spec.client.version",
        "write a text, in quotes if need be",
        server="must be of type string",
    ),
    Refusal(
        "a version that is none",
        consumer_group(client={"library": "Java", "version": "latest"}),
        "spec.client.version",
        "write the client library's version, in quotes, such as '4.3' or '2.12.1'",
    ),
    Refusal(
        "a prefix that cannot begin a variable",
        consumer_group(client={"library": "Java", "envPrefix": "my-"}),
        "spec.client.envPrefix",
        "write the beginning of an environment variable's name, such as KAFKA_: letters, digits and _",
    ),
    Refusal(
        "a path of metrics that is none",
        consumer_group(client={"library": "Java", "metrics": {"port": 9090, "path": "metrics"}}),
        "spec.client.metrics.path",
        "write the path of the metrics, such as /metrics: it begins with /",
    ),
    Refusal(
        "a container's name that is none",
        consumer_group(client={"library": "Java", "container": ""}),
        "spec.client.container",
        "write the name of a container of the template: lower-case letters, digits and -",
    ),
    Refusal(
        "a container that is not there",
        consumer_group(client={"library": "Java", "container": "consumers"}),
        "spec.client.container",
        "client.container names no container of the template: write the name of one, or remove it to mean the first",
    ),
)
UPGRADES = (
    Refusal(
        "upgradeFrom of another library than Kafka Streams",
        consumer_group(protocol={"target": "Cooperative", "upgradeFrom": "2.3"}),
        "spec.protocol.upgradeFrom",
        "remove protocol.upgradeFrom, or set client.library to KafkaStreams",
    ),
    Refusal(
        "upgradeFrom without a target",
        consumer_group(client={"library": "KafkaStreams"}, protocol={"upgradeFrom": "2.3"}),
        "spec.protocol.upgradeFrom",
        "upgradeFrom is part of the way to a target: set protocol.target, or remove protocol.upgradeFrom",
    ),
    *(
        Refusal(
            f"upgradeFrom {version}",
            consumer_group(
                client={"library": "KafkaStreams"}, protocol={"target": "Cooperative", "upgradeFrom": version}
            ),
            "spec.protocol.upgradeFrom",
            "write the version as Kafka Streams wants it in upgrade.from, in quotes: '2.3', without a third number",
        )
        for version in ("2.3.1", "0.11", "latest", "")
    ),
    Refusal(
        "upgradeFrom that is a number",
        consumer_group(client={"library": "KafkaStreams"}, protocol={"target": "Cooperative", "upgradeFrom": 2.3}),
        "spec.protocol.upgradeFrom",
        "write a text, in quotes if need be",
        server="must be of type string",
    ),
    Refusal(
        "profiles of a library that the operator knows",
        consumer_group(protocol={"profiles": {"Eager": {"partition.assignment.strategy": "range"}}}),
        "spec.protocol.profiles",
        "remove protocol.profiles, or set client.library to Other",
    ),
    _profiles(
        "a profile without settings",
        {"Eager": {}},
        "spec.protocol.profiles.Eager",
        "give the profile the settings that make it, or remove it",
    ),
    *(
        _profiles(
            f"a profile's property {name!r}",
            {"Cooperative": {"group.protocol": "classic", name: "range"}},
            "spec.protocol.profiles.Cooperative",
            "write the client's properties as Kafka names them: lower-case letters and digits with dots between them",
        )
        for name in ("PARTITION_ASSIGNMENT_STRATEGY", ".strategy", "strategy.", "a..b", "")
    ),
    *(
        _profiles(
            f"a profile sets {name}",
            {"EagerAndCooperative": {name: "x"}},
            "spec.protocol.profiles.EagerAndCooperative",
            "they are the same in every profile, and the operator sets them from other fields of the spec",
        )
        for name in SAID_ELSEWHERE
    ),
    _profiles(
        "a profile that is none",
        {"eager": {"partition.assignment.strategy": "range"}},
        "spec.protocol.profiles.eager",
        "is no known field: did you mean Eager?",
        server='unknown field "spec.protocol.profiles.eager"',
    ),
    _profiles(
        "a profile's value that is a number",
        {"Consumer": {"fetch.min.bytes": 1}},
        "spec.protocol.profiles.Consumer.fetch.min.bytes",
        "write a text, in quotes if need be",
        server="must be of type string",
    ),
    _profiles(
        "a profile's value that is too long",
        {"Consumer": {"group.protocol": "c" * 1025}},
        "spec.protocol.profiles.Consumer.group.protocol",
        "keep it to 1024 characters",
        server="may not be more than 1024",
    ),
    _profiles(
        "a profile of too many settings",
        {"Consumer": {f"setting.{number}": "x" for number in range(17)}},
        "spec.protocol.profiles.Consumer",
        "list 16 at most",
        server="must have at most 16 items",
    ),
)
CLAIM: Manifest = {
    "metadata": {"name": "state"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
CLAIMS = (
    Refusal(
        "a warm handover of pods with volumes",
        consumer_group(rollout={"strategy": "WarmHandover"}, volumeClaimTemplates=[CLAIM]),
        "spec.rollout.strategy",
        "they cannot share a volume claim: set rollout.strategy to InPlace, or have the pods do without",
    ),
    Refusal(
        "two claims of one name",
        consumer_group(volumeClaimTemplates=[CLAIM, CLAIM]),
        "spec.volumeClaimTemplates",
        "each claim needs a name of its own: rename one, or remove it",
    ),
    Refusal(
        "a claim that no node may mount",
        consumer_group(volumeClaimTemplates=[CLAIM | {"spec": {}}]),
        "spec.volumeClaimTemplates[0].spec.accessModes",
        "say how nodes may mount the volume, for example accessModes: [ReadWriteOnce]",
    ),
    Refusal(
        "a claim with a name that no volume may have",
        consumer_group(volumeClaimTemplates=[CLAIM | {"metadata": {"name": "State"}}]),
        "spec.volumeClaimTemplates[0].metadata.name",
        "write the name of a volume, such as state: lower-case letters, digits and -",
    ),
    Refusal(
        "a claim without a name",
        consumer_group(volumeClaimTemplates=[CLAIM | {"metadata": {}}]),
        "spec.volumeClaimTemplates[0].metadata.name",
        "is missing: add it",
        server="Required value",
    ),
    Refusal(
        "claims that are neither kept nor deleted",
        consumer_group(persistentVolumeClaimRetentionPolicy={"whenScaled": "Recycle"}),
        "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
        "write one of 'Retain' or 'Delete'",
        server='supported values: "Retain", "Delete"',
    ),
)
TEMPLATES = (
    Refusal(
        "no template",
        consumer_group(template=ABSENT),
        "spec.template",
        "is missing: add it",
        server="Required value",
    ),
    Refusal(
        "no containers",
        consumer_group(template={"spec": {"containers": []}}),
        "spec.template.spec.containers",
        "give the pod template at least one container",
    ),
    Refusal(
        "pods that end",
        consumer_group(template=template(restartPolicy="OnFailure")),
        "spec.template.spec.restartPolicy",
        "consumers run for ever: remove restartPolicy, or set it to Always",
    ),
    Refusal(
        "a container twice",
        consumer_group(template={"spec": {"containers": [{"name": "consumer"}, {"name": "consumer"}]}}),
        "spec.template.spec.containers",
        "keep each only once, not so consumer",
        server="Duplicate value",
    ),
    _env("BOOTSTRAP_SERVERS", "the KafkaConnection"),
    _env("GROUP_ID", "spec.groupId"),
    _env("GROUP_INSTANCE_ID", "the ConsumerGroup's name and the pod's ordinal"),
    _env("GROUP_PROTOCOL", "spec.protocol.target"),
    _variable("GROUP_REMOTE_ASSIGNOR", "the broker chooses the assignor of a KIP-848 group"),
    _env("HEARTBEAT_INTERVAL_MS", "spec.timeouts.heartbeat"),
    _env("MAX_POLL_INTERVAL_MS", "spec.timeouts.maxPollInterval"),
    _env("MAX_POLL_RECORDS", "spec.timeouts.maxPollRecords"),
    _env("PARTITION_ASSIGNMENT_STRATEGY", "spec.protocol.target"),
    _env("SESSION_TIMEOUT_MS", "spec.timeouts.session"),
    _env("UPGRADE_FROM", "spec.protocol.upgradeFrom", library="KafkaStreams"),
    _env("SESSION_TIMEOUT_MS", "spec.timeouts.session", prefix="SPRING_KAFKA_CONSUMER_PROPERTIES_"),
    Refusal(
        "the container that client.container names sets an owned setting",
        consumer_group(client={"library": "Java", "container": "sidecar"}),
        "spec.template",
        "remove KAFKA_GROUP_ID from the env of the consumer container",
    ),
)
FIELDS = (
    Refusal(
        "unknown field",
        consumer_group(replica=3),
        "spec.replica",
        "is no known field: did you mean replicas?",
        server='unknown field "spec.replica"',
    ),
    Refusal(
        "unknown nested field",
        consumer_group(rollout={"stablefor": "10s"}),
        "spec.rollout.stablefor",
        "is no known field: did you mean stableFor?",
        server='unknown field "spec.rollout.stablefor"',
    ),
    Refusal(
        "text for a number",
        consumer_group(replicas="6"),
        "spec.replicas",
        "cannot be '6': write a whole number",
        server="must be of type integer",
    ),
)
CONNECTIONS = (
    Refusal("no brokers", kafka_connection(bootstrapServers=""), "spec.bootstrapServers", HOST_PORT),
    Refusal("no port", kafka_connection(bootstrapServers="broker-0"), "spec.bootstrapServers", HOST_PORT),
    Refusal("an empty part", kafka_connection(bootstrapServers="b..svc:9092"), "spec.bootstrapServers", HOST_PORT),
    Refusal("a long part", kafka_connection(bootstrapServers="k" * 64 + ":9"), "spec.bootstrapServers", HOST_PORT),
    Refusal("no host", kafka_connection(bootstrapServers="a:9092,.svc:9092"), "spec.bootstrapServers", HOST_PORT),
    Refusal("a bracket", kafka_connection(bootstrapServers="[b:9092"), "spec.bootstrapServers", HOST_PORT),
    Refusal("a URL", kafka_connection(bootstrapServers="http://broker-0:9092"), "spec.bootstrapServers", HOST_PORT),
    Refusal(
        "no credentials",
        kafka_connection(tls={}, authentication={"type": "ScramSha512"}),
        "spec.authentication.secretRef",
        "name the Secret that holds the credentials in authentication.secretRef",
    ),
    Refusal(
        "a prefix that is none",
        kafka_connection(groups=["orders-\n"]),
        "spec.groups[0]",
        "write how the group ids begin: 1 to 249 printable characters",
    ),
    *(
        Refusal(
            f"a prefix with U+{ord(character):04X}",
            kafka_connection(groups=[f"orders-{character}"]),
            "spec.groups[0]",
            "write how the group ids begin: 1 to 249 printable characters",
        )
        for character in UNPRINTABLE
    ),
    Refusal(
        "a password in the clear",
        kafka_connection(authentication={"type": "Plain", "secretRef": {"name": "me"}}),
        "spec.tls",
        "whoever listens on the way would learn the password or the token: set tls",
    ),
    Refusal(
        "certificate and password",
        kafka_connection(
            tls={"certificateSecretRef": {"name": "me"}}, authentication={"type": "Tls", "secretRef": {"name": "me"}}
        ),
        "spec.authentication.secretRef",
        "with type Tls the certificate is the credential: remove authentication.secretRef",
    ),
    Refusal(
        "no certificate to show",
        kafka_connection(tls={}, authentication={"type": "Tls"}),
        "spec.tls",
        "authentication by Tls shows a certificate: name its Secret in tls.certificateSecretRef",
    ),
    Refusal(
        "a Secret's name that is none",
        kafka_connection(tls={"caSecretRef": {"name": "My CA"}}),
        "spec.tls.caSecretRef.name",
        "write the name of an object: lower-case letters, digits, - and .",
    ),
    Refusal(
        "a Secret's key that is none",
        kafka_connection(tls={"caSecretRef": {"name": "ca", "key": "my ca"}}),
        "spec.tls.caSecretRef.key",
        "write a key of the Secret: letters, digits, -, _ and .",
    ),
    Refusal(
        "groups in motion watched without a pause",
        kafka_connection(observe={"movingInterval": "99ms"}),
        "spec.observe.movingInterval",
        "set observe.movingInterval to 100ms or more",
    ),
    Refusal(
        "groups at rest watched without a pause",
        kafka_connection(observe={"movingInterval": "900ms", "restInterval": "999ms"}),
        "spec.observe.restInterval",
        "set observe.restInterval to 1s or more",
    ),
    Refusal(
        "groups at rest watched less than once a day",
        kafka_connection(observe={"restInterval": "24h1ms"}),
        "spec.observe.restInterval",
        "set observe.restInterval to 24h or less",
    ),
    Refusal(
        "groups at rest watched closer than groups in motion",
        kafka_connection(observe={"movingInterval": "20s"}),
        "spec.observe.movingInterval",
        "lower observe.movingInterval or raise observe.restInterval",
    ),
)
SHARED = (
    Refusal(
        "a connection for nobody",
        cluster_kafka_connection(tenants=ABSENT),
        "spec.tenants",
        "name who may use it, for example tenants: [{namespaces: [payments]}]",
    ),
    Refusal(
        "a tenant without a namespace",
        cluster_kafka_connection(tenants=[{"namespaces": []}]),
        "spec.tenants[0].namespaces",
        "name at least one namespace, for example namespaces: [payments]",
    ),
    Refusal(
        "a pattern for a namespace",
        cluster_kafka_connection(tenants=[{"namespaces": ["team-*"]}]),
        "spec.tenants[0].namespaces[0]",
        "write the name of a namespace: lower-case letters, digits and -",
    ),
    Refusal(
        "a namespace twice",
        cluster_kafka_connection(tenants=[{"namespaces": ["a", "b", "a"]}]),
        "spec.tenants[0].namespaces",
        "keep each only once, not so a",
        server="Duplicate value",
    ),
    Refusal(
        "a password in the clear for all",
        cluster_kafka_connection(authentication={"type": "Plain", "secretRef": {"name": "me"}}),
        "spec.tls",
        "whoever listens on the way would learn the password or the token: set tls",
    ),
    Refusal(
        "a connection of another kind",
        consumer_group(connectionRef={"name": "main", "kind": "Connection"}),
        "spec.connectionRef.kind",
        "write one of 'KafkaConnection' or 'ClusterKafkaConnection'",
        server='supported values: "KafkaConnection", "ClusterKafkaConnection"',
    ),
)
MAX = "write how many groups may move at a time: 1 or more, or 1% to 100%. To let nothing begin, write the reason"
FAILURES = "write after how many failed groups nothing begins any more: 0 or more, or 1% to 100%"
CRON = "write minute, hour, day of month, month and day of week, such as '0 22 * * 1-5'"
LOCAL_TIME = "write a local date and time, such as 2026-11-26T00:00, in spec.timeZone"
FREEZE = "give a freeze its days (from, to) or a rule (schedule, duration)"
NIGHTS: Manifest = {"name": "nights", "schedule": "0 22 * * 1-5", "duration": "7h"}


def _fleet(name: str, path: str, sentence: str, server: str = "", /, **spec: Any) -> Refusal:
    return Refusal(f"fleet: {name}", consumer_fleet(**spec), path, sentence, server)


def _budget(name: str, field: str, sentence: str, server: str = "", /, **budget: Any) -> Refusal:
    given = {"name": "all", "max": 1, **budget}
    return _fleet(name, f"spec.budgets[0]{field}", sentence, server, budgets=[given], timeZone="UTC", windows=[NIGHTS])


def _window(name: str, field: str, sentence: str, /, **window: Any) -> Refusal:
    return _fleet(name, f"spec.windows[0].{field}", sentence, timeZone="UTC", windows=[{**NIGHTS, **window}])


def _freeze(name: str, field: str, sentence: str, /, **freeze: Any) -> Refusal:
    return _fleet(name, f"spec.freezes[0]{field}", sentence, timeZone="UTC", freezes=[{"name": "sale", **freeze}])


FLEETS = (
    _fleet(
        "no selector",
        "spec.selector",
        "say which groups this fleet is about: spec.selector; {} means all of them",
        selector=ABSENT,
    ),
    _fleet(
        "a value of a label",
        "spec.selector.matchLabels",
        "write the value of a label, 63 characters",
        selector={"matchLabels": {"tier": "no such"}},
    ),
    _fleet(
        "a label's key",
        "spec.selector.matchExpressions[0].key",
        "write the key of a label",
        selector={"matchExpressions": [{"key": "no such", "operator": "Exists"}]},
    ),
    _fleet(
        "In without values",
        "spec.selector.matchExpressions[0].values",
        "In and NotIn take values, Exists and DoesNotExist take none",
        selector={"matchExpressions": [{"key": "tier", "operator": "In"}]},
    ),
    _fleet(
        "Exists with values",
        "spec.selector.matchExpressions[0].values",
        "In and NotIn take values, Exists and DoesNotExist take none",
        selector={"matchExpressions": [{"key": "tier", "operator": "Exists", "values": ["0"]}]},
    ),
    _fleet(
        "a pattern for a namespace",
        "spec.namespaces[0]",
        'write the name of a namespace, or "*" for all of them',
        namespaces=["team-*"],
    ),
    _fleet(
        "a budget twice",
        "spec.budgets",
        "keep each only once, not so all",
        "Duplicate value",
        budgets=[{"name": "all", "max": 1}, {"name": "all", "max": 2}],
    ),
    _budget(
        "a budget's name",
        ".name",
        "write lower-case letters, digits and -, beginning and ending with a letter or digit",
        name="All",
    ),
    _budget(
        "per something else",
        ".per",
        "write one of 'Fleet', 'KafkaCluster', 'Coordinator', 'Topic', 'Namespace' or 'Label'",
        "Unsupported value",
        per="Broker",
    ),
    _budget(
        "per: Label without one",
        ".label",
        "name the label whose values are counted apart: budgets[].label",
        per="Label",
    ),
    _budget(
        "a label for nothing",
        ".label",
        "only per: Label counts values of a label apart: remove budgets[].label",
        label="tier",
    ),
    _budget("none may move", ".max", MAX, max=0),
    _budget("too many may move", ".max", MAX, max=10_001),
    _budget("a share of nothing", ".max", MAX, max="0%"),
    _budget("a share of more than all", ".max", MAX, max="101%"),
    _budget("a number as a text", ".max", MAX, max="3"),
    _budget("nothing is counted", ".reasons", "say what is counted: budgets[].reasons, such as Rollout", reasons=[]),
    _budget(
        "another reason",
        ".reasons[0]",
        "write one of 'Rollout', 'Restart', 'ProtocolUpgrade', 'Scale' or 'Start'",
        "Unsupported value",
        reasons=["Deploy"],
    ),
    _budget(
        "a long pause", ".spacing", "spacing is the pause between two groups that begin: at most 1h", spacing="1h1m"
    ),
    _budget("a pause that is no duration", ".spacing", DURATION, spacing="1 hour"),
    _fleet(
        "during a window that is not there",
        "spec.budgets",
        "budgets[].during and budgets[].outside name a window of spec.windows",
        budgets=[{"name": "all", "max": 1, "during": "nights"}],
    ),
    _budget(
        "during and outside",
        ".outside",
        "a budget is in force during a window or outside of it, not both",
        during="nights",
        outside="nights",
    ),
    _fleet(
        "windows without a time zone",
        "spec.timeZone",
        "say in which time zone they are meant: spec.timeZone, such as Europe/Berlin or UTC",
        windows=[NIGHTS],
    ),
    _fleet("a time zone's name", "spec.timeZone", "write a time zone's name, such as", timeZone="Europe / Berlin"),
    _window("a macro for a schedule", "schedule", CRON, schedule="@daily"),
    _window("a zone in a schedule", "schedule", CRON, schedule="TZ=UTC 0 22 * * *"),
    _window("six fields", "schedule", CRON, schedule="0 0 22 * * 1-5"),
    _window("a window of no length", "duration", POSITIVE, duration="0s"),
    _window("a long window", "duration", "a window of more than a week is none: leave it out", duration="169h"),
    _freeze("a freeze of neither", "", FREEZE),
    _freeze("a freeze of both", "", FREEZE, **{"from": "2026-11-26T00:00", "to": "2026-12-01T00:00", "duration": "1h"}),
    _freeze("half a freeze", "", FREEZE, **{"from": "2026-11-26T00:00"}),
    _freeze("no local time", ".from", LOCAL_TIME, **{"from": "2026-11-26", "to": "2026-12-01T00:00"}),
    _freeze(
        "a freeze that ends before it begins",
        ".to",
        "a freeze ends after it begins",
        **{"from": "2026-12-01T00:00", "to": "2026-12-01T00:00"},
    ),
    _fleet("failures below 0", "spec.halt.failures", FAILURES, halt={"failures": -1}),
    _fleet("failures as a text", "spec.halt.failures", FAILURES, halt={"failures": "5"}),
    _fleet("within no time", "spec.halt.within", POSITIVE, halt={"within": "0s"}),
    _fleet(
        "a number of the disturbed",
        "spec.halt.disturbed",
        "write a share of the groups, such as 20%",
        'must be of type string: "integer"',
        halt={"disturbed": 3},
    ),
    _fleet(
        "a share of the disturbed",
        "spec.halt.disturbed",
        "write a share of the groups, such as 20%",
        halt={"disturbed": "0%"},
    ),
    _fleet(
        "an override without a reason",
        "spec.override.reason",
        "say why: override.reason",
        timeZone="UTC",
        override={"until": "2026-11-24T18:00"},
    ),
    _fleet(
        "urgent passes a budget",
        "spec.urgent[0]",
        "write one of 'Order', 'Windows', 'Freezes', 'Waves' or 'Halts'",
        "Unsupported value",
        urgent=["Budgets"],
    ),
    _fleet(
        "a long head start",
        "spec.order[0].headStart",
        "a head start of more than a day would keep others waiting for as long",
        order=[{"selector": {}, "headStart": "25h"}],
    ),
    _fleet(
        "a long settling",
        "spec.settleFor",
        "a group would count for more than a day after it is done",
        settleFor="24h1s",
    ),
)
REFUSALS = (
    *TOPICS,
    *NAMES,
    *NUMBERS,
    *TIMEOUTS,
    *CLIENTS,
    *UPGRADES,
    *CLAIMS,
    *TEMPLATES,
    *FIELDS,
    *CONNECTIONS,
    *SHARED,
    *FLEETS,
    *OF_CAMPAIGNS,
)

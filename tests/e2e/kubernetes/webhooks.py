"""A mutating webhook that this process serves for one namespace, with a certificate made on the spot."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandbox.layout import HOST
from tests.e2e.stage.cluster import Cluster, Json

Mutate = Callable[[Json], list[Json]]
"""What is to be admitted → a JSON patch of it."""
_AN_HOUR: Final = datetime.timedelta(hours=1)


@contextmanager
def mutating(cluster: Cluster, directory: Path, group: str, resource: str, mutate: Mutate) -> Iterator[None]:
    """Every object of that resource that is created or updated in the namespace is changed so."""
    authority = _make_certificate(directory)
    server = ThreadingHTTPServer((str(HOST), 0), _handler(mutate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "webhook.crt", directory / "webhook.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"https://{HOST}:{server.server_port}/"
    name = f"{cluster.namespace}-{resource}"
    try:
        cluster.apply(_configuration(cluster.namespace, name, url, authority, group, resource))
        yield
    finally:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", name)
        server.shutdown()
        thread.join()
        server.server_close()


def _configuration(namespace: str, name: str, url: str, authority: bytes, group: str, resource: str) -> Json:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource], "operations": ["CREATE", "UPDATE"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": "mutate.e2e.slackwater.dev",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "timeoutSeconds": 10,
                "rules": [rule],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "clientConfig": {"url": url, "caBundle": base64.b64encode(authority).decode()},
            }
        ],
    }


def _handler(mutate: Mutate) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = review["request"]
            answer: dict[str, Any] = {"uid": request["uid"], "allowed": True}
            if patch := mutate(request["object"]):
                answer |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
            body = json.dumps({**{name: review[name] for name in ("apiVersion", "kind")}, "response": answer}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: a test that fails shows what it needs."""

    return Handler


def _make_certificate(directory: Path) -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "webhook")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _AN_HOUR)
        .not_valid_after(now + 24 * _AN_HOUR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(str(HOST)))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (directory / "webhook.key").write_bytes(private)
    certificate = made.public_bytes(serialization.Encoding.PEM)
    (directory / "webhook.crt").write_bytes(certificate)
    return certificate

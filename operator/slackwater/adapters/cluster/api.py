"""A small client of the Kubernetes API over `kubernetes.aio`: plain JSON objects in and out, errors for people.

The generated client's models are left alone: they cost ten times the time of the JSON that they wrap, and drop fields
that a newer API server sends.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Self
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio import client, config

from slackwater.adapters.cluster.answers import LARGEST_OBJECT, LONGEST_LIST, READ_AT_ONCE, Answers, Reading
from slackwater.adapters.cluster.credentials import is_from_a_pod, kubeconfig_files
from slackwater.adapters.cluster.errors import (
    AnswerTooLarge,
    ClusterRefused,
    ClusterUnreachable,
    Conflict,
    KindMissing,
)
from slackwater.adapters.cluster.lists import LISTED_AT_ONCE, read_aside
from slackwater.adapters.cluster.outages import asked_to_wait_s, in_words
from slackwater.adapters.cluster.paths import APPLIED, EVENT, REVIEWS
from slackwater.adapters.cluster.proxies import proxy_for
from slackwater.adapters.cluster.refusals import refusal
from slackwater.api.annotations import FIELD_MANAGER
from slackwater.ports import Kind

Json = dict[str, Any]

TIMEOUT_S: Final = 15.0
MOST_EVENTS: Final = 20
"""Of one object with one reason. Whoever may write Events may write as many as he likes, of a megabyte each, and
Kubernetes itself sums up those that repeat."""
EVENTS_AT_ONCE: Final = 5
"""A page of the largest ones is in memory twice."""
DONE_OR_NEVER_S: Final = 60.0
"""After a write was given up: an API server works on a request for no longer than that (its `--request-timeout`)."""
APPLY: Final = "application/apply-patch+yaml"  # JSON is YAML
MERGE: Final = "application/merge-patch+json"

_SENT_ONCE: Final = ("PATCH", "POST")
"""Where no connection can be made, nothing was sent. A DELETE may have been: aiohttp sends it again when the first
connection ended."""

_VERSION: Final = Kind("", "Info", "version")
"""No resource: it stands outside of all API groups."""


class KubernetesApi:
    """One connection pool to one API server. `requests` counts what was sent, by verb and kind."""

    def __init__(self, api_client: Any) -> None:
        self._client = api_client
        self.requests: Counter[tuple[str, str]] = Counter()
        self.before_write: Callable[[], float] = lambda: TIMEOUT_S
        """Called right before each request that changes something: returns within how many seconds it has to be
        answered, and raises SlackwaterError where it must not go out."""
        self.kept: Callable[[Kind, Mapping[str, Any]], Mapping[str, Any]] = lambda _, obj: obj
        """What is kept of each object."""
        self._answers = Answers()
        self._unanswered: dict[object, float] = {}
        """Write → the monotonic time from when on it is done, or never will be."""

    def _kept(self, kind: Kind, item: Json) -> Mapping[str, Any]:
        return self.kept(kind, {"apiVersion": kind.api_version, "kind": kind.name, **item})

    def _cut(self, kind: Kind, found: Any) -> Any:
        """Of one object; a list's are cut one by one, and the answer to a deletion may be a Status."""
        is_one = isinstance(found, dict) and found.get("kind") == kind.name
        return self.kept(kind, found) if is_one else found

    @classmethod
    async def connect(cls, context: str | None = None) -> Self:
        """In a pod by its service account, elsewhere, or where one is named, by kubeconfig. Raises ClusterRefused when
        there is neither."""
        configuration = client.Configuration()
        try:
            if is_from_a_pod(context):
                config.load_incluster_config(client_configuration=configuration)
            else:
                await config.load_kube_config(kubeconfig_files(), context=context, client_configuration=configuration)
        except config.ConfigException as error:
            what = str(error).replace(". ", ", ").rstrip(".")
            raise ClusterRefused(
                f"no Kubernetes cluster is configured ({what}): set KUBECONFIG, or choose a context that exists"
            ) from error
        # Left to aiohttp, each request would look for proxies and read the user's netrc: a quarter of what it takes.
        configuration.client_session_kwargs = {"trust_env": False, "read_bufsize": READ_AT_ONCE}
        configuration.proxy = configuration.proxy or proxy_for(configuration.host)
        return cls(client.ApiClient(configuration))

    @property
    def unanswered_writes(self) -> int:
        """Under way, or given up a while ago at most: nobody knows whether they were done, or will be."""
        now = time.monotonic()
        self._unanswered = {write: until for write, until in self._unanswered.items() if now < until}
        return len(self._unanswered)

    async def close(self) -> None:
        await self._client.close()

    async def read(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """The object, or None when there is none."""
        return await self._send("GET", kind, kind.path(namespace, name), absent_is_none=True)

    async def list_all(
        self, kind: Kind, namespace: str | None, label_selector: str = ""
    ) -> tuple[tuple[Json, ...], int]:
        """The objects, and the resource version of the list: what is older and not in it is gone.

        Raises KindMissing where the cluster does not know the kind.
        """
        query = {"labelSelector": label_selector} if label_selector else {}
        items: list[Json] = []
        at_once = LISTED_AT_ONCE
        while True:
            query["limit"] = str(at_once)
            try:
                found = await self._send("GET", kind, kind.path(namespace), query, absent_is_none=True)
            except AnswerTooLarge:
                if at_once == 1:
                    raise
                at_once = max(1, at_once // 4)
                continue
            if found is None:
                raise KindMissing(f"the cluster knows no {kind.plural} of {kind.api_version}")
            items += found["items"]
            if not (further := found["metadata"].get("continue")):
                return tuple(items), int(found["metadata"]["resourceVersion"])
            query["continue"] = further

    async def events_of(self, namespace: str, uid: str, reason: str) -> tuple[Json, ...]:
        """Events with this reason about the object that has the uid, MOST_EVENTS at most."""
        query = {"fieldSelector": f"involvedObject.uid={uid},reason={reason}", "limit": str(EVENTS_AT_ONCE)}
        events: list[Json] = []
        while len(events) < MOST_EVENTS:
            found = await self._send("GET", EVENT, EVENT.path(namespace), query) or {}
            events += found.get("items") or ()
            if not (further := (found.get("metadata") or {}).get("continue")):
                break
            query["continue"] = further
        return tuple(events[:MOST_EVENTS])

    async def apply(self, manifest: Mapping[str, Any], resource_version: str = "", *, force: bool = True) -> Json:
        """Server-side apply, taking over fields that others hold; without `force`, Conflict when others hold any.

        With `resource_version`, Conflict when it is old.
        """
        kind, metadata = APPLIED[manifest["kind"]], dict(manifest["metadata"])
        if resource_version:
            metadata["resourceVersion"] = resource_version
        path = kind.path(metadata["namespace"], metadata["name"])
        query = {"fieldManager": FIELD_MANAGER, "force": str(force).lower()}
        return await self._send("PATCH", kind, path, query, {**manifest, "metadata": metadata}, APPLY) or {}

    async def apply_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        uid: str,
        status: Mapping[str, Any],
        resource_version: str = "",
    ) -> Json:
        """Write a whole status. An object of another uid under the same name is left alone: Conflict; so is one that
        has changed since, where `resource_version` is given."""
        metadata = {"name": name, "uid": uid} | ({"namespace": namespace} if namespace else {})
        if resource_version:
            metadata["resourceVersion"] = resource_version
        body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "status": status}
        query = {"fieldManager": FIELD_MANAGER, "force": "true"}
        path = kind.path(namespace, name, "status")
        written = await self._send("PATCH", kind, path, query, body, APPLY, absent_is_none=True)
        if written is None:
            raise Conflict(f"{kind.name} {name} is gone: its status cannot be written")
        return written

    async def set_finalizers(self, kind: Kind, obj: Mapping[str, Any], finalizers: list[str]) -> Json | None:
        """Replace the list on exactly this version of the object; None when it is gone."""
        metadata = obj["metadata"]
        body = {"metadata": {"resourceVersion": metadata["resourceVersion"], "finalizers": finalizers}}
        path = kind.path(metadata["namespace"], metadata["name"])
        return await self._send("PATCH", kind, path, {}, body, MERGE, absent_is_none=True)

    async def annotate(self, kind: Kind, obj: Mapping[str, Any], values: Mapping[str, str | None]) -> Json | None:
        """Set annotations, or remove those that are None; None when the object is gone, Conflict when another one has
        its name."""
        return await self.merge(kind, obj, {"metadata": {"annotations": dict(values)}})

    async def merge(
        self, kind: Kind, obj: Mapping[str, Any], change: Mapping[str, Any], *, exact: bool = False
    ) -> Json | None:
        """Change what `change` names, by JSON merge patch (RFC 7386); with `exact`, of exactly this version.

        None when the object is gone, Conflict when another one has its name, or it is another version.
        """
        metadata = obj["metadata"]
        known = {"uid": metadata["uid"]} | ({"resourceVersion": metadata["resourceVersion"]} if exact else {})
        body = {**change, "metadata": {**(change.get("metadata") or {}), **known}}
        path = kind.path(metadata["namespace"], metadata["name"])
        return await self._send("PATCH", kind, path, {}, body, MERGE, absent_is_none=True)

    async def delete(
        self, kind: Kind, namespace: str, name: str, uid: str, *, orphan: bool = False, resource_version: str = ""
    ) -> None:
        """Delete exactly this object; fine when it is gone already, Conflict when another one has its name, or when it
        has changed since that `resource_version`. `orphan`: what belongs to it stays, and belongs to nobody."""
        exactly = {"uid": uid} | ({"resourceVersion": resource_version} if resource_version else {})
        body: Json = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": exactly}
        if orphan:
            body["propagationPolicy"] = "Orphan"
        await self._send("DELETE", kind, kind.path(namespace, name), {}, body, absent_is_none=True)

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Json:
        return await self._send("POST", kind, kind.path(namespace), {}, body) or {}

    @property
    def host(self) -> str:
        return str(self._client.configuration.host)

    async def version(self) -> Json:
        """Of the API server itself; everybody who is let in may ask."""
        return await self._send("GET", _VERSION, "/version") or {}

    async def _send(  # noqa: PLR0913 - one request has these parts
        self,
        method: str,
        kind: Kind,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        *,
        absent_is_none: bool = False,
    ) -> Json | None:
        what = f"{method} {path}"
        url = f"{self._client.configuration.host}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "Content-Type": content_type, "User-Agent": "slackwater"}
        longest = LONGEST_LIST if "limit" in (query or {}) else LARGEST_OBJECT
        async with self._answers.reading(what, longest) as reading:
            try:
                await self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
                deadline = time.monotonic() + TIMEOUT_S
                answer, text = await self._ask(method, kind, url, headers, body, reading)
                while (wait_s := asked_to_wait_s(answer)) is not None and time.monotonic() + wait_s < deadline:
                    reading.end()
                    await asyncio.sleep(wait_s)
                    answer, text = await self._ask(method, kind, url, headers, body, reading)
            except (aiohttp.ClientError, TimeoutError, OSError, ssl.SSLError) as error:
                raise ClusterUnreachable(f"the Kubernetes API did not answer {what}: {in_words(error)}") from error
            if answer.status == 404 and absent_is_none:
                return None
            if answer.status >= 400:
                raise refusal(what, answer.status, text)
            return await self._read(what, kind, text)

    async def _read(self, what: str, kind: Kind, text: bytearray) -> Json | None:
        try:
            result: Json = await read_aside(text, partial(self._kept, kind), partial(self._cut, kind))
        except (ValueError, RecursionError) as error:  # a proxy's page, an answer cut short, or deeper than Python goes
            raise ClusterUnreachable(f"the Kubernetes API answered {what} with something that is not JSON") from error
        return result

    async def _ask(
        self,
        method: str,
        kind: Kind,
        url: str,
        headers: Mapping[str, str],
        body: Mapping[str, Any] | None,
        reading: Reading,
    ) -> tuple[Any, bytearray]:
        """Once; returns the answer, and what stands in it."""
        writes = method != "GET" and kind not in REVIEWS
        timeout_s = min(TIMEOUT_S, self.before_write()) if writes else TIMEOUT_S
        self.requests[method, kind.plural] += 1
        write = object()
        if writes:
            self._unanswered[write] = time.monotonic() + timeout_s + DONE_OR_NEVER_S
        try:
            answer = await self._client.call_api(method, url, headers, body, _request_timeout=timeout_s)
            text = await reading.text(answer)
        except aiohttp.ClientConnectorError:
            if method in _SENT_ONCE:
                self._unanswered.pop(write, None)
            raise
        self._unanswered.pop(write, None)
        return answer, text

"""The API server of the comparison, in a process of its own: what `cluster` has, over real sockets.

`python -m benchmarks.scale.served PORT`. Beside the Kubernetes API it has /bench, by which groups are made and changed
all at once, and what became of them is asked. It speaks JSON only, where a real one speaks Protobuf with Go.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from aiohttp import web

from benchmarks.scale.around import record
from benchmarks.scale.cluster import SERVED, Change, Cluster, Refused, is_selected
from slackwater.ports import Kind

Json = dict[str, Any]

_BY_PLURAL: Final = {(kind.api_version, kind.plural): kind for kind in SERVED}
_WITHOUT_NAMESPACE: Final = ("namespaces",)
_VERBS: Final = ["create", "delete", "get", "list", "patch", "update", "watch"]


class Served:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._watches: dict[Kind, set[asyncio.Queue[Change]]] = {kind: set() for kind in SERVED}
        cluster.listener = self._pass_on

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/bench/groups", self._make)
        app.router.add_post("/bench/rested", self._fill)
        app.router.add_post("/bench/change", self._change)
        app.router.add_get("/bench/seen", self._seen)
        app.router.add_get("/bench/objects", self._objects)
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    def _pass_on(self, change: Change) -> None:
        for queue in self._watches[change.kind]:
            queue.put_nowait(change)

    async def _make(self, request: web.Request) -> web.Response:
        self.cluster.make_groups(int(request.query["number"]), int(request.query["pods"]))
        return web.Response()

    async def _fill(self, request: web.Request) -> web.Response:
        self.cluster.fill(await record(int(request.query["pods"])), int(request.query["number"]))
        return web.Response()

    async def _change(self, request: web.Request) -> web.Response:
        self.cluster.change_groups(int(request.query["stable_for"]))
        return web.Response()

    async def _seen(self, request: web.Request) -> web.Response:
        cluster = self.cluster
        requests = {f"{verb} {kind}": count for (verb, kind), count in cluster.requests.items()}
        found = {
            "groups": {name: asdict(group) for name, group in cluster.groups.items()},
            "counts": cluster.counts(),
            "requests": requests,
            "quiet_seconds": cluster.now() - cluster.last_write_at,
        }
        return web.json_response(found)

    async def _objects(self, request: web.Request) -> web.Response:
        kind = next(kind for kind in SERVED if kind.plural == request.query["plural"])
        return web.json_response(self.cluster.select(kind))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        parts = [part for part in request.path.split("/") if part]
        try:
            if (found := discovered(parts)) is not None:
                return web.json_response(found)
            return await self._of_objects(request, *place_in(parts))
        except Refused as refused:
            body: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
            body |= {"message": str(refused), "reason": refused.reason, "code": refused.code}
            return web.json_response(body, status=refused.code)

    async def _of_objects(
        self, request: web.Request, kind: Kind, namespace: str, name: str, subresource: str
    ) -> web.StreamResponse:
        what = f"{kind.plural}/{subresource}" if subresource else kind.plural
        is_watch = request.query.get("watch") in ("1", "true")
        verb = "WATCH" if is_watch else "LIST" if request.method == "GET" and not name else request.method
        self.cluster.requests[verb, what] += 1
        if is_watch:
            return await self._watch(request, kind, namespace)
        if verb == "LIST":
            return web.json_response(self._list(kind, namespace, request.query))
        if verb == "GET":
            obj = self.cluster.get(kind, (namespace, name))
            if obj is None:
                raise Refused(404, "NotFound", f"there is no {kind.name} {name}")
            return web.json_response(obj)
        return web.json_response(await self._written(request, kind, (namespace, name), subresource))

    async def _written(self, request: web.Request, kind: Kind, place: tuple[str, str], subresource: str) -> Json:
        body = json.loads(await request.read() or b"{}")
        if request.method == "POST":
            return self.cluster.create(kind, place[0], body)
        if request.method == "DELETE":
            return self.cluster.delete(kind, place)
        if request.method != "PATCH":
            raise Refused(405, "MethodNotAllowed", f"{request.method} is not served")
        if request.content_type == "application/apply-patch+yaml":
            return self.cluster.apply(kind, place, body, request.query["fieldManager"], subresource)
        if request.content_type == "application/merge-patch+json":
            agent = request.headers.get("User-Agent", "somebody").partition("/")[0]
            return self.cluster.merge(kind, place, body, agent)
        raise Refused(415, "UnsupportedMediaType", f"{request.content_type} is not served")

    def _list(self, kind: Kind, namespace: str, query: Mapping[str, str]) -> Json:
        """In pages; a token is where the next one begins."""
        found = self.cluster.select(kind, namespace, query.get("labelSelector", ""))
        first, limit = int(query.get("continue") or 0), int(query.get("limit") or 0)
        page = found[first : first + limit] if limit else found[first:]
        metadata = {"resourceVersion": str(self.cluster.version)}
        if first + len(page) < len(found):
            metadata["continue"] = str(first + len(page))
        return {"apiVersion": kind.api_version, "kind": f"{kind.name}List", "metadata": metadata, "items": page}

    async def _watch(self, request: web.Request, kind: Kind, namespace: str) -> web.StreamResponse:
        query, queue = request.query, asyncio.Queue[Change]()
        selector, version = query.get("labelSelector", ""), int(query.get("resourceVersion") or 0)
        for change in self.cluster.since(kind, version):
            queue.put_nowait(change)
        self._watches[kind].add(queue)
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        try:
            await answer.prepare(request)
            async with asyncio.timeout(float(query.get("timeoutSeconds") or 300)):
                while True:
                    change = await queue.get()
                    metadata = change.obj["metadata"]
                    if namespace in ("", metadata.get("namespace", "")) and is_selected(change.obj, selector):
                        await answer.write(change.line())
        except (TimeoutError, ConnectionError):
            pass
        finally:
            self._watches[kind].discard(queue)
        return answer


def place_in(parts: list[str]) -> tuple[Kind, str, str, str]:
    """Kind, namespace, name and subresource; the latter three may be empty. Raises Refused."""
    version, rest = ("v1", parts[2:]) if parts[:1] == ["api"] else ("/".join(parts[1:3]), parts[3:])
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    kind = _BY_PLURAL.get((version, rest[0])) if rest else None
    if kind is None:
        raise Refused(404, "NotFound", f"/{'/'.join(parts)} is not served")
    name, subresource = [*rest[1:], "", ""][:2]
    return kind, namespace, name, subresource


def discovered(parts: list[str]) -> Json | None:
    """Which groups, versions and kinds there are; None where something else is asked for."""
    groups = sorted({kind.api_version for kind in SERVED} - {"v1"})
    if parts == ["version"]:
        return {"major": "1", "minor": "36", "gitVersion": "v1.36.3"}
    if parts == ["api"]:
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    if parts == ["apis"]:
        versions = [{"groupVersion": each, "version": each.partition("/")[2]} for each in groups]
        found = [
            {"name": each["groupVersion"].partition("/")[0], "versions": [each], "preferredVersion": each}
            for each in versions
        ]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}
    version = "v1" if parts == ["api", "v1"] else "/".join(parts[1:]) if parts[:1] == ["apis"] else ""
    kinds = [kind for kind in SERVED if kind.api_version == version]
    if not kinds:
        return None
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": _resources(kinds)}


def _resources(kinds: list[Kind]) -> list[Json]:
    found = []
    for kind in kinds:
        named = {"kind": kind.name, "namespaced": kind.plural not in _WITHOUT_NAMESPACE, "verbs": _VERBS}
        found += [{"name": kind.plural, "singularName": kind.name.lower(), **named}]
        found += [{"name": f"{kind.plural}/status", "singularName": "", **named}]
    return found


def main(arguments: list[str]) -> int:
    web.run_app(Served(Cluster()).app(), host="127.0.0.1", port=int(arguments[0]), print=None, access_log=None)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

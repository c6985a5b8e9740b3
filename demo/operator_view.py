"""What `slackwater status NAME --watch` shows, followed in a thread, to stand in the demo's own picture."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from pathlib import Path
from types import TracebackType

from kubernetes.aio import client, config
from rich.console import RenderableType

from slackwater.adapters.cluster.api import KubernetesApi
from slackwater.api.errors import SlackwaterError
from slackwater.cli.looking.looks import live_looks
from slackwater.cli.pictures.view import render_view


class OperatorView:
    """Follows one ConsumerGroup; a context manager. `latest` is None while, or where, there is nothing to be seen."""

    def __init__(self, kubeconfig: Path, namespace: str, name: str) -> None:
        self.latest: RenderableType | None = None
        self._kubeconfig, self._namespace, self._name = kubeconfig, namespace, name
        self._end = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._follow()), name="operator's view", daemon=True)

    def __enter__(self) -> OperatorView:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()

    async def _follow(self) -> None:
        configuration = client.Configuration()
        await config.load_kube_config(str(self._kubeconfig), client_configuration=configuration)
        api = KubernetesApi(client.ApiClient(configuration))
        try:
            await self._look(api)
        except SlackwaterError:
            self.latest = None  # the demo looks by itself, too, and says what is wrong
        finally:
            await api.close()

    async def _look(self, api: KubernetesApi) -> None:
        async with aclosing(live_looks(api, self._namespace, self._name)) as looks:
            async for look in looks:
                self.latest = render_view(look.world, look.plan, trouble=look.trouble)
                if self._end.is_set():
                    return

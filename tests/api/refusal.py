"""One entry of the tables of what is refused."""

from __future__ import annotations

from dataclasses import dataclass

from tests.api.manifests import Manifest

DURATION = "write a duration in whole h, m, s and ms, such as 45s, 5m, 1h30m or 500ms"
POSITIVE = "write a duration longer than 0, such as 45s, 5m, 1h30m or 500ms"


@dataclass(frozen=True, slots=True)
class Refusal:
    name: str
    manifest: Manifest
    path: str
    sentence: str
    server: str = ""

    @property
    def server_sentence(self) -> str:
        return self.server or self.sentence

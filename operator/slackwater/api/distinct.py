"""Lists in which nothing stands twice. Server-side apply merges them item by item, so several tools can share one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True, slots=True)
class Distinct:
    """Annotation of a list: no two items are equal or, with `key`, no two have the same value of that field."""

    key: str = ""

    def check(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [getattr(item, self.key) if self.key else item for item in items]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"keep each only once, not so {', '.join(twice)}")
        return items

    def __get_pydantic_core_schema__(self, source: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if not self.key:
            return handler(schema) | {"x-kubernetes-list-type": "set"}
        return handler(schema) | {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [self.key]}

"""From pydantic's JSON schema to the structural OpenAPI schema that a CustomResourceDefinition takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from slackwater.api.durations import format_duration
from slackwater.api.model import WITHOUT_DEFAULT

Schema = dict[str, Any]

_KEPT: Final = (
    "description",
    "type",
    "format",
    "enum",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
    "maxProperties",
    "default",
    "required",
    "properties",
    "items",
    "additionalProperties",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
    "x-kubernetes-validations",
)
"""What a structural schema may say, in the order in which a reader wants it."""


def structural_schema(model: type[BaseModel], *, reported: bool = False) -> Schema:
    """The schema of `model` with references resolved, nulls gone (absent says it) and docstrings on one line.

    Defaults and rules are for what people write. What the operator reports (`reported`) stays as it was reported: a
    rule of a spec may read a field that a default fills in there, and that a report leaves out.
    """
    schema = model.model_json_schema(by_alias=True, mode="validation")
    return _Translation(schema.get("$defs", {}), with_defaults=not reported, with_rules=not reported).node(schema)


@dataclass(frozen=True, slots=True)
class _Translation:
    definitions: dict[str, Schema]
    with_defaults: bool
    with_rules: bool

    def node(self, source: Schema) -> Schema:
        source = self._resolved(source)
        if self.with_defaults and WITHOUT_DEFAULT.items() <= source.items():
            return replace(self, with_defaults=False).node(source)
        result = dict(source)
        result["default"] = self._default(source)
        result["description"] = " ".join(source.get("description", "").split())
        required = source.get("required", ())
        result["properties"] = {
            name: self.node(field) if name in required else self._property(field)
            for name, field in source.get("properties", {}).items()
        }
        result["items"] = self.node(source["items"]) if "items" in source else None
        result["additionalProperties"], result["x-kubernetes-preserve-unknown-fields"] = self._open_fields(source)
        if not self.with_rules:
            result.pop("x-kubernetes-validations", None)
        return {key: result[key] for key in _KEPT if result.get(key) not in (None, "", [], {})}

    def _property(self, source: Schema) -> Schema:
        """A property that may be left out; an object defaults to the defaults of its own fields.

        `{}` would do, since defaults fill themselves in, but the API server holds it against the rules before it does.
        """
        result = self.node(source)
        fields = result.get("properties", {}).items()
        defaults = {name: field["default"] for name, field in fields if "default" in field}
        nullable = "anyOf" in source
        if defaults and not nullable and not result.get("required"):
            result["default"] = defaults
        return {key: result[key] for key in _KEPT if key in result}

    def _default(self, source: Schema) -> Any:
        default = source.get("default")
        if not self.with_defaults:
            return None
        if source.get("type") == "string" and isinstance(default, int):
            return format_duration(default)  # durations are milliseconds in Python only
        return default

    def _open_fields(self, source: Schema) -> tuple[Schema | None, bool | None]:
        """The type of further fields, and whether any are kept: a structural schema says one or neither."""
        extra = source.get("additionalProperties", False)
        if isinstance(extra, dict) and self._resolved(extra).get("type"):
            return self.node(extra), None
        return None, True if isinstance(extra, dict) or extra else None

    def _resolved(self, source: Schema) -> Schema:
        """Follow references and drop the null branch of `X | None`; what stands beside them wins."""
        choices = [choice for choice in source.get("anyOf", ()) if choice.get("type") != "null"]
        target = choices[0] if choices else {}
        if "$ref" in source:
            target = self.definitions[source["$ref"].rpartition("/")[2]]
        if not target:
            return source
        beside = {key: value for key, value in source.items() if key not in ("anyOf", "$ref")}
        return self._resolved(target) | beside

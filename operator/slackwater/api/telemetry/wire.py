"""What all telemetry models share: frozen, snake_case, strict about types, open to fields of later versions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from slackwater.api.timestamps import strict_moment, timestamp


class WireModel(BaseModel):
    """A part of an event. Nulls are written out, so that every line of a type has the same fields."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", use_attribute_docstrings=True)


def _written(seconds: float) -> str:
    return timestamp(seconds, "milliseconds")


class _AsRfc3339:
    """RFC 3339 in UTC with milliseconds outside; seconds since the epoch, rounded to those, inside."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        number = core_schema.float_schema(allow_inf_nan=False)
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(strict_moment, core_schema.str_schema()),
            python_schema=core_schema.no_info_after_validator_function(lambda seconds: round(seconds, 3), number),
            serialization=core_schema.plain_serializer_function_ser_schema(_written, when_used="json"),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "format": "date-time"}


Moment = Annotated[float, _AsRfc3339]
Count = Annotated[int, Field(ge=0)]
Milliseconds = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

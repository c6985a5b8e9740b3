"""What all resource models share: frozen, closed, camelCase in YAML, and rules that are said once.

A `Rule` is one constraint in two languages: CEL, which the API server runs when somebody applies an object, and
Python, which runs where no API server has seen it (`slackwater plan -f`, tests). Both give the same sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    Strict,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

BROKEN_RULES = "broken_rules"
"""Type of the pydantic error that carries broken rules, as ctx["broken"]: ((field path, sentence), …)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One constraint of a model.

    `holds` is None for transition rules (`oldSelf` in CEL), which only the API server can judge. `explain` and
    `message_expression` replace `message` where the sentence depends on the object.
    """

    cel: str
    message: str
    holds: Callable[[Any], bool] | None
    field_path: str = ""
    message_expression: str = ""
    explain: Callable[[Any], str] | None = None

    def sentence(self, model: BaseModel) -> str:
        return self.explain(model) if self.explain else self.message

    def as_schema(self) -> dict[str, str]:
        """The rule as an entry of x-kubernetes-validations."""
        entry = {"rule": self.cel, "message": self.message}
        if self.message_expression:
            entry["messageExpression"] = self.message_expression
        if self.field_path:
            entry["fieldPath"] = f".{self.field_path}"
        return entry


class ApiModel(BaseModel):
    """A part of a resource: immutable, and closed to fields that nobody reads."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
    )

    RULES: ClassVar[tuple[Rule, ...]] = ()

    @model_validator(mode="after")
    def _keep_rules(self) -> Self:
        broken = tuple(
            (rule.field_path, rule.sentence(self)) for rule in self.RULES if rule.holds and not rule.holds(self)
        )
        if broken:
            raise PydanticCustomError(BROKEN_RULES, "{sentences}", {"broken": broken, "sentences": _joined(broken)})
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        schema = handler.resolve_ref_schema(handler(core_schema))
        if cls.RULES:
            schema["x-kubernetes-validations"] = [rule.as_schema() for rule in cls.RULES]
        return handler(core_schema)


def _joined(broken: tuple[tuple[str, str], ...]) -> str:
    return "; ".join(sentence for _, sentence in broken)


def text_matching(pattern: str, sentence: str, *, max_length: int) -> tuple[AfterValidator, WithJsonSchema]:
    """Constrain a string to `pattern` (syntax common to Python and RE2), refused with `sentence`."""
    import re

    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if len(text) > max_length or not compiled.search(text):
            raise ValueError(sentence)
        return text

    rule = {"rule": f"self.matches(r'{pattern}')", "message": sentence}
    return AfterValidator(check), WithJsonSchema(
        {"type": "string", "maxLength": max_length, "x-kubernetes-validations": [rule]}
    )


Flag = Annotated[bool, Strict()]
Int32 = Annotated[int, Strict(), Field(json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Strict(), Field(json_schema_extra={"format": "int64"})]

"""What all resource models share: frozen, closed, camelCase in YAML, and rules that are said once.

A rule is one constraint in two languages: CEL, which the API server runs when somebody applies an object, and a Python
method, which runs where no API server has seen it (`slackwater plan -f`, tests). Both refuse with the same sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

M = TypeVar("M", bound="ApiModel")

BROKEN_RULES: Final = "broken_rules"
"""Type of the pydantic error whose ctx["broken"] lists ((field path, sentence), …)."""
_MARK: Final = "__slackwater_rule__"


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of x-kubernetes-validations.

    `message_expression` is CEL for a sentence that depends on the object; `message` stands in where it fails.
    """

    cel: str
    message: str
    field_path: str = ""
    message_expression: str = ""

    def as_schema(self) -> dict[str, str]:
        entry = {"rule": self.cel, "message": self.message}
        if self.message_expression:
            entry["messageExpression"] = self.message_expression
        if self.field_path:
            entry["fieldPath"] = f".{self.field_path}"
        return entry


def rule(
    cel: str, message: str, *, field_path: str = "", message_expression: str = ""
) -> Callable[[Callable[[M], bool | str]], Callable[[M], bool | str]]:
    """Make a method the Python side of a rule: it returns whether the rule holds, or the sentence to refuse with."""

    def mark(check: Callable[[M], bool | str]) -> Callable[[M], bool | str]:
        setattr(check, _MARK, Rule(cel, message, field_path, message_expression))
        return check

    return mark


def _checks(model: type[BaseModel]) -> list[tuple[Rule, Callable[[Any], bool | str]]]:
    return [(getattr(check, _MARK), check) for check in vars(model).values() if hasattr(check, _MARK)]


def _publish_rules(schema: dict[str, Any], model: type[BaseModel]) -> None:
    rules = [rule for rule, _ in _checks(model)]
    rules += getattr(model, "RULES_ON_UPDATE", ())
    if rules:
        schema["x-kubernetes-validations"] = [rule.as_schema() for rule in rules]


class ApiModel(BaseModel):
    """A part of a resource: immutable, and closed to fields that nobody reads."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
        json_schema_extra=_publish_rules,
    )

    RULES_ON_UPDATE: ClassVar[tuple[Rule, ...]] = ()
    """Rules between the old and the new object, which only the API server can judge."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:
        """`replicas:` with nothing after it means absent, as it does to the API server."""
        if not isinstance(value, Mapping):
            return value
        modelled = {name for field, info in cls.model_fields.items() for name in (field, info.alias)}
        return {key: field for key, field in value.items() if field is not None or key not in modelled}

    @model_validator(mode="after")
    def _keep_rules(self) -> Self:
        broken = []
        for rule, check in _checks(type(self)):
            verdict = check(self)
            if verdict is not True:
                broken.append((rule.field_path, verdict or rule.message))
        if broken:
            sentences = "; ".join(sentence for _, sentence in broken)
            raise PydanticCustomError(BROKEN_RULES, "{sentences}", {"broken": tuple(broken), "sentences": sentences})
        return self


Flag = Annotated[bool, Strict()]
Int32 = Annotated[int, Strict(), Field(json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Strict(), Field(json_schema_extra={"format": "int64"})]

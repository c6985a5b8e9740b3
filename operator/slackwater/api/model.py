"""What all resource models share: frozen, closed, camelCase in YAML, and rules that are said once.

A rule is one constraint in two languages: CEL, which the API server runs when somebody applies an object, and a Python
method, which runs where no API server has seen it (`slackwater plan -f`, tests). Both refuse with the same sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

M = TypeVar("M", bound="ApiModel")

MOST_PODS: Final = 10_000
"""Of one group. What is done for each of them takes microseconds, in a process that serves all groups."""
BROKEN_RULES: Final = "broken_rules"
"""Type of the pydantic error whose ctx["broken"] lists ((field path, sentence), …)."""
WITHOUT_DEFAULT: Final[dict[str, JsonValue]] = {"x-slackwater-without-default": True}
"""json_schema_extra of a field whose default, and those within it, are not written into objects: a person who says the
same must be told from one who says nothing."""
_MARK: Final = "__slackwater_rule__"


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of x-kubernetes-validations, and its judgement in Python.

    `message_expression` is CEL for a sentence that depends on the object; `message` stands in where it fails. `check`
    returns whether the rule holds, or the sentence to refuse with; it is None for rules between the old and the new
    object (`oldSelf`), which only the API server can judge.
    """

    cel: str
    message: str
    field_path: str = ""
    message_expression: str = ""
    check: Callable[[Any], bool | str] | None = None

    def as_schema(self) -> dict[str, str]:
        entry = {"rule": self.cel, "message": self.message}
        if self.message_expression:
            entry["messageExpression"] = self.message_expression
        if self.field_path:
            entry["fieldPath"] = f".{self.field_path}"
        return entry

    def refusal(self, model: BaseModel) -> str:
        """The sentence to refuse `model` with, "" when the rule holds."""
        verdict = self.check is None or self.check(model)
        return verdict if isinstance(verdict, str) else "" if verdict else self.message


def rule(cel: str, message: str, *, field_path: str = "") -> Callable[[Callable[[M], bool]], Callable[[M], bool]]:
    """Make a method, which says whether a rule holds, the Python side of that rule."""

    def mark(check: Callable[[M], bool]) -> Callable[[M], bool]:
        setattr(check, _MARK, Rule(cel, message, field_path, check=check))
        return check

    return mark


@cache
def _rules(model: type[BaseModel]) -> tuple[Rule, ...]:
    methods = {name: check for each in reversed(model.__mro__) for name, check in vars(each).items()}
    marked = tuple(getattr(check, _MARK) for check in methods.values() if hasattr(check, _MARK))
    return marked + getattr(model, "RULES", ())


def cel_given(path: str) -> str:
    """CEL for whether something below `self` was said: `has` fails where what it would stand in was not."""
    parts = path.split(".")
    return " && ".join(f"has(self.{'.'.join(parts[: number + 1])})" for number in range(len(parts)))


def refusals(model: BaseModel) -> tuple[tuple[str, str], ...]:
    """(Field path, sentence) of each rule of `model` itself that does not hold."""
    found = ((rule.field_path, rule.refusal(model)) for rule in _rules(type(model)))
    return tuple((field_path, sentence) for field_path, sentence in found if sentence)


def _publish_rules(schema: dict[str, Any], model: type[BaseModel]) -> None:
    if rules := _rules(model):
        schema["x-kubernetes-validations"] = [rule.as_schema() for rule in rules]


@cache
def _names_of(model: type[BaseModel]) -> frozenset[str | None]:
    """Its fields, by both of their names."""
    return frozenset(name for field, info in model.model_fields.items() for name in (field, info.alias))


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

    RULES: ClassVar[tuple[Rule, ...]] = ()
    """Rules besides those that `@rule` makes of methods."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:
        """`replicas:` with nothing after it means absent, as it does to the API server."""
        if not isinstance(value, Mapping):
            return value
        modelled = _names_of(cls)
        return {key: field for key, field in value.items() if field is not None or key not in modelled}

    @model_validator(mode="after")
    def _keep_rules(self) -> Self:
        if broken := refusals(self):
            sentences = "; ".join(sentence for _, sentence in broken)
            raise PydanticCustomError(BROKEN_RULES, "{sentences}", {"broken": broken, "sentences": sentences})
        return self


Flag = Annotated[bool, Strict()]
Int32 = Annotated[int, Strict(), Field(json_schema_extra={"format": "int32"})]
Int64 = Annotated[int, Strict(), Field(json_schema_extra={"format": "int64"})]

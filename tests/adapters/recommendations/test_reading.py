"""What a message may say: whoever may write the topic writes into every operator's memory, metrics and statuses."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import pytest
from pydantic import ValidationError

from slackwater.adapters.recommendations.reading import Reader
from slackwater.api.recommendation import (
    LONGEST_MESSAGE,
    MOST_CURVE_POINTS,
    MOST_VALUES,
    CostPoint,
    Curves,
    Recommendation,
    SurvivalPoint,
)
from tests.adapters.recommendations.messages import recommendation


def setting(**changes: Any) -> dict[str, Any]:
    return {"current": 45_000, "lower": 18_000, "target": 20_000, "upper": 22_000, "why": "w"} | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"as_of": "9999-12-31T23:59:59-23:59"},
        {"as_of": "0001-01-01T00:00:00+23:59"},
        {"session_timeout_ms": setting(target=10**400, upper=10**400)},
        {"session_timeout_ms": setting(upper=2**31)},
        {"session_timeout_ms": setting(lower=-1)},
        {"max_poll_records": setting(current=2**31)},
        {"restarts": 10**4_000},
        {"spec_generation": 10**30},
        {"why": "y" * 1_025},
        {"binding": "y" * 1_025},
        {"session_timeout_ms": setting(why="z" * 1_025)},
        {"name": "n" * 1_025},
    ],
    ids=lambda changes: f"{next(iter(changes))}: {json.dumps(next(iter(changes.values())))[:30]}",
)
def test_what_no_client_and_no_calendar_takes_is_left_out(changes: Any) -> None:
    reader = Reader()
    good = recommendation("payments").message()
    assert reader.read(json.dumps(json.loads(good) | changes), "topic-0 at offset 7") is None
    assert reader.unreadable == 1
    assert reader.read(good, "topic-0 at offset 8") is not None


def test_a_message_has_a_length() -> None:
    reader = Reader()
    good = recommendation("payments").message()
    assert reader.read(good + " " * (LONGEST_MESSAGE - len(good)), "here") is not None
    assert reader.read(good + " " * LONGEST_MESSAGE, "here") is None
    assert reader.unreadable == 1


def test_the_largest_that_a_client_takes_is_taken() -> None:
    changes = {"session_timeout_ms": setting(upper=2**31 - 1), "as_of": "2199-12-31T23:59:59Z"}
    good = json.loads(recommendation("payments").message())
    assert Reader().read(json.dumps(good | changes), "here") is not None


def test_one_with_all_its_curves_is_read() -> None:
    survival = [SurvivalPoint(silence_s=1.5, survival=0.5, lower=0.25, upper=0.75)] * MOST_CURVE_POINTS
    cost = [CostPoint(session_timeout_ms=45_000, cost=1.5, today=True, recommended=True)] * MOST_CURVE_POINTS
    whole = recommendation("payments", why="a, b, " * 100, curves=Curves(survival=tuple(survival), cost=tuple(cost)))
    text = whole.model_dump_json()
    assert Reader().read(text, "here") is not None
    assert Reader().read(text.encode(), "here") is not None


@pytest.mark.parametrize("value", ["{}", "[]", "0", '{"a":0}'])
@pytest.mark.parametrize("encoded", [True, False])
def test_many_values_are_not_even_parsed(value: str, encoded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of 64 KiB took a fifth of a second."""

    def parsed(*_: Any) -> NoReturn:
        raise AssertionError("parsed")

    monkeypatch.setattr(Recommendation, "model_validate_json", parsed)
    text = f'{{"x":[{",".join([value] * MOST_VALUES)}]}}'
    assert len(text) <= LONGEST_MESSAGE
    reader = Reader()
    assert reader.read(text.encode() if encoded else text, "here") is None
    assert reader.unreadable == 1


def test_of_what_is_wrong_with_a_curve_the_first_is_enough() -> None:
    with pytest.raises(ValidationError) as error:
        Curves.model_validate({"survival": [0] * 100, "cost": [{}] * 100})
    assert {each["loc"][:2] for each in error.value.errors()} == {("survival", 0), ("cost", 0)}

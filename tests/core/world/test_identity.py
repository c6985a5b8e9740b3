"""Instance ids, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slackwater.core.world.identity import by_ordinal, instance_id, ordinal_of

NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,12}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("instance_id", "ordinal"),
    [
        ("payments-0", 0),
        ("payments-10", 10),
        ("payments-3-7", 3),
        ("payments-3-thread-1", None),
        ("payments-alt-0", None),
        ("payments-", None),
        ("payments-x", None),
        ("payments-03", None),
        ("payments--1", None),
        ("payments-²", None),
        ("payments-٣", None),
        ("payments-2147483647", 2147483647),
        ("payments-3-0", 3),
        ("payments-3-10", 3),
        ("payments-3-٣", None),
        ("payments-3-007", None),
        ("payments-3-", None),
        (f"payments-{'9' * 11}", None),
        (f"payments-3-{'9' * 11}", None),
        pytest.param(f"payments-{'9' * 5000}", None, id="more digits than int() takes"),
        ("refunds-1", None),
        ("payments", None),
        (None, None),
    ],
)
def test_the_ordinal_in_an_id(instance_id: str | None, ordinal: int | None) -> None:
    assert ordinal_of(instance_id, "payments") == ordinal


@pytest.mark.parametrize(
    ("ordinal", "thread", "expected"),
    [(0, None, "payments-0"), (10, 0, "payments-10-0"), ("$(ORDINAL)", None, "payments-$(ORDINAL)")],
)
def test_the_id_of_an_ordinal(ordinal: int | str, thread: int | None, expected: str) -> None:
    assert instance_id("payments", ordinal, thread) == expected


@given(NAMES, st.integers(0, 9999), st.none() | st.integers(0, 99))
def test_what_is_given_is_read_again(name: str, ordinal: int, thread: int | None) -> None:
    assert ordinal_of(instance_id(name, ordinal, thread), name) == ordinal


def test_what_is_known_by_id_is_found_by_ordinal() -> None:
    known = {"payments-1-0": "a", "payments-1-1": "b", "payments-10": "c", "refunds-1": "d"}
    found = by_ordinal(known, lambda key: ordinal_of(key, "payments"))
    assert found == {1: {"payments-1-0": "a", "payments-1-1": "b"}, 10: {"payments-10": "c"}}

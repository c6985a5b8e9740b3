"""When a certificate is told to end: by what is left of its life."""

from __future__ import annotations

import pytest

from slackwater.api.conditions import ConditionStatus
from slackwater.core.decision.reasons import Reason
from slackwater.core.status.certificates import Validity, verdict
from tests.core.factories import NOW

DAY_S = 86_400.0


def valid(lasts_days: float, left_days: float, where: str = "tls.crt of Secret shown") -> Validity:
    ends_at = NOW + left_days * DAY_S
    return Validity(where, ends_at - lasts_days * DAY_S, ends_at)


TABLE = [
    ("a year, and a month is left", valid(365, 30), True),
    ("a year, and two weeks are left", valid(365, 14), False),
    ("three months, and two weeks and a day are left", valid(90, 15), True),
    ("a month, and a week is left", valid(30, 7), True),
    ("a month, and less than a fifth of it", valid(30, 5.9), False),
    ("a day, and six hours are left", valid(1, 0.25), True),
    ("a day, and four hours are left", valid(1, 0.17), False),
    ("it has ended", valid(365, -1), False),
    ("it ends before it begins", valid(-1, 10), True),
]


@pytest.mark.parametrize(("validity", "good"), [pytest.param(v, g, id=name) for name, v, g in TABLE])
def test_when_it_is_told(validity: Validity, good: bool) -> None:
    said = verdict([validity], NOW)
    assert said is not None
    assert (said.status is ConditionStatus.TRUE, said.reason is Reason.CERTIFICATES_VALID) == (good, good)


def test_each_that_ends_is_named_with_its_day() -> None:
    said = verdict([valid(365, 90), valid(365, 1, "ca.crt of Secret ca"), valid(365, -1)], NOW)
    assert said is not None
    assert said.message == (
        "ca.crt of Secret ca is valid until 1970-01-13T13:46:40Z; tls.crt of Secret shown is not valid since"
        " 1970-01-11T13:46:40Z: renew it and put it into the Secret"
    )


def test_of_those_that_are_good_the_first_to_end_is_named() -> None:
    said = verdict([valid(365, 90, "a"), valid(365, 60, "b")], NOW)
    assert said is not None
    assert said.message.startswith("the first to end is b, at 1970-")


def test_without_a_certificate_nothing_is_said() -> None:
    assert verdict([], NOW) is None

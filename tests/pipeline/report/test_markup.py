"""Data cannot become markup."""

from __future__ import annotations

import pytest

from slackwater.pipeline.report.markup import Markup, join, tag, text


def test_content_is_escaped() -> None:
    assert tag("p", "<b> & \"quoted\" 'so'") == "<p>&lt;b&gt; &amp; &quot;quoted&quot; &#x27;so&#x27;</p>"


def test_attributes_are_escaped() -> None:
    assert tag("a", href='"><script>') == '<a href="&quot;&gt;&lt;script&gt;"></a>'


def test_markup_among_children_stays_markup() -> None:
    assert tag("p", tag("b", "1 < 2"), " & ", None) == "<p><b>1 &lt; 2</b> &amp; </p>"


def test_joining_escapes_what_is_text() -> None:
    assert join(Markup("<i></i>"), "<i>") == "<i></i>&lt;i&gt;"


def test_attributes_that_are_not_there_are_left_out() -> None:
    assert tag("td", data_v=None, hidden=False, class_="n") == '<td class="n"></td>'


def test_an_attribute_without_a_value() -> None:
    assert tag("div", hidden=True) == "<div hidden></div>"


def test_elements_without_content_are_not_closed() -> None:
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\ud800"])
def test_what_no_document_may_hold_is_replaced(character: str) -> None:
    assert text(f"a{character}b") == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize(
    ("value", "shown"), [(0.1 + 0.2, "0.3"), (45_000, "45000"), (1e15, "1e+15"), (0.000012345, "1.2345e-05")]
)
def test_numbers_in_attributes_are_whole(value: float, shown: str) -> None:
    assert tag("td", data_v=value) == f'<td data-v="{shown}"></td>'

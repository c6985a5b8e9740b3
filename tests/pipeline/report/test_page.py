"""The page as a document: whole, harmless, and closed to the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from slackwater.api.recommendation import RecommendationStatus
from slackwater.pipeline.report.markup import VOID
from slackwater.pipeline.report.model import Fleet, Standing
from slackwater.pipeline.report.overview import COLUMNS, overview
from slackwater.pipeline.report.page import page, policy
from slackwater.pipeline.report.section import section
from slackwater.pipeline.report.standings import WORDINGS
from tests.pipeline.report import samples


class Outline(HTMLParser):
    """Tags in order, their attributes, and whether each one that was opened was closed."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


@pytest.fixture(scope="module")
def outline() -> Outline:
    return Outline(page(samples.fleet()))


def test_every_element_is_closed(outline: Outline) -> None:
    assert outline.open == []


def test_names_from_data_are_harmless(outline: Outline) -> None:
    assert outline.tags.count("script") == 1
    assert "img" not in outline.tags
    assert not [name for _, name, _ in outline.attributes if name.startswith("on")]


def test_nothing_is_fetched_and_nothing_is_styled_in_place(outline: Outline) -> None:
    assert not {"src", "srcset", "style", "action", "data"} & {name for _, name, _ in outline.attributes}
    assert all(link.startswith("#") for link in outline.all("href"))
    assert not {"link", "img", "iframe", "object", "form", "base"} & set(outline.tags)


def test_links_and_labels_lead_somewhere(outline: Outline) -> None:
    ids = outline.all("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in outline.all("href")} <= set(ids)
    assert set(outline.all("data-behind")) <= set(ids)


def test_the_policy_allows_what_is_inside_and_nothing_else() -> None:
    allowed = policy("a {}", "b()")
    assert allowed.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in allowed
    assert policy("a {}", "b()") != policy("a {}", "c()")


def test_style_and_script_name_no_address() -> None:
    whole = page(samples.fleet())
    for element in ("style", "script"):
        content = re.search(rf"<{element}>(.*?)</{element}>", whole, re.DOTALL)
        assert content
        assert not re.search(r"https?:|//[a-z]|url\(|@import|fetch\(|XMLHttp|innerHTML|eval\(", content[1])


def test_the_page_is_the_same_each_time() -> None:
    assert page(samples.fleet()) == page(samples.fleet())


def test_an_empty_fleet_says_so() -> None:
    whole = page(Fleet(None, notes=("There are no recommendations yet.",)))
    assert "The lake holds no group yet." in whole
    assert "Nothing was recorded yet" in whole
    assert "There are no recommendations yet." in whole
    assert "<table" not in whole


def test_every_standing_has_words_of_its_own() -> None:
    assert {str(status) for status in RecommendationStatus} < {str(standing) for standing in Standing}
    assert set(WORDINGS) == set(Standing)
    assert len({(wording.glyph, wording.words) for wording in WORDINGS.values()}) == len(Standing)


def test_the_table_marks_each_group_as_it_stands() -> None:
    drawn = overview(samples.fleet())
    for standing in Standing:
        assert f'class="badge {standing.lower()}"' in drawn


def test_only_a_change_claims_to_save() -> None:
    body = overview(samples.fleet()).partition("<tbody")[2]
    rows = re.findall(r"<tr .*?</tr>", body)
    saving = [column.name for column in COLUMNS].index("saving")
    cells = [re.findall(r"<t[hd][^>]*>", row)[saving] for row in rows]
    assert ["data-v" in cell for cell in cells] == [True] * 3 + [False] * 6


def test_groups_without_charts_have_no_link() -> None:
    drawn = overview(samples.fleet())
    assert "<bdi>shop/newcomer</bdi></a>" not in drawn
    assert "<bdi>shop/payments</bdi></a>" in drawn


def test_a_page_that_lists_a_part_says_so() -> None:
    whole = samples.fleet()
    assert "5 more are not listed" in overview(Fleet(whole.as_of_s, whole.groups[:4], (), whole.totals))


def test_infeasible_says_what_binds() -> None:
    drawn = section(samples.detail(samples.group(status=RecommendationStatus.INFEASIBLE)))
    assert "recoverWithin 30s; 55s would do" in drawn


def test_one_restart_gives_no_settings_and_says_why() -> None:
    lone = next(detail for detail in samples.fleet().details if detail.group.standing is Standing.NOT_ENOUGH_DATA)
    drawn = section(lone)
    assert "session.timeout.ms" not in drawn
    assert "No curve: too few restarts were recorded." in drawn
    assert "A session timeout of 28 s saves a third." in drawn  # its own sentence of why

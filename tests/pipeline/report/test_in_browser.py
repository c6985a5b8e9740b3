"""The page as a reader has it: drawn, sorted, filtered, on a phone, on paper, in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Dialog, Page, Request, ViewportSize

from slackwater.pipeline.report.charts.waits import CHARTS as OF_TURNS
from slackwater.pipeline.report.markup import shown
from slackwater.pipeline.report.model import Fleet
from slackwater.pipeline.report.overview import COLUMNS
from slackwater.pipeline.report.page import page as whole_page
from slackwater.pipeline.report.section import CHARTS
from tests.pipeline.report import samples
from tests.pipeline.report.chromium import browser as a_browser

pytestmark = pytest.mark.browser

DESK: Final[ViewportSize] = {"width": 1280, "height": 900}
PAPER: Final[ViewportSize] = {"width": 718, "height": 1047}
"""A4 without its margins, in CSS pixels."""
READABLE: Final = 4.5
"""WCAG AA for text; 3 for what is drawn."""
VISIBLE: Final = 3.0


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return samples.fleet()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, fleet: Fleet) -> Path:
    out = tmp_path_factory.mktemp("report") / "report.html"
    out.write_text(whole_page(fleet), encoding="utf-8")
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with a_browser() as launched:
        yield launched


@pytest.fixture
def complaints() -> list[str]:
    """Whatever the browser had to complain of, asked for over the network or popped up."""
    return []


@pytest.fixture
def page(chromium: Browser, file: Path, complaints: list[str]) -> Iterator[Page]:
    """The report, open on a desk in daylight. What it complains of fails the test."""

    def asked(request: Request) -> None:
        if request.url != file.as_uri():
            complaints.append(request.url)

    def popped_up(dialog: Dialog) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    opened = chromium.new_page(viewport=DESK, color_scheme="light")
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", asked)
    opened.on("dialog", popped_up)
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    assert complaints == []


def titles(page: Page) -> list[str]:
    return page.locator("#groups tbody tr:visible th").all_text_contents()


def test_every_chart_is_drawn(page: Page, fleet: Fleet) -> None:
    absent = page.locator(".chart .absent").count()
    assert page.locator(".chart .plot").count() == len(fleet.details) * len(CHARTS) + len(OF_TURNS) - absent
    boxes = page.locator(".curves path").evaluate_all(
        "paths => paths.map(path => path.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert len(boxes) >= 6 * (len(fleet.details) - 1)
    assert all(width > 20 and height > 5 for width, height in boxes)


def test_a_mark_is_where_its_row_says(page: Page) -> None:
    """The script reads places from the table; the drawing was made from the same numbers."""
    figure = page.locator(".timeline").first
    rows = figure.locator("tbody tr").evaluate_all("rows => rows.map(row => Number(row.dataset.x))")
    plot = figure.locator(".plot").evaluate(
        "plot => { const box = plot.getBoundingClientRect(); return [box.left, box.width]; }"
    )
    marks = figure.locator(".mark").evaluate_all("marks => marks.map(mark => mark.getBoundingClientRect().left)")
    expected = [plot[0] + row / 1000 * plot[1] for row in rows[-len(marks) :]]
    assert marks == pytest.approx(expected, abs=1)


def test_the_tables_hold_the_model_s_numbers(page: Page, fleet: Fleet) -> None:
    for detail in fleet.details[:2]:
        costs = cells(page, f"#{detail.group.key.anchor}-cost-table")
        assert [float(row[1]) for row in costs] == pytest.approx([point.cost for point in detail.cost])
        survivals = cells(page, f"#{detail.group.key.anchor}-survival-table")
        assert [float(row[1]) for row in survivals] == pytest.approx([point.survival for point in detail.survival])
        counts = [row[4] for row in cells(page, f"#{detail.group.key.anchor}-timeline-table") if row[4]]
        assert sum(map(int, counts)) == sum(slot.count for slot in detail.slots)


def cells(page: Page, table: str) -> list[list[str]]:
    """Of each row, the figures behind its cells, or their words where these are the figures."""
    found: list[list[str]] = page.locator(f"{table} tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.dataset.v ?? cell.textContent.replace('\u2013', '')))"
    )
    return found


def test_the_overview_holds_the_model_s_numbers(page: Page, fleet: Fleet) -> None:
    names = [column.name for column in COLUMNS]
    rows = cells(page, "#groups")
    assert [row[0] for row in rows] == [group.key.title for group in fleet.groups]
    savings = [shown(group.saving.value) if group.saving else "" for group in fleet.groups]
    assert [row[names.index("saving")] for row in rows] == savings
    assert page.locator("[data-total=saving]").get_attribute("data-v") == shown(fleet.totals.saving or 0)
    assert float(shown(fleet.totals.saving or 0)) == pytest.approx(sum(float(saving or 0) for saving in savings))


@pytest.mark.parametrize("index", range(len(COLUMNS)))
def test_every_column_sorts_both_ways(page: Page, index: int) -> None:
    column = COLUMNS[index]
    heading = page.locator("#groups thead th").nth(index)
    for _ in range(2):
        heading.locator("button").click()
        down = heading.get_attribute("aria-sort") == "descending"
        assert page.locator("#groups thead [aria-sort]").count() == 1
        values = page.locator("#groups tbody tr").evaluate_all(
            f"rows => rows.map(row => row.cells[{index}].dataset.v ?? null)"
        )
        known: list[Any] = [value for value in values if value is not None]
        assert values == known + [None] * (len(values) - len(known))  # what is not known is last, both ways
        if column.numeric:
            known = [float(value) for value in known]
            assert known == sorted(known, reverse=down)
        else:
            assert known[0 if down else -1] == max(known, key=lambda value: re.sub(r"\W", "", value))


def test_sorting_by_keyboard(page: Page) -> None:
    before = titles(page)
    page.locator("#groups thead button").first.focus()
    page.keyboard.press("Enter")
    ascending = titles(page)
    page.keyboard.press("Space")
    assert ascending != before
    assert titles(page) == ascending[::-1]


def test_the_filter_looks_at_names_and_advice(page: Page, fleet: Fleet) -> None:
    page.get_by_role("searchbox").fill("LEDGER")
    assert titles(page) == ["shop/ledger"]
    assert page.get_by_role("status").text_content() == f"1 of {len(fleet.groups)} groups"
    page.get_by_role("searchbox").fill("infeasible")
    assert titles(page) == ["shop/fraud"]
    page.get_by_role("searchbox").fill("")
    assert len(titles(page)) == len(fleet.groups)


def test_a_tooltip_says_what_the_nearest_row_says(page: Page) -> None:
    plot = page.locator(".cost .plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    said = page.locator("#tip span").all_text_contents()
    rows = page.locator(".cost table").first.locator("tbody tr").all()
    tables = [[cell.text_content() or "" for cell in row.locator("td").all()] for row in rows]
    assert [words.partition(": ")[2] for words in said] in [[w for w in row if w != "\N{EN DASH}"] for row in tables]
    page.mouse.move(5, 5)
    assert page.locator("#tip").is_hidden()


@pytest.mark.parametrize("width", [320, 390, 700, 1280, 1920])
def test_nothing_is_wider_than_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert too_wide(page) == []


def too_wide(page: Page) -> list[str]:
    """What ends to the right of the screen, and does not scroll by itself."""
    found: list[str] = page.locator("body *:not(.scroll *, .unseen)").evaluate_all(
        "all => all.filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.outerHTML.slice(0, 120))"
    )
    return found


@pytest.mark.parametrize("width", [320, 1280])
def test_labels_of_an_axis_do_not_overlap(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    overlaps = page.locator(".plot").evaluate_all(
        """plots => plots.flatMap(plot => {
          const boxes = [...plot.querySelectorAll("text")].filter(text => text.checkVisibility())
            .map(text => [text.textContent, text.getBoundingClientRect()]);
          return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
            .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1)
            .filter(([, b]) => a.top < b.bottom - 4 && b.top < a.bottom - 4)
            .map(([other]) => `${one} over ${other}`));
        })"""
    )
    assert overlaps == []


def test_paper_has_every_chart_and_no_controls(page: Page, fleet: Fleet) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    plots = page.locator(".plot")
    assert plots.evaluate_all("plots => plots.every(plot => plot.checkVisibility())")
    assert plots.count() == page.locator(".chart").count() - page.locator(".chart .absent").count()
    assert page.locator("#filter").is_hidden()
    page.set_viewport_size(PAPER)
    assert too_wide(page) == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    document = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", document)) > len(fleet.details)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 25)"
    assert dark is (scheme == "dark")
    found = page.evaluate(CONTRASTS)
    assert len(found) > 100
    assert [each for each in found if each["ratio"] < (READABLE if each["words"] else VISIBLE)] == []


CONTRASTS: Final = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return numbers(colour)[3] === 0 ? ground(element.parentElement) : colour;
  };
  const ratio = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility() || element.closest(".unseen, script")) continue;
    const style = getComputedStyle(element);
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const drawn = element.matches(".mark, .evicted, .line, .dot, .flag, .lane-mark, .standing rect, .glyph, .mean");
    if (!words && !drawn) continue;
    if (element.matches("title, option")) continue;
    const colour = !(element instanceof SVGElement) ? style.color
      : element.matches(".line, .flag, .dot, .mean") && style.stroke !== "none" && !element.matches(".dot.recommended")
        ? style.stroke : style.fill;
    if (!colour.startsWith("rgb")) continue;
    found.push({ words, ratio: ratio(colour, ground(element)), what: element.outerHTML.slice(0, 100), colour });
  }
  return found;
}"""


def test_without_scripts_everything_is_there_but_the_controls(chromium: Browser, file: Path, fleet: Fleet) -> None:
    context = chromium.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(file.as_uri())
    assert opened.locator("#groups tbody tr").count() == len(fleet.groups)
    assert opened.locator(".plot").count() > 0
    assert opened.locator("#filter").is_hidden()
    context.close()


def test_an_empty_page(chromium: Browser, tmp_path: Path) -> None:
    out = tmp_path / "empty.html"
    out.write_text(whole_page(Fleet(None, notes=("There are no recommendations yet.",))), encoding="utf-8")
    opened = chromium.new_page()
    complaints: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto(out.as_uri())
    assert opened.get_by_text("The lake holds no group yet.").is_visible()
    opened.close()
    assert complaints == []

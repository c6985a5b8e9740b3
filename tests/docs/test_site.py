"""The site in Chromium, on a desk and on a phone: nothing sticks out, nothing is clipped, nothing complains."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage

from tests.docs.test_links import DOCS, PAGES
from tests.pipeline.report import chromium
from tests.test_layout import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.minutes(2)]
WIDTHS = (1280, 420)
PATIENCE_MS = 300_000  # on a busy machine a page has waited for half a minute
NAMES = [page.relative_to(DOCS).with_suffix(".html").as_posix() for page in PAGES]
_STICKS_OUT = """() => [...document.querySelectorAll('.md-content *')]
    .filter(each => !each.closest('pre, .md-typeset__scrollwrap, .md-clipboard, thead, svg'))
    .filter(each => each.getBoundingClientRect().right > window.innerWidth + 1)
    .map(each => each.outerHTML.slice(0, 120))"""
_WIDE_TABLES = """() => [...document.querySelectorAll('.md-content table')]
    .filter(each => each.scrollWidth > each.closest('.md-content').clientWidth + 1)
    .map(each => each.textContent.trim().slice(0, 80))"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """What Chromium asks for is no news."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium.browser() as up:
        yield up


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_and_is_quiet(address: str, browser: Browser, width: int) -> None:
    """All pages in one test: a page takes a tenth of a second, a browser's start more."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    said: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            said.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: said.append(str(error)))
    wrong = {}
    for name in NAMES:
        page.goto(f"{address}/{name}")
        found = [*page.evaluate(_STICKS_OUT), *(page.evaluate(_WIDE_TABLES) if width < 720 else []), *said]
        if found:
            wrong[name] = found
        said.clear()
    page.close()
    assert wrong == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_who_hears_a_page_or_sees_little_can_read_it(
    address: str, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    wrong = {}
    for name in NAMES:
        page.goto(f"{address}/{name}")
        found = Axe().run(page).response["violations"]
        if found:
            wrong[name] = [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]
    page.close()
    assert wrong == {}


def test_on_a_phone_each_cell_says_what_its_column_is_called(address: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 420, "height": 900})
    page.goto(f"{address}/prepare-your-consumer.html")
    label = page.evaluate("() => getComputedStyle(document.querySelector('td[data-label]'), '::before').content")
    assert label == '"Your program"'
    page.close()


def test_the_first_page_leads_on(address: str, browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/index.html")
    page.get_by_role("link", name="Get started").last.click()
    assert page.url.endswith(("tutorial.html", "tutorial.html#"))
    page.close()

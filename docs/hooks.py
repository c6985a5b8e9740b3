"""What MkDocs does not do by itself: pages may point at files of the repository, and fetch nothing from elsewhere.

A link such as `../examples/scram.yaml` is right where the pages are read in the repository. On the site the file comes
along, as `repository/examples/scram.yaml`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "repository"
_OUTSIDE = re.compile(r"(?<=\]\()(?P<up>(?:\.\./)+)(?P<path>[^)#\s]+)")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_HEADING = re.compile(r"<th[^>]*>(.*?)</th>", re.DOTALL)
_EMPTY_HEADING = re.compile(r"<th([^>]*)></th>")
_SEARCH = 'data-md-component="search" role="dialog"'
_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<td([^>]*)>")
_FETCHED = re.compile(
    r"(?:<(?:script|img|iframe|source)\b[^>]*\bsrc=|<link\b[^>]*\bhref=|@import\s|\burl\()[\"']?https?:"
)


def on_files(files: Any, *, config: Any) -> Any:
    """Take the files in that pages point at."""
    for page in list(files.documentation_pages()):
        for found in _OUTSIDE.finditer(page.content_string):
            path = _in_repository(page.src_uri, found)
            uri = _on_site(path or "")
            if path is not None and (ROOT / path).is_file() and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Point at the copy."""

    def pointed(found: re.Match[str]) -> str:
        path = _in_repository(page.file.src_uri, found)
        return found.group() if path is None else "../" * page.file.src_uri.count("/") + _on_site(path)

    return _OUTSIDE.sub(pointed, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Each cell knows what its column is called: on a phone a row becomes a card (assets/site.css)."""
    return _TABLE.sub(_labelled, html)


def on_post_page(output: str, **_: Any) -> str:
    """Who hears the page hears what the theme leaves without a name."""
    return output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')


def _labelled(table: re.Match[str]) -> str:
    """The table, with roles: as cards its elements would be no table to a screen reader."""
    labels = [_plain(heading) for heading in _HEADING.findall(table.group())]

    def row(found: re.Match[str]) -> str:
        columns = iter(labels)
        return _CELL.sub(lambda cell: f'<td role="cell" data-label="{next(columns, "")}"{cell[1]}>', found.group())

    made = _ROW.sub(row, table.group())
    for element, role in (("table", "table"), ("thead", "rowgroup"), ("tbody", "rowgroup"), ("tr", "row")):
        made = made.replace(f"<{element}>", f'<{element} role="{role}">')
    made = _EMPTY_HEADING.sub(r'<th\1><span class="unseen">Subject</span></th>', made)
    return re.sub(r"<th(?=[ >])", '<th role="columnheader"', made)


def _plain(html: str) -> str:
    """Text for an attribute: it has entities for what would end it."""
    return re.sub(r"<[^>]+>", "", html).replace('"', "&quot;").strip()


def on_post_build(*, config: Any) -> None:
    """Who reads a page tells nobody else of it."""
    for made in Path(config["site_dir"]).rglob("*"):
        if made.suffix in (".html", ".css") and (found := _FETCHED.search(made.read_text(encoding="utf-8"))):
            raise PluginError(f"{made.name} fetches something from elsewhere: {found.group()}")


def _on_site(path: str) -> str:
    """Markdown as the text that it is: as a page its own links would lead nowhere."""
    return f"{FOLDER}/{path}" + (".txt" if path.endswith(".md") else "")


def _in_repository(page: str, link: re.Match[str]) -> str | None:
    """Path of what is linked to, from the repository's root; None where it is a page, or outside of the repository."""
    target = Path(os.path.normpath(ROOT / "docs" / Path(page).parent / link.group()))
    if not target.is_relative_to(ROOT) or target.is_relative_to(ROOT / "docs"):
        return None
    return target.relative_to(ROOT).as_posix()

"""Elements of HTML and SVG as values: whatever is not `Markup` already is escaped, so data can never become a tag.

Pure, and knows nothing of reports.
"""

from __future__ import annotations

import re
from html import escape
from typing import Final

UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""What an HTML document must not hold, and half characters, which UTF-8 cannot write."""

VOID: Final = frozenset({"meta", "link", "input", "br"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | None
Attribute = str | int | float | bool | None

EMPTY: Final = Markup()


def text(content: str) -> Markup:
    """Make text harmless: as content, and between double quotes."""
    return Markup(escape(UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", content)))


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element; `class_` stands for class, `data_x` for data-x. Attributes that are None or False are left out."""
    opening = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{opening}>")
    return Markup(f"<{opening}>{join(*children)}</{name}>")


def join(*children: Child) -> Markup:
    """Children one after the other, text among them escaped."""
    return Markup(
        "".join(child if isinstance(child, Markup) else text(child) for child in children if child is not None)
    )


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(shown(value))}"'


def shown(value: str | float) -> str:
    """A number as short as it can be without losing anything that a reader could see or a test compare."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)

"""What the pictures are drawn of: boxes, lines and texts as SVG, on paper of their own, for dark pages as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from xml.sax.saxutils import escape

INK: Final = "#1f2933"
CALM: Final = "#c6f0dc"
WAITS: Final = "#ffe3b0"
MOVES: Final = "#ffd0cc"
PLAIN: Final = "#e4ecf3"

_FRAME: Final = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-label="{title}">
<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0 0L8 4L0 8z" fill="{ink}"/></marker></defs>
<style>text{{font-family:system-ui,sans-serif;fill:{ink}}} .m{{font-family:ui-monospace,monospace}}</style>
<rect width="{width}" height="{height}" rx="10" fill="#fbfcfd" stroke="#cbd2d9"/>
{body}
</svg>
"""


def picture(title: str, width: int, height: int, parts: Iterable[str]) -> str:
    body = "\n".join(parts)
    return _FRAME.format(title=escape(title), width=width, height=height, body=body, ink=INK)


def box(x: int, y: int, width: int, height: int, fill: str = PLAIN, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{fill}" stroke="{INK}"{dashes}/>'


def text(
    x: int, y: int, words: str, size: int = 14, *, bold: bool = False, centred: bool = False, mono: bool = False
) -> str:
    """`y` is the line that the letters stand on."""
    wanted = {' font-weight="600"': bold, ' text-anchor="middle"': centred, ' class="m"': mono}
    more = "".join(attribute for attribute, given in wanted.items() if given)
    return f'<text x="{x}" y="{y}" font-size="{size}"{more}>{escape(words)}</text>'


def arrow(*points: tuple[int, int], dashed: bool = False) -> str:
    """Along the points; its head is at the last one."""
    path = " ".join(f"{x},{y}" for x, y in points)
    dashes = ' stroke-dasharray="6 4"' if dashed else ""
    return f'<polyline points="{path}" fill="none" stroke="{INK}" stroke-width="1.5"{dashes} marker-end="url(#end)"/>'

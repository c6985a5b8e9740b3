"""Paths of SVG from points; a point is (x, y) in the units of the drawing, None a gap. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

Point = tuple[float, float]


def line_path(points: Iterable[Point | None]) -> str:
    """Straight from point to point; a gap stays a gap, and a point alone becomes a dot that round caps show."""
    runs = [list(run) for known, run in groupby(points, key=lambda point: point is not None) if known]
    return "".join(_line([point for point in run if point is not None]) for run in runs)


def step_path(points: Sequence[Point]) -> str:
    """Level from each point until the next one's x, as a survival function is."""
    return line_path(steps(points))


def band_path(lower: Sequence[Point], upper: Sequence[Point]) -> str:
    """The closed area between two curves."""
    outline = [*upper, *reversed(lower)]
    return f"{_line(outline)}Z" if len(outline) > 2 else ""


def steps(points: Sequence[Point]) -> list[Point]:
    """The corners of a curve that is level from each point until the next one's x."""
    corners = list(points[:1])
    for (_, level), (x, y) in pairwise(points):
        corners += [(x, level), (x, y)]
    return corners


def _line(points: Sequence[Point]) -> str:
    if len(points) == 1:
        return f"M{_place(points[0])}h0"
    return "M" + "L".join(_place(point) for point in points)


def _place(point: Point) -> str:
    return f"{round(point[0], 1):g} {round(point[1], 1):g}"

"""The drawn trees of exceptions are those of the classes."""

from __future__ import annotations

import importlib
import re
from itertools import groupby

import pytest

from slackwater.adapters.kafka.errors import ApiMissing
from slackwater.api.errors import SlackwaterError
from tests.docs import errors

MODULES = {module: [*those] for module, those in groupby(errors.ours(), key=lambda each: each.__module__)}
DRAWN = [module for module in MODULES if "── " in (importlib.import_module(module).__doc__ or "")]
"""Modules whose docstring has a tree."""


def test_the_page_has_the_tree_of_the_classes() -> None:
    page = errors.PAGE.read_text(encoding="utf-8")
    assert page.count(errors.BEGIN) == page.count(errors.END) == 1
    assert page == errors.made(page), "run `make docs-pages`"


def test_the_drawing_has_every_error_once_below_what_it_is_made_of() -> None:
    drawn = [line.partition("── ")[0::2] for line in errors.drawing().splitlines() if "── " in line]
    depths = {(name.split()[0], name.split()[1]): len(indent) // 4 + 1 for indent, name in drawn}
    assert len(drawn) == len(errors.ours()) == len(depths)
    for error in errors.ours():
        above = [each for each in error.__mro__[1:] if each in errors.ours()]
        assert depths[error.__name__, error.__module__.removeprefix("slackwater.")] == len(above) + 1
    assert {SlackwaterError, ApiMissing} <= set(errors.ours())


def test_every_error_says_what_it_means() -> None:
    assert [e.__name__ for e in errors.ours() if not errors.means(e).endswith(".") or "|" in errors.means(e)] == []


@pytest.mark.parametrize("module", DRAWN)
def test_a_tree_in_a_docstring_is_that_of_its_module(module: str) -> None:
    docstring = importlib.import_module(module).__doc__ or ""
    drawn = set(re.findall(r"^ *(?:[│├└ ─]*── )?([A-Z]\w+)(?: {2,}.*)?$", docstring, re.MULTILINE))
    defined = {error.__name__ for error in MODULES[module]}
    above = {each.__name__ for error in MODULES[module] for each in error.__mro__ if each in errors.ours()}
    assert defined <= drawn <= above

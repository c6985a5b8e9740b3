"""Draw the exceptions of the package into docs/errors.md: `python -m tests.docs.errors`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Final

import slackwater
from tests.test_layout import ROOT

PAGE: Final = ROOT / "docs" / "errors.md"
BEGIN: Final = "<!-- drawn from the code: make docs-pages -->\n"
END: Final = "<!-- up to here -->\n"


@cache
def ours() -> tuple[type[BaseException], ...]:
    """Every exception that is defined under slackwater, in the order of modules and of their lines."""
    for module in pkgutil.walk_packages(slackwater.__path__, "slackwater."):
        importlib.import_module(module.name)
    found = {each for each in _below(BaseException) if each.__module__.partition(".")[0] == "slackwater"}
    return tuple(sorted(found, key=lambda each: (each.__module__, inspect.getsourcelines(each)[1])))


def drawing() -> str:
    """One tree for each exception of Python's that one of ours is made of."""
    roots = sorted(
        {base for each in ours() for base in each.__bases__ if base not in ours()}, key=lambda base: base.__name__
    )
    lines = [line for root in roots for line in ((root.__name__, ""), *_branches(root, ""))]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {where}".rstrip() for name, where in lines)


def made(page: str) -> str:
    """The page with what is drawn as the code has it."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = "".join(f"| `{each.__name__}` | `{_place(each)}` | {means(each)} |\n" for each in ours())
    table = f"| Error | Module | Means |\n|---|---|---|\n{rows}"
    return f"{before}{BEGIN}```text\n{drawing()}\n```\n\n{table}{END}{after}"


def means(error: type[BaseException]) -> str:
    """The first paragraph of what it says of itself."""
    return " ".join((error.__doc__ or "").partition("\n\n")[0].split())


def _branches(error: type[BaseException], indent: str) -> Iterator[tuple[str, str]]:
    below = [each for each in ours() if error in each.__bases__]
    for each in below:
        last = each is below[-1]
        yield f"{indent}{'└── ' if last else '├── '}{each.__name__}", _place(each)
        yield from _branches(each, indent + ("    " if last else "│   "))


def _below(error: type[BaseException]) -> Iterator[type[BaseException]]:
    for each in error.__subclasses__():
        yield each
        yield from _below(each)


def _place(error: type[BaseException]) -> str:
    return error.__module__.removeprefix("slackwater.")


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

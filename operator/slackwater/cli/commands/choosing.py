"""Which groups a command is about, as kubectl has it: several names, `-l`, `--all`, `-A`; and what is said at the end.

@of_groups
def explain(choice: Choice, output: As = Output.TABLE) -> None: ...

It imports no client: a mistyped line is answered at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from slackwater.cli.errors import NotReached, SomeFailed
from slackwater.cli.options import Context, Namespace, parse_name, parse_selector
from slackwater.core.decision.words import count, harmless, listing
from slackwater.terminal import say

if TYPE_CHECKING:
    from slackwater.cli.reaching.choice import Choice, Place
    from slackwater.cli.reaching.each import Outcome

Names = Annotated[
    list[str] | None,
    typer.Argument(help="The ConsumerGroups' names.", metavar="NAME", parser=parse_name, show_default=False),
]
Selector = Annotated[
    str | None,
    typer.Option(
        "--selector",
        "-l",
        metavar="SELECTOR",
        parser=parse_selector,
        help="Instead of names: all groups with these labels, such as team=pay,tier!=0.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Instead of names: all groups of the namespace.")]
Everywhere = Annotated[bool, typer.Option("--all-namespaces", "-A", help="With -l or --all: in every namespace.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before -l or --all does it for more than one.")]

_BEFORE: Final[dict[str, Any]] = {"names": Names}
_AFTER: Final[dict[str, tuple[Any, Any]]] = {
    "selector": (Selector, None),
    "every": (Every, False),
    "namespace": (Namespace, None),
    "everywhere": (Everywhere, False),
    "context": (Context, None),
}


def of_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose first parameter is a `Choice`, with the arguments and options that say which."""
    own = list(inspect.signature(command).parameters.values())[1:]
    hints = get_type_hints(command, include_extras=True, localns={"Choice": object})

    @wraps(command)
    def chosen(**given: Any) -> None:
        choice = choice_of(**{key: given.pop(key) for key in (*_BEFORE, *_AFTER)})
        command(choice, **given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        *(inspect.Parameter(key, keyword, default=None, annotation=each) for key, each in _BEFORE.items()),
        *(inspect.Parameter(key, keyword, default=d, annotation=each) for key, (each, d) in _AFTER.items()),
        *(each.replace(kind=keyword, annotation=hints[each.name]) for each in own),
    ]
    del chosen.__wrapped__
    chosen.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer looks at
    chosen.__annotations__ = {each.name: each.annotation for each in parameters}
    return chosen


def choice_of(
    *,
    names: Sequence[str] | None,
    selector: str | None,
    every: bool,
    everywhere: bool,
    namespace: str | None,
    context: str | None,
) -> Choice:
    """Raises BadParameter where they do not say which groups, or contradict each other."""
    for wrong, sentence in (
        (names and selector, "the names say which ConsumerGroups: leave out -l, or the names"),
        (names and every, "the names say which ConsumerGroups: leave out --all, or the names"),
        (names and everywhere, "a name is of one namespace: leave out -A, or the names, for -l or --all"),
        (selector and every, "-l and --all exclude each other: leave one of them out"),
        (everywhere and namespace is not None, "-n and -A exclude each other: leave one of them out"),
        (
            everywhere and not (selector or every),
            "-A says where, and not which ConsumerGroups: add --all, or -l SELECTOR",
        ),
        (not (names or selector or every), "say which ConsumerGroups: write their names, -l SELECTOR, or --all"),
    ):
        if wrong:
            raise typer.BadParameter(sentence)
    from slackwater.cli.reaching.choice import Choice  # noqa: PLC0415 - it brings the clients along

    return Choice(context, namespace, tuple(dict.fromkeys(names or ())), selector or "", everywhere)


def one_to_watch(choice: Choice) -> Place:
    """Raises BadParameter where they are many, and ClusterRefused."""
    if (one := choice.one) is None:
        raise typer.BadParameter("--watch shows one group: write one name")
    return one


def complain(verb: str, failures: Sequence[Outcome[Any]], of: int) -> None:
    """A line for each. Raises SomeFailed where there are any, and NotReached where all of them only took too long."""
    for each in failures:
        say(f"{each.place}: {harmless(' '.join(str(each.error).split()))}", err=True)
    if not failures:
        return
    names = listing(str(each.place) for each in failures)
    words = f"{verb} failed for {len(failures)} of {count(of, 'ConsumerGroup')}: {names}"
    raise NotReached(words) if all(isinstance(each.error, NotReached) for each in failures) else SomeFailed(words)

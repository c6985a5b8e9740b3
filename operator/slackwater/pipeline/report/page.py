"""The whole page: one HTML document that asks nothing of any network, and forbids itself to. Pure.

Its Content-Security-Policy allows exactly one style sheet and one script, the two inside it, by their hashes; style
attributes, other scripts, images, fonts and requests are refused by the browser.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from slackwater.pipeline.report.markup import Markup, join, tag
from slackwater.pipeline.report.model import Fleet
from slackwater.pipeline.report.overview import COLUMNS, overview
from slackwater.pipeline.report.quantities import moment_text
from slackwater.pipeline.report.section import section
from slackwater.pipeline.report.waits import turns_section

GLOSSARY = (
    ("Partition-second", "one partition, for one second, without a consumer that owns it."),
    ("Silence", "from the last moment a member was known to work until it joined again. Longer than the session"
     " timeout, and the group gives its partitions away."),
    ("Needless rebalance", "one that the group would have been spared, had it waited for a member that came back."),
    ("Interval", "from a bootstrap over the recorded restarts: what the estimate could as well have been, 95 times of"
     " 100."),
    ("Slot of time", "long histories are summed up into at most a hundred slots; a mark stands at the first event of"
     " its slot."),
)  # fmt: skip


def page(fleet: Fleet) -> str:
    """The document, from its doctype on."""
    style, script = _asset("style.css"), _asset("script.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", "Slackwater: fleet report"),
        tag("style", Markup(style)),
    )
    body = tag(
        "body",
        tag("main", _masthead(fleet), *_parts(fleet)),
        tag("div", id="tip", role="presentation", hidden=True),
        tag("script", Markup(script)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _parts(fleet: Fleet) -> tuple[Markup | None, ...]:
    return _notes(fleet), overview(fleet), turns_section(fleet.waits), _details(fleet), _glossary()


def policy(style: str, script: str) -> str:
    allowed = f"style-src {_hash(style)}; script-src {_hash(script)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _masthead(fleet: Fleet) -> Markup:
    """The mark: two tides, and the still line between them."""
    waves = (
        tag("path", d="M2 9c4-5 8-5 12 0s8 5 12 0", class_="wave"),
        tag("path", d="M2 16h24", class_="still"),
        tag("path", d="M2 23c4 5 8 5 12 0s8-5 12 0", class_="wave"),
    )
    mark = tag("svg", *waves, viewBox="0 0 28 32", width=28, height=32, class_="mark-of-ours", aria_hidden="true")
    as_of = f"As of {moment_text(fleet.as_of_s)}" if fleet.as_of_s is not None else "Nothing was recorded yet"
    return tag("header", mark, tag("div", tag("h1", "Fleet report"), tag("p", as_of)), class_="masthead")


def _notes(fleet: Fleet) -> Markup | None:
    if not fleet.notes:
        return None
    return tag("ul", *(tag("li", note) for note in fleet.notes), class_="notes")


def _details(fleet: Fleet) -> Markup | None:
    if not fleet.details:
        return None
    return join(tag("h2", "Groups", class_="unseen"), *map(section, fleet.details))


def _glossary() -> Markup:
    columns = ((column.heading, f"{column.meaning}.") for column in COLUMNS)
    entries = (tag("div", tag("dt", word), tag("dd", meaning)) for word, meaning in (*GLOSSARY, *columns))
    return tag("footer", tag("h2", "Words"), tag("dl", *entries))

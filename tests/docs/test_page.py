"""What of a page is run, and how what it prints is compared."""

from __future__ import annotations

import pytest

from tests.docs.page import Example, examples

PAGE = """
<!-- run -->
```sh
one
```

```sh
not run
```

<!-- prints -->
```text
a  …  c
d
```

<!-- run -->
```sh
two
```
"""


def test_marked_blocks_are_run_and_what_follows_is_what_they_print() -> None:
    assert list(examples(PAGE)) == [Example("one\n", ("a  …  c", "d")), Example("two\n")]


@pytest.mark.parametrize(
    ("output", "missing"),
    [
        ("a b c\nd\n", ""),
        ("first\na   b   b  c  more\nbetween\nd", ""),
        ("d\na b c\n", "d"),
        ("a b\nc\nd", "a  …  c"),
        ("", "a  …  c"),
    ],
)
def test_promised_lines_have_to_come_in_their_order(output: str, missing: str) -> None:
    assert Example("one", ("a  …  c", "d")).missing_in(output) == missing


def test_nothing_is_printed_before_anything_is_run() -> None:
    with pytest.raises(ValueError, match="nothing was run"):
        list(examples("<!-- prints -->\n```text\na\n```\n"))

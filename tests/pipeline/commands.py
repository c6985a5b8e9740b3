"""`slackwater …` in the tests' own process: the whole command line, without another Spark to wait for.

The jobs adopt the session that is there (`slackwater.pipeline.session`).
"""

from __future__ import annotations

from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

from slackwater.cli import edge as failures
from slackwater.cli.main import app


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    stdout: str
    stderr: str

    @property
    def complaint(self) -> str:
        """The last line on standard error. Fails where the command did not end with one sentence and the code 1."""
        assert (self.code, "Traceback" in self.stderr) == (1, False), self
        last = self.stderr.splitlines()[-1]
        assert last.startswith("Error: "), self
        return last


def ran(*arguments: str) -> Done:
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = failures.run(lambda: app(list(arguments), standalone_mode=False))
    return Done(code, out.getvalue(), err.getvalue())


def succeeded(*arguments: str) -> str:
    """What the command printed."""
    done = ran(*arguments)
    assert done.code == 0, done
    return done.stdout

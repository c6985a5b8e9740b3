"""How many files and sockets the process may have."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import resource
from slackwater.shell.descriptors import take_all
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
take_all()
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
"""


def test_as_many_as_the_system_allows() -> None:
    """In a process of its own: the limit is all of it."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)

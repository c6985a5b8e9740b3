"""The command as one program that needs no Python, in an archive as krew takes it, with its licence.

`python -m release.command ARCHIVE` needs PyInstaller and the installed package (requirements/release.txt).
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from release.version import ROOT

PROGRAM: Final = "kubectl-slackwater"
_LAUNCHER: Final = "from slackwater.cli.main import main\n\nmain()\n"


def build(archive: Path) -> None:
    """Freeze the command, start it once, and write `archive`. Raises CalledProcessError where it does not start."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        launcher = folder / "launcher.py"
        launcher.write_text(_LAUNCHER)
        options = ["--onefile", "--name", PROGRAM, "--collect-all", "slackwater", "--copy-metadata", "slackwater"]
        places = ["--distpath", str(folder), "--workpath", str(folder / "work"), "--specpath", str(folder)]
        subprocess.run([sys.executable, "-m", "PyInstaller", *options, *places, str(launcher)], check=True)
        subprocess.run([folder / PROGRAM, "--version"], check=True)
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(folder / PROGRAM, PROGRAM)
            packed.add(ROOT / "LICENSE", "LICENSE")


if __name__ == "__main__":
    build(Path(sys.argv[1]))

"""The Event of the sandbox's programs that a signal's handler can set."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

from sandbox.workload.ending import Ending

INTERRUPTED = """
import signal
from sandbox.workload.ending import Ending

for _ in range(300):
    ending = Ending()
    signal.signal(signal.SIGALRM, lambda *_: ending.set())
    signal.setitimer(signal.ITIMER_REAL, 0.0001)
    while not ending.is_set():
        ending.wait(0.00001)
"""


def test_a_signal_in_the_middle_of_a_wait_does_not_stop_the_program_for_ever() -> None:
    """With a `threading.Event` in its place this program hangs."""
    assert subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=60, check=False).returncode == 0


def test_all_who_wait_go_on() -> None:
    ending = Ending()
    threads = [threading.Thread(target=ending.wait, args=(60,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    ending.set()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert ending.wait() and ending.is_set()


def test_nobody_sets_it_and_the_wait_ends() -> None:
    ending = Ending()
    assert not ending.wait(0) and not ending.is_set()


def test_a_program_s_signal_sets_it() -> None:
    program = "from sandbox.workload.ending import by_signals; e = by_signals(); print('up', flush=True); e.wait()"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=os.environ)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0

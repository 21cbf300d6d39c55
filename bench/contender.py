"""A training program that alternates with others, a few steps at a time.

The speed of a shared machine varies by the minute, more than programs differ. So compared programs run in
turn, step by step: all but one are stopped, and the clock of a stopped program stops too.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

POLL_SECONDS = 0.005  # between checks for new rows

PR_SET_PDEATHSIG = 1  # of Linux's prctl
LIBC = ctypes.CDLL(None)


def die_with_parent() -> None:
    """In a child process: the system kills it when this program ends, since a stopped process would stay for ever."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_by_exception() -> None:
    """Signals that would end this program raise an exception, so that its `finally` blocks end their
    processes."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, lambda *_: sys.exit("error: stopped"))


class Contender:
    """A training process that writes a line of JSON (a row) for each step, and that can be stopped and continued."""

    def __init__(self, command: list[str], metrics: Path, threads: int, prints_metrics: bool):
        self.command, self.metrics = command, metrics
        self.rows: list[dict] = []
        self.times: list[float] = []  # on its own clock, when each row appeared
        self.clock = 0.0
        self.status = self.usage = None  # once it has ended
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        output = metrics if prints_metrics else metrics.parent / "output"
        with open(output, "w") as out, open(metrics.parent / "errors", "w") as errors:
            self.process = subprocess.Popen(command, stdout=out, stderr=errors, env=environment,
                                            start_new_session=True, preexec_fn=die_with_parent)

    def run_until(self, steps: int) -> None:
        """Continues the process until it has written this many rows, or has ended, and stops it again."""
        self.signal(signal.SIGCONT)
        begun = time.perf_counter() - self.clock
        while len(self.rows) < steps and self.usage is None:
            self.poll_end()
            self.read_new_rows(begun)
            time.sleep(POLL_SECONDS)
        self.signal(signal.SIGSTOP)
        self.clock = time.perf_counter() - begun

    def finish(self) -> None:
        """Continues the process until it ends; exits if its status is not 0."""
        self.run_until(sys.maxsize)
        if self.status != 0:
            sys.exit(f"error: {' '.join(self.command)} ended with {self.status} after "
                     f"{len(self.rows)} steps; its output is in {self.metrics.parent}")

    def end(self) -> None:
        """Kills the process."""
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        if self.usage is None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:  # it has ended and was waited for
                pass

    def poll_end(self) -> None:
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.status, self.usage = os.waitstatus_to_exitcode(status), usage

    def read_new_rows(self, begun: float) -> None:
        """`begun`: the time of time.perf_counter() at which this process's clock was 0."""
        if not self.metrics.exists():
            return
        text = self.metrics.read_text()
        for line in text[:text.rfind("\n") + 1].splitlines()[len(self.rows):]:
            self.times.append(time.perf_counter() - begun)
            self.rows.append(json.loads(line))


def take_turns(starts: list[Callable[[], Contender]], alone: int, steps: int) -> list[Contender]:
    """Runs `alone` steps of each by itself, then one step of each in turn, then each to its end."""
    contenders = []
    try:
        for start in starts:
            contenders.append(start())
            contenders[-1].run_until(alone)
        for step in range(alone + 1, steps + 1):
            for contender in contenders:
                contender.run_until(step)
        for contender in contenders:
            contender.finish()
    finally:
        for contender in contenders:
            contender.end()
    return contenders

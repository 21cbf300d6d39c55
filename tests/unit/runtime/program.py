"""Helpers of the tests of a complete program: they write its training data and start it. Arguments of
each test:
  EXE TORCHRUN COUNT_ALLOCATIONS_LIBRARY|none [TEST...]
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RANKS = Path(__file__).resolve().parents[2] / "parity" / "ranks.py"
EXE, TORCHRUN, COUNTER = (Path(argument).resolve() for argument in sys.argv[1:4])
TEXT = ("In the beginning was the word, and the word was with us. " * 40).encode()


def losses(run: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class ProgramCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="titan-program-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.text = self.folder / "text"
        self.text.write_bytes(TEXT)

    def start(self, *arguments, ranks=1, environment=os.environ, by_torchrun=True):
        """Starts the program on several ranks by torchrun or, sooner, by parity/ranks.py."""
        launcher = []
        if ranks > 1:
            launcher = ([TORCHRUN, "--standalone", "--no-python", "--nproc-per-node", str(ranks)] if by_torchrun
                        else [sys.executable, RANKS, str(ranks)])
        return subprocess.Popen([*launcher, EXE, *map(str, arguments)], text=True,
                                errors="replace", cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**environment, "TITAN_NUM_THREADS": "1"})

    def run_exe(self, *arguments, ranks=1, status=0):
        """Runs the program, expects this exit status, and returns standard output and standard error."""
        # If all ranks succeed, the launcher does not matter, and torchrun takes two seconds of a processor.
        process = self.start(*arguments, ranks=ranks, by_torchrun=status != 0)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, out + err)
        return out, err

    def train(self, name, *arguments, ranks=1, status=0):
        """Trains on the text. Returns the run's directory and all output."""
        out, err = self.run_exe("--data", self.text, "--out", self.folder / name, "--log-every", 1,
                                *arguments, ranks=ranks, status=status)
        return self.folder / name, out + err


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

"""Helpers of the trials of files.py: the program and its text, starting it, and counting trials."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TITAN_BUILD", ROOT / "build"))
# A program in the form that the compiler emits, small enough to be started hundreds of times.
EXE = BUILD / "tests" / "unit" / "test-runtime-bigram"
TEXT = ("In the beginning was the word, and the word was with us. " * 40).encode()


class Wrong(Exception):
    """A trial failed; the text explains it."""


def expect(holds: bool, message: str) -> None:
    if not holds:
        raise Wrong(message)


class Skipped(Exception):
    """This machine cannot run the trials; the text explains it."""


def losses(run: Path) -> dict[int, float]:
    """By step. A truncated last line does not count."""
    rows = {}
    path = run / "metrics.jsonl"
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
            rows[row["step"]] = row["loss"]
        except (ValueError, KeyError, TypeError):
            continue
    return rows


def environment(variables: dict[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "TITAN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **(variables or {})}


def start(*arguments, variables: dict[str, str] | None = None, **options) -> subprocess.Popen:
    return subprocess.Popen([str(a) for a in (EXE, *arguments)], text=True, errors="replace",
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, env=environment(variables), **options)


def run(*arguments, timeout: float = 60, **options) -> tuple[int, str]:
    """Exit status and output. A run that does not end is wrong."""
    process = start(*arguments, **options)
    try:
        output = process.communicate(timeout=timeout)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Wrong(f"it did not end within {timeout} seconds: {' '.join(map(str, arguments))}")
    return process.returncode, output


def run_well(*arguments, **options) -> str:
    status, output = run(*arguments, **options)
    expect(status == 0, f"exit status {status}: {output[-1500:]}")
    return output


class Trials:
    """Runs trials and prints one line for each kind: "damage: 228 trials, 0 faults"."""

    def __init__(self, seed: int, everything: bool, names: list[str], verbose: bool):
        self.seed, self.everything, self.names, self.verbose = seed, everything, names, verbose
        self.trials = self.faults = 0

    def kind(self, name: str, trials) -> None:
        """`trials(chance, folder)` yields pairs of a name and a function that raises Wrong."""
        if self.names and name not in self.names:
            return
        folder = Path(tempfile.mkdtemp(prefix="titan-reliability-"))
        chance = random.Random(f"{self.seed} {name}")
        done, faults, begun = 0, 0, time.monotonic()
        try:
            for trial, attempt in trials(chance, folder):
                if self.verbose:
                    print(f"  {name}: {trial}", flush=True)
                done += 1
                try:
                    attempt()
                except (Wrong, OSError, subprocess.SubprocessError, ValueError) as error:
                    faults += 1
                    print(f"  FAULT {name}: {trial}: {error}", flush=True)
        except Wrong as error:
            faults, done = faults + 1, done + 1
            print(f"  FAULT {name}: before a trial: {error}", flush=True)
        except Skipped as reason:
            print(f"skipped: {name}: {reason}", flush=True)
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{name}: {done} trials, {faults} faults ({time.monotonic() - begun:.0f} s)",
              flush=True)
        self.trials, self.faults = self.trials + done, self.faults + faults

    def end(self) -> None:
        print(f"{self.trials - self.faults} trials passed out of {self.trials}, seed {self.seed}")
        sys.exit(1 if self.faults or not self.trials else 0)

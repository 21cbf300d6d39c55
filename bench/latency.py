"""Latencies before training: see bench/latency."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cases import CASES, ROOT

LARGE = ROOT / "bench" / "programs" / "llama3_405b.titan"
FEWER = ["--set", "model.layers=21"]  # of 126
LOOK = 0.002  # seconds between checks of a file


class Waits:
    """Runs commands with an initially empty cache of compiled programs."""

    def __init__(self, titanc: str, folder: Path, rounds: int):
        self.titanc, self.folder, self.rounds = titanc, folder, rounds
        self.cache = folder / "cache"
        self.text = folder / "text.txt"
        self.text.write_bytes(bytes(range(32, 127)) * 1000)

    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_CACHE_HOME": str(self.cache)}

    def compile(self, *arguments: str, keeps: bool = False) -> tuple[float, int]:
        """Seconds, and the memory of titanc or of the largest compiler that it starts."""
        if not keeps:
            shutil.rmtree(self.cache, ignore_errors=True)
        output = self.folder / "output"
        command = [self.titanc, "build", *arguments, "-o", str(self.folder / "made")]
        with open(output, "w") as out:
            begun = time.perf_counter()
            process = subprocess.Popen(command, env=self.environment(), stdout=out, stderr=out)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begun
        if status:
            sys.exit(f"error: {' '.join(command)}\n{output.read_text()}")
        return seconds, usage.ru_maxrss * 1024

    def start(self, command: list) -> float:
        """Seconds until the files of a run exist, which are written when its first step starts."""
        run = self.folder / "run"
        shutil.rmtree(run, ignore_errors=True)
        begun = time.perf_counter()
        process = subprocess.Popen([*map(str, command), "--data", str(self.text), "--out", str(run)],
                                   env=self.environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while not (run / "status.json").exists():
            if process.poll() is not None:
                sys.exit(f"error: {' '.join(map(str, command))} ended before its first step")
            time.sleep(LOOK)
        seconds = time.perf_counter() - begun
        process.kill()
        process.wait()
        return seconds


def say(what: str, seconds: list[float], note: str = "") -> None:
    lowest, highest = min(seconds), max(seconds)
    print(f"  {what:44} {statistics.median(seconds):7.2f} s  ({lowest:.2f} - {highest:.2f})  {note}",
          flush=True)


def time_compiling(waits: Waits) -> None:
    print("compiling Llama 3.1 405B on replicate 2, shard 32, tp 8")
    for what, *arguments in [("to C++", "--emit=cpp"), ("to C++, 21 of its 126 layers", "--emit=cpp", *FEWER),
                             ("to a program",), ("the same again, unchanged",)]:
        keeps = "again" in what
        times, memory = zip(*(waits.compile(str(LARGE), *arguments, keeps=keeps)
                              for _ in range(waits.rounds)))
        say(what, times, f"{max(memory) / 1e6:.0f} MB")


def time_starts(waits: Waits) -> None:
    print("from the start of a program until its first step begins")
    for name, case in CASES.items():
        program = waits.folder / name
        subprocess.run([waits.titanc, "build", case.program, "-o", program], check=True,
                       env=waits.environment(), stderr=subprocess.DEVNULL)
        say(name, [waits.start([program]) for _ in range(waits.rounds)])
        command = [waits.titanc, "run", case.program, "--"]
        say(f"{name}, by `titanc run`, unchanged", [waits.start(command) for _ in range(waits.rounds)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titanc", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        waits = Waits(arguments.titanc, Path(folder), arguments.rounds)
        time_compiling(waits)
        time_starts(waits)


if __name__ == "__main__":
    main()

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
FEWER_LAYERS = ["--set", "model.layers=21"]  # of 126
POLL_SECONDS = 0.002  # between checks for a file


class CommandTimer:
    """Times commands that compile or start programs, with a separate cache of compiled programs."""

    def __init__(self, titanc: str, folder: Path, rounds: int):
        self.titanc, self.folder, self.rounds = titanc, folder, rounds
        self.cache = folder / "cache"
        self.text = folder / "text.txt"
        self.text.write_bytes(bytes(range(32, 127)) * 1000)

    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_CACHE_HOME": str(self.cache)}

    def compile(self, *arguments: str, keep_cache: bool = False) -> tuple[float, int]:
        """Seconds, and the peak bytes of titanc or of the largest compiler process that it starts."""
        if not keep_cache:
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
            time.sleep(POLL_SECONDS)
        seconds = time.perf_counter() - begun
        process.kill()
        process.wait()
        return seconds


def print_row(what: str, seconds: list[float], note: str = "") -> None:
    lowest, highest = min(seconds), max(seconds)
    print(f"  {what:44} {statistics.median(seconds):7.2f} s  ({lowest:.2f} - {highest:.2f})  {note}",
          flush=True)


def time_compiling(timer: CommandTimer) -> None:
    print("compiling Llama 3.1 405B on replicate 2, shard 32, tp 8")
    for what, *arguments in [("to C++", "--emit=cpp"),
                             ("to C++, 21 of its 126 layers", "--emit=cpp", *FEWER_LAYERS),
                             ("to a program",), ("the same again, unchanged",)]:
        keep_cache = "again" in what
        times, memory = zip(*(timer.compile(str(LARGE), *arguments, keep_cache=keep_cache)
                              for _ in range(timer.rounds)))
        print_row(what, times, f"{max(memory) / 1e6:.0f} MB")


def time_starts(timer: CommandTimer) -> None:
    print("from the start of a program until its first step begins")
    for name, case in CASES.items():
        program = timer.folder / name
        subprocess.run([timer.titanc, "build", case.program, "-o", program], check=True,
                       env=timer.environment(), stderr=subprocess.DEVNULL)
        print_row(name, [timer.start([program]) for _ in range(timer.rounds)])
        command = [timer.titanc, "run", case.program, "--"]
        print_row(f"{name}, by `titanc run`, unchanged", [timer.start(command) for _ in range(timer.rounds)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titanc", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        timer = CommandTimer(arguments.titanc, Path(folder), arguments.rounds)
        time_compiling(timer)
        time_starts(timer)


if __name__ == "__main__":
    main()

"""Compilation and planning on large meshes: see bench/meshes."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cases import ROOT

PROGRAM = ROOT / "bench" / "programs" / "llama3_405b_meshes.titan"
RUNS = ("shard64_tp8", "shard2048_tp8", "pp16_shard4_tp8", "pp16_shard128_tp8", "pp4_cp16_tp8",
        "pp64_cp128_tp32", "pp2_shard8_cp2_tp2")
# The same axes on 512 and on 16,384 ranks, whose processor times differ by less than this fraction.
PAIRS = (("shard64_tp8", "shard2048_tp8"), ("pp16_shard4_tp8", "pp16_shard128_tp8"))
LARGEST_DIFFERENCE = 0.2


class Timer:
    """Runs commands of titanc. By command: the least seconds by the clock, the least processor seconds, the most
    bytes, and the latest output."""

    def __init__(self, titanc: str, folder: Path):
        self.titanc, self.folder = titanc, folder
        self.seconds, self.processor, self.memory, self.output = {}, {}, {}, {}

    def run(self, key: tuple, *arguments: str) -> None:
        output = self.folder / "output"
        with open(output, "w") as out:
            begun = time.perf_counter()
            process = subprocess.Popen([self.titanc, *arguments], stdout=out, stderr=subprocess.PIPE, text=True)
            stderr = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begun
        if status:
            sys.exit(f"error: titanc {' '.join(arguments)}\n{stderr}")
        self.seconds[key] = min(self.seconds.get(key, seconds), seconds)
        spent = usage.ru_utime + usage.ru_stime
        self.processor[key] = min(self.processor.get(key, spent), spent)
        self.memory[key] = max(self.memory.get(key, 0), usage.ru_maxrss * 1024)
        self.output[key] = output.read_text()


def measure(timer: Timer, rounds: int) -> dict[str, int]:
    """Builds and plans all runs in turns, so other work disturbs all equally. Returns the lines of C++ by run."""
    source, lines = timer.folder / "program.cpp", {}
    for _ in range(rounds):
        for run in RUNS:
            select = (str(PROGRAM), "--train", run)
            timer.run((run, "build"), "build", *select, "--emit=cpp", "-o", str(source))
            timer.run((run, "info"), "info", *select, "--json", "--threads", "1")
            lines[run] = source.read_text().count("\n")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titanc", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=2.0)
    arguments = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        timer = Timer(arguments.titanc, Path(folder))
        lines = measure(timer, arguments.rounds)
    print("| mesh | ranks | to C++, s | of processors | MB | C++, lines | `titanc info`, s | of processors "
          "| memory of a rank, GB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for run in RUNS:
        build, info = (run, "build"), (run, "info")
        plan = json.loads(timer.output[info])
        print(f"| {run.replace('_', ', ')} | {plan['ranks']:,} | {timer.seconds[build]:.2f} | {timer.processor[build]:.2f} | "
              f"{timer.memory[build] / 1e6:.0f} | {lines[run]:,} | {timer.seconds[info]:.2f} | {timer.processor[info]:.2f} | "
              f"{plan['memory']['total'] / 1e9:.1f} |")
        faults += [f"{run}: {what} takes {timer.seconds[key]:.2f} s" for what, key in
                   (("compilation", build), ("planning", info)) if timer.seconds[key] > arguments.limit]
    for small, large in PAIRS:  # by processor times, which other programs disturb less
        difference = abs(timer.processor[large, "build"] / timer.processor[small, "build"] - 1)
        print(f"\n{small} and {large}: {difference:.0%} apart")
        if difference >= LARGEST_DIFFERENCE:
            faults.append(f"{small} and {large} differ by {difference:.0%}")
    if faults:
        sys.exit("\n".join(["error: beyond the limits", *faults]))


if __name__ == "__main__":
    main()

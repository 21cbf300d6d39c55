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
# The same axes on 512 and on 16,384 ranks.
PAIRS = (("shard64_tp8", "shard2048_tp8"), ("pp16_shard4_tp8", "pp16_shard128_tp8"))
DIFFERENCE = 0.2


class Timer:
    def __init__(self, titanc: str, folder: Path, rounds: int):
        self.titanc, self.folder, self.rounds = titanc, folder, rounds

    def measure(self, *arguments: str) -> tuple[float, float, int, str]:
        """The least seconds, and those of processors, the largest memory in bytes, and the output."""
        seconds, processor, memory, output = [], [], 0, self.folder / "output"
        for _ in range(self.rounds):
            with open(output, "w") as out:
                begun = time.perf_counter()
                process = subprocess.Popen([self.titanc, *arguments], stdout=out,
                                           stderr=subprocess.PIPE, text=True)
                said = process.stderr.read()
                _, status, usage = os.wait4(process.pid, 0)
                seconds.append(time.perf_counter() - begun)
                processor.append(usage.ru_utime + usage.ru_stime)
            if status:
                sys.exit(f"error: titanc {' '.join(arguments)}\n{said}")
            memory = max(memory, usage.ru_maxrss * 1024)
        return min(seconds), min(processor), memory, output.read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titanc", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=2.0)
    arguments = parser.parse_args()
    faults, times = [], {}  # times: of processors, which other programs disturb less
    print("| mesh | ranks | to C++, s | of processors | MB | C++, lines | `titanc info`, s | of processors "
          "| memory of a rank, GB |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        timer = Timer(arguments.titanc, Path(folder), arguments.rounds)
        source = Path(folder) / "program.cpp"
        for run in RUNS:
            select = (str(PROGRAM), "--train", run)
            compiling, times[run], memory, _ = timer.measure("build", *select, "--emit=cpp", "-o", str(source))
            planning, work, _, report = timer.measure("info", *select, "--json", "--threads", "1")
            plan = json.loads(report)
            lines = source.read_text().count("\n")
            print(f"| {run.replace('_', ', ')} | {plan['ranks']:,} | {compiling:.2f} | {times[run]:.2f} | "
                  f"{memory / 1e6:.0f} | {lines:,} | {planning:.2f} | {work:.2f} | "
                  f"{plan['memory']['total'] / 1e9:.1f} |", flush=True)
            faults += [f"{run}: {what} takes {seconds:.2f} s" for what, seconds in
                       (("compilation", compiling), ("planning", planning)) if seconds > arguments.limit]
    for small, large in PAIRS:
        difference = abs(times[large] / times[small] - 1)
        print(f"\n{small} and {large}: {difference:.0%} apart", flush=True)
        if difference >= DIFFERENCE:
            faults.append(f"{small} and {large} differ by {difference:.0%}")
    if faults:
        sys.exit("\n".join(["error: beyond the limits", *faults]))


if __name__ == "__main__":
    main()

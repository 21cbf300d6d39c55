"""Titan against PyTorch on the debug model: see bench/run.

Speed is counted from outside, the same way for all: a watcher notes when each step's line appears
and divides the tokens between the first counted step and the last by the time between them.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "bench" / "peer.py"
PROGRAM = ROOT / "examples" / "llama3_debug.titan"
WARMUP = 5  # steps that do not count: caches, threads, compilation


@dataclass
class Measured:
    """Of one kind: one number a run."""

    tokens_per_second: list[float] = field(default_factory=list)
    first_step: list[float] = field(default_factory=list)  # seconds from start to step 1's line
    memory: list[float] = field(default_factory=list)  # GiB, the process's peak
    losses: list[float] = field(default_factory=list)  # of the last step


class Watcher(threading.Thread):
    """Notes when each line of a growing file appears, to a few milliseconds."""

    def __init__(self, file: Path):
        super().__init__(daemon=True)
        self.file, self.done = file, threading.Event()
        self.times, self.lines = [], []

    def run(self):
        while not self.done.is_set():
            self.look()
            time.sleep(0.005)
        self.look()

    def look(self):
        if not self.file.exists():
            return
        lines = [l for l in self.file.read_text().splitlines(keepends=True) if l.endswith("\n")]
        for line in lines[len(self.times):]:
            self.times.append(time.perf_counter())
            self.lines.append(json.loads(line))


def run_once(command: list[str], metrics: Path, threads: int, tokens: int, result: Measured):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    watcher = Watcher(metrics)
    watcher.start()
    begun = time.perf_counter()
    # The peer prints its rows, Titan writes them: the peer's output goes where Titan's file is.
    output = metrics if str(PEER) in command else metrics.parent / "output"
    with open(output, "w") as out, open(metrics.parent / "errors", "w") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    watcher.done.set()
    watcher.join()
    if status != 0 or len(watcher.times) <= WARMUP + 1:
        sys.exit(f"error: {' '.join(command)} ended with {os.waitstatus_to_exitcode(status)} after "
                 f"{len(watcher.times)} steps; its output is in {metrics.parent}")
    counted = watcher.times[WARMUP:]
    result.tokens_per_second.append(tokens * (len(counted) - 1) / (counted[-1] - counted[0]))
    result.first_step.append(watcher.times[0] - begun)
    result.memory.append(usage.ru_maxrss / 2**20)
    result.losses.append(watcher.lines[-1]["loss"])


def table(results: dict[str, Measured]) -> str:
    others = [k for k in results if k != "titan"]
    head = f"{'':9}{'tokens/s':>10}{'(lowest - highest)':>22}"
    head += "".join(f"{'/ ' + k:>11}" for k in others)
    lines = [head + f"{'first step':>13}{'memory':>11}{'loss':>9}"]
    medians = {k: statistics.median(r.tokens_per_second) for k, r in results.items()}
    for kind, r in results.items():
        spread = f"({min(r.tokens_per_second):,.0f} - {max(r.tokens_per_second):,.0f})"
        line = f"{kind:9}{medians[kind]:10,.0f}{spread:>22}"
        line += "".join(f"{medians[kind] / medians[k]:11.2f}" for k in others)
        line += f"{statistics.median(r.first_step):11.1f} s"
        lines.append(line + f"{statistics.median(r.memory):7.2f} GiB{r.losses[-1]:9.4f}")
    return "\n".join(lines)


def build(titanc: str, folder: Path) -> Path:
    program = folder / "llama3_debug"
    subprocess.run([titanc, "build", str(PROGRAM), "-o", str(program)], check=True)
    return program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--titanc", default=str(ROOT / "build" / "bin" / "titanc"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kinds", default="titan,eager,compile")
    parser.add_argument("--data", type=Path, help="a text; without it Debian's bible-kjv")
    a = parser.parse_args()
    folder = ROOT / "out" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    if not a.data:
        a.data = folder / "text.txt"
        a.data.write_bytes(subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True,
                                          capture_output=True).stdout)
    kinds = a.kinds.split(",")
    program = build(a.titanc, folder) if "titan" in kinds else None
    results = {kind: Measured() for kind in kinds}
    for turn in range(a.rounds):
        for kind in kinds:
            run_folder = folder / f"{kind}-{turn}"
            shutil.rmtree(run_folder, ignore_errors=True)
            run_folder.mkdir()
            metrics = run_folder / "metrics.jsonl"
            if kind == "titan":
                command = [str(program), "--data", str(a.data), "--steps", str(a.steps),
                           "--out", str(run_folder), "--log-every", "1"]
            else:
                command = [sys.executable, str(PEER), kind, "--data", str(a.data),
                           "--steps", str(a.steps), "--threads", str(a.threads)]
            run_once(command, metrics, a.threads, 8 * 256, results[kind])
            print(f"  round {turn + 1}: {kind:8} {results[kind].tokens_per_second[-1]:8,.0f} "
                  "tokens/s", flush=True)
    print(f"\n8 x 256 tokens a step, {a.threads} threads, {a.rounds} runs of {a.steps} steps each, "
          f"the first {WARMUP} not counted\n")
    print(table(results))


if __name__ == "__main__":
    main()

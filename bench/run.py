"""Titan compared with PyTorch: see bench/run.

Speed is measured from outside, in the same way for all programs: by the time at which each step's line appears, on a
clock that stops while other programs run (contender.py).
"""

import argparse
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cases import CASES, ROOT
from contender import Contender, end_by_exception, take_turns

PEER = ROOT / "bench" / "peers" / "train.py"
WARMUP = 5  # warm-up steps: caches, threads, compilation


@dataclass
class Measured:
    """Of one kind: one number per run."""

    tokens_per_second: list[float] = field(default_factory=list)
    first_step: list[float] = field(default_factory=list)  # seconds from start to step 1's line
    memory: list[float] = field(default_factory=list)  # GiB, the process's peak
    losses: list[float] = field(default_factory=list)  # of the last step


def record(contender: Contender, tokens: int, result: Measured) -> None:
    counted = contender.times[WARMUP - 1:]
    result.tokens_per_second.append(tokens * (len(counted) - 1) / (counted[-1] - counted[0]))
    result.first_step.append(contender.times[0])
    result.memory.append(contender.usage.ru_maxrss / 2**20)
    result.losses.append(contender.rows[-1]["loss"])


def format_table(results: dict[str, Measured]) -> str:
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


def make_data(folder: Path) -> Path:
    data = folder / "text.txt"
    if not data.exists():
        text = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], check=True, capture_output=True)
        data.write_bytes(text.stdout)
    return data


def build(titanc: str, case: str, dtype: str, folder: Path, data: Path) -> None:
    """Builds the case's program for the text `data`, because the program's folder does not contain the file it names."""
    options = ["--set", f'data.path="{data.resolve()}"']
    options += ["--set", f"precision.compute={dtype}"] if dtype != "f32" else []
    subprocess.run([titanc, "build", "-Werror", str(CASES[case].program), *options, "-o",
                    str(folder / f"{case}-{dtype}")], check=True)


def make_command(kind: str, case: str, dtype: str, run_folder: Path, a) -> list[str]:
    if kind == "titan":
        return [str(a.folder / f"{case}-{dtype}"), "--steps", str(a.steps), "--out", str(run_folder),
                "--log-every", "1"]
    return [sys.executable, str(PEER), kind, case, "--data", str(a.data), "--steps", str(a.steps),
            "--threads", str(a.threads), "--dtype", dtype]


def start(kind: str, case: str, dtype: str, turn: int, a) -> Contender:
    run_folder = a.folder / f"{case}-{dtype}-{kind}-{turn}"
    shutil.rmtree(run_folder, ignore_errors=True)
    run_folder.mkdir()
    # PyTorch's program prints its rows, Titan's writes them to a file.
    return Contender(make_command(kind, case, dtype, run_folder, a), run_folder / "metrics.jsonl",
                     a.threads, prints_metrics=kind != "titan")


def measure(case: str, dtype: str, kinds: list[str], a) -> dict[str, Measured]:
    """All kinds in turn, so that changes of the machine affect all of them."""
    if "titan" in kinds:
        build(a.titanc, case, dtype, a.folder, a.data)
    results = {kind: Measured() for kind in kinds}
    for turn in range(a.rounds):
        starts = [partial(start, kind, case, dtype, turn, a) for kind in kinds]
        for kind, contender in zip(kinds, take_turns(starts, WARMUP, a.steps), strict=True):
            record(contender, CASES[case].tokens, results[kind])
            (contender.metrics.parent / "model.safetensors").unlink(missing_ok=True)  # half a gigabyte
            print(f"  {case} {dtype}, round {turn + 1}: {kind:8} "
                  f"{results[kind].tokens_per_second[-1]:8,.0f} tokens/s", flush=True)
    return results


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--titanc", default=str(ROOT / "build" / "bin" / "titanc"))
    parser.add_argument("--cases", default="debug", help=f"of {','.join(CASES)}, or all")
    parser.add_argument("--dtypes", default="f32", help="of f32,bf16")
    parser.add_argument("--kinds", default="titan,eager,compile")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, help="a text; without it Debian's bible-kjv")
    a = parser.parse_args()
    if a.steps <= WARMUP:
        parser.error(f"the first {WARMUP} steps do not count: --steps must be more")
    a.cases = list(CASES) if a.cases == "all" else a.cases.split(",")
    for case in a.cases:
        if case not in CASES:
            parser.error(f"there is no case {case}; the cases are {', '.join(CASES)}")
    return a


def main() -> None:
    end_by_exception()
    a = parse_arguments()
    a.folder = ROOT / "out" / "bench"
    a.folder.mkdir(parents=True, exist_ok=True)
    a.data = a.data or make_data(a.folder)
    tables = []
    for case in a.cases:
        for dtype in a.dtypes.split(","):
            results = measure(case, dtype, a.kinds.split(","), a)
            tables.append(f"\n{case}, {dtype}: {CASES[case].batch} x {CASES[case].seq} tokens a step\n"
                          + format_table(results))
    print(f"\n{a.threads} threads, {a.rounds} runs of {a.steps} steps each, the first {WARMUP} "
          "not counted")
    print("\n".join(tables))


if __name__ == "__main__":
    main()

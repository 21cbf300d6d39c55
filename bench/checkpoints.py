"""What checkpoints cost: see bench/checkpoints.

A step is measured from one row of metrics.jsonl to the next. A save begins after a row, so the next step contains what
training waits for. A save ends when its directory gets its name.
"""

import argparse
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from cases import CASES, ROOT
from run import WARMUP, build, make_data

POLL_SECONDS = 0.002


@dataclass
class Steps:
    """Seconds, by the state of the checkpoint."""

    free: list[float] = field(default_factory=list)  # none is being saved
    first: list[float] = field(default_factory=list)  # begins with a save
    beside: list[float] = field(default_factory=list)  # a save is going on
    saves: list[float] = field(default_factory=list)  # from the row to the name of the directory


def observe(command: list, out: Path) -> tuple[list[float], dict[int, float]]:
    """The times at which rows and checkpoints appeared."""
    rows, saved = [], {}
    with open(out.parent / "output", "w") as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output)
        while process.poll() is None:
            now = time.perf_counter()
            if (out / "metrics.jsonl").exists():
                count = (out / "metrics.jsonl").read_bytes().count(b"\n")
                rows += [now] * (count - len(rows))
            for path in (out / "checkpoints").glob("step-*"):
                if path.suffix != ".partial":
                    saved.setdefault(int(path.name[5:]), now)
            time.sleep(POLL_SECONDS)
    if process.returncode:
        raise SystemExit(f"error: status {process.returncode}; see {out.parent / 'output'}")
    return rows, saved


def classify(rows: list[float], saved: dict[int, float], every: int, steps: Steps) -> None:
    """The first steps and those after the last save do not count."""
    for row in range(WARMUP, len(rows) // every * every):
        begin, seconds = rows[row - 1], rows[row] - rows[row - 1]  # of step row + 1
        latest = row // every * every
        if row % every == 0:
            steps.first.append(seconds)
            steps.saves.append(saved[row] - begin)
        elif latest > 0 and saved[latest] > begin:
            steps.beside.append(seconds)
        else:
            steps.free.append(seconds)


def measure(case: str, mode: str, a) -> Steps:
    steps = Steps()
    for _ in range(a.rounds):
        out = a.folder / "checkpoints" / f"{case}-{mode}"
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        command = [a.folder / f"{case}-f32", "--steps", a.steps, "--out", out, "--log-every", 1, "--set",
                   f"checkpoint.every={a.every}", "--set", "checkpoint.keep=1", "--set", f"checkpoint.mode={mode}"]
        rows, saved = observe(command, out)
        classify(rows, saved, a.every, steps)
        shutil.rmtree(out)
    return steps


def describe(case: str, mode: str, steps: Steps) -> str:
    free = statistics.median(steps.free)
    waited = statistics.median(steps.first) - free
    beside = f"{statistics.median(steps.beside) / free:8.3f} ({len(steps.beside)})" if steps.beside else f"{'':12}"
    return (f"{case:8}{mode:7}{free * 1e3:9.1f} ms{waited * 1e3:9.1f} ms{100 * waited / free:8.1f} %{beside:>16}"
            f"{statistics.median(steps.saves):9.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--titanc", default=str(ROOT / "build" / "bin" / "titanc"))
    parser.add_argument("--cases", default="debug,gpt2", help=f"of {','.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--every", type=int, default=15)
    parser.add_argument("--data", type=Path, help="a text; without it Debian's bible-kjv")
    a = parser.parse_args()
    a.folder = ROOT / "out" / "bench"
    a.folder.mkdir(parents=True, exist_ok=True)
    a.data = a.data or make_data(a.folder)
    lines = [f"{'':15}{'step':>12}{'waits':>12}{'':10}{'beside':>16}{'save':>11}"]
    for case in a.cases.split(","):
        build(a.titanc, case, "f32", a.folder, a.data)
        lines += [describe(case, mode, measure(case, mode, a)) for mode in ("sync", "async")]
    print("\n".join(lines))


if __name__ == "__main__":
    main()

"""Training with and without overlap of communication: see bench/overlap."""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from network import Network

ROOT = Path(__file__).resolve().parents[1]
KINDS = {"beside": "always", "in turn": "never"}  # how communication runs: values of the setting
# What is communicated: the program of bench/programs, and the setting that lets its communication overlap.
CASES = {"parameters": ("overlap", "sharding.overlap"), "activations": ("products", "sharding.chunk_products")}
WARMUP = 3  # warm-up steps
PORT = 29765
OPERATIONS, LOOP, COMMUNICATION = range(3)  # threads of a profile; from COMMUNICATION on, one per process group
BLOCKING = {"wait", "all_gather", "all_reduce", "reduce_scatter", "all_to_all"}


@dataclass
class Measured:
    """Of one kind: one number per run."""

    step: list[float] = field(default_factory=list)  # median seconds of a step
    communicated: list[float] = field(default_factory=list)  # seconds of communication per step
    hidden: list[float] = field(default_factory=list)  # the fraction of it in which the program continued
    losses: set[float] = field(default_factory=set)  # of the last step


def merge_spans(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Disjoint, sorted spans with the same union."""
    joined: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def add_lengths(spans: list[tuple[float, float]]) -> float:
    return sum(end - begin for begin, end in spans)


def measure_overlap(a: list[tuple[float, float]], b: list[tuple[float, float]]) -> float:
    """The total length of the intersection of two lists of disjoint, sorted spans."""
    total, i, j = 0.0, 0, 0
    while i < len(a) and j < len(b):
        total += max(0.0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        i, j = (i + 1, j) if a[i][1] < b[j][1] else (i, j + 1)
    return total


def analyse_profile(profile: Path, steps: int) -> tuple[float, float]:
    """Seconds of communication per step, and the fraction of it in which the program continued: it neither waited
    nor executed a collective itself."""
    events = [e for e in json.loads(profile.read_text())["traceEvents"] if e["ph"] == "X"]
    spans = lambda chosen: [(e["ts"], e["ts"] + e["dur"]) for e in chosen]
    blocked = [e for e in events if e["tid"] == OPERATIONS and e["name"].split()[-1] in BLOCKING]
    asynchronous = [e for e in events if e["tid"] >= COMMUNICATION]
    started = {(e["name"], e["args"]["started"]) for e in asynchronous}
    # A collective that was started at a time within the span of the operation runs in another thread.
    synchronous = [e for e in blocked if not e["name"].endswith(" wait") and not any(
        e["name"] == name and e["ts"] <= at <= e["ts"] + e["dur"] for name, at in started)]
    communicating = merge_spans(spans(asynchronous + synchronous))
    total = add_lengths(communicating)
    return total / steps / 1e6, 1 - measure_overlap(communicating, merge_spans(spans(blocked))) / total


def run_once(exe: Path, network: Network, text: Path, out: Path, steps: int, extra=()) -> None:
    shutil.rmtree(out, ignore_errors=True)
    command = [exe, "--data", text, "--out", out, "--steps", 1000, "--stop-at", steps, "--resume",
               "none", "--log-every", 1, *extra]
    processes = []
    for rank in range(2):
        variables = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
                     "MASTER_ADDR": network.ADDRESSES[0], "MASTER_PORT": str(PORT),
                     "TITAN_COMM": "gloo", "GLOO_SOCKET_IFNAME": network.INTERFACE,
                     "TITAN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        processes.append(subprocess.Popen(
            [*network.inside(rank), *map(str, command)], env={**os.environ, **variables}, text=True,
            errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    try:
        outputs = [process.communicate(timeout=600)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()  # no effect on a process that has ended
    for process, output in zip(processes, outputs):
        if process.returncode:
            sys.exit(f"error: exit status {process.returncode}: {output[-2000:]}")


def measure(exe: Path, network: Network, text: Path, out: Path, steps: int, result: Measured):
    run_once(exe, network, text, out, steps)
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    times = [row["time"] for row in rows]
    counted = [after - before for before, after in zip(times[WARMUP:], times[WARMUP + 1:])]
    result.step.append(statistics.median(counted))
    result.losses.add(rows[-1]["loss"])
    run_once(exe, network, text, out, 2 + 4, ["--profile=3"])  # a profile begins after two steps
    ranks = [analyse_profile(out / f"profile/rank-{rank}.json", 3) for rank in range(2)]
    result.communicated.append(statistics.mean(seconds for seconds, _ in ranks))
    result.hidden.append(statistics.mean(hidden for _, hidden in ranks))


def print_row(rate: str, kind: str, result: Measured, base: float) -> None:
    step = statistics.median(result.step)
    spread = f"{1e3 * min(result.step):.0f} to {1e3 * max(result.step):.0f}"
    print(f"| {rate} | {kind} | {1e3 * step:.0f} ms ({spread}) | {base / step:.2f} | "
          f"{1e3 * statistics.median(result.communicated):.0f} ms | "
          f"{100 * statistics.median(result.hidden):.0f} % |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titanc", type=Path, required=True)
    parser.add_argument("--case", choices=CASES, default="parameters", help="what is communicated")
    parser.add_argument("--rates", default="1gbit,400mbit", help="as tc writes them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: stopped"))  # removes the network
    out = ROOT / "out" / "overlap"
    out.mkdir(parents=True, exist_ok=True)
    text = out / "text"
    text.write_text("In the beginning was the word, and the word was with us. " * 2000)
    programs = {}
    program, setting = CASES[arguments.case]
    for kind, value in KINDS.items():
        programs[kind] = out / f"{program}-{value}"
        settings = [f"{setting}={value}", f'data.path="{text}"', *arguments.set]
        subprocess.run([arguments.titanc, "build", ROOT / "bench" / "programs" / f"{program}.titan", "-o", programs[kind],
                        *(word for each in settings for word in ("--set", each))], check=True)
    print("| rate | communication | step (least to most) | faster | communicated a step | hidden |\n"
          "|---|---|---|---|---|---|")
    for rate in arguments.rates.split(","):
        results = {kind: Measured() for kind in KINDS}
        with Network(rate) as network:
            for _ in range(arguments.rounds):
                for kind, result in results.items():
                    measure(programs[kind], network, text, out / "run", arguments.steps, result)
        if len(set.union(*(result.losses for result in results.values()))) > 1:
            sys.exit("error: the losses with and without overlap differ")
        for kind, result in results.items():
            print_row(rate, kind, result, statistics.median(results["in turn"].step))


if __name__ == "__main__":
    main()

"""Compares the memory plan of titanc info with the memory that a run uses.

    run.py [--all] [-v]

Trains GPT-2 with 124 M parameters (more than 1 GiB per rank) for a few steps in several configurations: one process
on two threads that saves a checkpoint; one that resumes from it; two processes with tensors stored in shards; with
--all, two processes with a pipeline stage each, whose memory differs, and one process in bf16 if the CPU supports it.

The memory of loaded libraries is measured by empty.titan: its maximum resident memory (wait4) minus its plan. The
maximum resident memory of GPT-2 without these libraries must be within 2 % of its plan. The plan's figure for
libraries must be within 10 % of the measured one, on one process and on two.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))
from titan import (ROOT, TITANC, Failed, Report, build, call, precision, require_titanc,
                   write_text)

OUT = ROOT / "out" / "memory"
EMPTY = Path(__file__).resolve().parent / "empty.titan"
MODEL = ROOT / "bench" / "programs" / "gpt2_124m.titan"
STAGES = Path(__file__).resolve().parent / "stages.titan"
SIZES = ["data.batch=2", "data.seq=256"]
STAGED = ["data.batch=8", "data.seq=256"]  # so that the smaller stage, too, exceeds LARGE
LARGE = 2**30  # bytes of the smallest plan that is judged
ALLOWED = 0.02  # deviation from the plan, relative


def observe(command: list, processes: int, threads: int) -> list[int]:
    """The maximum resident bytes of each process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = []
    for rank in range(processes):
        rank_environment = {"RANK": str(rank), "WORLD_SIZE": str(processes), "LOCAL_RANK": str(rank),
                            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)} if processes > 1 else {}
        with open(OUT / f"output-{rank}", "w") as file:
            ranks.append(subprocess.Popen(
                list(map(str, command)), stdout=file, stderr=subprocess.STDOUT,
                env={**os.environ, "TITAN_NUM_THREADS": str(threads), **rank_environment}))
    most = []
    for rank, process in enumerate(ranks):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failed(f"rank {rank} ended with {process.returncode}: "
                         + (OUT / f"output-{rank}").read_text()[-2000:])
        most.append(usage.ru_maxrss * 1024)
    return most


def plan(program: Path, dtype: str, sizes: list[str], processes: int, threads: int) -> dict:
    settings = [word for size in sizes for word in ("--set", size)]
    output = call([TITANC, "info", program, "--json", "--nproc", processes, "--threads", threads,
                 *precision(dtype), *settings])
    return json.loads(output)["memory"]


def training(exe: Path, text: Path, out: str) -> list:
    return [exe, "--data", text, "--out", OUT / out, "--log-every", 1]


class Observations:
    """The measured memory of libraries, and comparisons of plans with measured memory."""

    def __init__(self):
        self.text = write_text(OUT / "text.txt", 50_000)
        self.models = {}
        empty = build(EMPTY, "empty", "float32", OUT / "empty")
        # The plan's figure -> measured bytes. The figures differ: one process loads fewer libraries than several.
        self.libraries = {}
        for n in (1, 2):
            planned = plan(EMPTY, "float32", [], n, 1)
            seen = max(observe(training(empty, self.text, f"empty-{n}"), n, 1))
            self.libraries[planned["libraries"]] = seen - planned["total"]

    def model(self, dtype: str) -> Path:
        if dtype not in self.models:
            self.models[dtype] = build(MODEL, "bench", dtype, OUT / dtype, SIZES)
        return self.models[dtype]

    def try_run(self, processes: int, threads: int, extra: list, out: str, dtype: str = "float32"):
        memory = plan(MODEL, dtype, SIZES, processes, threads)
        planned, libraries = memory["total"], self.libraries[memory["libraries"]]
        seen = max(observe([*training(self.model(dtype), self.text, out), *extra], processes, threads))
        return self.judge(planned, seen, libraries)

    def try_stages(self):
        memory = plan(STAGES, "float32", STAGED, 2, 1)
        exe = build(STAGES, "staged", "float32", OUT / "staged", STAGED)
        seen = observe([*training(exe, self.text, "stages"), "--steps", 2], 2, 1)
        verdicts = [self.judge(stage["total"], most, self.libraries[memory["libraries"]])
                    for stage, most in zip(memory["stages"], seen, strict=True)]
        return all(good for good, _ in verdicts), "\n".join(details for _, details in verdicts)

    def judge(self, planned: int, seen: int, libraries: int):
        off = (seen - libraries - planned) / planned
        details = (f"    planned {planned:,}, observed {seen:,} of which libraries {libraries:,}: "
                   f"{off:+.2%}")
        return planned >= LARGE and abs(off) <= ALLOWED, details

    def try_libraries(self):
        good = all(abs(seen - stated) <= 0.1 * stated for stated, seen in self.libraries.items())
        return good and len(self.libraries) == 2, f"    stated and observed: {self.libraries}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="stages and bf16, too")
    parser.add_argument("-v", action="store_true", help="show the figures")
    arguments = parser.parse_args()
    require_titanc()
    shutil.rmtree(OUT, ignore_errors=True)
    seen = Observations()
    report = Report()
    report.case("loaded libraries", seen.try_libraries)
    saving = ["--steps", 3, "--set", "checkpoint.every=2"]
    report.case("one process, which saves a checkpoint",
                lambda: seen.try_run(1, 2, [*saving, "--stop-at", 2], "one"))
    report.case("one process that resumes", lambda: seen.try_run(1, 2, saving, "one"))
    report.case("two processes", lambda: seen.try_run(2, 1, ["--steps", 2], "two"))
    if arguments.all:
        report.case("two stages", seen.try_stages)
    if arguments.all and "avx512_bf16" in Path("/proc/cpuinfo").read_text():
        report.case("one process, in bf16",
                    lambda: seen.try_run(1, 2, ["--steps", 2], "narrow", "bfloat16"))
    shutil.rmtree(OUT, ignore_errors=True)  # gigabytes
    report.end()


if __name__ == "__main__":
    main()

"""Compares the costs that `titanc info` plans with closed forms.

    run.py [--all [--update]] [--match TEXT] [-v] [--seed N]

Each row of rows.py is a model on a map. closed.py computes from published sizes and from papers what a rank stores,
sends and computes; titanc only plans, nothing runs. What is stored must agree within 5 %, peaks and bytes sent within
10 %. A deviation needs a reason in its row (`reasons`), or is a known fault (known.py). Where a known fault no longer
shows, the test fails as well, so that its entry is removed.

Without --all, a seeded sample of the rows. With --all, the tables of docs/costs.md must be current; --update writes
them.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from closed import Closed
from families import count_parameters, get_family, get_module
from known import KNOWN, find_known
from page import update_page
from rows import ROWS

ROOT = HERE.parents[1]
TITANC = Path(os.environ.get("TITAN_BUILD", ROOT / "build")) / "bin" / "titanc"
STORED, SENT, PEAK, FLOPS = 0.05, 0.10, 0.10, 0.10
SAMPLE = 24
LEAST = 0.02  # share of a row's bytes below which a kind of collective is not compared


@dataclass
class Comparison:
    quantity: str
    closed: float
    plan: float
    tolerance: float

    def deviation(self) -> float:
        return (self.plan - self.closed) / self.closed if self.closed else (float("inf") if self.plan else 0.0)

    def agrees(self) -> bool:
        return abs(self.deviation()) <= self.tolerance


def run_titanc(row) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "row.titan"
        program.write_text(row.text(get_module(row.model)))
        done = subprocess.run([TITANC, "info", program, "--train", "r", "--json", "--target", "cuda"],
                              capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{row.name}: titanc refuses the row:\n{done.stderr}{program}")
    return json.loads(done.stdout)


def collect_sent(uses) -> dict:
    """(axes, kind) -> bytes of a step. The sub-axes of a divided axis count as the axis."""
    sent = {}
    for use in uses:
        axes = []
        for axis in (name.split(".")[0] for name in use["axes"]):
            if axis not in axes:
                axes.append(axis)
        where = ",".join(axes), use["kind"]
        sent[where] = sent.get(where, 0) + use["times"] * use["bytes_sent"]
    return sent


def compare_stored(row, closed, plan):
    memory = plan["memory"]
    family = closed.family
    yield Comparison("parameters", count_parameters(family), plan["parameters"]["total"], 0)
    if row.stages:
        for rank, stage in enumerate(memory["stages"]):
            yield Comparison(f"bytes of parameters, rank {rank}", closed.parameters(rank), stage["parameters"], STORED)
            yield Comparison(f"optimizer, rank {rank}", closed.optimizer(rank), stage["optimizer"], STORED)
            if closed.in_flight(rank):
                yield Comparison(f"stashes, rank {rank}", closed.stashes(rank), stage["stashes"], STORED)
        return
    host = memory["host"]
    yield Comparison("bytes of parameters", closed.parameters(),
                     memory["parameters"] + ("params" in row.offload) * (host - ("optimizer" in row.offload)
                                                                         * closed.optimizer()), STORED)
    yield Comparison("optimizer", closed.optimizer(),
                     memory["optimizer"] + ("optimizer" in row.offload) * (host - ("params" in row.offload)
                                                                           * closed.parameters()), STORED)
    if not memory["uncached"]:
        yield Comparison("caches", closed.caches(), memory["caches"], STORED)


def compare_sent(row, closed, plan):
    ranks = [each["collectives"] for each in plan["traffic"]] if row.stages else [plan["collectives"]]
    for rank, uses in enumerate(ranks):
        expected, sent = closed.traffic(rank), collect_sent(uses)
        total = sum(expected.values())
        for where in sorted({*expected, *sent}):
            if max(expected.get(where, 0), sent.get(where, 0)) >= LEAST * total:
                suffix = f", rank {rank}" if row.stages else ""
                yield Comparison(f"{where[1]} over {where[0]}{suffix}", expected.get(where, 0), sent.get(where, 0), SENT)


@dataclass
class Result:
    row: object
    closed: Closed
    plan: dict
    comparisons: list


def compare(row) -> Result:
    closed, plan = Closed(row, get_family(row.model)), run_titanc(row)
    comparisons = [*compare_stored(row, closed, plan),
                   Comparison("operations per token", closed.flops(), plan["flops_per_token"], FLOPS)]
    comparisons += compare_peaks(row, closed, plan)
    comparisons += compare_sent(row, closed, plan)
    return Result(row, closed, plan, comparisons)


def compare_peaks(row, closed, plan):
    """Without the workspaces of libraries, which are measured, not derived, and without packed messages, whose bytes
    processes.py compares with those of runs."""
    memory = plan["memory"]
    workspace = memory["flash_attention"] + memory["products"]
    if not row.stages:
        train = next(program for program in memory["programs"] if program["name"] == "train")
        yield Comparison("residuals", closed.residuals(), train["residuals"], STORED)
        yield Comparison("peak", closed.peak(), memory["total"] - memory["packing"] - workspace, PEAK)
        return
    for rank, stage in enumerate(memory["stages"]):
        if closed.in_flight(rank) and rank not in (0, len(memory["stages"]) - 1):  # without table and head
            yield Comparison(f"peak, rank {rank}", closed.peak_of_rank(rank), stage["total"] - stage["packing"] - workspace,
                             PEAK)


def find_reason(row, quantity):
    return next((why for what, why in row.reasons.items() if quantity.startswith(what)), None)


def judge(row, comparison):
    """(verdict, whether the test passes)."""
    if comparison.agrees():
        return "agrees", True
    if fault := find_known(row.name, comparison.quantity):
        return f"known fault {fault.number}", True
    reason = find_reason(row, comparison.quantity)
    return (f"because {reason}", True) if reason else ("DEVIATES", False)


def find_mended(row, comparisons) -> list:
    """The known faults that the row no longer has, and reasons that explain nothing."""
    deviating = [one.quantity for one in comparisons if not one.agrees()]
    faults = [fault for fault in KNOWN
              if any(fault.covers(row.name, one.quantity) for one in comparisons)
              and not any(fault.covers(row.name, quantity) for quantity in deviating)]
    idle = [what for what in row.reasons if not any(quantity.startswith(what) for quantity in deviating)]
    return ([f"    {fault.number} no longer holds here: remove the row from known.py" for fault in faults]
            + [f"    `{what}` agrees: remove its reason from rows.py" for what in idle])


def show(result, verbose) -> int:
    """Prints a row; returns its number of failures."""
    row = result.row
    mended = find_mended(row, result.comparisons)
    failures, lines = len(mended), mended
    for one in result.comparisons:
        verdict, good = judge(row, one)
        failures += not good
        if verbose or not good:
            lines.append(f"    {one.quantity}: closed form {one.closed:,.0f}, plan {one.plan:,.0f} "
                         f"({one.deviation():+.1%}), {verdict}")
    print(("ok   " if not failures else "FAIL ") + row.name, *lines, sep="\n", flush=True)
    return failures


def choose(arguments) -> list:
    rows = [row for row in ROWS if arguments.match in row.name]
    if arguments.all or arguments.match or len(rows) <= SAMPLE:
        return rows
    chosen = random.Random(arguments.seed).sample(range(len(rows)), SAMPLE)
    return [rows[at] for at in sorted(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="all rows instead of a sample")
    parser.add_argument("--match", default="", help="only rows whose name contains this text")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("-v", action="store_true", help="show all figures")
    parser.add_argument("--update", action="store_true", help="write the tables of docs/costs.md")
    arguments = parser.parse_args()
    if len({row.name for row in ROWS}) != len(ROWS):
        raise SystemExit("two rows have one name")
    rows = choose(arguments)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compare, rows))
    failed = sum(1 for result in results if show(result, arguments.v))
    print(f"{len(rows) - failed} of {len(rows)} rows passed, {sum(len(one.comparisons) for one in results)} figures "
          f"compared (seed {arguments.seed})")
    is_current = not arguments.all or arguments.match or update_page(results, arguments.update)
    sys.exit(0 if not failed and is_current else 1)


if __name__ == "__main__":
    main()

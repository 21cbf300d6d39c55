"""Compares the plans of small programs with what they do as processes, over sockets.

    processes.py [--all] [-v] [--keep] [NAME...]

Each row of small.py is compiled, planned by `titanc info`, and trained for two steps with `--costs`, with one process
per rank. Exactly equal, on every rank:

    collectives    number and bytes of each kind over each axes, and the messages of a pipeline
    arena          its bytes
    touched        the bytes of its pages that the run accessed: within 2 % of the plan

The bytes of the sockets' messages are shown, and must not be fewer than those of the definition. A deviation needs a
reason in its row. Without --all, each commit tests three rows.
"""

import ctypes
import json
import shutil
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "parity")]

from small import ROWS
from titan import (QUICK, ROOT, TITANC, Report, call, environment_of, on_ranks, read_arguments, sample_by_commit,
                   write_text)

OUT = ROOT / "out" / "processes"
STEPS = 2
TOUCHED = 0.02  # deviation from the plan, relative
SAMPLE = 3
PR_SET_THP_DISABLE = 41  # huge pages would be touched whole


def plan_of(row, program: Path) -> dict:
    return json.loads(call([TITANC, "info", program, "--train", "r", "--json", "--nproc", row.ranks, "--threads", 1]))


def measure(row, program: Path, text: Path) -> list[dict]:
    """What each rank reports."""
    exe = program.with_suffix("")
    call([TITANC, "build", program, "--train", "r", "-o", exe, *QUICK])
    call(on_ranks(row.ranks, [exe, "--data", text, "--steps", STEPS, "--out", program.parent / "run", "--costs"]),
         env=environment_of({"TITAN_COMM": "gloo"}), timeout=300)
    return [json.loads((program.parent / "run" / "costs" / f"rank-{rank}.json").read_text())
            for rank in range(row.ranks)]


def position_in_pipeline(plan: dict, rank: int) -> int:
    """The coordinate of a rank along the axis `pp`; 0 without one."""
    axis = next((axis for axis in plan["mesh"]["axes"] if axis["name"] == "pp"), {"stride": 1, "degree": 1})
    return rank // axis["stride"] % axis["degree"]


def add_up(uses, times: int = 1) -> dict:
    """(kind, axes) -> [number, bytes]; without what sends nothing."""
    sums = {}
    for use in uses:
        if use["bytes_sent"]:
            entry = sums.setdefault((use["kind"], ", ".join(use["axes"])), [0, 0])
            entry[0] += times * use["times"]
            entry[1] += times * (use["times"] if "values" in use else 1) * use["bytes_sent"]
    return sums


def compare(row, plan: dict, rank: int, seen: dict):
    """(quantity, planned, measured, tolerance)."""
    at = position_in_pipeline(plan, rank)
    planned = add_up(plan["traffic"][at]["collectives"] if plan["traffic"] else plan["collectives"], STEPS)
    sent = add_up(seen["collectives"])
    for key in sorted({*planned, *sent}):
        kind, axes = key
        for what, index in (("number", 0), ("bytes", 1)):
            yield (f"{what} of {kind} over {axes}, rank {rank}", planned.get(key, [0, 0])[index],
                   sent.get(key, [0, 0])[index], 0)
    memory, arena = plan["memory"], seen["memory"]
    total = (memory["stages"][at] if memory["stages"] else memory)["total"] - memory["products"]
    yield f"arena, rank {rank}", total, arena["arena"] + arena["host"], 0
    yield f"touched, rank {rank}", total, arena["touched"], TOUCHED


def check(row, text: Path):
    folder = OUT / str(ROWS.index(row))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = folder / "row.titan"
    program.write_text(row.text())
    plan, lines, good, deviating = plan_of(row, program), [], True, set()
    for rank, seen in enumerate(measure(row, program, text)):
        for quantity, planned, measured, tolerance in compare(row, plan, rank, seen):
            agrees = abs(measured - planned) <= tolerance * planned
            reason = next((why for what, why in row.reasons.items() if quantity.startswith(what)), None)
            deviating |= set() if agrees else {what for what in row.reasons if quantity.startswith(what)}
            good &= agrees or reason is not None
            verdict = "agrees" if agrees else f"because {reason}" if reason else "DEVIATES"
            lines.append(f"    {quantity}: plan {planned:,}, measured {measured:,}, {verdict}")
        defined = sum(size for _, size in add_up(seen["collectives"]).values())
        lines.append(f"    rank {rank}: messages {seen['message_bytes']:,} for {defined:,} bytes; outside the arena, "
                     f"for communication {seen['memory']['communication']:,}")
    idle = [what for what in row.reasons if what not in deviating]
    lines += [f"    `{what}` agrees: remove its reason from small.py" for what in idle]
    return good and not idle, "\n".join(lines)


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true", help="all rows instead of three")


def main() -> None:
    arguments = read_arguments(__doc__, OUT, add_arguments)
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    text = write_text(OUT / "text.txt", 20_000)
    chosen = ROWS if arguments.all or arguments.names else sample_by_commit(ROWS, -(-len(ROWS) // SAMPLE))
    report = Report()
    report.cases([(row.name, partial(check, row, text)) for row in chosen], arguments.names, at_once=1)
    report.end()


if __name__ == "__main__":
    main()

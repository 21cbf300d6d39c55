"""Compares the plans of small programs with what they do as processes, over sockets.

    processes.py [--all [--update]] [-v] [NAME...]

Each row of small.py is compiled, planned by `titanc info`, and trained for two steps with `--costs`, with one process
per rank. On every rank:

    number, bytes  of each kind of collective over each axes, and of a pipeline's messages: exact
    messages       the bytes that sockets carry: within 1 % of what the collectives send by definition
    arena          its bytes: exact
    packing        the bytes of the memory in which collectives pack: exact
    touched        the bytes of the arena's pages that the run accessed: within 2 % of the plan
    peak           touched, and the memory in which collectives pack: within 2 % of the plan

A deviation is a known fault (small.py). Where a known fault no longer shows, the row fails, so that it is removed.
Without --all, each commit tests three rows. With --all, the table of docs/costs.md must be current; --update writes it.
"""

import ctypes
import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "parity")]

from small import KNOWN, ROWS, STORED
from titan import (QUICK, ROOT, TITANC, Report, call, environment_of, on_ranks, read_arguments, sample_by_commit,
                   write_text)

OUT = ROOT / "out" / "processes"
PAGE = ROOT / "docs" / "costs.md"
STEPS = 2
MEMORY, MESSAGES = 0.02, 0.01  # deviation from the plan, relative
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


def add_up(uses, steps: int) -> dict:
    """(kind, axes) -> [number, bytes] of this many planned steps; of measured ones if 0. Without what sends nothing."""
    sums = {}
    for use in uses:
        if use["bytes_sent"] and use["times"]:
            entry = sums.setdefault((use["kind"], ", ".join(use["axes"])), [0, 0])
            entry[0] += (steps or 1) * use["times"]
            entry[1] += (steps * use["times"] if steps else 1) * use["bytes_sent"]
    return sums


def plan_rank(plan: dict, rank: int) -> tuple[dict, int, int]:
    """What a rank sends in the steps, its arena in bytes, and the memory in which its collectives pack."""
    at, memory = position_in_pipeline(plan, rank), plan["memory"]
    uses = plan["traffic"][at]["collectives"] if plan["traffic"] else plan["collectives"]
    own = memory["stages"][at] if memory["stages"] else memory
    return add_up(uses, STEPS), own["total"] - memory["products"] - own["packing"], own["packing"]


def compare(plan: dict, rank: int, seen: dict):
    """(quantity, planned, measured, tolerance)."""
    planned, arena, packing = plan_rank(plan, rank)
    sent, memory = add_up(seen["collectives"], 0), seen["memory"]
    for kind, axes in sorted({*planned, *sent}):
        for what, index in (("number", 0), ("bytes", 1)):
            yield (f"{what} of {kind} over {axes}", planned.get((kind, axes), [0, 0])[index],
                   sent.get((kind, axes), [0, 0])[index], 0)
    yield "messages", sum(size for _, size in planned.values()), seen["message_bytes"], MESSAGES
    yield "arena", arena, memory["arena"] + memory["host"], 0
    yield "packing", packing, memory["packing"], 0
    yield "touched", arena, memory["touched"], MEMORY
    yield "peak", arena + packing, memory["touched"] + memory["packing"], MEMORY


def check(row, text: Path):
    folder = OUT / str(ROWS.index(row))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = folder / "row.titan"
    program.write_text(row.text())
    plan, lines, good, shown = plan_of(row, program), [], True, set()
    ranks = measure(row, program, text)
    for rank, seen in enumerate(ranks):
        for quantity, planned, measured, tolerance in compare(plan, rank, seen):
            agrees = abs(measured - planned) <= tolerance * planned
            fault = None if agrees else next((one for one in KNOWN if one.covers(row.name, quantity)), None)
            shown |= {fault.number} if fault else set()
            good &= agrees or fault is not None
            verdict = "agrees" if agrees else f"known fault {fault.number}" if fault else "DEVIATES"
            lines.append(f"    {quantity}, rank {rank}: plan {planned:,}, measured {measured:,}, {verdict}")
    mended = [fault.number for fault in KNOWN
              if fault.covers(row.name, fault.quantities[0]) and fault.number not in shown]
    lines += [f"    {number} no longer holds here: remove the row from small.py" for number in mended]
    (folder / "row.md").write_text(make_line(row, plan, ranks, shown))
    return good and not mended, "\n".join(lines)


def make_line(row, plan: dict, ranks: list[dict], faults: set) -> str:
    """The row of docs/costs.md: of the rank that sends most, and of the one with the largest arena; in kB."""
    def show(size: float) -> str:
        return f"{size / 1e3:,.1f}"

    def sent(seen: dict) -> int:
        return sum(size for _, size in add_up(seen["collectives"], 0).values())

    busiest = max(range(row.ranks), key=lambda rank: sent(ranks[rank]))
    largest = max(range(row.ranks), key=lambda rank: ranks[rank]["memory"]["touched"])
    planned, memory = plan_rank(plan, busiest)[0], ranks[largest]["memory"]
    calls = sum(use["times"] for use in ranks[busiest]["collectives"] if use["bytes_sent"])
    name = row.name.replace(" | ", ", ").replace(f" {STORED}", "")
    return (f"| {name} | {row.ranks} | {calls // STEPS} "
            f"| {show(sum(size for _, size in planned.values()) / STEPS)} / {show(sent(ranks[busiest]) / STEPS)} "
            f"| {show(ranks[busiest]['message_bytes'] / STEPS)} "
            f"| {show(plan_rank(plan, largest)[1])} / {show(memory['touched'])} "
            f"| {show(plan_rank(plan, largest)[2])} / {show(memory['packing'])} "
            f"| {' '.join(sorted(faults))} |\n")


def update_page(writes: bool) -> bool:
    """Whether the table of the page is current, afterwards."""
    head = ("| program | ranks | collectives | sent | on sockets | memory | packing | faults |\n"
            "|---|---|---|---|---|---|---|---|\n")
    table = head + "".join((OUT / str(number) / "row.md").read_text() for number in range(len(ROWS)))
    faults = "| no. | |\n|---|---|\n" + "".join(f"| {fault.number} | {fault.what} |\n" for fault in KNOWN)
    old = new = PAGE.read_text()
    for name, text in (("rows", table), ("faults", faults)):
        new = re.sub(rf"(<!-- processes: {name} -->\n).*?(<!-- end -->)", lambda match: match[1] + text + match[2], new,
                     flags=re.S)
    if new != old and writes:
        PAGE.write_text(new)
    if new != old and not writes:
        print("docs/costs.md is not current: run tests/costs/processes.py --all --update")
    return new == old or writes


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true", help="all rows instead of three")
    parser.add_argument("--update", action="store_true", help="write the table of docs/costs.md")


def main() -> None:
    arguments = read_arguments(__doc__, OUT, add_arguments)
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)  # children inherit it
    text = write_text(OUT / "text.txt", 20_000)
    chosen = ROWS if arguments.all or arguments.names else sample_by_commit(ROWS, -(-len(ROWS) // SAMPLE))
    report = Report()
    report.cases([(row.name, partial(check, row, text)) for row in chosen], arguments.names, at_once=1)
    if arguments.all and not arguments.names and not report.failed:
        report.case("the table of docs/costs.md", lambda: (update_page(arguments.update), ""))
    report.end()


if __name__ == "__main__":
    main()

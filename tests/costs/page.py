"""The tables of docs/costs.md."""

import re
from pathlib import Path

from known import KNOWN, find_known

PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"
LAWS = Path(__file__).resolve().parent / "laws"


def print_size(size: float) -> str:
    """In GB, with three digits."""
    return f"{size / 1e9:.3g}" if size < 1e12 else f"{size / 1e9:.0f}"


def pair(plan: float, closed: float) -> str:
    return f"{print_size(plan)} / {print_size(closed)}"


def make_row(result) -> str:
    row, closed, memory = result.row, result.closed, result.plan["memory"]
    rank = 0
    if row.stages:
        rank = max(range(len(memory["stages"])), key=lambda at: memory["stages"][at]["total"])
        memory = memory["stages"][rank]
        uses = result.plan["traffic"][rank]["collectives"]
    else:
        uses = result.plan["collectives"]
    peak = next((pair(one.plan, one.closed) for one in result.comparisons if one.quantity == "peak"),
                print_size(memory["total"]))
    stored = memory["parameters"] + memory["optimizer"] + memory.get("host", 0)
    sent = sum(use["times"] * use["bytes_sent"] for use in uses)
    faults = sorted({fault.number for one in result.comparisons if not one.agrees()
                     if (fault := find_known(row.name, one.quantity))}, key=lambda number: int(number[1:]))
    flops = f"{result.plan['flops_per_token'] / 1e9:.3g} / {closed.flops() / 1e9:.3g}"
    return (f"| {row.name} | {pair(stored, closed.parameters(rank) + closed.optimizer(rank))} | {peak} "
            f"| {pair(sent, sum(closed.traffic(rank).values()))} | {flops} | {' '.join(faults)} |")


def make_rows(results) -> str:
    head = ("| model, map, settings | stored | peak | sent | operations | faults |\n"
            "|---|---|---|---|---|---|\n")
    return head + "\n".join(map(make_row, results)) + "\n"


def make_faults() -> str:
    """The faults of known.py, and those that only a law shows: the first two lines of a case say which."""
    whats = {fault.number: fault.what for fault in KNOWN}
    for case in sorted(LAWS.glob("*.titan")):
        law, number, what = re.match(r"# (\w+): (\w+)\n# (.*)\.\n", case.read_text()).groups()
        whats.setdefault(number, f"law `{law}`: {what[0].lower()}{what[1:]}")
    rows = sorted(whats.items(), key=lambda row: int(row[0][1:]))
    return "| no. | the plan costs more, because |\n|---|---|\n" + "".join(f"| {no} | {what} |\n" for no, what in rows)


def update_page(results, writes: bool) -> bool:
    """Whether the page is current, afterwards."""
    old = new = PAGE.read_text()
    for name, text in (("rows", make_rows(results)), ("faults", make_faults())):
        new = re.sub(rf"(<!-- costs: {name} -->\n).*?(<!-- end -->)", lambda match: match[1] + text + match[2], new,
                     flags=re.S)
    if new != old and writes:
        PAGE.write_text(new)
    if new != old and not writes:
        print("docs/costs.md is not current: run tests/costs/run.py --all --update")
    return new == old or writes

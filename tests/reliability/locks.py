"""Several runs that start simultaneously in one folder: one trains, the others name it and end."""

import re
from functools import partial
from pathlib import Path

from trials import TEXT, expect, losses, start


def compete(folder: Path, number: int, runs: int) -> None:
    out = folder / f"run-{number}"
    arguments = ["--data", folder / "text", "--out", out, "--steps", 60, "--log-every", 1]
    processes = [start(*arguments) for _ in range(runs)]
    outputs = {process.pid: process.communicate(timeout=60)[0] for process in processes}
    # One that starts after another's end resumes, or has nothing to do.
    winners = [p.pid for p in processes if p.returncode == 0]
    expect(winners, f"none has trained: {outputs}")
    for process in processes:
        if process.returncode == 0:
            continue
        expect(process.returncode == 1, f"exit status {process.returncode}: {outputs[process.pid]}")
        holder = re.search(r"another run writes to '.*' \(process (\d+) on [^)]+\): pass another --out DIR, "
                           r"or wait until it has ended\n$", outputs[process.pid])
        expect(holder and int(holder.group(1)) in winners, f"{winners}: {outputs[process.pid]}")
    expect(sorted(losses(out)) == list(range(1, 61)), "rows are missing or double")


def locks(count: int, chance, folder: Path):
    (folder / "text").write_bytes(TEXT)
    for number in range(count):
        yield f"start {number}", partial(compete, folder, number, chance.choice([2, 3, 4]))

"""Several runs or exports that start simultaneously in one folder: one works, the others name it and end."""

import re
from functools import partial
from pathlib import Path

from trials import TEXT, expect, losses, run_well, start


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


def export_at_once(folder: Path, number: int) -> None:
    """Several exports to one directory: each that ends with 0 has left all files, the others name its process."""
    out = folder / f"hf-{number}"
    processes = [start("export", "--init-from", folder / "trained", "--hf", out) for _ in range(3)]
    outputs = {process.pid: process.communicate(timeout=60)[0] for process in processes}
    expect(any(process.returncode == 0 for process in processes), f"none has exported: {outputs}")
    for process in processes:
        if process.returncode != 0:
            expect(process.returncode == 1, f"exit status {process.returncode}: {outputs[process.pid]}")
            expect(re.search(r"another export writes to '.*' \(.*\): pass another --hf DIR, or wait", outputs[process.pid]),
                   outputs[process.pid])
    names = sorted(path.name for path in out.iterdir())
    expect(names == ["config.json", "model.safetensors", "program.titan"], f"files {names}")
    expect(read_tensors(out / "model.safetensors") == read_tensors(folder / "trained/model.safetensors"),
           "the weights are not those of the run")


def read_tensors(path: Path) -> bytes:
    """The numbers after the header of a safetensors file."""
    content = path.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little"):]


def locks(count: int, chance, folder: Path):
    (folder / "text").write_bytes(TEXT)
    for number in range(count):
        yield f"start {number}", partial(compete, folder, number, chance.choice([2, 3, 4]))
    run_well("--data", folder / "text", "--out", folder / "trained", "--steps", 3)
    for number in range(count):
        yield f"exports {number}", partial(export_at_once, folder, number)

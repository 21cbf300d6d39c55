"""Booleans, padding, and indices out of range in programs. The counts of true elements equal Python's. Two
processes, which shard the sequence and pad the prototypes, train like one. A computed index out of range
ends the run with its location."""

import json
import os
import subprocess
from pathlib import Path

from compare import compare
from sample_order import batches
from titan import Launch, write_text

SEQ, BATCH, STEPS, SEED = 32, 4, 4, 7  # SEQ and BATCH of values.titan


def count(text: bytes) -> list[dict[str, float]]:
    """The loss of each step, which counts booleans."""
    steps = []
    for tokens in batches(text, STEPS, BATCH, SEQ, SEED):
        labels = tokens[:, 1:]
        valid = labels > 104
        steps.append({"count": 0.001 * valid.sum().item(), "share": 0.1 * valid.double().mean().item(),
                      "any": 0.1 + 0.1 * (labels > 121).any(1).double().mean().item(),
                      "all": 0.1 + 0.1 * (labels > 31).all(1).double().mean().item()})
    return steps


def try_counts(one: Path, two: Path, out: Path):
    text = write_text(out / "values.txt", 60 * SEQ + 1)
    runs = [Launch(STEPS, SEED, processes).run(exe, text, out / f"values-{processes}")
            for exe, processes in ((one, 1), (two, 2))]
    result = compare(runs[1], runs[0], "float64")
    wrong = []
    for run in runs:
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        lines = [line for line in lines if "loss" in line]
        for line, expected in zip(lines, count(text.read_bytes()), strict=True):
            wrong += [f"{run.name}, step {line['step']}: {name} is {line['losses'][name]}, not {value}"
                      for name, value in expected.items()
                      if not abs(line["losses"][name] - value) <= 1e-12]
    return result.passed() and not wrong, result.table() + "\n".join(wrong)


def try_index(exe: Path, out: Path):
    """A byte of 123 is the table's row 123, of 123."""
    text = out / "outside.txt"
    text.write_bytes(b"{" * (20 * SEQ))
    command = [exe, "--data", text, "--steps", "2", "--out", out / "outside", "--resume", "none"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60,
                         env={**os.environ, "OMP_NUM_THREADS": "1"})
    message = "values.titan:12: index 123 is outside of `rows`, which has 123 elements"
    return run.returncode == 70 and message in run.stderr, f"status {run.returncode}: {run.stderr}"

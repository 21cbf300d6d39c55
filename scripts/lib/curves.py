"""Draws loss curves in the terminal and prints their largest difference.

    curves.py NAME=RUN_DIRECTORY [NAME=RUN_DIRECTORY...] [--width 72] [--height 16]

Reads each run's metrics.jsonl. Every further curve is compared with the first one.
"""

import argparse
import json
import os
import sys
from pathlib import Path

MARKS = "o+x*"
BOTH = "#"  # a cell that several curves pass
COLOURS = ["\033[36m", "\033[33m", "\033[35m", "\033[32m"]


def read(argument: str) -> tuple[str, dict[int, float]]:
    name, _, folder = argument.rpartition("=")
    rows = {}
    with open(Path(folder) / "metrics.jsonl") as file:
        for line in file:
            row = json.loads(line)
            if "loss" in row:
                rows[row["step"]] = row["loss"]
    if not rows:
        sys.exit(f"error: {folder}/metrics.jsonl has no losses")
    return name or folder, rows


def draw(runs: list[tuple[str, dict[int, float]]], width: int, height: int, colour: bool) -> str:
    steps = sorted(set().union(*(rows for _, rows in runs)))
    values = [v for _, rows in runs for v in rows.values()]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    grid = [[set() for _ in range(width)] for _ in range(height)]  # the runs that pass each cell
    for index, (_, rows) in enumerate(runs):
        for step, loss in rows.items():
            x = round((step - steps[0]) / max(steps[-1] - steps[0], 1) * (width - 1))
            y = round((high - loss) / span * (height - 1))
            grid[y][x].add(index)
    lines = []
    for y, row in enumerate(grid):
        label = f"{high - span * y / (height - 1):8.3f} |"
        lines.append(label + "".join(paint(cell, colour) for cell in row).rstrip())
    lines.append(" " * 9 + "+" + "-" * width)
    lines.append(f"{'step':>8}  {steps[0]:<{width - 8}}{steps[-1]:>8}")
    return "\n".join(lines)


def paint(cell: set[int], colour: bool) -> str:
    if len(cell) != 1:
        return BOTH if cell else " "
    (index,) = cell
    mark = MARKS[index % len(MARKS)]
    return COLOURS[index % len(COLOURS)] + mark + "\033[0m" if colour else mark


def largest_difference(first: dict[int, float], other: dict[int, float]) -> str:
    shared = sorted(first.keys() & other.keys())
    if not shared:
        return "no step in common"
    worst = max(shared, key=lambda step: abs(first[step] - other[step]))
    off = abs(first[worst] - other[worst])
    return (f"largest difference {off:.3g} ({off / abs(first[worst]):.2g} relative), "
            f"at step {worst} of {len(shared)} steps in common")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="NAME=RUN_DIRECTORY")
    parser.add_argument("--width", type=int, default=72)
    parser.add_argument("--height", type=int, default=16)
    arguments = parser.parse_args()
    runs = [read(argument) for argument in arguments.runs]
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    print(draw(runs, arguments.width, arguments.height, colour))
    for index, (name, rows) in enumerate(runs):
        last = max(rows)
        print(f"  {MARKS[index % len(MARKS)]}  {name}: loss {rows[last]:.4f} at step {last}")
    if len(runs) > 1:
        print(f"  {BOTH}  both")
    for name, rows in runs[1:]:
        print(f"{name} against {runs[0][0]}: {largest_difference(runs[0][1], rows)}")


if __name__ == "__main__":
    main()

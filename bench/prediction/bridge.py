"""NeMo's performance summaries (NVIDIA-NeMo/Megatron-Bridge, docs/performance-summary.md): nothing of them is predicted yet."""

import csv
from pathlib import Path

from case import Skipped

TABLE = "megatron_bridge.csv"
UNBOUNDED = "messages to experts of any length, where Titan has lists of bounded length"


def find_reason(line: dict) -> str:
    if line["precision"] != "BF16":
        return "float8 or narrower"
    return UNBOUNDED


def read(folder: Path) -> list:
    with open(folder / TABLE, newline="") as file:
        return [Skipped("bridge", f"{line['model']}, {line['gpus']} x {line['system']}", find_reason(line))
                for line in csv.DictReader(file)]

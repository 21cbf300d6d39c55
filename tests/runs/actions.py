"""Checks that a profile of a pipeline has the actions of its schedule's table, in that order, on every rank."""

import json
import re
from pathlib import Path

from titan import TITANC, call

LOOP = 1  # the thread of a profile with the actions of steps
ACTION = re.compile(r"\d+[FBIW]\d+")


def read_table(schedule: str, ranks: int, microbatches: int) -> list[list[str]]:
    """The actions of each rank."""
    output = call([TITANC, "schedule", schedule, "--ranks", ranks, "--microbatches", microbatches, "--csv"])
    return [ACTION.findall(row) for row in output.splitlines()]


def read_actions(profile: Path) -> list[str]:
    events = [e for e in json.loads(profile.read_text())["traceEvents"] if e["ph"] == "X" and e["tid"] == LOOP]
    return [e["name"] for e in sorted(events, key=lambda e: e["ts"]) if ACTION.fullmatch(e["name"])]


def check_actions(profiles: Path, table: list[list[str]], steps: int):
    wrong = []
    for rank, row in enumerate(table):
        actions = read_actions(profiles / f"rank-{rank}.json")
        if actions != row * steps:
            wrong.append(f"    rank {rank}: {' '.join(actions)}, expected {steps} times {' '.join(row)}")
    return not wrong, "\n".join(wrong)

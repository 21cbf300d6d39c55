"""Checks that collectives overlap with computation, from the order of events in profiles of two ranks.

Gathers of the next layer's parameters and reductions of gradients must have matrix products between
their start and their wait. A separate thread must execute them: some end after their start has returned,
and some begin before the program waits.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

OPERATIONS, LOOP, COMMUNICATION = range(3)  # threads of a profile; one per process group from the last
PRODUCTS = {"contract", "dgrad", "wgrad"}


@dataclass
class Collective:
    """A collective on the thread of its group, and the program's events from its start to its wait."""

    span: dict
    events: list[dict]

    @property
    def kind(self) -> str:
        return self.span["name"].split()[-1]

    @cached_property
    def spans_products(self) -> bool:
        return any(event["name"].split()[-1] in PRODUCTS for event in self.events[1:-1])

    @property
    def outlives_start(self) -> bool:
        return end(self.span) > end(self.events[0])

    @property
    def precedes_wait(self) -> bool:
        return self.span["ts"] < self.events[-1]["ts"]

    @property
    def is_in_time(self) -> bool:
        """Whether it ran between its start and the end of its wait, to a microsecond."""
        return (self.events[0]["ts"] <= self.span["args"]["started"] <= self.span["ts"] + 1
                and end(self.span) <= end(self.events[-1]) + 1)


def end(span: dict) -> float:
    return span["ts"] + span["dur"]


def collectives_of(profile: Path) -> list[Collective]:
    spans = [e for e in json.loads(profile.read_text())["traceEvents"] if e["ph"] == "X"]
    program = sorted((e for e in spans if e["tid"] == OPERATIONS), key=lambda e: e["ts"])
    return [collective_of(e, program) for e in spans if e["tid"] >= COMMUNICATION]


def collective_of(span: dict, program: list[dict]) -> Collective:
    """Finds the program's events from the operation that started it to the next wait of its line."""
    started, line = span["args"]["started"], span["args"]["line"]
    first = max(i for i, e in enumerate(program) if e["ts"] <= started and e["name"] == span["name"])
    last = next(i for i, e in enumerate(program) if i > first and e["name"] == f"{line} wait")
    return Collective(span, program[first:last + 1])


def check_overlap(profile: Path, layers: int, steps: int) -> list[str]:
    """Returns the faults. In each step, the forward and the backward both prefetch all layers but their
    first one, and the backward reduces the gradients of all layers."""
    found = collectives_of(profile)
    faults = [f"{e.span['name']} is carried out outside of its start and wait" for e in found
              if not e.is_in_time]
    for kind, least in (("all_gather", 2 * (layers - 1)), ("reduce_scatter", layers)):
        beside = [e for e in found if e.kind == kind and e.spans_products]
        if len(beside) < steps * least:
            faults.append(f"{len(beside)} of {kind} have products beside them, not {steps * least}")
        if not any(e.outlives_start for e in beside):
            faults.append(f"every {kind} ends before its start returns")
        if not any(e.precedes_wait for e in beside):
            faults.append(f"every {kind} begins only when it is waited for")
    return faults

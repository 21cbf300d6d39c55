"""Fits a few constants of a machine on the rows marked `fit`, by Nelder and Mead's simplex (1965).

The objective is the mean of |log(predicted / measured)|, which no single row dominates. Constants are fitted as
logarithms of their quotient by the starting value, fractions bounded by 1.
"""

import tempfile
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

import machine
from tools import predict

FRACTIONS = ("efficiency", "forward", "backward", "stolen")
STEP = 0.25  # of the first simplex, in logarithms
CALLS = 400
CLOSE = 1e-4  # spread of the objective in a simplex at which the search ends


@dataclass(frozen=True)
class Fit:
    """What is fitted: a new machine from one of the library, by its constants and the tables that measure it."""
    name: str  # of the new machine
    base: str
    constants: tuple
    title: str
    stated: dict = field(default_factory=dict)  # what differs from the machine of the library, published


def bound(path: str, value: float) -> float:
    return min(value, 1.0) if path.rsplit(".", 1)[-1] in FRACTIONS else value


class Objective:
    def __init__(self, fit: Fit, steps: list, seconds: list):
        self.text = machine.replace(machine.find(fit.base).read_text(), fit.stated, fit.title)
        self.start = {path: machine.get(self.text, path) for path in fit.constants}
        self.steps, self.seconds = steps, seconds

    def values(self, point) -> dict:
        return {path: bound(path, value * exp(shift))
                for (path, value), shift in zip(self.start.items(), point, strict=True)}

    def __call__(self, point) -> float:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(machine.replace(self.text, self.values(point)))
            file.flush()
            predicted = predict(Path(file.name), self.steps)
        return sum(abs(log(each["step_seconds"] / seconds))
                   for each, seconds in zip(predicted, self.seconds, strict=True)) / len(self.seconds)


def minimise(function, size: int) -> list:
    """The best point from the origin on."""
    simplex = [[0.0] * size] + [[STEP if at == axis else 0.0 for at in range(size)] for axis in range(size)]
    simplex = [(function(point), point) for point in simplex]
    for _ in range(CALLS):
        simplex.sort()
        if simplex[-1][0] - simplex[0][0] < CLOSE:
            break
        improve(simplex, function)
    return min(simplex)[1]


def improve(simplex: list, function) -> None:
    """Replaces the worst point of a sorted simplex, or shrinks it."""
    (least, best), (second, _), (greatest, worst) = simplex[0], simplex[-2], simplex[-1]
    others = [point for _, point in simplex[:-1]]
    centre = [sum(column) / len(others) for column in zip(*others, strict=True)]

    def move(factor: float):
        point = [middle + factor * (middle - bad) for middle, bad in zip(centre, worst, strict=True)]
        return function(point), point

    reflected = move(1.0)
    if reflected[0] < least:
        simplex[-1] = min(reflected, move(2.0))
    elif reflected[0] < second:
        simplex[-1] = reflected
    else:
        contracted = move(0.5 if reflected[0] < greatest else -0.5)
        if contracted[0] < min(reflected[0], greatest):
            simplex[-1] = contracted
        else:
            for at, (_, point) in enumerate(simplex[1:], 1):
                nearer = [(a + b) / 2 for a, b in zip(point, best, strict=True)]
                simplex[at] = function(nearer), nearer


def run(fit: Fit, steps: list, seconds: list) -> str:
    """The text of the new machine."""
    objective = Objective(fit, steps, seconds)
    if not fit.constants:
        return f"# {fit.title}\n# {fit.base}.toml, but for what the source states. Nothing is fitted.\n{objective.text}"
    before = objective([0.0] * len(fit.constants))
    point = minimise(objective, len(fit.constants))
    after = objective(point)
    text = machine.replace(objective.text, objective.values(point), f"fitted (bench/prediction, {len(steps)} rows)")
    body = text[text.index("\nname = ") + 1:]
    body = body[body.index("\n") + 1:]
    return (f"# {fit.title}\n# {fit.base}.toml, with constants that `bench/prediction/run.py --fit` has fitted to the rows "
            f"marked `fit`:\n# mean |log(predicted / measured)| {before:.4f} before, {after:.4f} after, {len(steps)} rows.\n"
            f'name = "{fit.title}"\n{body}')

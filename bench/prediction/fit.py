"""Fits a few constants of a machine on the rows marked `fit`.

The objective is the sum of |log(predicted / measured)|, in which no single row dominates, and a small quadratic term that
keeps constants that the rows do not determine at their published values. It is minimised by the method of Levenberg
(1944) with reweighted squares. Variables are the logarithms of the quotients of constants and starting values; fractions
are bounded by 1.
"""

import tempfile
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

import machine
from tools import predict_on

FRACTIONS = ("efficiency", "forward", "backward", "stolen")
PRIOR = 0.1  # of the quadratic term
STEP = 0.02  # of a difference, in logarithms
LONGEST = 0.5  # change of a constant in an iteration, in logarithms
DAMPING = (0.01, 0.1, 1.0, 10.0)  # all are tried
ROUNDS = 25
CLOSE = 1e-3  # relative improvement at which the iteration ends
FLOOR = 0.02  # errors below this have the weight of this one


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


def solve(matrix: list, right: list) -> list:
    """The solution of a system of linear equations, by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for row in range(size):
            if row != at:
                factor = rows[row][at] / rows[at][at]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at], strict=True)]
    return [rows[at][size] / rows[at][at] for at in range(size)]


def sum_up(errors: list, point: list) -> float:
    return sum(map(abs, errors)) + PRIOR * sum(shift ** 2 for shift in point)


def make_steps(errors: list, slopes: list, point: list) -> list:
    """The steps from a point, one for each damping. `slopes` has the derivatives of all errors by each variable."""
    weights = [1 / max(abs(error), FLOOR) for error in errors]
    size = range(len(point))
    gradient = [sum(w * s * e for w, s, e in zip(weights, slopes[i], errors, strict=True)) + 2 * PRIOR * point[i]
                for i in size]
    normal = [[sum(w * a * b for w, a, b in zip(weights, slopes[i], slopes[j], strict=True)) + 2 * PRIOR * (i == j)
               for j in size] for i in size]
    steps = []
    for damping in DAMPING:
        damped = [[normal[i][j] * (1 + damping * (i == j)) for j in size] for i in size]
        step = solve(damped, [-value for value in gradient])
        scale = min(1.0, LONGEST / max(1e-12, max(map(abs, step))))
        steps.append([scale * value for value in step])
    return steps


def minimise(evaluate, size: int) -> list:
    """The best point from the origin on. `evaluate` takes points and returns the errors at each."""
    point = [0.0] * size
    for _ in range(ROUNDS):
        errors, *moved = evaluate([point] + [[x + STEP * (at == axis) for at, x in enumerate(point)] for axis in range(size)])
        slopes = [[(a - b) / STEP for a, b in zip(each, errors, strict=True)] for each in moved]
        points = [[x + d for x, d in zip(point, step, strict=True)] for step in make_steps(errors, slopes, point)]
        before = sum_up(errors, point)
        least, best = min((sum_up(found, at), at) for found, at in zip(evaluate(points), points, strict=True))
        if least < before:
            point = best
        if least > (1 - CLOSE) * before:
            break
    return point


class Objective:
    def __init__(self, fit: Fit, steps: list, seconds: list):
        self.text = machine.replace(machine.find(fit.base).read_text(), fit.stated, fit.title)
        self.start = {path: machine.get(self.text, path) for path in fit.constants}
        self.steps, self.seconds = steps, seconds

    def values(self, point) -> dict:
        return {path: bound(path, value * exp(shift))
                for (path, value), shift in zip(self.start.items(), point, strict=True)}

    def evaluate(self, points: list) -> list:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{number}.toml" for number in range(len(points))]
            for file, point in zip(files, points, strict=True):
                file.write_text(machine.replace(self.text, self.values(point)))
            return [[log(each["step_seconds"] / seconds) for each, seconds in zip(predicted, self.seconds, strict=True)]
                    for predicted in predict_on(files, self.steps)]

    def mean(self, point) -> float:
        return sum(map(abs, self.evaluate([point])[0])) / len(self.seconds)


def run(fit: Fit, steps: list, seconds: list) -> str:
    """The text of the new machine."""
    objective = Objective(fit, steps, seconds)
    if not fit.constants:
        return f"# {fit.title}\n# {fit.base}.toml, but for what the source states. Nothing is fitted.\n{objective.text}"
    point = minimise(objective.evaluate, len(fit.constants))
    before, after = objective.mean([0.0] * len(fit.constants)), objective.mean(point)
    text = machine.replace(objective.text, objective.values(point), f"fitted, {len(steps)} rows")
    body = text[text.index("\nname = ") + 1:]
    body = body[body.index("\n") + 1:]
    return (f"# {fit.title}\n# {fit.base}.toml, with constants that `bench/prediction/run.py --fit` has fitted to the rows\n"
            f"# marked `fit`: mean |log(predicted / measured)| {before:.4f} before, {after:.4f} after, {len(steps)} rows.\n"
            f'name = "{fit.title}"\n{body}')

"""How well predictions agree with measurements. A Result is a case, its predicted step and the planned memory."""

from dataclasses import dataclass
from itertools import combinations
from math import log
from statistics import median

from case import Case


@dataclass(frozen=True)
class Result:
    case: Case
    seconds: float  # predicted, of a step
    memory: float  # planned, bytes

    def error(self) -> float:
        """Relative, with its sign."""
        return self.seconds / self.case.seconds - 1


def group(results, key) -> list[list[Result]]:
    groups = {}
    for result in results:
        groups.setdefault(key(result.case), []).append(result)
    return [each for each in groups.values() if len(each) > 1]


def fit_line(points) -> tuple[float, float]:
    """(slope, intercept) of the least squares line."""
    points = list(points)
    mean_x, mean_y = (sum(column) / len(points) for column in zip(*points, strict=True))
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points))
    return slope, mean_y - slope * mean_x


@dataclass(frozen=True)
class Line:
    """Of rows that differ in their number of microbatches alone: errors of the time per microbatch, relative to it, and
    of the rest, relative to the shortest step."""
    slope: float
    intercept: float


def compare_lines(results) -> list[Line]:
    lines = []
    for series in group(results, lambda case: (case.table, *case.series) if case.series else case.name):
        if len({result.case.microbatches for result in series}) < 2:
            continue
        slope, rest = fit_line((each.case.microbatches, each.case.seconds) for each in series)
        own_slope, own_rest = fit_line((each.case.microbatches, each.seconds) for each in series)
        lines.append(Line(own_slope / slope - 1, (own_rest - rest) / min(each.case.seconds for each in series)))
    return lines


@dataclass(frozen=True)
class Order:
    pairs: int
    right: int

    def share(self) -> float:
        return self.right / self.pairs if self.pairs else 1.0


def compare_order(results, least_difference: float = 0.0) -> Order:
    """Pairs of one contest whose measured speeds differ by more than this fraction."""
    pairs = right = 0
    for contest in group(results, lambda case: (case.table, *case.contest) if case.contest else case.name):
        for a, b in combinations(contest, 2):
            measured = log(a.case.speed(a.case.seconds) / b.case.speed(b.case.seconds))
            predicted = log(a.case.speed(a.seconds) / b.case.speed(b.seconds))
            if measured and abs(measured) >= log(1 + least_difference):
                pairs += 1
                right += measured * predicted > 0
    return Order(pairs, right)


def median_error(results) -> float:
    return median(abs(result.error()) for result in results)


def find_worst(results) -> Result:
    return max(results, key=lambda result: abs(log(result.seconds / result.case.seconds)))


def memory_errors(results) -> list[float]:
    """Relative, with their signs, of rows with measured memory."""
    return [result.memory / result.case.memory - 1 for result in results if result.case.memory]

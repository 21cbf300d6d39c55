"""A parallel map as plain data, read from the lines that the row also gives to titanc.

The rules are those of the language's page (docs/language.md, "Parallel maps"), restated: an axis shards the first
dimension of its list that a tensor has and that the whole degree divides.
"""

import re
from dataclasses import dataclass
from math import prod

AXIS = re.compile(r"(\w+) = (\d+) splits (.+)")
WORDS = {"params", "grads", "optimizer"}


@dataclass(frozen=True)
class Axis:
    name: str
    degree: int
    splits: tuple
    fallback: tuple
    stores: frozenset
    method: str  # of attention, where the axis splits positions

    def takes(self, dims, extents) -> str | None:
        """The dimension of a tensor that the axis shards: of these names and sizes."""
        for dim in self.splits:
            if dim in dims and extents[dim] % self.degree == 0:
                return dim
        return next((dim for dim in self.fallback if dim in dims), None)


def parse_axis(line: str) -> Axis:
    options = " ".join(re.findall(r"\{(.*?)\}", line))
    line = re.sub(r"\{.*?\}", "", line)
    line, _, stored = line.partition(" stores ")
    name, degree, rest = AXIS.match(line.strip()).groups()
    lists = [[word.strip() for word in part.strip(" ,").split(",")] for part in rest.split("else")]
    method = re.search(r"attention = (\w+)", options)
    return Axis(name, int(degree), tuple(lists[0]), tuple(lists[1]) if len(lists) > 1 else (),
                frozenset(word.strip() for word in stored.split(",") if word.strip()) & WORDS,
                method[1] if method else "gather")


class Map:
    """The axes of a row, outermost first."""

    def __init__(self, lines):
        self.axes = [parse_axis(line) for line in lines]

    def ranks(self) -> int:
        return prod(axis.degree for axis in self.axes)

    def pipeline(self) -> Axis | None:
        return next((axis for axis in self.axes if "layers" in axis.splits), None)

    def sharding(self, family, param) -> dict:
        """The axes that shard the dimensions of a parameter."""
        extents = {family.name(dim): family.extent(dim) for dim in param}
        return {axis: dim for axis in self.axes if (dim := axis.takes(extents, extents))}

    def of_data(self) -> list:
        """The axes that divide samples or positions for the whole step: gradients are partial sums over them."""
        return [axis for axis in self.axes if {"batch", "seq"} & set(axis.splits)]

    def of_tensors(self) -> list:
        """The axes of tensor parallelism."""
        return [axis for axis in self.axes
                if not {"batch", "seq", "layers"} & set(axis.splits) and axis.degree > 1]

    def of_positions(self) -> Axis | None:
        return next((axis for axis in self.axes if "seq" in axis.splits), None)

    def of_experts(self) -> Axis | None:
        return next((axis for axis in self.axes if "experts" in axis.splits), None)

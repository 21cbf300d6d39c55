"""A row of a published table, as a Titan program and what was measured."""

import sys
from dataclasses import dataclass
from math import ceil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "costs"))

from families import count_parameters, make  # noqa: E402
from rows import Row  # noqa: E402


@dataclass(frozen=True)
class Case:
    """`series` names rows that differ in their number of microbatches alone, `contest` rows that compete: one model
    on one machine, of which a person would choose the fastest. `parameters` is the closed form, 0 without one."""
    table: str
    name: str
    use: str  # "fit": may set constants of the machine; "test": is only predicted
    machine: str
    module: str
    row: Row
    seconds: float  # of a step
    memory: float = 0  # bytes that a rank allocates at most; 0: not measured
    series: tuple = ()
    contest: tuple = ()
    microbatches: int = 1
    ranks: int = 1
    parameters: int = 0

    def text(self) -> str:
        return self.row.text(self.module)

    def speed(self, seconds: float) -> float:
        """Tokens per second and rank."""
        return self.row.batch * self.row.seq / seconds / self.ranks


@dataclass(frozen=True)
class Skipped:
    """A row that is not predicted."""
    table: str
    name: str
    reason: str


def pad(size: int, multiple: int) -> int:
    return ceil(size / multiple) * multiple


def set_model(**sizes) -> tuple:
    """Settings of a run: arguments of its model."""
    return tuple(f"model.{name} = {str(size).lower() if isinstance(size, bool) else size}"
                 for name, size in sizes.items())


def count(kind: str, sizes: dict) -> int:
    """The parameters of a model, by the closed form of tests/costs."""
    return count_parameters(make(kind, sizes))


def count_gpt2(layers: int, heads: int, head: int, vocab: int, context: int) -> int:
    embed = heads * head
    return count("gpt2", dict(L=layers, e=embed, k=heads, g=1, d=head, f=4 * embed, v=vocab, c=context))

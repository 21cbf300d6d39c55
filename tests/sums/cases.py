"""Programs with one reduction each, as planned IR, and their expected results.

Every input is a prefix of one of a few files: `x` and `w` (f32), `narrow` and `narrow_w` (bf16), `rows` and
`one` (i64).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

# Relative to the sum of absolute values, as in blocked_sum.h, and twice that of a GEMM (SplitK.h), whose
# kernels sum up to 384 terms in sequence.
SUM, MATRIX = 1e-6, 5e-6
ROWS = 4  # of a table that receives updates


@dataclass
class Case:
    """One reduction as a program function of the IR, with its inputs and the bound of its error."""

    name: str
    terms: int
    inputs: dict[str, tuple[str, str]]  # name: file, type
    body: str
    result: str
    # From the inputs in float64: the exact sums, and the sums of absolute values.
    expect: Callable
    bound: float = SUM
    shapes: dict = field(default_factory=dict)

    def text(self) -> str:
        arguments = ", ".join(f'%{name}: {tensor} {{titan.input = "{file}"}} loc("{name}")'
                              for name, (file, tensor) in self.inputs.items())
        return (f'func.func @{self.name}({arguments}) -> ({self.result} {{titan.output = "y"}})\n'
                f'    attributes {{titan.program = "{self.name}"}} {{\n{self.body}'
                f'  return %y : {self.result}\n}}\n')


def tensor(element: str, **dims: int) -> str:
    inside = ", ".join(f"{name} = {size}" for name, size in dims.items())
    return f"!titan.tensor<{element}[{inside}]>" if dims else f"!titan.tensor<{element}[]>"


def reduction(name: str, dims: dict[str, int], kept: list[str], element: str = "f32") -> Case:
    """The sum of `x` over all but some dimensions."""
    terms = int(np.prod([size for dim, size in dims.items() if dim not in kept]))
    axes = tuple(i for i, dim in enumerate(dims) if dim not in kept)
    from_, to = tensor(element, **dims), tensor("f32", **{d: dims[d] for d in kept})
    shape = tuple(dims.values())
    return Case(name, terms, {"x": ("narrow" if element == "bf16" else "x", from_)},
                f"  %y = titan.reduce sum %x : {from_} -> {to}\n", to,
                lambda x: (x.reshape(shape).sum(axes), abs(x.reshape(shape)).sum(axes)))


def contraction(name: str, x: dict[str, int], w: dict[str, int], kept: list[str],
                element: str = "f32", bound: float = SUM) -> Case:
    sizes = x | w
    letters = {dim: chr(ord("a") + i) for i, dim in enumerate(sizes)}
    spell = lambda dims: "".join(letters[dim] for dim in dims)
    equation = f"{spell(x)},{spell(w)}->{spell(kept)}"
    terms = int(np.prod([size for dim, size in sizes.items() if dim not in kept]))
    left, right = tensor(element, **x), tensor(element, **w)
    to = tensor("f32", **{dim: sizes[dim] for dim in kept})

    def expect(a, b):
        a, b = a.reshape(tuple(x.values())), b.reshape(tuple(w.values()))
        return np.einsum(equation, a, b), np.einsum(equation, abs(a), abs(b))

    files = ("narrow", "narrow_w") if element == "bf16" else ("x", "w")
    return Case(name, terms, {"x": (files[0], left), "w": (files[1], right)},
                f"  %y = titan.contract %x, %w : ({left}, {right}) -> {to}\n", to, expect, bound)


def fused(name: str, rows: int, n: int, kept: int) -> Case:
    """A product, and its sum in a fused region: along the row, or over its outer dimension."""
    dims = {"row": rows, "n": n} | ({"kept": kept} if kept else {})
    to_dims = {"row": rows} | ({"kept": kept} if kept else {})
    whole, to = tensor("f32", **dims), tensor("f32", **to_dims)
    body = (f'  %y = titan.fused rows ["row"] : {to} {{\n'
            f"    %p = titan.mul %x, %w : ({whole}, {whole}) -> {whole}\n"
            f"    %s = titan.reduce sum %p : {whole} -> {to}\n"
            f"    titan.yield %s : {to}\n  }}\n")
    shape = tuple(dims.values())
    return Case(name, n, {"x": ("x", whole), "w": ("w", whole)}, body, to,
                lambda a, b: ((a * b).reshape(shape).sum(1), abs(a * b).reshape(shape).sum(1)))


def running(name: str, outer: int, n: int, reverse: bool) -> Case:
    """All prefix sums, or all suffix sums."""
    whole = tensor("f32", outer=outer, n=n)
    step = -1 if reverse else 1
    mode = " {reverse}" if reverse else ""

    def expect(x):
        x = x.reshape(outer, n)[:, ::step]
        return np.cumsum(x, 1)[:, ::step], np.cumsum(abs(x), 1)[:, ::step]

    return Case(name, n, {"x": ("x", whole)},
                f'  %y = titan.cumulative_sum %x along "n"{mode} : {whole} -> {whole}\n', whole, expect)


def scatter(name: str, n: int, columns: int, indices: str, joins: bool = False,
            element: str = "f32") -> Case:
    """Rows that are added to indexed rows of a table; or numbers to its elements."""
    below = {"embed": columns} if columns else {}
    updates, at = tensor(element, n=n, **below), tensor("i64", n=n)
    to = tensor("f32", table=ROWS, **below)
    inputs = {"x": ("narrow" if element == "bf16" else "x", updates), "at": (indices, at)}
    into = ""
    if joins:
        inputs["w"] = ("w", to)
        into = " into %w"
    types = ", ".join(kind for _, kind in inputs.values())

    def expect(x, at, *start):
        x = x.reshape(n, max(columns, 1))
        start = start[0].reshape(ROWS, -1) if joins else np.zeros((ROWS, max(columns, 1)))
        sums, sizes = start.copy(), abs(start)
        for row in range(ROWS):
            sums[row] += x[at.astype(int) == row].sum(0)
            sizes[row] += abs(x[at.astype(int) == row]).sum(0)
        return sums, sizes

    return Case(name, n, inputs, f'  %y = titan.scatter %x along "table" at %at{into} : ({types}) -> {to}\n',
                to, expect)


def per_row(name: str, batch: int, n: int) -> Case:
    """Each row of a batch has its own table; updates have one dimension more than the indices."""
    updates, at = tensor("f32", batch=batch, n=n, more=2), tensor("i64", batch=batch, n=n)
    to = tensor("f32", batch=batch, table=ROWS)

    def expect(x, at):
        x, at = x.reshape(batch, n, 2), at.reshape(batch, n).astype(int)
        sums, sizes = np.zeros((batch, ROWS)), np.zeros((batch, ROWS))
        for b in range(batch):
            np.add.at(sums[b], at[b], x[b].sum(1))
            np.add.at(sizes[b], at[b], abs(x[b]).sum(1))
        return sums, sizes

    return Case(name, 2 * n, {"x": ("x", updates), "at": ("rows", at)},
                f'  %y = titan.scatter %x along "table" at %at : ({updates}, {at}) -> {to}\n', to, expect)


def of_length(n: int, most: int) -> list[Case]:
    """Every reduction with n terms, in tensors of bounded size."""
    few = [width for width in (3,) if n * width <= most]
    cases = [reduction(f"all_{n}", {"n": n}, []), contraction(f"squares_{n}", {"n": n}, {"n": n}, []),
             reduction(f"narrow_all_{n}", {"n": n}, [], "bf16"), running(f"running_{n}", 1, n, False),
             fused(f"fused_row_{n}", 1, n, 0), scatter(f"bins_{n}", n, 0, "rows"),
             scatter(f"one_bin_{n}", n, 0, "one")]
    for c in few + [width for width in (70,) if n * width <= most]:
        cases += [reduction(f"columns{c}_{n}", {"n": n, "c": c}, ["c"]),
                  contraction(f"scale{c}_{n}", {"n": n, "c": c}, {"n": n, "c": c}, ["c"]),
                  scatter(f"table{c}_{n}", n, c, "one"), scatter(f"joined{c}_{n}", n, c, "rows", True)]
    for c in few:
        cases += [reduction(f"rows_{n}", {"r": c, "n": n}, ["r"]),
                  reduction(f"middle_{n}", {"a": 1, "n": n, "c": c}, ["a", "c"]),
                  reduction(f"narrow_columns_{n}", {"n": n, "c": c}, ["c"], "bf16"),
                  scatter(f"narrow_table_{n}", n, c, "rows", element="bf16"),
                  fused(f"fused_columns_{n}", 1, n, c), running(f"reverse_{n}", c, n, True),
                  contraction(f"batches_{n}", {"a": c, "n": n}, {"a": c, "n": n}, ["a"]),
                  contraction(f"matrix_{n}", {"n": n, "a": c}, {"n": n, "b": 2}, ["a", "b"],
                              bound=MATRIX),
                  contraction(f"narrow_matrix_{n}", {"n": n, "a": c}, {"n": n, "b": 2}, ["a", "b"],
                              "bf16", MATRIX)]
        if n % 8 == 0:
            cases += [reduction(f"around_{n}", {"a": n // 8, "m": c, "c": 8}, ["m"]),
                      reduction(f"apart_{n}", {"a": 8, "m": c, "n": n // 8, "k": 2}, ["m", "k"]),
                      per_row(f"per_row_{n}", c, n // 2)]
    return cases


def module(cases: list[Case]) -> str:
    return "\n".join(case.text() for case in cases)

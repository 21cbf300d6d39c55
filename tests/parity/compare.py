"""The parity criterion: whether two runs are the same computation.

    compare.py A B [--dtype float64|float32|bfloat16]

Compares run A with reference B. Each is a folder with metrics.jsonl, gradients.safetensors (step 1,
before clipping) and model.safetensors (after the last step).

The loss and every named loss must agree relatively, the gradient norms less closely. A tensor a
agrees with b if, in the 2-norm,

    |a - b| <= relative |b| + absolute |all|

`all` is the concatenation of all tensors of the kind. A tensor that is nearly zero beside the
others (the gradient of a bias that cancels) has rounding errors of their magnitude. AdamW and
clipping cancel the scale of gradients, so equal losses prove little; the gradients of step 1 are
decisive. In float32, AdamW turns the sign of a gradient that is only rounding into a full step, so
the final parameters are reported but not compared.
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file


@dataclass(frozen=True)
class Rule:
    """The largest differences allowed; None: no limit."""

    loss: float
    norm: float | None
    gradients: tuple[float, float] | None  # relative, absolute
    parameters: tuple[float, float] | None


RULES = {
    "float64": Rule(1e-11, 1e-10, (1e-10, 1e-12), (1e-10, 1e-12)),
    "float32": Rule(2e-6, 1e-5, (1e-5, 1e-7), None),
    "bfloat16": Rule(5e-4, None, None, None),
}


@dataclass
class Row:
    """One line of the table: the worst case of one kind, as a multiple of the limit."""

    kind: str
    count: int
    worst: str
    difference: float  # relative to b
    ratio: float | None  # difference divided by the limit; None: no limit


@dataclass
class Result:
    rows: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def passed(self) -> bool:
        return not self.faults and all(r.ratio is None or r.ratio <= 1 for r in self.rows)

    def table(self) -> str:
        lines = [f"    {'':10} {'compared':>8} {'worst rel.':>11} {'of allowed':>11}  at"]
        for r in self.rows:
            ratio = "not judged" if r.ratio is None else f"{r.ratio:.3g}"
            lines.append(f"    {r.kind:10} {r.count:8} {r.difference:11.2e} {ratio:>11}  {r.worst}")
        return "\n".join(lines + [f"    {fault}" for fault in self.faults])


def read_metric(folder: Path, key: str) -> dict[int, float]:
    with open(folder / "metrics.jsonl") as file:
        return {row["step"]: row[key] for row in map(json.loads, file)}


def read_losses(folder: Path) -> dict[int, float]:
    return read_metric(folder, "loss")


def read_named(folder: Path, key: str) -> dict[tuple[int, str], float]:
    """The named losses (`losses`) or metrics (`metrics`) of every step."""
    with open(folder / "metrics.jsonl") as file:
        return {(row["step"], name): number for row in map(json.loads, file)
                for name, number in row.get(key, {}).items()}


def same_keys(kind: str, a, b, result: Result) -> bool:
    for name, missing in (("judged", b.keys() - a.keys()), ("other", a.keys() - b.keys())):
        if missing:
            some = ", ".join(str(m) for m in sorted(missing)[:4])
            result.faults.append(f"{kind}: the {name} run lacks {len(missing)}: {some}")
    if not b:
        result.faults.append(f"{kind}: nothing to compare")
    return a.keys() == b.keys() and bool(b)


def nan_to_infinity(value: float) -> float:
    """A difference that is NaN counts as infinite, because comparisons with NaN are false."""
    return math.inf if math.isnan(value) else value


def compare_metric(kind: str, a: dict, b: dict, limit: float | None, result: Result) -> None:
    """Compares numbers by step, or by step and name."""
    if not same_keys(kind, a, b, result):
        return
    differences = {s: nan_to_infinity(abs(a[s] - b[s]) / (abs(b[s]) or 1)) for s in b}
    worst = max(differences, key=differences.get)
    ratio = None if limit is None else differences[worst] / limit
    result.rows.append(Row(kind, len(b), f"step {worst}: {a[worst]:.12g}, {b[worst]:.12g}",
                           differences[worst], ratio))


def compare_tensors(kind: str, a, b, limits, result: Result) -> None:
    if not same_keys(kind, a, b, result):
        return
    everything = math.sqrt(sum(t.double().norm().item() ** 2 for t in b.values()))
    worst = None
    for name, right in b.items():
        left = a[name]
        if left.shape != right.shape:
            result.faults.append(f"{kind}: {name} has shapes {list(left.shape)} and "
                                 f"{list(right.shape)}")
            continue
        size = right.double().norm().item()
        off = nan_to_infinity((left.double() - right.double()).norm().item())
        relative = off / size if size else (0.0 if off == 0 else math.inf)
        if limits is None:
            row = Row(kind, len(b), name, relative, None)
        else:
            allowed = limits[0] * size + limits[1] * everything
            row = Row(kind, len(b), name, relative, off / allowed if off else 0.0)
        if worst is None or (row.ratio or row.difference) > (worst.ratio or worst.difference):
            worst = row
    if worst:
        result.rows.append(worst)


def compare(a: Path, b: Path, dtype: str) -> Result:
    rule, result = RULES[dtype], Result()
    for kind, key, limit in (("losses", "loss", rule.loss), ("norms", "grad_norm", rule.norm)):
        compare_metric(kind, read_metric(a, key), read_metric(b, key), limit, result)
    for kind, key in (("each loss", "losses"), ("metrics", "metrics")):
        named = read_named(a, key), read_named(b, key)
        if any(named):
            compare_metric(kind, *named, rule.loss, result)
    for kind, file, limits in (("gradients", "gradients", rule.gradients),
                               ("parameters", "model", rule.parameters)):
        name = f"{file}.safetensors"
        compare_tensors(kind, load_file(a / name), load_file(b / name), limits, result)
    return result


def bitwise_equal(a: Path, b: Path) -> list[str]:
    """Names of tensors that differ in any bit, or that only one of the files has."""
    left, right = load_file(a), load_file(b)
    def same(x, y):
        return x.shape == y.shape and x.dtype == y.dtype and torch.equal(
            x.contiguous().view(torch.uint8), y.contiguous().view(torch.uint8))
    return [n for n in sorted(left.keys() | right.keys())
            if n not in left or n not in right or not same(left[n], right[n])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("judged", type=Path)
    parser.add_argument("against", type=Path)
    parser.add_argument("--dtype", choices=list(RULES), default="float64")
    arguments = parser.parse_args()
    result = compare(arguments.judged, arguments.against, arguments.dtype)
    print(result.table())
    print("the same" if result.passed() else "NOT the same")
    sys.exit(0 if result.passed() else 1)


if __name__ == "__main__":
    main()

"""Tests every operation of the dialect with generated cases: gradients, all shardings, PyTorch.

    run.py [--all] [--seed N] [OP...]

titan-check-ops draws the cases. It compares gradients with finite differences, and every sharding
that the rule allows, on meshes of 2 and 2x2 ranks, with one rank. This script compares results and
gradients with PyTorch in float64. Finally, the checks must detect deliberately wrong rules.
"""

import argparse
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import torch

import kinks
from torch_ops import DTYPES, OPS, read

sys.path.append(str(Path(__file__).resolve().parents[1] / "parity"))
from titan import BUILD, TITANC, Report, call  # noqa: E402

TOOL = BUILD / "bin" / "titan-check-ops"
TOLERANCE = {"f64": 1e-12, "f32": 1e-7, "bf16": 4e-3}  # at most one rounding of f32 and bf16
# Operations whose rules are made too permissive; the checks must detect that.
WRONG = {"linear": ["exp", "maximum", "reduce", "attention", "apply"],
         "split": ["attention", "rotary", "slice", "pad", "cumulative_count"]}


def deviation(a: torch.Tensor, b: torch.Tensor) -> float:
    """The error of `a` relative to the norm of `b` plus 1e-3."""
    a, b = a.double().flatten(), b.double().flatten()
    if a.shape != b.shape:
        return float("inf")
    return (a - b).norm().item() / (b.norm().item() + 1e-3) if a.numel() else 0.0


def evaluate(case, widen: bool):
    """Operands and results in PyTorch, widened as the compiler widens a program."""
    operands = [read(operand, widen) for operand in case["operands"]]
    for operand in operands:
        operand.data.requires_grad_(operand.data.is_floating_point())
    expected = [([n for n, _ in r["dims"]], [s for _, s in r["dims"]]) for r in case["results"]]
    to = case["results"][0]["type"]
    to = "f64" if widen and DTYPES[to].is_floating_point else to
    results = OPS[case["op"].removeprefix("titan.")](dict(case["attributes"], to=to), expected,
                                                     *operands)
    return operands, results if isinstance(results, tuple) else (results,)


def judge(case) -> str | None:
    """The error of a case, or None."""
    if case["op"].removeprefix("titan.") not in OPS:
        return "tests/ops/torch_ops.py has no definition of it"
    _, results = evaluate(case, widen=False)
    for i, (result, ours) in enumerate(zip(results, case["results"], strict=True)):
        shape = [size for _, size in ours["dims"]]
        off = deviation(torch.tensor(ours["values"]), result.detach())
        if list(result.shape) != shape or not off <= TOLERANCE.get(ours["type"], 0):
            return f"result {i} deviates by {off:.3g}: {ours['values']}, {result}"
    return judge_gradients(case) if "gradients" in case else None


def judge_gradients(case) -> str | None:
    operands, results = evaluate(case, widen=True)
    loss = torch.zeros((), dtype=torch.float64)
    for result, weight in zip(results, case["weights"], strict=True):
        if weight is not None:
            loss = loss + (result.flatten() * torch.tensor(weight)).sum()
    if loss.requires_grad:
        loss.backward()
    for i, operand in enumerate(operands):
        ours = case["gradients"].get(f"p{i}")
        if ours is None:
            continue
        theirs = operand.data.grad
        theirs = torch.zeros_like(operand.data) if theirs is None else theirs
        off = deviation(torch.tensor(ours), theirs)
        if not off <= TOLERANCE["f64"]:
            return f"gradient of operand {i} deviates by {off:.3g}: {ours}, {theirs}"
    return None


def against_one_rank(arguments):
    return True, call([TOOL, *arguments])


def against_torch(arguments):
    lines = call([TOOL, "--describe", *arguments]).splitlines()
    for line in lines:
        case = json.loads(line)
        problem = judge(case)
        if problem:
            return False, f"{case['op']}: {problem}\n{line}"
    return bool(lines), f"{len(lines)} cases"


def is_detected(kind: str, op: str):
    result = subprocess.run([TOOL, f"--break={kind}", op], capture_output=True, text=True)
    return result.returncode == 1 and f"FAILED titan.{op}" in result.stderr, result.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="twenty times as many cases")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    arguments = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    times = 20 if arguments.all else 1
    first, names = arguments.seed, arguments.names
    cases = [(f"gradients, and every sharding on 2 and 2x2 ranks, seeds from {seed}",
              partial(against_one_rank, [f"--count={100 * times}", f"--seed={seed}", *names]))
             for seed in (first, first + 100 * times)]
    cases.append(("results and gradients against PyTorch",
                  partial(against_torch, [f"--count={50 * times}", f"--seed={first}", *names])))
    if not names:
        cases.append(("derivatives at kinks against PyTorch",
                      partial(kinks.compare, TITANC, BUILD / "bin/titan-interpret", call,
                              BUILD / "tests/ops")))
    cases += [(f"a wrong {kind} rule of {op} is detected", partial(is_detected, kind, op))
              for kind, ops in WRONG.items() for op in ops if op in (names or ops)]
    report = Report()
    report.cases(cases)
    report.end()


if __name__ == "__main__":
    main()

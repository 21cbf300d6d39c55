"""Gradients of a complete step in f32 compared with f64 (gradients.titan). Every position has the same
token, so all terms of a sum are equal: their rounding errors have one sign, and every update of the table is
to one row."""

from pathlib import Path

import torch
from safetensors.torch import load_file

from titan import Launch, build

HERE = Path(__file__).resolve().parent
# Of sums, and of GEMMs (docs/rationale/precision.md).
BOUNDS = {"project": 5e-6, "unembed": 5e-6}
BOUND = 1e-6


def check(out: Path, run: str, positions: int):
    text = out / "equal.txt"
    out.mkdir(parents=True, exist_ok=True)
    text.write_text("a" * (positions + 1))
    gradients = {}
    for dtype in ("float32", "float64"):
        exe = build(HERE / "gradients.titan", run, dtype, out / f"{run}-{dtype}")
        result = Launch(1).run(exe, text, out / f"{run}-{dtype}-run")
        gradients[dtype] = {name: tensor.double() for name, tensor in
                            load_file(result / "gradients.safetensors").items()}
    errors = {}
    for name, exact in gradients["float64"].items():
        errors[name] = (torch.linalg.norm(gradients["float32"][name] - exact) / torch.linalg.norm(exact)).item()
    shown = ", ".join(f"{name} {error:.1e}" for name, error in errors.items())
    good = len(errors) == 7 and all(error <= BOUNDS.get(name, BOUND) for name, error in errors.items())
    return good, f"    {shown}"

"""Compares derivatives with PyTorch's where a function has no unique one (kinks such as relu at 0).

Covers every row of the table in docs/language.md ("Where a function has no derivative"). The
interpreter computes gradients at the kink and on both sides; they must equal PyTorch's bitwise.
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

# An expression of parameters a[n] and b[n], the same in PyTorch, and their values.
ROWS = [
    ("sum(relu({a}), over n)", lambda a, b: F.relu(a).sum(), [-1, 0, 1, 0], [0] * 4),
    ("sum(squared_relu({a}), over n)", lambda a, b: (F.relu(a) ** 2).sum(), [-1, 0, 1, 0], [0] * 4),
    ("sum(leaky_relu({a}, 0.1), over n)", lambda a, b: F.leaky_relu(a, 0.1).sum(), [-1, 0, 1, 0], [0] * 4),
    ("sum(max({a}, {b}), over n)", lambda a, b: torch.maximum(a, b).sum(), [1, 2, 3, 0], [2, 2, 2, 0]),
    ("sum(min({a}, {b}), over n)", lambda a, b: torch.minimum(a, b).sum(), [1, 2, 3, 0], [2, 2, 2, 0]),
    ("sum(max({a}, 0.5), over n)", lambda a, b: torch.maximum(a, torch.tensor(0.5)).sum(),
     [0, 0.5, 1, 0], [0] * 4),
    ("sum(clamp({a}, -1, 1), over n)", lambda a, b: torch.clamp(a, -1, 1).sum(), [-2, -1, 1, 2], [0] * 4),
    ("sum(clamp({a}, {b}, 2), over n)", lambda a, b: torch.clamp(a, b, torch.tensor(2.0)).sum(),
     [-2, -1, 2, 3], [-1, -1, -1, -1]),
    ("sum(abs({a}), over n)", lambda a, b: a.abs().sum(), [-1, 0, 1, 0], [0] * 4),
    ("max({a}, over n)", lambda a, b: torch.amax(a), [1, 3, 3, 0], [0] * 4),
    ("min({a}, over n)", lambda a, b: torch.amin(a), [2, 2, 2, 5], [0] * 4),
    ("sum(where({a} > {b}, {a}, {b}), over n)", lambda a, b: torch.where(a > b, a, b).sum(),
     [1, 2, 3, 0], [2, 2, 2, 0]),
    ("sum(sqrt({a}) + {b}, over n)", lambda a, b: (a.sqrt() + b).sum(), [0, 1, 4, 0], [0] * 4),
    ("sum(best, over two)", lambda a, b: a.sort(descending=True, stable=True)[0][:2].sum(),
     [1, 3, 3, 3], [0] * 4),
]

MODEL = """import std.activation

model M(n = 4) {{
  input tokens: int[batch, seq]
  {params}
  let best, at = top_k(a{last}, 2, over n as two)
  loss = {loss}
}}
train t = M {{
  data = text("none.txt") {{ seq = 2, batch = 1 }}
  precision {{ params = f64, compute = f64 }}
}}
"""


def compare(titanc: Path, interpret: Path, call, out: Path) -> tuple[bool, str]:
    """Whether all gradients equal PyTorch's, and a description of those that differ."""
    out.mkdir(parents=True, exist_ok=True)
    source, ir = out / "kinks.titan", out / "kinks.mlir"
    names = [(f"a{i}", f"b{i}") for i in range(len(ROWS))]
    params = "\n  ".join(f"param {name}[n] = 0" for pair in names for name in pair)
    terms = [text.format(a=a, b=b) for (text, *_), (a, b) in zip(ROWS, names)]
    source.write_text(MODEL.format(params=params, last=len(ROWS) - 1, loss=" + ".join(terms)))
    ir.write_text(call([titanc, "--stop-after=gradient", source]))
    values = {name: torch.tensor(numbers, dtype=torch.float64)
              for (_, _, *both), pair in zip(ROWS, names) for name, numbers in zip(pair, both)}
    save_file(values, out / "inputs.safetensors")
    call([interpret, ir, "--program", "train", "--inputs", out / "inputs.safetensors",
          "--dump", out / "results.safetensors"])
    results, wrong = load_file(out / "results.safetensors"), []
    for (text, function, *_), (a, b) in zip(ROWS, names):
        operands = [values[name].clone().requires_grad_() for name in (a, b)]
        function(*operands).backward()
        for name, operand in zip((a, b), operands):
            theirs = torch.zeros_like(operand) if operand.grad is None else operand.grad
            ours = results.get(f"gradient.{name}", torch.zeros_like(operand)) # unused: none
            if not torch.equal(ours, theirs):
                wrong.append(f"{text.format(a='a', b='b')}: d{name[0]} = {ours.tolist()}, "
                             f"PyTorch {theirs.tolist()}")
    return not wrong, "\n".join(wrong) or f"{len(ROWS)} rows"

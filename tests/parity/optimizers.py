"""Compares every optimizer with PyTorch's, or with its authors' definition, on every kind of mesh.

    optimizers.py [--all] [-v] [NAME...]

A small model takes four steps on one batch, interpreted in float64 after the memory phase: on one rank, with
sharded storage, with tensor parallelism, and with both. The last loss, its gradients and the parameters after
the last step must agree by the rule of compare.py. A case must also differ from the case `other` (AdamW, or
SGD), or the test would not show that the settings have an effect. Without --all, most cases run only on the
mesh with both.
"""

import importlib
import json
import math
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Callable

import torch
from safetensors.torch import load_file, save_file

from compare import compare
from interpret import BIN, OUT as INTERPRET, kind_of
from reference import write_run
from table import FLOAT64, SIZES, TENSOR
from run import PROGRAMS
from float64_cases import run_in_float64
from titan import TITANC, call, lock_product
from training import clip, loss_of

OUT = INTERPRET.parent / "optimizers"
MODEL, BATCH, SEQ, STEPS, LR, CLIP = "llama3", 2, 8, 4, 1e-2, 1.0
SHARD = "shard = 2 splits batch stores params, grads, optimizer"
TP = f"tp = 2 splits {TENSOR[MODEL]}, else seq"
MESHES = {"one": ([], 1), "shard2": ([SHARD], 2), "tp2": ([TP], 2), "shard2_tp2": ([SHARD, TP], 4)}
BOTH = "shard2_tp2"

# An optimizer of a user's own: RMSprop with a bound on each element's step.
OWN = """
optimizer bounded(p, g, lr, step) {
  option decay = 0.9 { least = 0, below = 1 }
  option bound = 2.0 { least = 0 }
  state square
  square = decay * square + (1 - decay) * g ** 2
  let direction = g / (sqrt(square / (1 - decay ** step)) + 1e-6)
  return p - lr * clamp(direction, -bound, bound)
}
"""


class Lion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al., arXiv 2302.06675."""

    def __init__(self, groups, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(groups, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            (b1, b2), lr = group["betas"], group["lr"]
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                update = torch.sign(b1 * m + (1 - b1) * p.grad)
                m.copy_(b2 * m + (1 - b2) * p.grad)
                p.sub_(lr * (update + group["weight_decay"] * p))


class Bounded(torch.optim.Optimizer):
    """The optimizer `bounded` of OWN."""

    def __init__(self, groups, lr, decay=0.9, bound=2.0, weight_decay=0.0):
        super().__init__(groups, dict(lr=lr, decay=decay, bound=bound))
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        for group in self.param_groups:
            decay, bound = group["decay"], group["bound"]
            for p in group["params"]:
                square = self.state[p].setdefault("square", torch.zeros_like(p))
                square.copy_(decay * square + (1 - decay) * p.grad**2)
                size = (square / (1 - decay**self.steps)).sqrt() + 1e-6
                p.sub_(group["lr"] * (p.grad / size).clamp(-bound, bound))


# The number of leading dimensions of a matrix that are contracted; 1 for all other matrices.
INPUTS = {"wo": 3}


def orthogonal(x):
    """Five steps of the Newton-Schulz iteration on the last two dimensions (Jordan et al.)."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    for _ in range(5):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """torch.optim.Muon with the rate adjusted as its `original`, in float64."""

    def __init__(self, names, groups, lr, momentum=0.95, weight_decay=0.0):
        super().__init__(groups, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))
        self.names = names

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            mu, lr = group["momentum"], group["lr"]
            for p in group["params"]:
                v = self.state[p].setdefault("v", torch.zeros_like(p))
                v.lerp_(p.grad, 1 - mu)
                taken = p.grad.lerp(v, mu)
                inputs = math.prod(p.shape[:INPUTS.get(self.names[p].split(".")[-1], 1)])
                matrix = taken.reshape(inputs, -1).mT  # outputs x inputs
                rate = lr * max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
                p.mul_(1 - lr * group["weight_decay"]).sub_(rate * orthogonal(matrix).mT.reshape(p.shape))


class Adafactor(torch.optim.Optimizer):
    """torch.optim.Adafactor on views of the model's parameters: as matrices, or as vectors."""

    def __init__(self, names, groups, lr, matrices=True, **options):
        super().__init__(groups, dict(lr=lr))
        self.views = {}
        for group in self.param_groups:
            for p in group["params"]:
                inputs = math.prod(p.shape[:INPUTS.get(names[p].split(".")[-1], 1)])
                shape = (inputs, -1) if matrices else (-1,)
                self.views[p] = torch.nn.Parameter(p.detach().reshape(shape))
                assert self.views[p].data_ptr() == p.data_ptr()
        inner = [{**group, "params": [self.views[p] for p in group["params"]]} for group in self.param_groups]
        self.inner = torch.optim.Adafactor(inner, lr=lr, foreach=False, **options)

    def step(self):
        for p, view in self.views.items():
            view.grad = p.grad.reshape(view.shape)
        self.inner.step()


def torch_optimizer(name: str, **options) -> Callable:
    return lambda groups: getattr(torch.optim, name)(groups, lr=LR, foreach=False, **options)


@dataclass(frozen=True)
class Case:
    """Settings of a run, and functions that make the same optimizers of PyTorch's parameter groups: `second` for
    parameters that match the pattern, `make` for all others."""

    settings: str
    make: Callable
    pattern: str = ""
    second: Callable | None = None
    decays: bool = True  # whether parameters except norms have weight decay
    everywhere: bool = False  # on every mesh, also without --all
    clip_value: float = 0.0
    other: str = "adamw"  # must not agree with the case


ADAMW = dict(betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
CASES = {
    "adamw": Case("optimizer { lr = 1e-2 }", torch_optimizer("AdamW", **ADAMW), everywhere=True),
    "adam": Case("optimizer = adam { betas = (0.8, 0.9), weight_decay = 0.1 }",
                 torch_optimizer("Adam", betas=(0.8, 0.9), weight_decay=0.1)),
    "sgd": Case("optimizer = sgd { weight_decay = 0.1 }", torch_optimizer("SGD", weight_decay=0.1)),
    "momentum": Case("optimizer = sgd { momentum = 0.9, dampening = 0.25, weight_decay = 0.1 }",
                     torch_optimizer("SGD", momentum=0.9, dampening=0.25, weight_decay=0.1)),
    "nesterov": Case("optimizer = sgd { momentum = 0.9, nesterov = true, weight_decay = 0.1 }",
                     torch_optimizer("SGD", momentum=0.9, nesterov=True, weight_decay=0.1)),
    # With SGD, whose step is proportional to the gradient.
    "clipping by value": Case("optimizer = sgd { weight_decay = 0.1 }, clip_value = 0.01",
                              torch_optimizer("SGD", weight_decay=0.1), everywhere=True, clip_value=0.01, other="sgd"),
    "lion": Case("optimizer = lion { betas = (0.8, 0.9), weight_decay = 0.1 }",
                 lambda groups: Lion(groups, LR, (0.8, 0.9), 0.1)),
    "two of them": Case('optimizer { group "layers.*" { optimizer = sgd { momentum = 0.5 } } }',
                        torch_optimizer("AdamW", **ADAMW), "layers.*",
                        torch_optimizer("SGD", momentum=0.5), everywhere=True),
    "muon": Case('optimizer { group "layers.w*" { optimizer = muon { weight_decay = 0.1 }, lr_scale = 2 } }',
                 torch_optimizer("AdamW", **ADAMW), "layers.*.w*",
                 lambda groups, names: Muon(names, groups, 2 * LR, weight_decay=0.1), everywhere=True),
    "adafactor": Case('optimizer = adafactor_vector { weight_decay = 0.1, eps = (1e-6, 1e-3), '
                      'group "layers.w*" { optimizer = adafactor { eps = (1e-6, 1e-3), bound = 1.25 } } }',
                      lambda groups, names: Adafactor(names, groups, LR, matrices=False, weight_decay=0.1,
                                                      eps=(1e-6, 1e-3)),
                      "layers.*.w*",
                      lambda groups, names: Adafactor(names, groups, LR, eps=(1e-6, 1e-3), d=1.25),
                      everywhere=True),
    "one's own": Case("optimizer = bounded { bound = 0.75 }",
                      lambda groups: Bounded(groups, LR, bound=0.75), decays=False),
}


def make_optimizers(case: Case, parameters: dict, undecayed) -> list[torch.optim.Optimizer]:
    """PyTorch's optimizers for the case. Parameters that match `undecayed` have no weight decay."""
    made = []
    for make, has in ((case.make, lambda n: not fnmatch(n, case.pattern)),
                      (case.second, lambda n: fnmatch(n, case.pattern))):
        if make is None:
            continue
        chosen = {n: p for n, p in parameters.items() if has(n)}
        without_decay = [p for n, p in chosen.items() if any(fnmatch(n, u) for u in undecayed)]
        others = [p for p in chosen.values() if all(p is not q for q in without_decay)]
        groups = ([{"params": without_decay, "weight_decay": 0.0}, {"params": others}]
                  if case.decays else [{"params": list(chosen.values())}])
        names = {p: n for n, p in chosen.items()}
        made.append(make(groups, names) if make.__code__.co_argcount == 2 else make(groups))
    return made


def make_reference(case: Case, out: Path) -> None:
    module = importlib.import_module(f"models.{MODEL}")
    chance = torch.Generator().manual_seed(1)
    weights = {}
    for name, shape in module.shapes(**SIZES[MODEL]).items():
        centre = 1.0 if name.endswith("norm") else 0.0
        weights[name] = centre + 0.1 * torch.randn(shape, generator=chance, dtype=torch.float64)
    batch = torch.randint(0, SIZES[MODEL]["vocab"], (BATCH, SEQ + 1), generator=chance)
    parameters = {n: w.clone().requires_grad_() for n, w in weights.items()}
    optimizers = make_optimizers(case, parameters, module.UNDECAYED)
    for _ in range(STEPS):
        for p in parameters.values():
            p.grad = None
        loss = loss_of(module, parameters, batch)
        loss.backward()
        gradients = {n: p.grad.clone() for n, p in parameters.items()}
        norm = clip(list(parameters.values()), CLIP, per_tensor=False)
        if case.clip_value:
            torch.nn.utils.clip_grad_value_(parameters.values(), case.clip_value)
        for optimizer in optimizers:
            optimizer.step()
    row = {"step": STEPS, "loss": loss.item(), "losses": {}, "grad_norm": norm, "lr": LR}
    write_run(out, [row], gradients, {n: p.detach() for n, p in parameters.items()})
    save_file({**weights, "tokens": batch[:, :-1].contiguous(),
               "labels": batch[:, 1:].contiguous()}, out / "inputs.safetensors")


def reference_of(name: str) -> Path:
    against = OUT / f"{name.replace(' ', '-')}-torch"
    with lock_product(against):
        if not (against / "inputs.safetensors").exists():
            make_reference(CASES[name], against)
    return against


def write_program(case: Case, axes: list[str], folder: Path) -> Path:
    sizes = ", ".join(f"{k} = {v}" for k, v in SIZES[MODEL].items())
    program = folder / "run.titan"
    program.write_text(f'''import "{PROGRAMS / MODEL}.titan" as base
{OWN}
parallel map {{
  {chr(10).join(axes) or "all = 1 splits batch"}
}}
train run = base.parity on map with {{
  model {{ {sizes} }}
  data {{ seq = {SEQ}, batch = {BATCH} }}
  clip = {CLIP}
  {FLOAT64}
  {case.settings}
}}
''')
    return program


def interpret(program: Path, ranks: int, inputs: Path) -> Path:
    out = program.parent
    ir, dump = out / "step.mlir", out / "dump.safetensors"
    ir.write_text(call([TITANC, "--stop-after=memory", "--train", "run", program]))
    many = [f"--ranks={ranks}"] if ranks > 1 else []
    call([BIN / "titan-interpret", "--program=train", f"--inputs={inputs}", f"--dump={dump}",
          f"--lr={LR}", f"--steps={STEPS}", *many, ir])
    tensors = load_file(dump)
    updates = kind_of(tensors, "update.")
    row = {"step": STEPS, "loss": tensors["output.loss"].item(), "losses": {},
           "grad_norm": tensors["output.grad_norm"].item()}
    (out / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    gradients = kind_of(tensors, "gradient.")
    save_file(gradients, out / "gradients.safetensors")
    save_file({n: updates[n] for n in gradients}, out / "model.safetensors")
    return out


def check(name: str, mesh: str):
    axes, ranks = MESHES[mesh]
    against = reference_of(name)
    folder = OUT / f"{name.replace(' ', '-')}-{mesh}"
    folder.mkdir(parents=True, exist_ok=True)
    ours = interpret(write_program(CASES[name], axes, folder), ranks, against / "inputs.safetensors")
    result = compare(ours, against, "float64")
    other = CASES[name].other
    if result.passed() and name != other and compare(ours, reference_of(other), "float64").passed():
        return False, f"    agrees with {other} as well"
    return result.passed(), result.table()


def cases(everything: bool):
    for name, case in CASES.items():
        for mesh in MESHES:
            if everything or case.everywhere or mesh == BOTH:
                yield f"{name} on {mesh}", partial(check, name, mesh)


if __name__ == "__main__":
    run_in_float64(__doc__, OUT, cases)

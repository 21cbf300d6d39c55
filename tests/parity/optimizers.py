"""Compares every optimizer with PyTorch's, or with its authors' definition, on every kind of mesh.

    optimizers.py [--all] [-v] [NAME...]

A small model takes four steps on one batch, interpreted in float64 after the memory phase: on one rank, with
sharded storage, with tensor parallelism, and with both. Batches of matrices (experts, heads) are also split along
the batch, the rows and the columns. The last loss, its gradients and the parameters after the last step must agree
by the rule of compare.py. A case must also differ from the case `other` (AdamW, SGD, or one matrix instead of a
batch), or the test would not show that the settings have an effect. Without --all, most cases run only on the
last mesh of their model.
"""

import importlib
import json
import math
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Callable

import torch
from safetensors.torch import load_file, save_file

from compare import compare
from interpret import BIN, OUT as INTERPRET, kind_of
from reference import write_run
from table import FLOAT64, ROUTED, SIZES, TENSOR
from run import PROGRAMS
from float64_cases import run_in_float64
from titan import TITANC, call, lock_product
from training import clip, loss_of

OUT = INTERPRET.parent / "optimizers"
MODEL, BATCH, SEQ, STEPS, LR, CLIP = "llama3", 2, 8, 4, 1e-2, 1.0
MODEL_SIZES = SIZES | ROUTED | {"heads": dict(layers=2, heads=4, embed=8, narrow=6, vocab=64)}
SHARD = "shard = 2 splits batch stores params, grads, optimizer"
TP = f"tp = 2 splits {TENSOR[MODEL]}, else seq"


def meshes(batch: str, rows: str, columns: str) -> dict[str, tuple[list[str], int]]:
    """Axes that split these dimensions of batches of matrices, one by one and together."""
    ep, tp, wide = f"ep = 2 splits {batch}", f"tp = 2 splits {rows}", f"wide = 2 splits {columns}"
    return {"one": ([], 1), "shard2": ([SHARD], 2), "ep2": ([ep], 2), "tp2": ([tp], 2), "wide2": ([wide], 2),
            "tp2_wide2": ([tp, wide], 4), "shard2_ep2_tp2": ([SHARD, ep, tp], 8), "shard2_ep2": ([SHARD, ep], 4)}


EXPERTS = meshes("experts", "expert_ffn", "embed")
MESHES = {MODEL: {"one": ([], 1), "shard2": ([SHARD], 2), "tp2": ([TP], 2), "shard2_tp2": ([SHARD, TP], 4)},
          "mixtral": EXPERTS, "mixtral_capacity": EXPERTS, "heads": meshes("heads", "narrow", "embed")}

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


# The dimensions of a parameter that number its matrices, and those that are contracted. All others are outputs.
# Other parameters are one matrix, of which the first dimension is contracted.
ROLES = {"wo": ((), (0, 1, 2)), "expert_w1": ((0,), (1,)), "expert_w2": ((0,), (1,)), "expert_w3": ((0,), (1,)),
         "down": ((1,), (0,)), "pair": ((1, 2), (0,)), "up": ((0,), (1,)), "unembed": ((), (0, 1))}


class Matrices:
    """The matrices of a parameter. As one, the dimensions of a batch are outputs."""

    def __init__(self, name: str, parameter: torch.Tensor, as_one: bool):
        batch, inputs = ROLES.get(name.split(".")[-1], ((), (0,)))
        batch = () if as_one else batch
        outputs = [d for d in range(parameter.dim()) if d not in batch + inputs]
        self.order = [*batch, *outputs, *inputs]
        self.sizes = [parameter.shape[d] for d in self.order]
        self.rows = math.prod(parameter.shape[d] for d in outputs)
        self.columns = math.prod(parameter.shape[d] for d in inputs)

    def split(self, x: torch.Tensor) -> list[torch.Tensor]:
        return list(x.detach().permute(self.order).reshape(-1, self.rows, self.columns).clone())

    def join(self, matrices: list[torch.Tensor]) -> torch.Tensor:
        back = sorted(range(len(self.order)), key=lambda i: self.order[i])
        return torch.stack(matrices).reshape(self.sizes).permute(back)


def orthogonal(x):
    """Five steps of the Newton-Schulz iteration on a matrix (Jordan et al.)."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = x / x.norm().clamp(min=1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.mT if tall else x
    for _ in range(5):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """torch.optim.Muon with the rate adjusted as its `original`, in float64, for each matrix."""

    def __init__(self, names, groups, lr, momentum=0.95, weight_decay=0.0, as_one=False):
        super().__init__(groups, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))
        self.matrices = {p: Matrices(name, p, as_one) for p, name in names.items()}

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            mu, lr = group["momentum"], group["lr"]
            for p in group["params"]:
                v = self.state[p].setdefault("v", torch.zeros_like(p))
                v.lerp_(p.grad, 1 - mu)
                taken = p.grad.lerp(v, mu)
                matrices = self.matrices[p]
                rate = lr * max(1.0, matrices.rows / matrices.columns) ** 0.5
                step = matrices.join([rate * orthogonal(matrix) for matrix in matrices.split(taken)])
                p.mul_(1 - lr * group["weight_decay"]).sub_(step)


class Vector:
    """A parameter as one vector."""

    def split(self, x: torch.Tensor) -> list[torch.Tensor]:
        self.shape = x.shape
        return [x.detach().flatten().clone()]

    def join(self, vectors: list[torch.Tensor]) -> torch.Tensor:
        return vectors[0].reshape(self.shape)


class Adafactor(torch.optim.Optimizer):
    """torch.optim.Adafactor on copies of the matrices of parameters, each a parameter of its own, or on vectors."""

    def __init__(self, names, groups, lr, matrices=True, as_one=False, **options):
        super().__init__(groups, dict(lr=lr))
        self.forms = {p: Matrices(name, p, as_one) if matrices else Vector() for p, name in names.items()}
        self.copies = {p: [torch.nn.Parameter(m) for m in form.split(p)] for p, form in self.forms.items()}
        inner = [{**group, "params": [copy for p in group["params"] for copy in self.copies[p]]}
                 for group in self.param_groups]
        self.inner = torch.optim.Adafactor(inner, lr=lr, foreach=False, **options)

    @torch.no_grad()
    def step(self):
        for p, copies in self.copies.items():
            for copy, gradient in zip(copies, self.forms[p].split(p.grad), strict=True):
                copy.grad = gradient
        self.inner.step()
        for p, copies in self.copies.items():
            p.copy_(self.forms[p].join([copy.detach() for copy in copies]))


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
    model: str = MODEL
    everywhere: bool = False  # on every mesh, also without --all
    clip_value: float = 0.0
    other: str = "adamw"  # must not agree with the case


ADAMW = dict(betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)


def muon_of(model: str, groups: str, as_one=False) -> Case:
    return Case(f'optimizer {{ group "layers.{groups}" {{ optimizer = muon {{ weight_decay = 0.1 }}, lr_scale = 2 }} }}',
                torch_optimizer("AdamW", **ADAMW), f"layers.*.{groups}",
                lambda groups, names: Muon(names, groups, 2 * LR, weight_decay=0.1, as_one=as_one), model=model)


def adafactor_of(model: str, groups: str, as_one=False) -> Case:
    return Case(f'optimizer {{ group "layers.{groups}" {{ optimizer = adafactor {{ eps = (1e-6, 1e-3) }} }} }}',
                torch_optimizer("AdamW", **ADAMW), f"layers.*.{groups}",
                lambda groups, names: Adafactor(names, groups, LR, eps=(1e-6, 1e-3), as_one=as_one), model=model)


# Optimizers of batches of matrices: how to make a case for parameters of a model.
BATCHES = {"muon of experts": partial(muon_of, "mixtral", "expert_*"),
           "adafactor of experts": partial(adafactor_of, "mixtral_capacity", "expert_*"),
           "muon of heads": partial(muon_of, "heads", "*"), "adafactor of heads": partial(adafactor_of, "heads", "*")}


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
} | {name: replace(make(), other=f"{name} as one") for name, make in BATCHES.items()}
# References that cases must differ from: a batch as one matrix.
OTHERS = {f"{name} as one": make(as_one=True) for name, make in BATCHES.items()}


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
        made.append(make(groups, names) if len(signature(make).parameters) == 2 else make(groups))
    return made


def make_reference(case: Case, out: Path) -> None:
    module, sizes = importlib.import_module(f"models.{case.model}"), MODEL_SIZES[case.model]
    chance = torch.Generator().manual_seed(1)
    weights = {}
    for name, shape in module.shapes(**sizes).items():
        centre = 1.0 if name.endswith("norm") else 0.0
        weights[name] = centre + 0.1 * torch.randn(shape, generator=chance, dtype=torch.float64)
    batch = torch.randint(0, sizes["vocab"], (BATCH, SEQ + 1), generator=chance)
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
            make_reference((CASES | OTHERS)[name], against)
    return against


def write_program(case: Case, axes: list[str], folder: Path) -> Path:
    sizes = ", ".join(f"{k} = {v}" for k, v in MODEL_SIZES[case.model].items())
    program = folder / "run.titan"
    program.write_text(f'''import "{PROGRAMS / case.model}.titan" as base
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
    axes, ranks = MESHES[CASES[name].model][mesh]
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
        of_model = MESHES[case.model]
        for mesh in of_model:
            if everything or case.everywhere or mesh == list(of_model)[-1]:
                yield f"{name} on {mesh}", partial(check, name, mesh)


if __name__ == "__main__":
    run_in_float64(__doc__, OUT, cases)

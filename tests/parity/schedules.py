"""Compares schedules of the learning rate, and a model that depends on the step, with PyTorch.

    schedules.py [-v] [NAME...]

The interpreter evaluates a schedule of the library, or one that the program declares, for all steps of a run.
The factors equal TorchTitan's closed form, or PyTorch's scheduler up to rounding. A compiled program computes
the same factors, also with settings that change at launch. A model whose loss has a weight that falls from
step to step trains in float64 on every kind of mesh; compare.py judges the results.
"""

import json
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Callable

import torch
from safetensors.torch import save_file

from compare import compare
from interpret import BIN, OUT as INTERPRET
import optimizers
from optimizers import LR, SHARD, STEPS, interpret
from reference import write_run
from table import FLOAT64
from float64_cases import run_in_float64
from titan import QUICK, TITANC, call, lock_product, write_text

OUT = INTERPRET.parent / "schedules"

# A schedule that the program declares: cosine annealing with restarts.
DECLARED_SCHEDULE = """
schedule cycles(step, steps) {
  option count = 4 { least = 1 }
  option low   = 0.1 { least = 0, most = 1 }
  option shape = "cosine" { words = ["cosine", "linear"] }
  let at = (step - 1) * count / steps
  let progress = at - floor(at)
  let cosine = 0.5 * (1 + cos(3.141592653589793 * progress))
  return low + (1 - low) * where(shape == "cosine", cosine, 1 - progress)
}
"""
MODEL = """
model Bigram(vocab = 256) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  param table[vocab, vocab as next] ~ normal(0.02)
  let rows = table[vocab: tokens]
  loss = mean((rows - 1) ** 2, over batch, seq, next)
}
"""


def torchtitan(step, steps, warmup=0, ratio=1.0, shape="constant", to=0.0):
    """The factor of TorchTitan's LRSchedulersContainer (lr_scheduler.py); the first step is 1."""
    decay = round(steps * ratio)
    decay = steps - warmup if warmup + decay > steps else decay
    stable_end = steps + 1 - decay  # TorchTitan counts one more step than the run has
    if step <= warmup:
        return step / warmup
    if step <= stable_end or shape == "constant":
        return 1.0
    progress = (step - stable_end) / decay
    curve = {"linear": 1 - progress, "sqrt": 1 - math.sqrt(progress),
             "cosine": 0.5 * (1.0 + math.cos(math.pi * progress))}[shape]
    return to + (1 - to) * curve


def in_torch(make):
    """The factor of a scheduler of torch.optim, as a function of (step, steps)."""
    def factor(step, steps):
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
        scheduler = make(optimizer, steps)
        for _ in range(step - 1):
            optimizer.step()
            scheduler.step()
        return optimizer.param_groups[0]["lr"]
    return factor


def cycles(step, steps, count=4, low=0.1, linear=False):
    """The factor of the declared schedule."""
    progress = (step - 1) * count / steps % 1
    return low + (1 - low) * (1 - progress if linear else 0.5 * (1 + math.cos(math.pi * progress)))


schedulers = torch.optim.lr_scheduler


@dataclass(frozen=True)
class Case:
    """A schedule with its settings in a run, and the factors that it must give."""

    settings: str
    factor: Callable  # of (step, steps)
    steps: int = 40
    is_exact: bool = False


CASES = {
    "default": Case("", lambda s, n: 1.0, is_exact=True),
    "warm-up": Case("{ warmup = 7 }", partial(torchtitan, warmup=7), is_exact=True),
    "linear decay": Case("{ warmup = 3, decay = linear, to = 0.1 }",
                         partial(torchtitan, warmup=3, shape="linear", to=0.1), is_exact=True),
    "cosine decay": Case("{ warmup = 3, decay = cosine, to = 0.1 }",
                         partial(torchtitan, warmup=3, shape="cosine", to=0.1), is_exact=True),
    "warm-up, stable, decay": Case("wsd { warmup = 5, decay = sqrt, decay_ratio = 0.3 }",
                                   partial(torchtitan, warmup=5, ratio=0.3, shape="sqrt"), is_exact=True),
    "a decay of 2.5 steps": Case("{ decay = linear, decay_ratio = 0.25 }",
                                 partial(torchtitan, ratio=0.25, shape="linear"), 10, is_exact=True),
    "a decay of 3.5 steps": Case("{ decay = linear, decay_ratio = 0.35 }",
                                 partial(torchtitan, ratio=0.35, shape="linear"), 10, is_exact=True),
    "a decay longer than the rest": Case("{ warmup = 30, decay = cosine, decay_ratio = 0.5 }",
                                         partial(torchtitan, warmup=30, ratio=0.5, shape="cosine"), is_exact=True),
    "no decay": Case("{ decay = linear, decay_ratio = 0.0 }", partial(torchtitan, ratio=0.0), is_exact=True),
    "a warm-up of the whole run": Case("{ warmup = 40, decay = linear }", partial(torchtitan, warmup=40),
                                       is_exact=True),
    "constant": Case("constant { warmup = 4 }", partial(torchtitan, warmup=4), is_exact=True),
    "linear": Case("linear { warmup = 4, to = 0.25 }",
                   partial(torchtitan, warmup=4, shape="linear", to=0.25), is_exact=True),
    "LinearLR": Case("linear { to = 0.25 }",
                     in_torch(lambda o, n: schedulers.LinearLR(o, 1.0, 0.25, n))),
    "cosine": Case("cosine { warmup = 4 }", partial(torchtitan, warmup=4, shape="cosine"), is_exact=True),
    "CosineAnnealingLR": Case("cosine { to = 0.25 }",
                              in_torch(lambda o, n: schedulers.CosineAnnealingLR(o, n, 0.25))),
    "square root": Case("square_root { warmup = 4, to = 0.5 }",
                        partial(torchtitan, warmup=4, shape="sqrt", to=0.5), is_exact=True),
    # Vaswani et al., equation 3, with its greatest value 1.
    "inverse square root": Case("inverse_square_root { warmup = 8 }",
                                lambda s, n: min(s**-0.5, s * 8**-1.5) * 8**0.5),
    "StepLR": Case("step_decay { every = 7, factor = 0.5 }",
                   in_torch(lambda o, n: schedulers.StepLR(o, 7, 0.5))),
    "steps after a warm-up": Case("step_decay { warmup = 5, every = 7 }",
                                  lambda s, n: s / 5 if s <= 5 else 0.1 ** ((s - 6) // 7)),
    "declared": Case("cycles { count = 3 }", partial(cycles, count=3)),
    "declared, with a word": Case("cycles { shape = linear, low = 0.5 }",
                                   partial(cycles, low=0.5, linear=True)),
}


# metrics.jsonl contains rates with nine digits: the rounding error of rates up to 1.
ROUNDED = 5.1e-10


def differences(ours, case: Case, steps: int, rounding: float = 0.0):
    """The steps with different rates, as lines of text with both rates."""
    tolerance = rounding or (0.0 if case.is_exact else 1e-13)
    theirs = [case.factor(step, steps) for step in range(1, steps + 1)]
    assert len(ours) == steps, ours
    return [f"    step {i + 1}: {a!r}, expected {b!r}" for i, (a, b) in enumerate(zip(ours, theirs))
            if abs(a - b) > tolerance]


def folder_of(name: str) -> Path:
    folder = OUT / "".join(c if c.isalnum() else "-" for c in name)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_program(folder: Path, settings: str, steps: int) -> Path:
    program = folder / "run.titan"
    chosen = f"schedule = {settings}" if settings else ""
    program.write_text(f"""{DECLARED_SCHEDULE}{MODEL}
train run = Bigram {{
  data      = text("text.txt") {{ seq = 4, batch = 2 }}
  optimizer {{ lr = 1.0 }}
  {chosen}
  steps     = {steps}
}}
""")
    return program


def check_rates(name: str):
    case, folder = CASES[name], folder_of(name)
    ir = folder / "model.mlir"
    ir.write_text(call([TITANC, "--stop-after=model", write_program(folder, case.settings, case.steps)]))
    printed = call([BIN / "titan-interpret", "--learning-rates", f"--steps={case.steps}", ir])
    ours = [float(line.split(": ")[1]) for line in printed.splitlines()]
    wrong = differences(ours, case, case.steps)
    return not wrong, "\n".join(wrong)


# Launches of the program of "cosine decay": arguments, and the case that they result in.
LAUNCHES = {
    "as compiled": ([], CASES["cosine decay"]),
    "another length": (["--steps", "9"], CASES["cosine decay"]),
    "other settings": (["--set", "schedule.warmup=2", "--set", "schedule.decay=sqrt", "--set",
                        "schedule.decay_ratio=0.5"],
                       Case("", partial(torchtitan, warmup=2, ratio=0.5, shape="sqrt", to=0.1))),
}


def check_launches():
    """Learning rates in metrics.jsonl: up to rounding, because the runtime's cosine is another formula."""
    folder = folder_of("launch")
    program = write_program(folder, CASES["cosine decay"].settings, 40)
    exe = folder / "program"
    call([TITANC, "build", program, "-o", exe, *QUICK])
    data, wrong = write_text(folder / "text.txt", 2000), []
    for name, (arguments, case) in LAUNCHES.items():
        out = folder / name.replace(" ", "-")
        call([exe, "--data", data, "--out", out, "--log-every", "1", "--resume", "none", *arguments])
        ours = [json.loads(line)["lr"] for line in (out / "metrics.jsonl").read_text().splitlines()]
        lines = differences(ours, Case("", case.factor), len(ours), ROUNDED)
        wrong += [f"    {name}:"] + lines if lines else []
    return not wrong, "\n".join(wrong)


# --- A model that depends on the step.

ANNEALED = """
model Annealed(vocab = 16, embed = 8, ffn = 16, layers = 2) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  param table[vocab, embed] ~ normal(1)
  let x = table[vocab: tokens]
  repeat layers as l { x = Layer(x, l) }
  loss = mean(x * x, over batch, seq, embed)
  loss spread = exp(-0.3 * float(step)) * mean((x - mean(x, over embed)) ** 2, over batch, seq, embed)
}
block Layer(x, l) -> y {
  dims batch, seq, embed, ffn
  param up[embed, ffn] ~ normal(1)
  param down[ffn, embed] ~ normal(1)
  let a[batch, seq, ffn] = x @ up
  let h = tanh(a)
  let z[batch, seq, embed] = h @ down
  let y = x + where(step > 2, 0.5, 1.0) * z
}
"""
TP = "tp = 2 splits ffn, vocab, else seq"
MESHES = optimizers.MESHES[optimizers.MODEL]
BOTH = "shard2_tp2"
AXES = {name: [TP if axis.startswith("tp") else SHARD for axis in axes] for name, (axes, _) in MESHES.items()}


def annealed_loss(p, tokens, step):
    x = p["table"][tokens]
    for layer in range(2):
        z = torch.tanh(x @ p[f"layers.{layer}.up"]) @ p[f"layers.{layer}.down"]
        x = x + (0.5 if step > 2 else 1.0) * z
    spread = ((x - x.mean(-1, keepdim=True)) ** 2).mean()
    return (x * x).mean() + math.exp(-0.3 * step) * spread


def make_annealed(out: Path, holds: bool = False) -> None:
    """Trains in PyTorch. With `holds`, every step has the loss of step 1, as if the program ignored the step."""
    chance = torch.Generator().manual_seed(1)
    shapes = {"table": (16, 8)}
    for layer in range(2):
        shapes |= {f"layers.{layer}.up": (8, 16), f"layers.{layer}.down": (16, 8)}
    weights = {n: 0.3 * torch.randn(s, generator=chance, dtype=torch.float64) for n, s in shapes.items()}
    tokens = torch.randint(0, 16, (2, 8), generator=chance)
    parameters = {n: w.clone().requires_grad_() for n, w in weights.items()}
    optimizer = torch.optim.SGD(parameters.values(), lr=LR)
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss = annealed_loss(parameters, tokens, 1 if holds else step)
        loss.backward()
        gradients = {n: p.grad.clone() for n, p in parameters.items()}
        norm = math.sqrt(sum(float((g * g).sum()) for g in gradients.values()))
        optimizer.step()
    row = {"step": STEPS, "loss": loss.item(), "losses": {}, "grad_norm": norm, "lr": LR}
    write_run(out, [row], gradients, {n: p.detach() for n, p in parameters.items()})
    save_file({**weights, "tokens": tokens, "labels": tokens.clone()}, out / "inputs.safetensors")


def annealed_reference(holds: bool = False) -> Path:
    out = OUT / ("annealed-held" if holds else "annealed-torch")
    with lock_product(out):
        if not (out / "inputs.safetensors").exists():
            make_annealed(out, holds)
    return out


def check_annealed(mesh: str):
    against, folder = annealed_reference(), folder_of(f"annealed {mesh}")
    program = folder / "run.titan"
    program.write_text(f"""{ANNEALED}
parallel map {{
  {chr(10).join(AXES[mesh]) or "all = 1 splits batch"}
}}
train run = Annealed on map {{
  data      = text("t") {{ seq = 8, batch = 2 }}
  optimizer = sgd
  {FLOAT64}
}}
""")
    ours = interpret(program, MESHES[mesh][1], against / "inputs.safetensors")
    result = compare(ours, against, "float64")
    if compare(ours, annealed_reference(holds=True), "float64").passed():
        return False, "    agrees with a model that ignores the step as well"
    return result.passed(), result.table()


def cases(everything: bool):
    for name in CASES:
        yield name, partial(check_rates, name)
    yield "at launch", check_launches
    for mesh in MESHES if everything else ("one", BOTH):
        yield f"annealed on {mesh}", partial(check_annealed, mesh)


if __name__ == "__main__":
    run_in_float64(__doc__, OUT, cases)

"""Compares training in turns, such as that of a GAN's generator and critic, with a PyTorch loop.

    turns.py [--all] [-v] [NAME...]

A generator and a critic, each with its loss, its optimizer and its schedule, are updated in turns. Steps are
interpreted in float64 after the memory phase on one rank, with sharded storage, with tensor parallelism, with both,
and in pipelines. Compiled programs train on several processes. compare.py judges the results. The reference is a loop as PyTorch's users
write it: for each loss, a forward pass, the gradients of its parameters, clipping, and the optimizers that are due. A
case must also differ from simultaneous updates, unless these are equal by definition. A run that resumes on another
mesh must end like the uninterrupted one.
"""

import json
import math
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Callable

import numpy
import torch
from safetensors.torch import load_file, save_file

from compare import compare
from interpret import BIN, OUT as INTERPRET, kind_of
from reference import write_run
from sample_order import permutation
from schedules import torchtitan
from table import FLOAT64
from float64_cases import run_in_float64
from titan import TITANC, Launch, build, call, environment_of, on_ranks, lock_product

OUT = INTERPRET.parent / "turns"
SAMPLES, BATCH, SEED, LR, CLIP = 23, 4, 7, 1e-2, 0.5
FEATURES, WIDTH, HIDDEN, INNER, LAYERS = 6, 4, 8, 8, 2
SHARD = "shard = 2 splits batch stores params, grads, optimizer"
TP = "tp = 2 splits hidden, inner"
PP = "pp = 2 splits layers"
MESHES = {"one": ([], 1), "shard2": ([SHARD], 2), "tp2": ([TP], 2), "shard2_tp2": ([SHARD, TP], 4), "pp2": ([PP], 2),
          "pp2_shard2": ([PP, SHARD], 4)}

MODEL = """
fn score(x[batch, features], inside[features, inner], bias[inner], outside[inner]) =
  (tanh((x @ inside)[batch, inner] + bias) @ outside)[batch]

model Gan(features = 6, width = 4, hidden = 8, inner = 8, layers = 2) {
  input real[batch, features]
  input noise[batch, width]
  param g_in[width, hidden] ~ normal(0.5)
  let h = tanh((noise @ g_in)[batch, hidden])
  repeat layers {
    param g_mix[hidden, hidden as out] ~ normal(0.5)
    let mixed = tanh((h @ g_mix)[batch, out])
    h = h + mixed[out as hidden]
  }
  param g_out[hidden, features] ~ normal(0.5)
  let fake[batch, features] = h @ g_out
  param d_in[features, inner] ~ normal(0.5)
  param d_bias[inner] = 0
  param d_out[inner] ~ normal(0.5)
  let of_real = score(real, d_in, d_bias, d_out)
  let of_fake = score(fake, d_in, d_bias, d_out)
  loss critic = mean(log(1 + exp(-of_real)) + log(1 + exp(of_fake)), over batch)
  loss generator = mean(log(1 + exp(-of_fake)), over batch)
}
"""
SHAPES = {"g_in": (WIDTH, HIDDEN), **{f"layers.{l}.g_mix": (HIDDEN, HIDDEN) for l in range(LAYERS)},
          "g_out": (HIDDEN, FEATURES), "d_in": (FEATURES, INNER), "d_bias": (INNER,), "d_out": (INNER,)}


def losses_of(p, batch):
    h = torch.tanh(batch["noise"] @ p["g_in"])
    for layer in range(LAYERS):
        h = h + torch.tanh(h @ p[f"layers.{layer}.g_mix"])
    fake = h @ p["g_out"]
    score = lambda x: torch.tanh(x @ p["d_in"] + p["d_bias"]) @ p["d_out"]
    of_real, of_fake = score(batch["real"]), score(fake)
    return {"critic": ((1 + (-of_real).exp()).log() + (1 + of_fake.exp()).log()).mean(),
            "generator": (1 + (-of_fake).exp()).log().mean()}


def adam(parameters):
    return torch.optim.AdamW(parameters, lr=LR, betas=(0.5, 0.9), eps=1e-8, weight_decay=0.0, foreach=False)


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=LR, momentum=0.9, foreach=False)


@dataclass(frozen=True)
class Group:
    """Parameters by a pattern of PyTorch's names: their losses, their period, their optimizer, and their schedule
    with its factor, a function of the step and the steps of the run."""

    pattern: str
    losses: tuple[str, ...]
    every: int = 1
    offset: int = 0
    optimizer: Callable = adam
    schedule: str = ""
    factor: Callable = lambda step, steps: 1.0

    def is_due(self, step: int) -> bool:
        return step > self.offset and (step - self.offset - 1) % self.every == 0

    def setting(self) -> str:
        chosen = f"loss = [{', '.join(self.losses)}], " if self.losses else ""
        optimizer = "optimizer = sgd { momentum = 0.9 }" if self.optimizer is momentum else "betas = (0.5, 0.9)"
        schedule = f", schedule = {self.schedule}" if self.schedule else ""
        return (f'group "{self.pattern}" {{ {chosen}every = {self.every}, offset = {self.offset}, '
                f'{optimizer}{schedule} }}')


BOTH = ("critic", "generator")
CRITIC, GENERATOR = Group("d_*", ("critic",)), Group("*g_*", ("generator",))


@dataclass(frozen=True)
class Case:
    """Groups of parameters and further settings of a run."""

    groups: tuple[Group, ...]
    settings: str = ""
    everywhere: bool = False  # on every mesh, also without --all
    simultaneous: bool = False  # whether updates from the values before the step would agree


CASES = {
    # Each step updates the parameters of one loss.
    "in turn": Case((Group("d_*", ("critic",), 2), Group("*g_*", ("generator",), 2, 1)), everywhere=True,
                    simultaneous=True),
    # Steps that update both: the generator is trained against the updated critic.
    "critic first": Case((CRITIC, Group("*g_*", ("generator",), 3)), everywhere=True),
    "in every step": Case((CRITIC, GENERATOR)),
    "in microbatches": Case((CRITIC, GENERATOR), "accumulate = 2"),
    "other optimizers": Case((CRITIC, Group("*g_*", ("generator",), 2, optimizer=momentum))),
    "a late start": Case((Group("d_*", ("critic",), 1, 4), GENERATOR)),
    # Parameters of one loss with two periods: one forward pass, clipped together where both are due.
    "two periods of one loss": Case((Group("d_*", ("critic",), 2), Group("g_in", ("generator",), 3),
                                     Group("layers.*", ("generator",), 2, 1), Group("g_out", ("generator",), 2, 1))),
    "two periods of all losses": Case((Group("d_*", (), 2), Group("*g_*", (), 1)), simultaneous=True),
    "schedules of groups": Case((
        Group("d_*", ("critic",), schedule="linear { warmup = 3, to = 0.25 }",
              factor=partial(torchtitan, warmup=3, shape="linear", to=0.25)),
        Group("*g_*", ("generator",), 3, schedule="wsd { warmup = 2, decay = cosine }",
              factor=partial(torchtitan, warmup=2, shape="cosine")))),
    "a sum of losses": Case((Group("d_*", BOTH, 2), GENERATOR), everywhere=True),
}


def draw_data() -> dict[str, torch.Tensor]:
    chance = torch.Generator().manual_seed(3)
    return {"real": 1 + torch.randn((SAMPLES, FEATURES), generator=chance, dtype=torch.float64),
            "noise": torch.randn((SAMPLES, WIDTH), generator=chance, dtype=torch.float64)}


def draw_weights() -> dict[str, torch.Tensor]:
    chance = torch.Generator().manual_seed(1)
    return {n: 0.7 * torch.randn(s, generator=chance, dtype=torch.float64) for n, s in SHAPES.items()}


class Trainer:
    """A training loop with one optimizer for each group."""

    def __init__(self, case: Case, weights: dict[str, torch.Tensor], steps: int, simultaneous: bool = False):
        self.steps = steps
        self.parameters = {n: w.clone().requires_grad_() for n, w in weights.items()}
        self.owned = {}
        self.optimizers = {}
        for group in case.groups:
            self.owned[group] = {n: p for n, p in self.parameters.items() if fnmatch(n, group.pattern)}
            self.optimizers[group] = group.optimizer(list(self.owned[group].values()))
        assert sum(map(len, self.owned.values())) == len(weights), "each parameter has one group"
        self.objectives = sorted({group.losses for group in case.groups}, key=lambda losses: losses[0:1])
        self.simultaneous = simultaneous
        self.gradients = {}

    def step(self, step: int, batch) -> dict:
        row = {"step": step, "loss": 0.0, "losses": {}, "grad_norm": 0.0, "lr": LR}
        taken = []
        for losses in self.objectives:
            due = [g for g in self.owned if g.losses == losses and g.is_due(step)]
            if due:
                taken.append((due, *self.differentiate(losses, due, batch, row)))
                if not self.simultaneous:
                    self.update(step, taken.pop())
        for one in taken:
            self.update(step, one)
        row["grad_norm"] = math.sqrt(row["grad_norm"])
        return row

    def differentiate(self, losses, due, batch, row):
        values = losses_of(self.parameters, batch)
        values = {n: values[n] for n in losses or BOTH}
        loss = sum(values.values())
        parameters = {n: p for group in due for n, p in self.owned[group].items()}
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        self.gradients |= {n: g.clone() for n, g in zip(parameters, gradients)}
        norm = math.sqrt(sum(float((g * g).sum()) for g in gradients))
        row["loss"] += loss.item()
        row["losses"] |= {n: v.item() for n, v in values.items()}
        row["grad_norm"] += norm**2
        return parameters, [g * min(1.0, CLIP / (norm + 1e-6)) for g in gradients]

    def update(self, step: int, taken) -> None:
        due, parameters, gradients = taken
        for p, gradient in zip(parameters.values(), gradients):
            p.grad = gradient
        for group in due:
            for options in self.optimizers[group].param_groups:
                options["lr"] = LR * group.factor(step, self.steps)
            self.optimizers[group].step()


def make_reference(case: Case, weights, batches, out: Path, simultaneous: bool = False) -> None:
    """Trains in PyTorch. `gradients` of the run are the latest of every parameter after the first step in which all
    parameters have some; last.safetensors has those after the last step."""
    trainer = Trainer(case, weights, len(batches), simultaneous)
    rows, first = [], None
    for step, batch in enumerate(batches, 1):
        rows.append(trainer.step(step, batch))
        if first is None and len(trainer.gradients) == len(SHAPES):
            first = dict(trainer.gradients)
    write_run(out, rows, first, {n: p.detach() for n, p in trainer.parameters.items()})
    save_file({n: g.contiguous() for n, g in trainer.gradients.items()}, out / "last.safetensors")


def write_program(case: Case, axes: list[str], folder: Path, steps: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    groups = "\n    ".join(group.setting() for group in case.groups)
    settings = case.settings.replace("accumulate =", "pipeline.microbatches =") if PP in axes else case.settings
    program = folder / "run.titan"
    program.write_text(f"""{MODEL}
parallel map {{
  {chr(10).join(axes) or "all = 1 splits batch"}
}}
train run = Gan on map {{
  data = arrays("data") {{ batch = {BATCH} }}
  optimizer = adamw {{
    lr = {LR}
    {groups}
  }}
  clip = {CLIP}, seed = {SEED}, steps = {steps}
  {FLOAT64}
  {settings}
}}
""")
    return program


def folder_of(*names: str) -> Path:
    return OUT / "-".join(names).replace(" ", "-")


# --- Interpreted: one batch, for which the interpreter reads the inputs from a file.

STEPS = 7


def interpreted_reference(name: str, simultaneous: bool = False) -> Path:
    out = folder_of(name, "simultaneous" if simultaneous else "torch")
    with lock_product(out):
        if not (out / "inputs.safetensors").exists():
            weights, data = draw_weights(), {n: v[:BATCH].contiguous() for n, v in draw_data().items()}
            make_reference(CASES[name], weights, [data] * STEPS, out, simultaneous)
            rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
            (out / "metrics.jsonl").write_text(json.dumps(latest(rows)) + "\n")
            (out / "last.safetensors").rename(out / "gradients.safetensors")
            save_file({**weights, **data}, out / "inputs.safetensors")
    return out


def latest(rows: list[dict]) -> dict:
    """The row of the last step, with each loss from the latest step that computes it."""
    losses = {}
    for row in rows:
        losses |= row["losses"]
    return {**rows[-1], "losses": losses}


def interpret(name: str, mesh: str) -> Path:
    axes, ranks = MESHES[mesh]
    out = folder_of(name, mesh)
    program = write_program(CASES[name], axes, out, STEPS)
    ir, dump = out / "step.mlir", out / "dump.safetensors"
    ir.write_text(call([TITANC, "--stop-after=memory", program]))
    many = [f"--ranks={ranks}"] if ranks > 1 else []
    printed = call([BIN / "titan-interpret", "--program=train", f"--lr={LR}", f"--steps={STEPS}", *many,
                    f"--inputs={interpreted_reference(name) / 'inputs.safetensors'}", f"--dump={dump}", ir])
    tensors = load_file(dump)
    last = {line.split(" = ")[0] for line in printed.split(f"step {STEPS}\n")[1].splitlines()}
    def total(output, function=lambda x: x):
        return sum(function(t.item()) for n, t in tensors.items()
                   if n.startswith("output.train.") and n.endswith("." + output) and n.replace(".", " ", 1) in last)
    row = {"step": STEPS, "loss": total("loss"), "grad_norm": math.sqrt(total("grad_norm", lambda x: x * x)),
           "losses": {n.split(".loss.")[1]: t.item() for n, t in tensors.items() if ".loss." in n}}
    (out / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    save_file(kind_of(tensors, "gradient."), out / "gradients.safetensors")
    updates = kind_of(tensors, "update.")
    save_file({n: updates[n] for n in SHAPES}, out / "model.safetensors")
    return out


def check_interpreted(name: str, mesh: str):
    ours = interpret(name, mesh)
    result = compare(ours, interpreted_reference(name), "float64")
    if not CASES[name].simultaneous and compare(ours, interpreted_reference(name, True), "float64").passed():
        return False, "    agrees with simultaneous updates as well"
    return result.passed(), result.table()


# --- Compiled: fresh samples in every step.

COMPILED = "schedules of groups"
COMPILED_STEPS = 12  # of compiled programs


def write_data() -> Path:
    folder = OUT / "data"
    with lock_product(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in draw_data().items():
            numpy.save(folder / f"{name}.npy", values.numpy())
    return folder


def batches() -> list[dict[str, torch.Tensor]]:
    data = draw_data()
    order = [permutation(g % SAMPLES, SAMPLES, SEED, g // SAMPLES) for g in range(COMPILED_STEPS * BATCH)]
    return [{n: v[order[step * BATCH:(step + 1) * BATCH]] for n, v in data.items()} for step in range(COMPILED_STEPS)]


def compiled(mesh: str) -> Path:
    folder = folder_of("compiled", mesh)
    exe = folder / "program"
    with lock_product(exe):
        if not exe.exists():
            build(write_program(CASES[COMPILED], MESHES[mesh][0], folder, COMPILED_STEPS), "run", "float64", exe)
    return exe


def run_on_one_process() -> Path:
    """The run of one process, executed once."""
    out = folder_of("compiled", "one", "run")
    exe = compiled("one")
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            Launch(COMPILED_STEPS, SEED).run(exe, write_data(), out)
    return out


def check_compiled():
    return check_run(run_on_one_process())


def check_run(out: Path):
    """The steps of a compiled program against PyTorch."""
    against = out.with_name(out.name + "-torch")
    make_reference(CASES[COMPILED], load_file(out / "initial.safetensors"), batches(), against)
    result = compare(out, against, "float64")
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    if [sorted(row["grad_norms"]) for row in rows[:3]] != [["critic", "generator"], ["critic"], ["critic"]]:
        return False, f"    grad_norms of the first steps: {[row['grad_norms'] for row in rows[:3]]}"
    return result.passed(), result.table()


def check_processes(mesh: str):
    out = folder_of("compiled", mesh, "run")
    Launch(COMPILED_STEPS, SEED, MESHES[mesh][1]).run(compiled(mesh), write_data(), out, ["--check-replicas"])
    result = compare(out, run_on_one_process(), "float64")
    return result.passed(), result.table()


def check_resumed():
    """Eight steps on one process, the rest on two."""
    out, data = folder_of("compiled", "resumed"), write_data()
    Launch(COMPILED_STEPS, SEED).run(compiled("one"), data, out, ["--stop-at", "8"])
    call(on_ranks(2, [compiled("shard2"), "--data", data, "--steps", COMPILED_STEPS, "--seed", SEED, "--out", out,
                      "--log-every", 1]), env=environment_of({}))
    result = compare(out, run_on_one_process(), "float64")
    return result.passed(), result.table()


def cases(everything: bool):
    for name, case in CASES.items():
        for mesh in MESHES:
            if everything or case.everywhere or mesh in ("shard2_tp2", "pp2"):
                yield f"{name} on {mesh}, interpreted", partial(check_interpreted, name, mesh)
    yield "compiled against PyTorch", check_compiled
    for mesh in MESHES:
        if mesh != "one" and (everything or mesh in ("shard2_tp2", "pp2_shard2")):
            yield f"compiled on {mesh} against one process", partial(check_processes, mesh)
    yield "resumed on another mesh", check_resumed


if __name__ == "__main__":
    run_in_float64(__doc__, OUT, cases)

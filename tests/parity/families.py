"""Compares every model family of the standard library with PyTorch, at a tiny size.

    families.py [--all] [-v] [NAME...]

The interpreter computes a step in float64 from random weights and one batch, on one rank and on a mesh of
four (shard 2 x tp 2). The loss, every gradient, every parameter and buffer after the step, and the logits of
one sample are compared; also the results of chunks of positions from caches with those of all positions.
Compiled programs then train for several steps: all with --all, otherwise by each commit a half of the
families that are marked `compiled`.
"""

import importlib
import itertools
import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

import reference
from compare import Result, compare, compare_tensors
from interpret import BIN, LR, judge, lower
from run import PROGRAMS, ROOT, SEED, STEPS, TEXT_BYTES
from sample_order import batches
from titan import (TITANC, Launch, Report, build, call, read_arguments, sample_by_commit, lock_product,
                   write_text)
from training import Recipe, train

OUT = ROOT / "out" / "families"
RANKS = 4
# The settings of programs/families.titan, and those of the programs with one model.
PLAIN = Recipe(steps=STEPS, lr=1e-3, warmup=0, decay="constant", betas=(0.9, 0.999),
               weight_decay=0.0)
WHOLE = Recipe(steps=STEPS, lr=2e-3, decay="cosine", to=0.1)
MESH_PHASES = ["shard", "memory"]


def random_weights(source: Path, run: str, chance: torch.Generator) -> dict[str, torch.Tensor]:
    """Values for every parameter and buffer under their names in weight files, one per iteration.
    None has its initial value: a norm's weight of 1 would hide that it is not applied."""
    info = json.loads(call([TITANC, "info", "--json", "--train", run, source]))
    weights = {}
    for tensor in info["parameters"]["tensors"] + info["buffers"]["tensors"]:
        own = tensor["shape"][len(tensor["iterations"]):]
        for indices in itertools.product(*tensor["iterations"]):
            name = tensor["name"]
            for index in indices:
                name = name.replace("{l}", str(index), 1)
            centre = 1.0 if name.endswith(("norm", "variance")) else 0.0
            drawn = centre + 0.3 * torch.randn(own, generator=chance, dtype=torch.float64)
            weights[name] = drawn.round().long() if tensor["dtype"] == "int" else drawn
    return weights


@dataclass
class Family:
    """A run with the reference of the same name, and the run on a mesh of four."""

    name: str
    program: str = "families"
    run: str = ""
    mesh: str = ""
    batch: int = 4
    seq: int = 16
    recipe: Recipe = PLAIN
    compiled: bool = False  # trains compiled in turns, also without --all
    others: tuple[str, ...] = ()  # runs on other meshes of four
    caches: bool = True  # generates from caches of earlier positions

    def __post_init__(self):
        self.run, self.mesh = self.run or self.name, self.mesh or f"{self.name}_mesh"
        self.source, self.folder = PROGRAMS / f"{self.program}.titan", OUT / self.name
        self.against = self.folder / "reference"
        self.module = importlib.import_module(f"models.{self.name}")

    def make_reference(self) -> None:
        """One step of PyTorch and the logits of the first sample, computed once."""
        with lock_product(self.against):
            if not (self.against / "inputs.safetensors").exists():
                self.write_reference()

    def write_reference(self) -> None:
        chance = torch.Generator().manual_seed(1)
        weights = random_weights(self.source, self.run, chance)
        batch = torch.randint(0, 256, (1, self.batch, self.seq + 1), generator=chance)
        recipe = replace(self.recipe, steps=1, warmup=1, lr=LR)
        reference.write_run(self.against, *train(self.module, weights, batch, recipe))
        tokens, labels = batch[0, :, :-1].contiguous(), batch[0, :, 1:].contiguous()
        save_file({**weights, "tokens": tokens, "labels": labels},
                  self.against / "inputs.safetensors")
        save_file({**weights, "tokens": tokens[:1].contiguous()},
                  self.against / "sample.safetensors")
        if hasattr(self.module, "logits"):
            save_file({"output.logits": self.module.logits(weights, tokens[:1]).contiguous()},
                      self.against / "logits.safetensors")

    def check_step(self, train_name: str, phase: str, ranks: int):
        self.make_reference()
        ir = lower(self.source, train_name, phase, self.folder)
        result = judge(self.against, ir, ranks)
        if hasattr(self.module, "logits"):
            self.compare_logits(ir, ranks, result)
        if self.caches:
            call([BIN / "titan-interpret", "--check-decode", ir])
        elif "func.func @decode" in ir.read_text():
            return False, "    it has a program of generation, which it should not have"
        return result.passed(), result.table()

    def compare_logits(self, ir: Path, ranks: int, result: Result) -> None:
        dump = ir.with_suffix(".logits")
        call([BIN / "titan-interpret", "--program=logits", f"--dump={dump}",
              f"--inputs={self.against / 'sample.safetensors'}",
              *([f"--ranks={ranks}"] if ranks > 1 else []), ir])
        compare_tensors("logits", load_file(dump), load_file(self.against / "logits.safetensors"),
                        (1e-10, 1e-12), result)

    def check_training(self, text: Path):
        exe = build(self.source, self.run, "float64", self.folder / "program")
        ours = Launch(STEPS, SEED).run(exe, text, self.folder / "ours")
        tokens = batches(text.read_bytes(), STEPS, self.batch, self.seq, SEED)
        save_file({"tokens": tokens}, self.folder / "batches.safetensors")
        theirs = self.folder / "theirs"
        reference.run(self.name, ours / "initial.safetensors",
                      self.folder / "batches.safetensors", theirs, "float64",
                      self.recipe)
        result = compare(ours, theirs, "float64")
        return result.passed(), result.table()


def attention_of(name: str) -> tuple[str, ...]:
    """The runs with ring attention, in block and in head-tail order, and with all-to-all attention."""
    return f"{name}_ring", f"{name}_mirrored", f"{name}_heads"


FAMILIES = [
    Family("llama2"), Family("llama3_1"), Family("mistral", others=attention_of("mistral")),
    Family("qwen2"), Family("olmo2"), Family("qwen3"), Family("qwen3_yarn"), Family("phi"),
    Family("gemma2", compiled=True, others=attention_of("gemma2")), Family("mixtral"),
    Family("deepseek", others=("deepseek_mirrored", "deepseek_heads")),
    Family("deepseek_v3", compiled=True, others=("deepseek_v3_ring",)),
    Family("gpt_oss", compiled=True, others=attention_of("gpt_oss")), Family("tide", caches=False),
    Family("towers", "towers", "parity", "on_shard2_wide2", 8, 32, WHOLE, compiled=True,
           caches=False),
    Family("cloze", "cloze", "parity", "on_shard2_tp2", 4, 32, WHOLE, compiled=True, caches=False),
    Family("vaswani", "vaswani", "parity", "on_shard2_tp2", 4, 32, WHOLE, compiled=True),
    Family("balanced", "balanced", "parity", "on_shard2_tp2", 4, 32, WHOLE, compiled=True),
    Family("strata", "strata", "parity", "on_shard2_tp2", 4, 32, WHOLE, compiled=True, caches=False),
    Family("relay", "relay", "parity", "on_shard2_tp2", 4, 32, WHOLE, compiled=True),
]


def cases(everything: bool, text: Path):
    compiled = FAMILIES if everything else sample_by_commit([family for family in FAMILIES if family.compiled], 2)
    for family in FAMILIES:
        yield f"{family.name} interpreted", partial(family.check_step, family.run, "gradient", 1)
        for phase in MESH_PHASES:
            yield (f"{family.name} interpreted on four ranks after {phase}",
                   partial(family.check_step, family.mesh, phase, RANKS))
        for mesh in family.others:
            yield (f"{family.name} interpreted on four ranks as {mesh}",
                   partial(family.check_step, mesh, "memory", RANKS))
        if family in compiled:
            yield f"{family.name} compiled, {STEPS} steps", partial(family.check_training, text)


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="compile every family; the default by name"))
    torch.set_num_threads(1)
    text = write_text(OUT / "text.txt", TEXT_BYTES)
    report = Report()
    report.cases(cases(arguments.all or arguments.names, text), arguments.names)
    report.end()


if __name__ == "__main__":
    main()

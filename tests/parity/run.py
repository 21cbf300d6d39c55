"""Compares compiled programs with PyTorch, and runs on several processes with a run on one.

    run.py [--all] [--keep] [-v] [NAME...]

Every case compiles a run of tests/parity/programs/, trains it for 50 steps and applies the
criterion of compare.py. Replicas on several ranks must be bitwise equal. Without --all, float32 and
GPT-2 use a sample of the meshes, and each commit tests float32 and bfloat16 with another model. NAME selects
the cases whose names contain it.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save_file

import reference
from compare import bitwise_equal, compare, read_losses
from sample_order import batches
from titan import ROOT, Launch, Report, build, read_arguments, sample_by_commit, lock_product, write_text
from training import Recipe

PROGRAMS = ROOT / "tests" / "parity" / "programs"
OUT = ROOT / "out" / "parity"
BATCH, SEQ, STEPS, SEED = 4, 32, 50, 7
# 60 samples, so that 50 steps of 4 reach the fourth epoch.
TEXT_BYTES = 60 * SEQ + 1
RECIPES = {
    "llama3": Recipe(steps=STEPS),
    "gpt2": Recipe(steps=STEPS, decay="cosine", to=0.1),
    "mixtral": Recipe(steps=STEPS),
    "mixtral_capacity": Recipe(steps=STEPS),
    "deepseek": Recipe(steps=STEPS),
    "deepseek_v3": Recipe(steps=STEPS),
}
# The criterion for bfloat16 covers this number of steps; later, rounding changes the losses.
NARROW_STEPS = 10
# Runs in the program files, with the number of processes. `parity` states no mesh and accepts any
# number of processes.
MESHES = {"parity": 2, "on_replicate2": 2, "on_shard2": 2, "on_tp2": 2, "on_tp2_seq": 2,
          "on_shard2_tp2": 4, "on_embed2": 2, "on_cube": 8}
# Additional runs of some models.
MORE = {"llama3": {"on_tp8": 8, "on_gathered_once": 4, "on_no_overlap": 4, "on_nested": 4, "on_auto_tp": 2}, "gpt2": {"on_regathered": 4}}
SAMPLE = {
    ("llama3", "float64"): [mesh for mesh in MESHES if mesh != "on_cube"] + [
        "on_gathered_once", "on_no_overlap", "on_nested", "on_tp8", "on_auto_tp"],
    ("llama3", "float32"): ["on_shard2_tp2"],
    ("gpt2", "float64"): ["on_tp2_seq", "on_shard2_tp2", "on_regathered"],
    ("gpt2", "float32"): [],
    ("llama3", "bfloat16"): ["on_tp2_seq", "on_shard2_tp2"],
    ("gpt2", "bfloat16"): [],
}
# Recomputation policies, which must change no bit. Without --all only the first.
POLICIES = ["recompute=full", "recompute.every=2", "recompute.layers=[0]",
            "recompute.save=[matmul, attention]"]


@dataclass
class Case:
    model: str
    dtype: str

    @property
    def folder(self) -> Path:
        return OUT / f"{self.model}-{self.dtype}"

    @property
    def steps(self) -> int:
        return NARROW_STEPS if self.dtype == "bfloat16" else STEPS

    def exe(self, train: str) -> Path:
        exe = self.folder / train
        with lock_product(exe):
            return build(PROGRAMS / f"{self.model}.titan", train, self.dtype, exe)

    def one_process(self, text: Path) -> Path:
        """The run that the others are compared with, executed once."""
        out = self.folder / "one"
        with lock_product(out):
            if not (out / "model.safetensors").exists():
                Launch(self.steps, SEED).run(self.exe("parity"), text, out)
        return out

    def against_reference(self, text: Path):
        one, out = self.one_process(text), self.folder / "reference"
        tokens = batches(text.read_bytes(), self.steps, BATCH, SEQ, SEED)
        save_file({"tokens": tokens}, self.folder / "batches.safetensors")
        reference.run(self.model, one / "initial.safetensors", self.folder / "batches.safetensors",
                      out, self.dtype, replace(RECIPES[self.model], steps=self.steps))
        result = compare(one, out, self.dtype)
        return result.passed(), result.table()

    def against_one(self, text: Path, mesh: str):
        one, out = self.one_process(text), self.folder / f"run-{mesh}"
        ranks = (MESHES | MORE[self.model])[mesh]
        Launch(self.steps, SEED, ranks).run(self.exe(mesh), text, out, ["--check-replicas"])
        result = compare(out, one, self.dtype)
        for name in bitwise_equal(out / "initial.safetensors", one / "initial.safetensors"):
            result.faults.append(f"initial parameters: {name} is not bitwise the same")
        return result.passed(), result.table()

    def recomputed(self, text: Path, policy: str):
        one, out = self.one_process(text), self.folder / f"run-{policy}"
        exe = build(PROGRAMS / f"{self.model}.titan", "parity", self.dtype,
                    self.folder / policy, [policy])
        Launch(self.steps, SEED).run(exe, text, out)
        other = list(bitwise_equal(out / "model.safetensors", one / "model.safetensors"))
        same = read_losses(out) == read_losses(one)
        return same and not other, f"    losses {'equal' if same else 'differ'}; other: {other}"


def cases(everything: bool, text: Path):
    models = list(MORE)
    optimized = models if everything else sample_by_commit(models, 2)  # models that are compiled in f32 and bf16, too
    for model in models:
        for dtype in ("float64", "float32", "bfloat16") if model in optimized else ("float64",):
            case = Case(model, dtype)
            yield f"{model} {dtype} against PyTorch", partial(case.against_reference, text)
            for mesh in MESHES | MORE[model] if everything else SAMPLE[model, dtype]:
                name = "auto on 2 processes" if mesh == "parity" else mesh
                yield (f"{model} {dtype} {name} against one process",
                       partial(case.against_one, text, mesh))
    for model in optimized:
        case = Case(model, "float32")
        for policy in POLICIES if everything else POLICIES[:1]:
            yield (f"{model} float32 {policy} bitwise as without",
                   partial(case.recomputed, text, policy))


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true",
                        help="every model, dtype and mesh; the default for cases by name")
    parser.add_argument("--keep", action="store_true", help="reuse the runs of an earlier call")


def main() -> None:
    arguments = read_arguments(__doc__, OUT, add_arguments)
    torch.set_num_threads(1)  # more threads slow models this small down
    text = write_text(OUT / "text.txt", TEXT_BYTES)
    report = Report()
    report.cases(cases(arguments.all or arguments.names, text), arguments.names)
    report.end()


if __name__ == "__main__":
    main()

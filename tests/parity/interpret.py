"""Interprets a training step after each phase of the compiler, on virtual ranks, and compares it with PyTorch.

    interpret.py [--all] [-v] [NAME...]

In float64, from the same weights and one batch: the loss, every gradient and every parameter after
the step, by the criterion of compare.py. It needs no emitted code, so it shows which phase
introduces an error, and it runs eight ranks on a machine that could not run eight processes. Then
it drops each reduction of the eight-rank program in turn (a sample without --all); each must be
detected.
"""

import importlib
import json
import random
import re
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from compare import Result, compare
from reference import write_run
from run import BATCH, OUT as PARITY, PROGRAMS, SEQ
from titan import BUILD, TITANC, Failed, Report, call, precision, read_arguments
from training import Recipe, train

OUT = PARITY.parent / "interpret"
BIN = BUILD / "bin"
SIZES = {
    "llama3": dict(layers=2, embed=32, kv_heads=4, group=2, head=8, ffn=64, vocab=256),
    "gpt2": dict(layers=2, embed=32, heads=4, head=8, ffn=64, vocab=256, context=32),
}
# Phases after which whole programs are interpreted, each including the earlier ones.
PHASES = ["gradient", "shard", "fuse", "overlap", "memory"]
MESHES = {"parity": 2, "on_replicate2": 2, "on_shard2": 2, "on_tp2": 2, "on_tp2_seq": 2,
          "on_shard2_tp2": 4, "on_embed2": 2, "on_cube": 8}
# Additional runs of some models.
MORE = {"llama3": {"on_tp8": 8, "on_gathered_once": 4, "on_no_overlap": 4, "on_nested": 4}, "gpt2": {"on_regathered": 4}}
SAMPLE = {"llama3": [*MESHES, *MORE["llama3"]], "gpt2": ["on_tp2_seq", "on_cube", "on_regathered"]}
# Meshes on which the program in bfloat16 is interpreted without --all.
MIXED = ["on_shard2_tp2"]
LR = 1e-3
REDUCTION = re.compile(r'dist\.(all_reduce|reduce_scatter) ([%\w#, ]+) over \[[^\]]*\]')
SAMPLED_MUTANTS = 8


def make_reference(model: str, sizes, batch: int, seq: int, out: Path, **options) -> None:
    """One step in PyTorch from random weights, all different from their initial constants."""
    module = importlib.import_module(f"models.{model}")
    chance = torch.Generator().manual_seed(1)
    weights = {}
    for name, shape in module.shapes(**sizes).items():
        centre = 1.0 if name.endswith("norm") else 0.0
        weights[name] = centre + 0.1 * torch.randn(shape, generator=chance, dtype=torch.float64)
    tokens = torch.randint(0, sizes["vocab"], (1, batch, seq + 1), generator=chance)
    write_run(out, *train(module, weights, tokens, Recipe(steps=1, warmup=1, lr=LR, **options)))
    save_file({**weights, "tokens": tokens[0, :, :-1].contiguous(),
               "labels": tokens[0, :, 1:].contiguous()}, out / "inputs.safetensors")


def lower(program: Path, train_name: str, phase: str, folder: Path, dtype="float64") -> Path:
    """The IR of a run that computes in `dtype`, after a phase."""
    ir = folder / f"{train_name}-{dtype}-{phase}.mlir"
    ir.write_text(call([TITANC, "--stop-after=model", "--train", train_name, *precision(dtype),
                        program]))
    for step in PHASES[:PHASES.index(phase) + 1]:
        ir.write_text(call([BIN / "titan-opt", f"--titan-phase-{step}", ir]))
    return ir


def check(model: str, train_name: str, phase: str, ranks: int, dtype: str):
    """Interprets a step in float64. A program in bfloat16 meets the criterion, too: its casts then change nothing."""
    ir = lower(PROGRAMS / f"{model}.titan", train_name, phase, OUT / model, dtype)
    is_auto = train_name == "parity" and ranks > 1
    result = judge(OUT / model / "reference", ir, ranks, [f"--auto={ranks}"] if is_auto else [])
    return result.passed(), result.table()


def judge(against: Path, ir: Path, ranks: int, options: list[str] = ()) -> Result:
    """Interprets a step of a program and compares it with a reference."""
    out = ir.with_suffix("")
    out.mkdir(parents=True, exist_ok=True)
    dump = out / "dump.safetensors"
    many = [f"--ranks={ranks}"] if ranks > 1 else []
    call([BIN / "titan-interpret", "--program=train", "--float64",
          f"--inputs={against}/inputs.safetensors",
          f"--dump={dump}", f"--lr={LR}", "--steps=1", *many, *options, ir])
    tensors = load_file(dump)
    row = {"step": 1, "loss": tensors["output.loss"].item(),
           "losses": {n: t.item() for n, t in kind_of(tensors, "output.loss.").items()},
           "metrics": {n: t.item() for n, t in kind_of(tensors, "output.metric.").items()},
           "grad_norm": tensors["output.grad_norm"].item()}
    (out / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    save_file(kind_of(tensors, "gradient."), out / "gradients.safetensors")
    save_file(kind_of(tensors, "update."), out / "model.safetensors")
    return compare(out, against, "float64")


def without_reduction(ir: Path, index: int) -> tuple[Path, str]:
    """A copy of the program with one reduction marked as dropped, and its description."""
    text = ir.read_text()
    match, value = reductions(text)[index]
    mutant = ir.with_name(f"{ir.stem}-without-{index}.mlir")
    mutant.write_text(f"{text[:match.end()]} {{dist.dropped = {value} : i64}}{text[match.end():]}")
    line = text.count("\n", 0, match.start()) + 1
    return mutant, f"{match.group(1)} of line {line}, value {value}"


def reductions(text: str) -> list[tuple[re.Match, int]]:
    """All reduced values, those of coalesced collectives one by one."""
    return [(match, value) for match in REDUCTION.finditer(text)
            for value in range(match.group(2).count(",") + 1)]


def mutants(model: str, mesh: str, everything: bool):
    ir = lower(PROGRAMS / f"{model}.titan", mesh, "shard", OUT / model)
    indices = list(range(len(reductions(training_step(ir)))))
    if not everything:
        indices = sorted(random.Random(1).sample(indices, min(SAMPLED_MUTANTS, len(indices))))
    for index in indices:
        mutant, description = without_reduction(ir, index)
        yield (f"{model} {mesh} without the {description}", partial(is_caught, model, mesh, mutant))


def is_caught(model: str, mesh: str, mutant: Path):
    try:
        result = judge(OUT / model / "reference", mutant, MESHES[mesh])
    except Failed as failed:  # the interpreter compares the replicas first
        return "replicas on ranks" in str(failed), str(failed)
    return not result.passed(), result.table()


def training_step(ir: Path) -> str:
    """The program's text up to its other functions, which a step does not run."""
    text = ir.read_text()
    second = text.find("func.func", text.index("func.func @train") + 1)
    return text if second < 0 else text[:second]


def kind_of(tensors, prefix: str):
    return {n[len(prefix):]: t for n, t in tensors.items() if n.startswith(prefix)}


def cases(model: str, everything: bool):
    ranks_of = MESHES | MORE[model]
    meshes = ranks_of if everything else SAMPLE[model]
    chosen = [("parity", "gradient", 1, dtype) for dtype in ("float64", "bfloat16")]
    chosen += [(mesh, phase, ranks_of[mesh], "float64") for mesh in meshes for phase in PHASES[1:]]
    chosen += [(mesh, "memory", ranks_of[mesh], "bfloat16")
               for mesh in (meshes if everything else MIXED)]
    for mesh, phase, ranks, dtype in chosen:
        plan = ", the plan for bfloat16" if dtype == "bfloat16" else ""
        yield (f"{model} {mesh} after {phase}, {ranks} rank(s){plan}",
               partial(check, model, mesh, phase, ranks, dtype))


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="every model and mesh; the default by name"))
    torch.set_num_threads(1)
    report = Report()
    for model in SIZES:
        make_reference(model, SIZES[model], BATCH, SEQ, OUT / model / "reference")
        report.cases(cases(model, arguments.all or arguments.names), arguments.names)
    names = [name for name in arguments.names if name != "mutants"]
    if not names or "mutants" in arguments.names or any("without the" in name for name in names):
        report.cases(mutants("llama3", "on_cube", arguments.all or names), names)
    report.end()


if __name__ == "__main__":
    main()

"""Weights of `transformers`: read, trained, and written back, for each family.

    run.py [-v] [--all] [NAME...]

`transformers` makes a tiny model with random weights in float64 and saves it. Titan's program starts from the
directory:

- *training*: three steps by Titan and by PyTorch, on the same samples; losses, gradient norms and final
  parameters agree by the criterion of tests/parity/compare.py.
- *logits*: the program after all phases, interpreted with the weights that the run read, computes the logits of
  `transformers` to 1e-10.
- *round trip*: exporting the weights again gives the same tensors, bit for bit; `transformers` loads them with the
  exported configuration and computes the same logits.
- *mesh*: so does the export from four processes, `shard 2 x tp 2`; without --all, of some families.
- *bf16*: the program that `titanc import` writes for weights in bf16 exports the same bits, transformers loads
  them in bf16, and a run of it is exported in bf16. One family has some tensors in f32.
- *f16*: the same for f16.
- *other weights*: `titanc import` refuses a configuration beside weights of another vocabulary.

Without --all, each commit tests a third of the families (sample_by_commit).
"""

import json
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

try:
    import transformers
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from tiny import FAMILIES  # noqa: E402
from float64 import in_float64  # noqa: E402
from interpret import lower  # noqa: E402
from sample_order import batches  # noqa: E402
from programs import BATCH, OUT, SEED, SEQ, STEPS, executable, export, make, tensors_of  # noqa: E402
from titan import (BUILD, QUICK, TITANC, Launch, Report, call, environment_of, read_arguments,  # noqa: E402
                   sample_by_commit, lock_product, write_text)
from training import Recipe, train  # noqa: E402


class Reference:
    """A model of transformers in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, model):
        self.model = model

    def logits(self, parameters, tokens):
        with in_float64():
            return torch.func.functional_call(self.model, parameters, (tokens,)).logits


def training(name: str):
    model, weights, source = make(name)
    updated = FAMILIES[name].updated
    steps = 1 if updated else STEPS  # the first step reads equal buffers
    text = write_text(OUT / name / "text.txt", 2000)
    exe = executable(name, source, "run")
    out = Launch(steps, SEED).run(exe, text, OUT / name / "trained", ["--init-from", weights])
    parameters = {n: p.detach() for n, p in model.named_parameters()}
    rows, _, final = train(Reference(model), parameters,
                           batches(text.read_bytes(), steps, BATCH, SEQ, SEED), Recipe(steps=steps))
    rule, result = RULES["float64"], Result()
    for kind, limit in (("loss", rule.loss), ("grad_norm", rule.norm)):
        compare_metric(kind, read_metric(out, kind), {row["step"]: row[kind] for row in rows}, limit, result)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), final.values(), strict=True):
            parameter.copy_(value)
    model.save_pretrained(OUT / name / "reference")
    ours, theirs = ({n: t for n, t in tensors.items() if not fnmatch(n, updated)} for tensors in
                    (export(exe, out, OUT / name / "exported"), tensors_of(OUT / name / "reference")))
    compare_tensors("parameters", ours, theirs, rule.parameters, result)
    return result.passed(), result.table()


def their_logits(model, tokens: torch.Tensor) -> torch.Tensor:
    with in_float64(), torch.no_grad():
        return model.eval()(tokens).logits


def draw_tokens() -> torch.Tensor:
    return torch.randint(0, 256, (1, SEQ), generator=torch.Generator().manual_seed(5))


def logits(name: str):
    model, weights, source = make(name)
    folder, text = OUT / name, write_text(OUT / name / "text.txt", 2000)
    tokens = draw_tokens()
    out = Launch(1, SEED).run(executable(name, source, "run"), text, folder / "read", ["--init-from", weights])
    save_file({**load_file(out / "initial.safetensors"), "tokens": tokens}, folder / "inputs.safetensors")
    dump = folder / "logits.safetensors"
    call([BUILD / "bin" / "titan-interpret", "--program=logits", f"--dump={dump}",
          f"--inputs={folder / 'inputs.safetensors'}", lower(source, "run", "memory", folder)])
    result = Result()
    compare_tensors("logits", load_file(dump), {"output.logits": their_logits(model, tokens)}, (1e-10, 1e-12), result)
    return result.passed(), result.table()


def differences(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> list[str]:
    """Names of tensors that differ in any bit, or that one side lacks."""
    return [n for n in sorted(left.keys() | right.keys())
            if n not in left or n not in right or left[n].dtype != right[n].dtype
            or left[n].shape != right[n].shape
            or not torch.equal(left[n].contiguous().view(torch.uint8), right[n].contiguous().view(torch.uint8))]


def loads_equally(folder: Path, model) -> bool:
    """Whether `transformers` loads the model of the folder, which computes the logits of `model`."""
    with in_float64():
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager")
    tokens = draw_tokens()
    return type(loaded) is type(model) and torch.equal(their_logits(loaded, tokens), their_logits(model, tokens))


def round_trip(name: str, run: str, processes: int):
    model, weights, source = make(name)
    exe, out = executable(name, source, run), OUT / name / f"again-{run}"
    different = differences(export(exe, weights, out, processes), tensors_of(weights))
    same = loads_equally(out, model) if FAMILIES[name].is_importable else True
    return same and not different, f"    differ: {', '.join(different) or 'none'}; transformers agrees: {same}"


def other_weights(name: str):
    """`titanc import` refuses a directory whose weights do not have the shapes of its configuration."""
    _, weights, _ = make(name)
    folder = OUT / name / "other"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(weights, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": 250}))
    done = subprocess.run([TITANC, "import", folder, "-o", folder / "out.titan"], capture_output=True, text=True)
    words = "beside this configuration has the shape [256, 24], but the configuration means [250, 24]"
    return done.returncode == 1 and words in done.stderr and not (folder / "out.titan").exists(), done.stderr


def same_types(name: str, dtype: str):
    """The program of `titanc import` preserves weights of 16 bits, and a run of it exports that type."""
    family, folder = FAMILIES[name], OUT / name / dtype
    kind, short = getattr(torch, dtype), {"bfloat16": "bf16", "float16": "f16"}[dtype]
    source, weights = folder / "imported.titan", folder / "hf"
    with lock_product(source):
        if not source.exists():
            torch.manual_seed(5)
            model = getattr(transformers, family.architecture)(family.config).to(kind)
            for buffer in model.buffers():  # those of DeepSeek-V3 stay f32
                buffer.data = buffer.data.float()
            model.save_pretrained(weights, max_shard_size="40KB")
            call([TITANC, "import", weights, "-o", source])
    exe = folder / "imported"
    with lock_product(exe):
        if not exe.exists():
            call([TITANC, "build", source, "-o", exe, *QUICK, "--set", "data.seq=16", "--set", "data.batch=4",
                  "--set", "data.format=text"])
    wrong = []
    for out, start, options in (("again", weights, []), ("wider", weights, ["--dtype", "f32"])):
        exported = export(exe, start, folder / out, options=options)
        expected = tensors_of(weights)
        if options:
            expected = {n: t.float() for n, t in expected.items()}
        wrong += [f"{out}: {n}" for n in differences(exported, expected)]
    loaded = transformers.AutoModelForCausalLM.from_pretrained(folder / "again", dtype="auto")
    if loaded.dtype != kind:
        wrong.append(f"transformers loads {loaded.dtype}")
    text = write_text(OUT / name / "text.txt", 2000)
    call([exe, "--data", text, "--init-from", weights, "--steps", 1, "--out", folder / "run", "--resume", "none"],
         env=environment_of({}))
    trained = export(exe, folder / "run", folder / "trained")
    kept = load_file(folder / "run" / "model.safetensors")
    if {t.dtype for t in trained.values()} != {kind} or {t.dtype for t in kept.values()} != {torch.float32}:
        wrong.append(f"a run is not exported in {short}")
    return not wrong, f"    differ: {', '.join(wrong) or 'none'}"


MESHED = ("llama", "gpt2", "qwen3-moe")  # without --all
BF16, F16 = ("llama", "qwen3-moe", "deepseek-v3"), ("llama-tied",)  # element types of the stored weights


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument(
        "--all", action="store_true", help="every family, and on four processes"))
    torch.set_num_threads(1)
    report = Report()
    families = list(FAMILIES) if arguments.all or arguments.names else sample_by_commit(list(FAMILIES), 3)
    runs = {"training": (training, families), "logits": (logits, families), "round trip": (partial(round_trip, run="run", processes=1), families),
            "mesh": (partial(round_trip, run="meshed", processes=4), families if arguments.all else MESHED),
            "bf16": (partial(same_types, dtype="bfloat16"), BF16), "f16": (partial(same_types, dtype="float16"), F16),
            "other weights": (other_weights, ("llama", "llama-tied"))}
    report.cases([(f"{name} {what}", partial(run, name)) for name in families
                  for what, (run, chosen) in runs.items() if name in chosen], arguments.names)
    report.end()


if __name__ == "__main__":
    main()

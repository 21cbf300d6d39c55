"""Runs that start from given weights: adapters, several sources, a longer vocabulary, continued training.

    starting.py [-v] [NAME...]

The weights are those of tiny models that `transformers` initialises, in float64:

- *adapters*: `titanc import --lora` against PyTorch, on one process and on four (`shard 2 x tp 2`). The export
  contains the adapters in their base, other tensors bit for bit, and is a Llama of transformers with the same loss.
- *PEFT*: `export --peft` writes adapters alone. By PEFT's definition, W + alpha / r * B A, they give the merged export, on
  one process and on four; a program that starts from base and adapters has them back; other arguments are refused.
- *sources*: a student from one directory and a teacher from another, and a student from a run.
- *vocabulary*: a model with more tokens than the files.
- *real text*: steps on texts of this repository, against PyTorch.
"""

import json
import shutil
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parity"))

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

try:
    import transformers
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from sample_order import batches  # noqa: E402
from titan import (BUILD, ROOT, TITANC, Failed, Launch, Report, build, call, environment_of,  # noqa: E402
                   on_ranks, read_arguments, lock_product)
from tiny import FAMILIES  # noqa: E402
from training import Recipe, cross_entropy, train  # noqa: E402

transformers.LlamaForCausalLM  # imports its code, which in_float64 changes

OUT = BUILD / "tests" / "starting"
BATCH, SEQ, STEPS, SEED = 4, 16, 5, 7
SIZES = "layers = 3, embed = 24, kv_heads = 2, group = 2, head = 8, ffn = 40"
ALPHA, RANK = 5, 3
LORA = ["--lora", RANK, "--lora-alpha", ALPHA, "--lora-on", "*.w[qv]"]
RULE = RULES["float64"]
RUNS = """
parallel four {{
  shard = 2 splits batch stores params, grads, optimizer
  tp    = 2 splits kv_heads, ffn, vocab
}}

train run = {model} {{
  data = text("text.txt") {{ batch = {batch}, seq = {seq} }}
  seed = {seed}, steps = {steps}, clip = 1.0
  optimizer = adamw {{ lr = 8e-4, betas = (0.9, 0.95), weight_decay = 0.1 }}
  schedule = wsd {{ warmup = 2, decay = linear, to = 0 }}
  {more}
}}
train meshed = run on four with {{}}
"""
MESHES = {"run": 1, "meshed": 4}


def weights(name: str, seed: int) -> Path:
    """A directory with a Llama of random weights."""
    folder = OUT / name
    with lock_product(folder):
        if folder.exists():
            return folder
        config = FAMILIES["llama"].config
        config._attn_implementation = "eager"
        torch.manual_seed(seed)
        with in_float64():
            model = transformers.LlamaForCausalLM(config)
        model.save_pretrained(folder, max_shard_size="40KB")
        return folder


def load(folder: Path):
    """The model that transformers reads from the directory."""
    with in_float64():
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64,
                                                                  attn_implementation="eager")
    return model.eval()


def logits_of(model, parameters, tokens):
    with in_float64():
        return torch.func.functional_call(model, parameters, (tokens,)).logits


def text() -> Path:
    """A page of this repository."""
    path = OUT / "text.txt"
    with lock_product(path):
        if not path.exists():
            path.write_bytes((ROOT / "docs" / "language.md").read_bytes()[:4000])
    return path


def make(run: str, name: str, program: str, model: str, more: str = "") -> Path:
    """The executable of the run."""
    source, exe = OUT / name / "program.titan", OUT / name / run
    with lock_product(source):
        if not source.exists():
            source.write_text(program + RUNS.format(model=model, more=more, batch=BATCH, seq=SEQ, seed=SEED,
                                                    steps=STEPS))
    with lock_product(exe):
        if not exe.exists():
            build(source, run, "float64", exe)
    return exe


def launch(exe: Path, run: str, out: Path, sources, steps: int = STEPS) -> Path:
    return Launch(steps, SEED, MESHES[run]).run(
        exe, text(), out, [word for source in sources for word in ("--init-from", source)])


def export(exe: Path, run: str, source: Path, out: Path) -> dict[str, torch.Tensor]:
    shutil.rmtree(out, ignore_errors=True)  # of an older build
    command = [exe, "export", "--init-from", source, "--hf", out]
    call(on_ranks(MESHES[run], command), env=environment_of({}), timeout=300)
    return tensors_of(out)


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor for file in sorted(folder.glob("*.safetensors")) for name, tensor in load_file(file).items()}


def samples(steps: int = STEPS) -> torch.Tensor:
    return batches(text().read_bytes(), steps, BATCH, SEQ, SEED)


def compare_rows(out: Path, rows) -> Result:
    result = Result()
    for kind, limit in (("loss", RULE.loss), ("grad_norm", RULE.norm)):
        compare_metric(kind, read_metric(out, kind), {row["step"]: row[kind] for row in rows}, limit, result)
    return result


def equal(left, right) -> list[str]:
    """Names of tensors that differ in any bit."""
    return [n for n in sorted(left.keys() | right.keys())
            if n not in left or n not in right or left[n].dtype != right[n].dtype or not torch.equal(left[n], right[n])]


# Adapters

def is_of_adapter(name: str) -> bool:
    return name.endswith((".down", ".up"))


def update(parameters, layer: int, which: str) -> torch.Tensor:
    """The adapter's update alpha / rank * down @ up, in the layout of transformers' weight."""
    down, up = (parameters[f"layers.{layer}.w{which}.{part}"] for part in ("down", "up"))
    product = torch.tensordot(down, up, ([-1], [-1]))  # embed, heads ..., head
    if which == "q":  # a rotated pair is two neighbours in Titan, and an element of each half in transformers
        pairs = product.unflatten(-1, (-1, 2))
        product = pairs.transpose(-1, -2).flatten(-2)
    return ALPHA / RANK * product.flatten(1).T


def merged(base, parameters) -> dict[str, torch.Tensor]:
    return base | {name: base[name] + update(parameters, layer, which) for layer in range(3) for which in "qv"
                   for name in [f"model.layers.{layer}.self_attn.{which}_proj.weight"]}


class Adapted:
    """A frozen model whose adapters are trained, in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, folder: Path):
        self.model = load(folder)
        self.base = {n: p.detach() for n, p in self.model.named_parameters()}

    def logits(self, parameters, tokens):
        return logits_of(self.model, merged(self.base, parameters), tokens)


def adapted_program(run: str) -> Path:
    """The program that `titanc import --lora` writes, with a run of the test."""
    source = OUT / "imported.titan"
    with lock_product(source):
        if not source.exists():
            call([TITANC, "import", weights("base", 3), *LORA, "-o", source])
    written = source.read_text()
    rules = [line for line in written.splitlines() if line.startswith("  parameters ")]
    return make(run, "lora", written[:written.index("train ")], "Base", "\n".join(rules))


def trained_adapters(run: str) -> Path:
    out = OUT / "lora" / f"trained-{run}"
    with lock_product(out):
        return out if out.exists() else launch(adapted_program(run), run, out, [weights("base", 3)])


def exported_adapters(run: str) -> Path:
    """The merged export of the weights that one process has trained."""
    out = OUT / "lora" / f"exported-{run}"
    with lock_product(out):
        if not out.exists():
            export(adapted_program(run), run, trained_adapters("run"), out)
    return out


def adapters(run: str, exe: Path):
    folder = weights("base", 3)
    out = trained_adapters(run)
    initial = load_file(out / "initial.safetensors")
    module = Adapted(folder)
    rows, _, final = train(module, {n: t for n, t in initial.items() if is_of_adapter(n)}, samples(), Recipe(steps=STEPS))
    result = compare_rows(out, rows)
    ours = load_file(out / "model.safetensors")
    compare_tensors("adapters", {n: t for n, t in ours.items() if is_of_adapter(n)}, final, RULE.parameters, result)
    frozen = {n: t for n, t in ours.items() if not is_of_adapter(n)}
    changed = equal(frozen, {n: initial[n] for n in frozen})
    return result.passed() and not changed, result.table() + f"\n    changed: {changed}"


def merged_export(run: str, exe: Path):
    folder, trained = weights("base", 3), trained_adapters("run")
    written = tensors_of(exported_adapters(run))
    ours, base = load_file(trained / "model.safetensors"), tensors_of(folder)
    expected, result = merged(base, ours), Result()
    compare_tensors("tensors", written, expected, (1e-14, 0), result)
    changed = [n for n in equal(written, base) if "q_proj" not in n and "v_proj" not in n]
    one = tensors_of(exported_adapters("run"))
    compare_tensors("tensors of one process", written, one, (1e-14, 0), result)
    different = [n for n in equal(written, one) if "q_proj" not in n and "v_proj" not in n]
    # transformers reads the export; the next loss of the run is that of the same model.
    model = load(OUT / "lora" / f"exported-{run}")
    batch = samples(1)[0]
    with torch.no_grad():
        theirs = cross_entropy(logits_of(model, {}, batch[:, :-1]), batch[:, 1:]).item()
    again = launch(exe, run, OUT / "lora" / f"again-{run}", [trained], steps=1)
    compare_metric("loss of the export", read_metric(again, "loss"), {1: theirs}, RULE.loss, result)
    # A run starts from the exported weights; its adapters are new.
    fresh = launch(exe, run, OUT / "lora" / f"fresh-{run}", [OUT / "lora" / f"exported-{run}"], steps=1)
    compare_metric("loss from the export", read_metric(fresh, "loss"), {1: theirs}, RULE.loss, result)
    return (result.passed() and not changed and not different,
            result.table() + f"\n    changed: {changed}, other bits on four: {different}")


def peft(run: str, exe: Path):
    folder, trained, out = weights("base", 3), trained_adapters("run"), OUT / "lora" / f"peft-{run}"
    shutil.rmtree(out, ignore_errors=True)
    call(on_ranks(MESHES[run], [exe, "export", "--init-from", trained, "--peft", out]), env=environment_of({}), timeout=300)
    config, stored, base = json.loads((out / "adapter_config.json").read_text()), tensors_of(out), tensors_of(folder)
    expected = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": ["q_proj", "v_proj"]}
    wrong = [key for key, value in expected.items() if config.get(key) != value]
    for name in [n for n in stored if ".lora_A." in n]:
        product = stored[name.replace(".lora_A.", ".lora_B.")] @ stored[name]
        base[name.removeprefix("base_model.model.").replace(".lora_A.", ".")] += config["lora_alpha"] / config["r"] * product
    result = Result()
    compare_tensors("merged by definition", tensors_of(exported_adapters("run")), base, (1e-14, 0), result)
    again = launch(exe, run, OUT / "lora" / f"from-peft-{run}", [folder, out], steps=1)
    own, back = load_file(trained / "model.safetensors"), load_file(again / "initial.safetensors")
    changed = [n for n in equal(own, back) if is_of_adapter(n)]
    (out / "adapter_config.json").write_text(json.dumps(config | {"lora_alpha": 2 * ALPHA}))
    try:
        launch(exe, run, OUT / "lora" / f"refused-{run}", [folder, out], steps=1)
        wrong.append("accepted another alpha")
    except Failed as error:
        wrong += [] if "`lora_alpha` is 10" in str(error) else [str(error)]
    return result.passed() and len(stored) == 12 and not changed and not wrong, result.table() + f"\n    {wrong} {changed}"


def as_documented():
    """The commands of docs/finetuning.md alone: the imported run has the rules that freeze the base."""
    folder, exe = weights("base", 3), OUT / "documented" / "tuned"
    source, out = exe.with_suffix(".titan"), exe.with_name("run")
    exe.parent.mkdir(parents=True, exist_ok=True)
    call([TITANC, "import", folder, "--lora", 16, "-o", source])
    build(source, "finetune", "float64", exe, ["data.format=text", f"data.seq={SEQ}", f"data.batch={BATCH}"])
    Launch(STEPS, SEED).run(exe, text(), out, ["--init-from", folder, "--set", "optimizer.lr=1e-2"])
    initial, final = (load_file(out / f"{name}.safetensors") for name in ("initial", "model"))
    changed = set(equal(initial, final))
    adapters = {name for name in initial if is_of_adapter(name)}
    return bool(adapters) and changed == adapters, f"    changed: {sorted(changed)}"


# Sources

def sources_program(run: str) -> Path:
    return make(run, "sources", (Path(__file__).with_name("distilled.titan")).read_text(), "Distilled",
                'parameters "teacher.*" { frozen = true }')


def sources(run: str, exe: Path):
    teacher, student = weights("teacher", 4), weights("base", 3)
    expected = tensors_of(student) | {f"teacher.{n}": t for n, t in tensors_of(teacher).items()}
    out = launch(exe, run, OUT / "sources" / f"both-{run}", [f"teacher={teacher}", student], steps=1)
    table = (out / "weights.tsv").read_text().splitlines()[1:]
    complete = len(table) == len(expected) and all(line.startswith("loaded\t") for line in table)
    # The student from a run, under the program's own names; the teacher from a directory of transformers.
    whole = load_file(out / "initial.safetensors")
    own = OUT / "sources" / f"student-{run}.safetensors"
    from safetensors.torch import save_file
    save_file({n: t for n, t in whole.items() if not n.startswith("teacher.")}, own)
    mixed = launch(exe, run, OUT / "sources" / f"mixed-{run}", [own, f"teacher={teacher}"], steps=1)
    different = equal(whole, load_file(mixed / "initial.safetensors"))
    written = export(exe, run, out / "initial.safetensors", OUT / "sources" / f"exported-{run}")
    return (complete and not different and not equal(written, expected),
            f"    rows complete: {complete}, different: {different}, exported otherwise: {equal(written, expected)}")


def refusals(run: str, exe: Path):
    """Sources that do not fit, each with its message."""
    teacher, student = weights("teacher", 4), weights("base", 3)
    wrong = []
    for given, message in (([f"teachr={teacher}", student], "no parameter's name begins with 'teachr.'"),
                           ([student, teacher], "two sources have the tensor"),
                           ([student], "there is no tensor 'teacher.")):
        try:
            launch(exe, run, OUT / "sources" / "refused", given, steps=1)
            wrong.append(f"accepted {given}")
        except Failed as error:
            if message not in str(error):
                wrong.append(f"{message!r} is not in {error}")
    return not wrong, "\n".join(wrong)


# A longer vocabulary

LONGER = 272


def longer_program(run: str) -> Path:
    return make(run, "longer", f"import models.llama\nmodel Longer = Llama {{ {SIZES}, vocab = {LONGER} }}\n", "Longer",
                'parameters "table" { init_from = partial }\n  parameters "unembed" { init_from = partial }')


class Reference:
    """A model of transformers in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, model):
        self.model = model

    def logits(self, parameters, tokens):
        return logits_of(self.model, parameters, tokens)


def longer(run: str, exe: Path):
    folder = weights("base", 3)
    out = launch(exe, run, OUT / "longer" / f"started-{run}", [folder])
    written = export(exe, run, out / "initial.safetensors", OUT / "longer" / f"exported-{run}")
    stored = tensors_of(folder)
    shapes = {n for n, t in written.items() if t.shape != stored[n].shape}
    first = {n: t[:256] if n in shapes else t for n, t in written.items()}
    fresh = all(written[n].shape[0] == LONGER and written[n][256:].abs().min() > 0 for n in shapes)
    model = load(OUT / "longer" / f"exported-{run}")
    rows, _, final = train(Reference(model), {n: p.detach() for n, p in model.named_parameters()}, samples(),
                           Recipe(steps=STEPS))
    result = compare_rows(out, rows)
    trained = export(exe, run, out, OUT / "longer" / f"trained-{run}")
    compare_tensors("parameters", trained, final, RULE.parameters, result)
    other = equal(first, stored)
    return (result.passed() and fresh and not other and shapes == {"model.embed_tokens.weight", "lm_head.weight"},
            result.table() + f"\n    longer: {shapes}, fresh: {fresh}, first elements differ: {other}")


# Continued training, on real text

def real_text(run: str, exe: Path):
    folder = weights("base", 3)
    out = launch(exe, run, OUT / "continued" / f"trained-{run}", [folder])
    model = load(folder)
    rows, _, final = train(Reference(model), {n: p.detach() for n, p in model.named_parameters()}, samples(),
                           Recipe(steps=STEPS))
    result = compare_rows(out, rows)
    compare_tensors("parameters", export(exe, run, out, OUT / "continued" / f"exported-{run}"), final, RULE.parameters,
                    result)
    return result.passed(), result.table()


def continued_program(run: str) -> Path:
    return make(run, "continued", f"import models.llama\nmodel Base = Llama {{ {SIZES}, vocab = 256 }}\n", "Base")


CHECKS = (("adapters", adapted_program, adapters),
          ("merged export", adapted_program, merged_export),
          ("PEFT", adapted_program, peft),
          ("sources", sources_program, sources),
          ("sources that do not fit", sources_program, refusals),
          ("longer vocabulary", longer_program, longer),
          ("real text", continued_program, real_text))


def checked(program, check, run: str):
    return check(run, program(run))


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    report = Report()
    report.cases([(f"{name}, {run}", partial(checked, program, check, run)) for name, program, check in CHECKS
                  for run in MESHES if name != "sources that do not fit" or run == "run"] +
                 [("adapters as documented", as_documented)], arguments.names)
    report.end()


if __name__ == "__main__":
    main()

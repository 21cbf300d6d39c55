"""Programs that `titanc import` writes, for small models of every family of `transformers`, in odd shapes.

    imported.py [-v] [--all] [--keep] [NAME...]

`transformers` makes each model of families/ with random weights in float64 and saves it. `titanc import` writes its
program, which is built without changes in its text:

- *logits*: the program after all phases, interpreted, computes the logits of `transformers` to 1e-10.
- *training*: three steps have the losses, the gradient norms and the final parameters of PyTorch.
- *greedy text*: 40 tokens equal those of `transformers`, with caches and without.
- *text part*: an export of the model of texts in a larger model has its tensors, and `transformers` computes the same logits.
- *round trip*: an export has the tensors of the source, bit for bit, and its other files (keys.py). `transformers` loads
  it and computes the same logits. The files of the run's export, too, are those of the source.

Without --all, each commit tests one of 24 models (sample_by_commit).
"""

import json
import sys
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity"), str(HERE.parent)]

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

try:
    import transformers
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from huggingface.families import all_cases  # noqa: E402
from interpret import PHASES  # noqa: E402
from keys import compare_files  # noqa: E402
from sample_order import batches  # noqa: E402
from titan import (BUILD, QUICK, TITANC, Launch, Report, call, environment_of, lock_product, precision,  # noqa: E402
                   read_arguments, sample_by_commit, write_text)
from training import Recipe, cross_entropy, train  # noqa: E402

OUT = BUILD / "tests" / "imported"
BATCH, SEQ, STEPS, SEED = 4, 48, 3, 7
PROMPT, TOKENS = "What is ", 40
SETTINGS = [word for setting in (
    f"data.seq={SEQ}", f"data.batch={BATCH}", "data.format=text", "optimizer.lr=8e-4", "optimizer.weight_decay=0.1",
    "schedule.warmup=2", "schedule.decay=linear", "schedule.to=0") for word in ("--set", setting)]
RULE = RULES["float64"]
CASES = all_cases()


@cache
def make(name: str):
    """The model of `transformers` and its directory."""
    config, folder = CASES[name].config, OUT / name / "hf"
    config._attn_implementation = config._experts_implementation = "eager"  # others refuse float64
    auto = transformers.AutoModelForImageTextToText if CASES[name].part else transformers.AutoModelForCausalLM
    architecture = auto._model_mapping[type(config)]  # imports its code, which in_float64 changes
    transformers.AutoModel._model_mapping[type(config.get_text_config())]  # likewise, of a part
    torch.manual_seed(3)
    with in_float64():
        model = architecture(config)
        with torch.no_grad():
            for parameter in model.parameters():  # norms and biases, too, differ from 1 and 0
                parameter += 0.1 * torch.randn_like(parameter)
            for key, buffer in model.named_buffers():
                if key in model.state_dict():  # biases of routers
                    buffer += 0.1 * torch.randn_like(buffer)
    with lock_product(folder):
        if not folder.exists():
            (model.base_model if CASES[name].base else model).save_pretrained(folder)
            if CASES[name].published:
                path = folder / "config.json"
                path.write_text(json.dumps(CASES[name].published(json.loads(path.read_text()))))
    return model.eval(), folder


def source_of(name: str) -> Path:
    _, folder = make(name)
    source = OUT / name / "imported.titan"
    with lock_product(source):
        if not source.exists():
            call([TITANC, "import", folder, "-o", source])
    return source


def executable(name: str) -> Path:
    source, exe = source_of(name), OUT / name / "imported"
    with lock_product(exe):
        if not exe.exists():
            call([TITANC, "build", source, "-o", exe, *QUICK, *precision("float64"), *SETTINGS])
    return exe


def their_logits(model, tokens: torch.Tensor) -> torch.Tensor:
    with in_float64(), torch.no_grad():
        return model(tokens).logits


def draw_tokens(model) -> torch.Tensor:
    return torch.randint(0, min(model.config.get_text_config().vocab_size, 256), (1, SEQ), generator=torch.Generator().manual_seed(5))


class Reference:
    """A model of transformers in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, model):
        self.model = model

    def losses(self, parameters, tokens, labels):
        """The cross-entropy, and the balance of the experts where the configuration trains it."""
        with in_float64():
            out = torch.func.functional_call(self.model, parameters, (tokens,))
            losses = {"": cross_entropy(out.logits, labels)}
            if getattr(out, "aux_loss", None) is not None:
                losses["imbalance"] = self.model.config.router_aux_loss_coef * out.aux_loss
        return losses


def training(name: str):
    model, folder = make(name)
    updated = CASES[name].updated
    steps = 1 if updated else STEPS  # the first step reads equal buffers
    text = write_text(OUT / name / "text.txt", 3000)
    out = Launch(steps, SEED).run(executable(name), text, OUT / name / "trained", ["--init-from", folder])
    parameters = {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}
    rows, _, final = train(Reference(model), parameters, batches(text.read_bytes(), steps, BATCH, SEQ, SEED),
                           Recipe(steps=steps))
    result = Result()
    for kind, limit in (("loss", 1e-12), ("grad_norm", RULE.norm)):
        compare_metric(kind, read_metric(out, kind), {row["step"]: row[kind] for row in rows}, limit, result)
    exported = OUT / name / "exported-run"
    call([executable(name), "export", "--init-from", out, "--hf", exported], env=environment_of({}))
    ours = {n: t for n, t in tensors_of(exported).items() if not fnmatch(n, updated)}
    with torch.no_grad():
        for key, value in final.items():
            model.get_parameter(key).copy_(value)
        model.save_pretrained(OUT / name / "reference")
        for key, value in parameters.items():
            model.get_parameter(key).copy_(value)
    theirs = {n: t for n, t in tensors_of(OUT / name / "reference").items() if not fnmatch(n, updated)}
    compare_tensors("parameters", ours, theirs, RULE.parameters, result)
    different = compare_files(folder, exported)
    return result.passed() and len(theirs) > 2 and not different, "\n".join([result.table(), *different])


def tensors_of(folder: Path) -> dict[str, torch.Tensor]:
    return {name: tensor for file in sorted(folder.glob("*.safetensors")) for name, tensor in load_file(file).items()}


def logits(name: str):
    model, folder = make(name)
    here, tokens = OUT / name, draw_tokens(model)
    text = write_text(here / "short.txt", 1000)
    out = Launch(1, SEED).run(executable(name), text, here / "read", ["--init-from", folder])
    save_file({**load_file(out / "initial.safetensors"), "tokens": tokens}, here / "inputs.safetensors")
    ir = here / "model.mlir"
    ir.write_text(call([TITANC, "--stop-after=model", *precision("float64"), *SETTINGS, source_of(name)]))
    for phase in PHASES:
        ir.write_text(call([BUILD / "bin" / "titan-opt", f"--titan-phase-{phase}", ir]))
    dump = here / "logits.safetensors"
    call([BUILD / "bin" / "titan-interpret", "--program=logits", f"--dump={dump}",
          f"--inputs={here / 'inputs.safetensors'}", ir])
    result = Result()
    compare_tensors("logits", load_file(dump), {"output.logits": their_logits(model, tokens)}, (1e-10, 1e-12), result)
    return result.passed(), result.table()


def greedy(name: str):
    model, folder = make(name)
    command = [executable(name), "generate", "--init-from", folder, "--prompt", PROMPT, "--max-tokens", TOKENS,
               "--tokenizer", "bytes", "--json"]
    ways = ([], ["--no-kv-cache"]) if CASES[name].decodes else ([],)
    written = [json.loads(call([*command, *more], env=environment_of({})))["tokens"] for more in ways]
    tokens = list(PROMPT.encode())
    for _ in range(TOKENS):
        tokens.append(int(their_logits(model, torch.tensor([tokens]))[0, -1].argmax()))
    theirs = tokens[-TOKENS:]
    return all(one == theirs for one in written), f"    transformers {theirs}\n    {written}"


def round_trip(name: str):
    model, folder = make(name)
    out = OUT / name / "exported"
    call([executable(name), "export", "--init-from", folder, "--hf", out], env=environment_of({}))
    ours, theirs = tensors_of(out), tensors_of(folder)
    if CASES[name].base:  # files of a whole model have its prefix
        theirs = {f"{model.base_model_prefix}.{n}": tensor for n, tensor in theirs.items()}
    different = [n for n in sorted(ours.keys() | theirs.keys())
                 if n not in ours or n not in theirs or not torch.equal(ours[n], theirs[n])]
    with in_float64():
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            out, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager").eval()
    tokens = draw_tokens(model)
    # The sums of products depend on the alignment of tensors in the file.
    same = type(loaded) is type(model) and torch.allclose(their_logits(loaded, tokens), their_logits(model, tokens),
                                                          rtol=0, atol=1e-13)
    different += compare_files(folder, out)
    return same and not different, f"    differ: {', '.join(different) or 'none'}; transformers agrees: {same}"


def text_part(name: str):
    model, folder = make(name)
    out = OUT / name / "exported"
    call([executable(name), "export", "--init-from", folder, "--hf", out], env=environment_of({}))
    ours, whole = tensors_of(out), tensors_of(folder)
    sources = {n: [t for key, t in whole.items()
                   if (key == n or "language_model" in key) and f".{key}".endswith("." + n.removeprefix("model."))]
               for n in ours}
    # Its code is imported before in_float64 changes it.
    transformers.AutoModelForCausalLM._model_mapping[type(transformers.AutoConfig.from_pretrained(out))]
    different = [n for n, found in sources.items() if len(found) != 1 or not torch.equal(ours[n], found[0])]
    with in_float64():
        loaded = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float64, attn_implementation="eager").eval()
    tokens = draw_tokens(model)
    same = torch.allclose(their_logits(loaded, tokens), their_logits(model, tokens), rtol=0, atol=1e-13)
    return same and not different, f"    differ: {', '.join(different) or 'none'}; transformers agrees: {same}"


def checks(name: str):
    """The checks of a model, by name."""
    case = CASES[name]
    yield "logits", logits
    if case.part:
        yield "text part", text_part
        return
    yield "training", training
    if case.generates:
        yield "greedy text", greedy
    yield "round trip", round_trip


def main() -> None:
    def add_arguments(parser):
        parser.add_argument("--all", action="store_true", help="every model")
        parser.add_argument("--keep", action="store_true", help="keep the programs of earlier calls")
    arguments = read_arguments(__doc__, OUT, add_arguments)
    torch.set_num_threads(1)
    report = Report()
    names = list(CASES) if arguments.all or arguments.names else sample_by_commit(list(CASES), 24)
    report.cases([(f"{name} {what}", partial(run, name)) for name in names for what, run in checks(name)], arguments.names)
    report.end()


if __name__ == "__main__":
    main()

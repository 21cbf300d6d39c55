"""Dropouts of imported models: the masks of Titan's generator, put into the models of `transformers`.

    dropouts.py [-v] [--all] [NAME...]

`transformers` makes tiny models with dropouts, in float64. The compiler's IR names the streams of random numbers. Plain
Python draws their masks (tests/ops/torch_ops.py) and replaces the calls of torch's dropout, in their order:

- *training*: three steps on one process and on four (`shard 2 x tp 2`) have the losses, gradient norms and final parameters
  of PyTorch.
- *export*: the run's export has the files of its source, and keeps the keys of dropouts.

With `titanc import --lora RANK --lora-dropout RATE`, only the adapters train, as PEFT computes them.

Without --all, each commit tests one case.
"""

import re
import sys
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity"), str(HERE.parent / "ops"), str(HERE)]

import numpy  # noqa: E402
import torch  # noqa: E402

try:
    import transformers as hf
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from keys import compare_files  # noqa: E402
from sample_order import batches  # noqa: E402
from titan import (BUILD, TITANC, Launch, Report, build, call, environment_of, lock_product, precision,  # noqa: E402
                   read_arguments, sample_by_commit, write_text)
from safetensors.torch import load_file  # noqa: E402
from torch_ops import draw_number, fold, stream_of  # noqa: E402
from training import Recipe, cross_entropy, train  # noqa: E402

OUT = BUILD / "tests" / "dropouts"
BATCH, SEQ, STEPS, SEED = 4, 20, 3, 7
RULE = RULES["float64"]
TOKENS = dict(bos_token_id=1, eos_token_id=2)
SIZES = dict(vocab_size=256, num_hidden_layers=2, num_attention_heads=4, hidden_size=24, intermediate_size=40,
             max_position_embeddings=48)
CONFIGS = {"gpt2": hf.GPT2Config(**TOKENS, vocab_size=256, n_embd=24, n_layer=2, n_head=4, n_inner=40, n_positions=48,
                                 embd_pdrop=0.1, resid_pdrop=0.3, attn_pdrop=0.0),
           "biogpt": hf.BioGptConfig(**TOKENS, **SIZES, hidden_dropout_prob=0.2, activation_dropout=0.4,
                                     attention_probs_dropout_prob=0.0),
           "starcoder2": hf.Starcoder2Config(**TOKENS, **SIZES, num_key_value_heads=2, embedding_dropout=0.2,
                                             residual_dropout=0.1),
           "llama": hf.LlamaConfig(**TOKENS, **SIZES, num_key_value_heads=2, head_dim=8),
           "seed-oss": hf.SeedOssConfig(**TOKENS, **SIZES, num_key_value_heads=2, head_dim=8, residual_dropout=0.25,
                                        attention_dropout=0.0)}
LORA = {"llama": ["--lora", 2, "--lora-alpha", 6, "--lora-dropout", 0.3, "--lora-on", "*.w[12]"]}
MATRICES = {"w1": "gate_proj", "w2": "down_proj"}
RUNS = """
parallel four {{
  shard = 2 splits batch stores params, grads, optimizer
  tp    = 2 splits {heads}, ffn
}}
train dropped = finetune with {{
  data {{ format = text, batch = {batch}, seq = {seq} }}
  eval {{ data {{ format = text }}, every = 0 }}
  optimizer {{ lr = 8e-4, weight_decay = 0.1 }}
  schedule = wsd {{ warmup = 2, decay = linear, to = 0 }}
}}
train meshed = dropped on four with {{}}
"""
MESHES = {"dropped": 1, "meshed": 4}
CASES = [(family, run) for family in CONFIGS for run in MESHES]


@cache
def make(family: str):
    """The model of `transformers` and its directory."""
    config, folder = CONFIGS[family], OUT / family / "hf"
    config._attn_implementation = "eager"
    architecture = hf.AutoModelForCausalLM._model_mapping[type(config)]
    torch.manual_seed(3)
    with in_float64():
        model = architecture(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
    with lock_product(folder):
        if not folder.exists():
            model.save_pretrained(folder)
    return model.train(), folder


def source_of(family: str) -> Path:
    _, folder = make(family)
    source = OUT / family / "imported.titan"
    with lock_product(source):
        if not source.exists():
            heads = "kv_heads" if hasattr(CONFIGS[family], "num_key_value_heads") else "heads"
            source.write_text(call([TITANC, "import", folder, *LORA.get(family, [])]) + RUNS.format(batch=BATCH, seq=SEQ, heads=heads))
    return source


def executable(family: str, run: str) -> Path:
    source, exe = source_of(family), OUT / family / run
    with lock_product(exe):
        if not exe.exists():
            build(source, run, "float64", exe)
    return exe


# Masks

@cache
def streams(family: str) -> tuple[list[str], list[str]]:
    """The streams of random numbers of a step in their order: outside of layers, and in each layer."""
    text = call([TITANC, "--stop-after=model", "--train", "dropped", *precision("float64"), source_of(family)])
    step = text[text.index("func.func @train"):text.index("func.func @eval")]
    found = re.findall(r'titan\.random uniform "([^"]+)" keys\(([^)]*)\)', step)
    assert found and len(found) == len({name for name, _ in found})
    return tuple([name for name, keys in found if len(keys.split(",")) == count] for count in (2, 3))


@cache
def draw(stream: str, keys: tuple[int, ...], count: int) -> numpy.ndarray:
    folded = fold(keys)
    return numpy.array([draw_number(0, stream_of(stream), folded, index) for index in range(count)], numpy.float32)


@contextmanager
def masks(family: str, step: int):
    """Calls of torch's dropout use the masks of the step."""
    outside, inside = streams(family)
    layers = CONFIGS[family].num_hidden_layers
    calls = [(name, (SEED, step)) for name in outside]
    calls += [(name, (SEED, step, layer)) for layer in range(layers) for name in inside]
    rest = iter(calls)

    def dropout(x, p=0.5, training=True, inplace=False):
        if p == 0 or not training:
            return x
        stream, keys = next(rest)
        kept = torch.from_numpy(draw(stream, keys, x.numel()) >= numpy.float32(p)).reshape(x.shape)
        return torch.where(kept, x * (1 / (1 - p)), 0)

    with mock.patch("torch.nn.functional.dropout", dropout):
        yield
    assert next(rest, None) is None, "the program has further dropouts"


class Dropped:
    """A model in training in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, family: str):
        self.family, self.model, self.step = family, make(family)[0], 0

    def losses(self, parameters, tokens, labels):
        self.step += 1
        with in_float64(), masks(self.family, self.step):
            return {"": cross_entropy(torch.func.functional_call(self.model, parameters, (tokens,)).logits, labels)}


class Adapted(Dropped):
    """The same of low-rank adapters, which take the dropped inputs of matrices."""

    def __init__(self, family: str):
        super().__init__(family)
        self.adapters = {}
        self.model = deepcopy(self.model).requires_grad_(False)
        for number, layer in enumerate(self.model.model.layers):
            for name, matrix in MATRICES.items():
                layer.mlp.get_submodule(matrix).register_forward_hook(partial(self.add, f"layers.{number}.{name}"))

    def add(self, name: str, _, inputs, output):
        down, up = self.adapters[f"{name}.down"], self.adapters[f"{name}.up"]
        return output + 6 / 2 * (torch.nn.functional.dropout(inputs[0], 0.3) @ down) @ up.T

    def losses(self, parameters, tokens, labels):
        self.adapters = parameters
        return super().losses({}, tokens, labels)


def merged(family: str, adapters: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The parameters of the model with adapters in them."""
    tensors = {n: p.detach().clone() for n, p in make(family)[0].named_parameters()}
    for name in (n.removesuffix(".up") for n in adapters if n.endswith(".up")):
        _, number, matrix = name.split(".")
        tensors[f"model.layers.{number}.mlp.{MATRICES[matrix]}.weight"] += 6 / 2 * adapters[f"{name}.up"] @ adapters[f"{name}.down"].T
    return tensors


# Checks

def text() -> Path:
    return write_text(OUT / "text.txt", 3000)


@cache
def reference(family: str):
    model, _ = make(family)
    data = batches(text().read_bytes(), STEPS, BATCH, SEQ, SEED)
    if family in LORA:
        initial = load_file(trained(family, "dropped") / "initial.safetensors")
        adapters = {n: t for n, t in initial.items() if n.endswith((".down", ".up"))}
        rows, _, final = train(Adapted(family), adapters, data, Recipe(steps=STEPS))
        return rows, merged(family, final)
    rows, _, final = train(Dropped(family), {n: p.detach().clone() for n, p in model.named_parameters()}, data,
                           Recipe(steps=STEPS))
    return rows, final


def trained(family: str, run: str) -> Path:
    out = OUT / family / f"{run}-trained"
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            Launch(STEPS, SEED, MESHES[run]).run(executable(family, run), text(), out, ["--init-from", make(family)[1]])
    return out


def training(family: str, run: str):
    out, (rows, _) = trained(family, run), reference(family)
    result = Result()
    for metric, limit in (("loss", 1e-12), ("grad_norm", 1e-12)):
        compare_metric(metric, read_metric(out, metric), {row["step"]: row[metric] for row in rows}, limit, result)
    return result.passed(), result.table()


def export(family: str, run: str):
    exported, (_, final) = OUT / family / f"{run}-exported", reference(family)
    call([executable(family, "dropped"), "export", "--init-from", trained(family, run), "--hf", exported], env=environment_of({}))
    with in_float64():
        model = hf.AutoModelForCausalLM.from_pretrained(exported, dtype=torch.float64)
    result = Result()
    compare_tensors("parameters", {n: p.detach() for n, p in model.named_parameters()}, final, RULE.parameters, result)
    different = compare_files(make(family)[1], exported)
    return result.passed() and not different, "\n".join([result.table(), *different])


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument("--all", action="store_true"))
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    cases = CASES if arguments.all or arguments.names else sample_by_commit(CASES, len(CASES))
    report = Report()
    report.cases([(f"{family}, {check.__name__}, {run}", partial(check, family, run))
                  for family, run in cases for check in (training, export)], arguments.names)
    report.end()


if __name__ == "__main__":
    main()

"""Direct preference optimization of imported models, with a frozen reference: std.preferences.

    preferences.py [-v] [--all] [NAME...]

`transformers` makes a tiny policy and its reference in float64: another model, or the policy itself at the start, which
needs one source of weights. A run derived from the program of `titanc import --preferences` trains on pairs of answers of
unequal lengths:

- *training*: three steps on one process and on four (`shard 2 x tp 2`) have the losses and the gradient norms of PyTorch,
  which computes each answer alone, without padding, and the losses by trl's formulas.
- *evaluation*: accuracy, margin and loss of all pairs.
- *export*: the program exports the policy alone; `transformers` loads it, and reads PyTorch's final parameters.
- *import*: the program of every configuration of imported.py compiles.

Without --all, each commit tests one case of training and one of 24 imports.
"""

import json
import subprocess
import sys
from copy import deepcopy
from functools import cache, partial
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity"), str(HERE.parent)]

import numpy  # noqa: E402
import torch  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402
from torch.nn.functional import logsigmoid  # noqa: E402

try:
    import transformers as hf
except ImportError:
    print("skipped: without the Python package transformers (scripts/setup --data --tests installs it)")
    sys.exit(0)

from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from huggingface.families import all_cases  # noqa: E402
from sample_order import permutation  # noqa: E402
from titan import (BUILD, TITANC, Launch, Report, build, call, environment_of, lock_product,  # noqa: E402
                   on_ranks, read_arguments, sample_by_commit)
from training import Recipe, train  # noqa: E402

OUT = BUILD / "tests" / "preferences"
PAIRS, BATCH, SEQ, STEPS, SEED = 10, 4, 40, 3, 7
RULE = RULES["float64"]
SIZES = dict(vocab_size=61, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             intermediate_size=40, max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)
CONFIGS = {"llama": hf.LlamaConfig(**SIZES, head_dim=8),
           "qwen2": hf.Qwen2Config(**SIZES, tie_word_embeddings=True),
           "smollm3": hf.SmolLM3Config(**SIZES),
           "phi3": hf.Phi3Config(**SIZES, sliding_window=7),
           "gemma3": hf.Gemma3TextConfig(**SIZES, head_dim=8, query_pre_attn_scalar=12, sliding_window=7,
                                         layer_types=["sliding_attention", "full_attention"]),
           "qwen3-moe": hf.Qwen3MoeConfig(**SIZES, head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=20,
                                          norm_topk_prob=True),
           "mistral": hf.MistralConfig(**SIZES, head_dim=8, sliding_window=9),
           "mixtral": hf.MixtralConfig(**SIZES, num_local_experts=4, num_experts_per_tok=2),
           "gemma2": hf.Gemma2Config(**SIZES, head_dim=8, query_pre_attn_scalar=12, sliding_window=7),
           "olmo2": hf.Olmo2Config(**SIZES),
           "gpt2": hf.GPT2Config(vocab_size=61, n_embd=24, n_layer=2, n_head=4, n_inner=40, n_positions=64, resid_pdrop=0,
                                 embd_pdrop=0, attn_pdrop=0, bos_token_id=1, eos_token_id=2)}
LOSSES = {"dpo": dict(kind="dpo", beta=0.3), "flipped": dict(kind="dpo", beta=0.2, flipped=0.1),
          "ipo": dict(kind="ipo", beta=0.4)}
RUNS = """
parallel four {{
  shard = 2 splits batch stores params, grads, optimizer
  tp    = 2 splits {wide}
}}

train prefer = finetune with {{
  model {{ {model} }}
  data = arrays("pairs.safetensors") {{ batch = {batch}, seq = {seq} }}
  eval {{ data {{ format = arrays }}, every = 0 }}
  optimizer {{ lr = 8e-4, weight_decay = 0.1 }}
  schedule = wsd {{ warmup = 2, decay = linear, to = 0 }}
}}
train meshed = prefer on four with {{}}
"""
MESHES = {"prefer": 1, "meshed": 4}
FAMILIES = (("llama", "dpo"), ("smollm3", "flipped"), ("qwen2", "ipo"), ("phi3", "dpo"), ("gemma3", "dpo"),
            ("qwen3-moe", "dpo"), ("mistral", "ipo"), ("mixtral", "dpo"), ("gemma2", "flipped"), ("olmo2", "dpo"),
            ("gpt2", "dpo"))
SHARED = ("mistral", "gpt2", "qwen2")  # policy and reference start from one source
# The dimensions that a map splits.
WIDE = {"qwen3-moe": "kv_heads, expert_ffn", "mixtral": "kv_heads, expert_ffn", "gpt2": "heads, ffn"}
CASES = [(*case, run) for case in FAMILIES for run in MESHES]
IMPORTS = all_cases()


# Models and data

@cache
def make(family: str, seed: int):
    """The model of `transformers` and its directory."""
    config, folder = CONFIGS[family], OUT / family / f"hf{seed}"
    config._attn_implementation = config._experts_implementation = "eager"  # others refuse float64
    architecture = hf.AutoModelForCausalLM._model_mapping[type(config)]  # imports its code, which in_float64 changes
    torch.manual_seed(seed)
    with in_float64():
        model = architecture(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
    with lock_product(folder):
        if not folder.exists():
            model.save_pretrained(folder)
    return model.eval(), folder


def reference_of(family: str):
    return make(family, 3 if family in SHARED else 4)


def draw() -> list[list[tuple[list[int], int]]]:
    """Pairs of texts, the chosen one first, each with the number of tokens of their common prompt."""
    chance = numpy.random.default_rng(5)
    numbers = lambda count: chance.integers(1, SIZES["vocab_size"], count).tolist()  # noqa: E731
    pairs = []
    for _ in range(PAIRS):
        prompt = numbers(chance.integers(1, 8))
        pairs.append([(prompt + numbers(chance.integers(1, 12)), len(prompt)) for _ in range(2)])
    return pairs


def rows(pairs) -> dict[str, numpy.ndarray]:
    """The arrays of pairs: a sample has both texts as its documents 0 and 1."""
    arrays = {name: numpy.zeros((PAIRS, SEQ), numpy.int32) for name in ("tokens", "labels", "weights", "documents", "positions")}
    arrays["documents"][:] = 2
    for row, pair in enumerate(pairs):
        at = 0
        for number, (text, prompt) in enumerate(pair):
            slots = slice(at, at + len(text) - 1)
            arrays["tokens"][row, slots], arrays["labels"][row, slots] = text[:-1], text[1:]
            arrays["weights"][row, slots] = numpy.arange(1, len(text)) >= prompt
            arrays["documents"][row, slots] = number
            arrays["positions"][row, slots] = numpy.arange(len(text) - 1)
            at = slots.stop
    return arrays


def data() -> Path:
    path = OUT / "pairs.safetensors"
    with lock_product(path):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            save_file(rows(draw()), path)
    return path


# PyTorch

def score(model, parameters, text, prompt, averaged: bool) -> torch.Tensor:
    """log p of the answer, computed from this text alone."""
    tokens = torch.tensor([text])
    with in_float64():
        logits = torch.func.functional_call(model, parameters, (tokens[:, :-1],)).logits
    each = logits.log_softmax(-1)[0].gather(1, tokens[0, 1:, None])[prompt - 1:]
    return each.mean() if averaged else each.sum()


class Preferences:
    """The loss of pairs by the formulas of trl's DPOTrainer, in the form that tests/parity/training.py trains."""

    UNDECAYED = ()

    def __init__(self, policy, reference, kind, beta, flipped=0.0):
        self.policy, self.reference = policy, reference
        self.kind, self.beta, self.flipped = kind, beta, flipped

    def gain(self, parameters, pair) -> torch.Tensor:
        margins = []
        for model, weights in ((self.policy, parameters), (self.reference, {})):
            chosen, rejected = (score(model, weights, text, prompt, self.kind == "ipo") for text, prompt in pair)
            margins.append(chosen - rejected)
        return margins[0] - margins[1].detach()

    def one(self, gain) -> torch.Tensor:
        if self.kind == "ipo":
            return (gain - 1 / (2 * self.beta)) ** 2
        return (-logsigmoid(self.beta * gain) * (1 - self.flipped) - logsigmoid(-self.beta * gain) * self.flipped)

    def loss(self, parameters, pairs):
        return torch.stack([self.one(self.gain(parameters, pair)) for pair in pairs]).mean()


@cache
def reference(family: str, kind: str):
    """The rows, and the final parameters, of PyTorch."""
    (policy, _), (base, _) = make(family, 3), reference_of(family)
    pairs = draw()
    order = [permutation(g % PAIRS, PAIRS, SEED, g // PAIRS) for g in range(STEPS * BATCH)]
    batches = [{"pairs": [pairs[i] for i in order[step * BATCH:(step + 1) * BATCH]]} for step in range(STEPS)]
    module = Preferences(policy, base, **LOSSES[kind])
    measured, _, final = train(module, {n: p.detach() for n, p in policy.named_parameters()}, batches, Recipe(steps=STEPS))
    gains = torch.stack([module.gain(final, pair) for pair in pairs]).detach()
    return measured, final, {"loss": module.loss(final, pairs).item(), "accuracy": (gains > 0).double().mean().item(),
                             "margin": gains.mean().item()}


# Titan

def source_of(family: str, kind: str) -> Path:
    _, folder = make(family, 3)
    source = OUT / family / f"{kind}.titan"
    with lock_product(source):
        if not source.exists():
            text = call([TITANC, "import", folder, "--preferences", LOSSES[kind]["kind"]])
            model = ", ".join(f"{name} = {json.dumps(value)}" for name, value in LOSSES[kind].items())
            source.write_text(text + RUNS.format(model=model, batch=BATCH, seq=SEQ, wide=WIDE.get(family, "kv_heads, ffn")))
    return source


def executable(family: str, kind: str, run: str) -> Path:
    source, exe = source_of(family, kind), OUT / family / f"{kind}-{run}"
    with lock_product(exe):
        if not exe.exists():
            build(source, run, "float64", exe)
    return exe


def trained(family: str, kind: str, run: str) -> Path:
    (_, policy), (_, base) = make(family, 3), reference_of(family)
    sources = ["--init-from", policy] + ([] if family in SHARED else ["--init-from", f"reference={base}"])
    out = OUT / family / f"{kind}-{run}-trained"
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            Launch(STEPS, SEED, MESHES[run]).run(executable(family, kind, run), data(), out, sources)
    return out


def training(family: str, kind: str, run: str):
    out = trained(family, kind, run)
    measured, _, _ = reference(family, kind)
    result = Result()
    for metric, limit in (("loss", RULE.loss), ("grad_norm", RULE.norm)):
        compare_metric(metric, read_metric(out, metric), {row["step"]: row[metric] for row in measured}, limit, result)
    return result.passed(), result.table()


def export(family: str, kind: str, run: str):
    """The program exports the policy alone, with its configuration."""
    _, final, _ = reference(family, kind)
    exported = OUT / family / f"{kind}-{run}-exported"
    call([executable(family, kind, "prefer"), "export", "--init-from", trained(family, kind, run), "--hf", exported],
         env=environment_of({}))
    with in_float64():
        model = hf.AutoModelForCausalLM.from_pretrained(exported, dtype=torch.float64)
    result = Result()
    compare_tensors("parameters", {n: p.detach() for n, p in model.named_parameters()}, final, RULE.parameters, result)
    files = [line for line in (exported / "model.safetensors").read_bytes()[8:50000].split(b'"') if b"reference" in line]
    return result.passed() and not files, result.table() + f"    tensors of the reference: {files}"


def evaluation(family: str, kind: str, run: str):
    _, _, expected = reference(family, kind)
    exe = executable(family, kind, run)
    lines = call(on_ranks(MESHES[run], [exe, "eval", "--json", "--init-from", trained(family, kind, run), "--eval-data", data()]),
                 env=environment_of({}))
    row = json.loads(lines.splitlines()[-1])
    result = Result()
    for name, value in expected.items():
        compare_metric(name, {0: row[name] if name == "loss" else row["metrics"][name]}, {0: value}, RULE.loss, result)
    return result.passed(), result.table()


def imported(name: str):
    case, folder = IMPORTS[name], OUT / "imports" / name
    config = deepcopy(case.config)
    auto = hf.AutoModel if case.base else hf.AutoModelForImageTextToText if case.part else hf.AutoModelForCausalLM
    config.architectures = [auto._model_mapping[type(config)].__name__]
    config.save_pretrained(folder)
    if case.published:
        path = folder / "config.json"
        path.write_text(json.dumps(case.published(json.loads(path.read_text()))))
    commands = [TITANC, "import", folder, "--preferences", "dpo", "-o", folder / "pairs.titan"], [TITANC, "check", folder / "pairs.titan"]
    (folder / "pairs.titan").unlink(missing_ok=True)
    done = [subprocess.run(command, capture_output=True, text=True, check=False) for command in commands]
    return all(each.returncode == 0 for each in done), "".join(each.stderr for each in done)


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument("--all", action="store_true"))
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    cases = CASES if arguments.all or arguments.names else sample_by_commit(CASES, len(CASES))
    report = Report()
    report.cases([(f"{family} {kind}, {check.__name__}, {run}", partial(check, family, kind, run))
                  for family, kind, run in cases for check in (training, evaluation, export)], arguments.names)
    names = list(IMPORTS) if arguments.all or arguments.names else sample_by_commit(list(IMPORTS), 24)
    report.cases([(f"{name}, import", partial(imported, name)) for name in names], arguments.names)
    report.end()


if __name__ == "__main__":
    main()

"""The scripts of examples/finetuning/, as a user runs them, compared with plain loops in PyTorch.

    finetuning.py [-v] [--all] [NAME...]

Each script runs in float64 on the tiny model and the data of examples/finetuning/tiny.py. Its losses and gradient norms are
those of PyTorch, which trains the model of `transformers`, and `transformers` reads PyTorch's final parameters from the
exported directory.

Without --all, each commit tests one script.
"""

import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "parity"), str(HERE.parent / "prepare")]

import torch  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from torch.nn.functional import cross_entropy, logsigmoid  # noqa: E402

try:
    import tokenizers  # noqa: F401
    import transformers as hf
except ImportError:
    print("skipped: without the Python packages transformers and tokenizers (scripts/setup --data --tests installs them)")
    sys.exit(0)

import prepared  # noqa: E402
import weighted  # noqa: E402
from compare import RULES, Result, compare_metric, compare_tensors, read_metric  # noqa: E402
from float64 import in_float64  # noqa: E402
from sample_order import permutation  # noqa: E402
from titan import BUILD, QUICK, ROOT, Report, call, lock_product, precision, read_arguments, sample_by_commit  # noqa: E402
from training import Recipe, train  # noqa: E402

hf.LlamaForCausalLM, hf.BertForPreTraining  # imports their code, which in_float64 changes

OUT = BUILD / "tests" / "finetuning"
SCRIPTS = ROOT / "examples" / "finetuning"
STEPS, BATCH, SEQ, SEED, RATE = 5, 8, 64, 0, 1e-3  # SEQ, BATCH and SEED are those of the imported run
weighted.SEQ, weighted.BATCH, weighted.STEPS, weighted.SEED = SEQ, BATCH, STEPS, SEED
RECIPE = Recipe(steps=STEPS, lr=RATE, warmup=20, decay="cosine", to=0.1, weight_decay=0.0)
RULE = RULES["float64"]


def tiny() -> Path:
    """The folder with the tiny model and its data."""
    with lock_product(OUT / "tiny"):
        if not (OUT / "tiny").exists():
            call([sys.executable, SCRIPTS / "tiny.py", OUT / "tiny", "float64"])
    return OUT / "tiny"


def run(script: str, data: str, *settings: str, model: Path | None = None) -> Path:
    """Runs the script, and returns its folder."""
    model = model or tiny() / "model"
    out = OUT / f"{script}-{model.name}"
    call([SCRIPTS / f"{script}.sh", model, tiny() / data, out, *QUICK, *precision("float64"), *settings], timeout=600,
         env={**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", "PYTHON": sys.executable,
              "STEPS": str(STEPS), "RATE": str(RATE), "OMP_NUM_THREADS": "1"})
    return out


def load(folder: Path, auto=hf.AutoModelForCausalLM, **options):
    with in_float64():
        return auto.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager", **options).eval()


def logits_of(model, parameters, tokens, **options):
    with in_float64():
        return torch.func.functional_call(model, parameters, (tokens,), options).logits


def compared(out: Path, model, loss, batches, auto=hf.AutoModelForCausalLM):
    """Trains `model` in PyTorch, and compares the run and its export."""
    parameters = {n: p.detach() for n, p in model.named_parameters()}
    rows, _, final = train(SimpleNamespace(loss=loss, UNDECAYED=()), parameters, batches, RECIPE)
    result = Result()
    compare_rows(out, rows, result)
    exported = {n: p.detach() for n, p in load(out / "hf", auto).named_parameters()}
    compare_tensors("parameters", exported, final, RULE.parameters, result)
    return result.passed(), result.table()


def compare_rows(out: Path, rows, result: Result) -> None:
    for kind, limit in (("loss", RULE.loss), ("grad_norm", RULE.norm)):
        theirs = {row["step"]: row[kind] for row in rows if row["step"] in (1, STEPS)}  # a run reports these
        compare_metric(kind, read_metric(out / "run", kind), theirs, limit, result)


# Texts and chats

def token_samples(out: Path, cut) -> list[dict[str, torch.Tensor]]:
    data = prepared.read(out / "data")
    weights = data.weights or [[1] * len(tokens) for tokens in data.documents]
    return weighted.batches([(1, cut(list(zip(data.documents, weights))))])


def stream_loss(model, parameters, tokens, labels, documents, positions, weights):
    """The loss of windows: documents are not separated."""
    return cross_entropy(logits_of(model, parameters, tokens).flatten(0, 1), labels.flatten())


def packed_loss(model, parameters, tokens, labels, documents, positions, weights, used):
    """The loss of documents, each of which is computed alone."""
    losses = []
    for sample in range(len(tokens)):
        for number in documents[sample].unique():
            here = (documents[sample] == number) & (used[sample] == 1)
            if here.any():
                logits = logits_of(model, parameters, tokens[sample][here][None])[0]
                losses.append(cross_entropy(logits, labels[sample][here], reduction="none") * weights[sample][here])
    return torch.cat(losses).sum() / weights.sum()


def on_tokens(script: str, data: str, cut, loss):
    out, model = run(script, data), load(tiny() / "model")
    return compared(out, model, partial(loss, model), token_samples(out, cut))


# Adapters

def lora():
    """Adapters w.down and w.up, in Titan's layout, from the same beginning; the export has the sums."""
    out, model = run("lora", "texts.jsonl"), load(tiny() / "model")
    call([out / "tuned", "--data", out / "data", "--init-from", tiny() / "model", "--out", out / "begun", "--steps", 1,
          "--save-initial", out / "initial.safetensors"])
    initial, trained = load_file(out / "initial.safetensors"), load_file(out / "run" / "model.safetensors")
    adapters = {n: t for n, t in initial.items() if n.endswith((".down", ".up"))}
    base = {n: p.detach() for n, p in model.named_parameters()}

    def loss(parameters, **sample):
        return stream_loss(model, added(base, parameters), **sample)

    rows, _, final = train(SimpleNamespace(loss=loss, UNDECAYED=()), adapters, token_samples(out, weighted.windows), RECIPE)
    result = Result()
    compare_rows(out, rows, result)
    compare_tensors("adapters", {n: t for n, t in trained.items() if n in final}, final, RULE.parameters, result)
    exported = {n: p.detach() for n, p in load(out / "hf").named_parameters()}
    compare_tensors("export", exported, added(base, final), RULE.parameters, result)
    return result.passed() and len(adapters) == 28, result.table()


STORED = {"wq": "self_attn.q_proj", "wk": "self_attn.k_proj", "wv": "self_attn.v_proj", "wo": "self_attn.o_proj",
          "w1": "mlp.gate_proj", "w2": "mlp.down_proj", "w3": "mlp.up_proj"}


def added(base, adapters):
    """The parameters of `transformers`, with the adapters in Titan's layout and order of a head's elements."""
    changed = dict(base)
    for name in (n.removesuffix(".down") for n in adapters if n.endswith(".down")):
        _, layer, matrix = name.split(".")
        down, up = adapters[f"{name}.down"], adapters[f"{name}.up"]
        update = 2 * torch.tensordot(down, up, ([-1], [-1]))
        if matrix in ("wq", "wk"):  # pairs of neighbours are the halves of the head
            update = update.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
        stored = f"model.layers.{layer}.{STORED[matrix]}.weight"
        changed[stored] = base[stored] + (update.reshape(-1, update.shape[-1]) if matrix == "wo" else
                                          update.reshape(update.shape[0], -1)).T
    return changed


# Arrays

def array_samples(out: Path) -> list[dict[str, torch.Tensor]]:
    arrays = {n: t.long() for n, t in load_file(out / "data.safetensors").items()}
    count = len(arrays["labels"])
    order = [permutation(g % count, count, SEED, g // count) for g in range(STEPS * BATCH)]
    return [{n: t[order[step * BATCH:(step + 1) * BATCH]] for n, t in arrays.items()} for step in range(STEPS)]


def preferences():
    """The pairs are read from their texts: an implementation of its own of the arrays."""
    out, policy, reference = run("preferences", "pairs.jsonl"), load(tiny() / "model"), load(tiny() / "model")
    tokenizer = hf.AutoTokenizer.from_pretrained(tiny() / "model")
    rows = [json.loads(line) for line in (tiny() / "pairs.jsonl").read_text().splitlines()]
    order = [permutation(g % len(rows), len(rows), SEED, g // len(rows)) for g in range(STEPS * BATCH)]

    def score(model, parameters, prompt, answer):
        before, after = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (prompt, answer))
        tokens = torch.tensor([[tokenizer.bos_token_id, *before, *after, tokenizer.eos_token_id]])
        chances = logits_of(model, parameters, tokens[:, :-1])[0].log_softmax(-1)
        return chances.gather(1, tokens[0, 1:, None])[len(before):].sum()

    def loss(parameters, pairs):
        losses = []
        for row in pairs:
            margins = [score(model, weights, row["prompt"], row["chosen"]) - score(model, weights, row["prompt"], row["rejected"])
                       for model, weights in ((policy, parameters), (reference, {}))]
            losses.append(-logsigmoid(0.1 * (margins[0] - margins[1].detach())))
        return torch.stack(losses).mean()

    batches = [{"pairs": [rows[i] for i in order[step * BATCH:(step + 1) * BATCH]]} for step in range(STEPS)]
    return compared(out, policy, loss, batches)


def encoder() -> Path:
    """A tiny BERT with the heads of its first training, and the tokenizer of the tiny model."""
    folder = OUT / "bert"
    shutil.copytree(tiny() / "model", folder, dirs_exist_ok=True)
    torch.manual_seed(2)
    with in_float64():
        hf.BertForPreTraining(hf.BertConfig(
            vocab_size=261, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, initializer_range=0.2,
            max_position_embeddings=SEQ, pad_token_id=258, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        ).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["architectures"] = ["BertForMaskedLM"]  # as published files say
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def classes(folder, head: str, *settings: str):
    """The head's initial values are those of Titan."""
    folder = folder()
    out = run("classes", "classes.jsonl", *settings, model=folder)
    call([out / "tuned", "--data", out / "data.safetensors", "--init-from", folder, "--out", out / "begun", "--steps", 1,
          "--save-initial", out / "initial.safetensors"])
    initial = load_file(out / "initial.safetensors")
    model = load(folder, hf.AutoModelForSequenceClassification, num_labels=3)
    with torch.no_grad():
        for kind, name in (("weight", "class_w"), ("bias", "class_b")):
            if name in initial:
                getattr(getattr(model, head), kind).copy_(initial[name].t())

    def loss(parameters, input_ids, attention_mask, labels):
        return cross_entropy(logits_of(model, parameters, input_ids, attention_mask=attention_mask), labels)

    return compared(out, model, loss, array_samples(out), hf.AutoModelForSequenceClassification)


CASES = (("full", partial(on_tokens, "full", "texts.jsonl", weighted.windows, stream_loss)),
         ("pretraining", partial(on_tokens, "pretraining", "texts.jsonl", weighted.packs, packed_loss)),
         ("chats", partial(on_tokens, "chats", "chats.jsonl", weighted.packs, packed_loss)),
         ("lora", lora),
         ("preferences", preferences),
         ("classes", partial(classes, lambda: tiny() / "model", "score")),
         ("classes of an encoder", partial(classes, encoder, "classifier", "--set", "model.padded=true")))


def main() -> None:
    arguments = read_arguments(__doc__, OUT, lambda parser: parser.add_argument("--all", action="store_true"))
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    cases = CASES if arguments.all or arguments.names else sample_by_commit(CASES, len(CASES))
    report = Report()
    report.cases(cases, arguments.names)
    report.end()


if __name__ == "__main__":
    main()

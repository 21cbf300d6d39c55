"""Compares compiled programs with weighted losses (only answers count), packed documents, experts on packed documents, and
mixtures of data sets with PyTorch, in float64, and several processes with one.

    weighted.py [-v] [NAME...]

Each case trains on documents with weights; the number of tokens that count differs from sample to sample. The
criterion is that of compare.py. Attention stays within a document. This file implements the samples of docs/data.md
in plain Python. Runs on several processes have several microbatches, so that the mean of the microbatches' means would
be wrong. The position in the data is one number, so that a run on two processes can resume on four.
"""

import random
import struct
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import torch
from safetensors.torch import load_file

from compare import compare
from models import routed
from reference import write_run
from run import OUT as PARITY, PROGRAMS
from sample_order import permutation
from titan import Launch, Report, build, call, environment_of, on_ranks, read_arguments, lock_product
from training import Recipe, train

OUT = PARITY.parent / "weighted"
SEQ, BATCH, STEPS, SEED, VOCAB = 16, 4, 20, 7, 40

PROGRAM = """
import std.loss
model Answers(layers = 2, embed = 16, heads = 2, head = 8, vocab = 40, context = 16) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  input documents: int[batch, seq]
  input positions: int[batch, seq]
  input weights[batch, seq]
  param table[vocab, embed] ~ normal(0.5)
  param places[context, embed] ~ normal(0.5)
  let x[batch, seq, embed] = table[vocab: tokens] + places[context: positions]
  repeat layers {
    param wq[embed, heads, head] ~ normal(0.3)
    param wk[embed, heads, head] ~ normal(0.3)
    param wv[embed, heads, head] ~ normal(0.3)
    param wo[heads, head, embed] ~ normal(0.3)
    let q[batch, seq, heads, head] = x @ wq
    let k[batch, seq, heads, head] = x @ wk
    let v[batch, seq, heads, head] = x @ wv
    let a = attention(q, k, v, over head, along seq, mask = causal and document(documents))
    x = x + (a @ wo)[batch, seq, embed]
  }
  output logits[batch, seq, vocab] = x @ table
  let losses = cross_entropy(logits, labels, over vocab)
  loss = LOSS
}
parallel two { shard = 2 splits batch stores params, grads, optimizer }
parallel four {
  pp    = 2 splits layers
  shard = 2 splits batch stores params, grads, optimizer
}
train run = Answers {
  data = DATA
  seed = 7, steps = 20, clip = 1.0
  optimizer = adamw { lr = 8e-4, betas = (0.9, 0.95), weight_decay = 0.1 }
  schedule = wsd { warmup = 2, decay = linear, to = 0 }
}
train accumulated = run on two with { accumulate = 2 }
train staged = run on four with { pipeline.microbatches = 2 }
"""
WEIGHTED = "weighted_mean(losses, weights, over batch, seq)"
COUNTED = "weighted_mean(losses, counted(labels), over batch, seq)"


def logits(p, tokens, documents, positions):
    x = p["table"][tokens] + p["places"][positions]
    mask = (documents[:, :, None] == documents[:, None]).tril()[:, None]
    for layer in range(2):
        q, k, v = (torch.einsum("bse,ehd->bhsd", x, p[f"layers.{layer}.{name}"]) for name in ("wq", "wk", "wv"))
        a = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + torch.einsum("bhsd,hde->bse", a, p[f"layers.{layer}.wo"])
    return x @ p["table"].T


def loss(p, tokens, labels, documents, positions, weights, used=None):
    losses = torch.nn.functional.cross_entropy(logits(p, tokens, documents, positions).flatten(0, 1), labels.flatten(),
                                               reduction="none")
    return (losses * weights.flatten()).sum() / weights.sum()


def draw_documents(seed=5, count=60) -> list[tuple[list[int], list[int]]]:
    """Tokens and weights of documents: a prompt, and an answer of one token, of two, or of all tokens but one."""
    chance = random.Random(seed)
    documents = []
    for _ in range(count):
        length = chance.randint(1, 2 * SEQ)
        answer = chance.choice([1, 2, max(1, length - 1)])
        documents.append((chance.choices(range(VOCAB), k=length),
                          [0] * max(0, length - answer) + [1] * min(answer, length)))
    return documents


def write_indexed(prefix: Path, documents) -> Path:
    """A data set, written once, because cases read it at the same time."""
    index = prefix.with_suffix(".idx")
    with lock_product(index):
        if not index.exists():
            write_tokens(prefix, documents)
    return prefix


def write_tokens(prefix: Path, documents) -> None:
    lengths = [len(tokens) for tokens, _ in documents]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    count = len(lengths)
    prefix.with_suffix(".bin").write_bytes(bytes(t for tokens, _ in documents for t in tokens))
    Path(f"{prefix}.weights.bin").write_bytes(bytes(w for _, weights in documents for w in weights))
    prefix.with_suffix(".idx").write_bytes(
        b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 1, count, count + 1) + struct.pack(f"<{count}i", *lengths) +
        struct.pack(f"<{count}q", *starts) + struct.pack(f"<{count + 1}q", *range(count + 1)))


def windows(documents) -> list[dict[str, list]]:
    """Samples of the stream of all documents."""
    stream = [(token, weight, number, at) for number, (tokens, weights) in enumerate(documents)
              for at, (token, weight) in enumerate(zip(tokens, weights))]
    samples = []
    for begin in range(0, len(stream) - SEQ, SEQ):
        window = stream[begin:begin + SEQ + 1]
        numbers = [number for _, _, number, _ in window[:-1]]
        changes = [int(a != b) for a, b in zip(numbers[:1] + numbers, numbers)]
        starts = [max((i for i in range(slot + 1) if changes[i]), default=0) for slot in range(SEQ)]
        samples.append({"tokens": [t for t, *_ in window[:-1]], "labels": [t for t, *_ in window[1:]],
                        "documents": list(numpy.cumsum(changes)),
                        "positions": [slot - start for slot, start in enumerate(starts)],
                        "weights": [w for _, w, *_ in window[1:]]})
    return samples


def packs(documents) -> list[dict[str, list]]:
    """Samples of whole documents, in file order."""
    samples, free = [], 0
    for tokens, weights in documents:
        for begin in range(0, len(tokens) - 1, SEQ):
            segment, counts = tokens[begin:begin + SEQ + 1], weights[begin:begin + SEQ + 1]
            slots = len(segment) - 1
            if slots > free:
                samples.append({name: [] for name in ("tokens", "labels", "documents", "positions", "weights", "used")})
                free = SEQ
            sample, free = samples[-1], free - slots
            number = sample["documents"][-1] + 1 if sample["documents"] else 0
            sample["tokens"] += segment[:-1]
            sample["labels"] += segment[1:]
            sample["documents"] += [number] * slots
            sample["positions"] += range(slots)
            sample["weights"] += counts[1:]
            sample["used"] += [1] * slots
    for sample in samples:
        unused = SEQ - len(sample["tokens"])
        sample["documents"] += [sample["documents"][-1] + 1] * unused
        for name in ("tokens", "labels", "positions", "weights", "used"):
            sample[name] += [0] * unused
    return samples


def order(sets) -> list[dict[str, list]]:
    """The samples of the run in the documented order. `sets` has a weight and the samples of each data set."""
    shares, rest = [], sum(weight for weight, _ in sets)
    for weight, _ in sets[:-1]:
        shares.append(round(weight / rest * 2**32))
        rest -= weight
    shares.append(2**32)
    chosen = []
    for g in range(STEPS * BATCH):
        for share, (_, samples) in zip(shares, sets):
            before, after = g * share >> 32, (g + 1) * share >> 32
            if after > before:
                chosen.append(samples[permutation(before % len(samples), len(samples), SEED, before // len(samples))])
                break
            g -= before
    return chosen


def batches(sets) -> list[dict[str, torch.Tensor]]:
    """The inputs of each step."""
    chosen = order(sets)
    def take(name, step):
        values = torch.tensor(numpy.array([sample[name] for sample in chosen[step * BATCH:(step + 1) * BATCH]]))
        return values.double() if name == "weights" else values.long()
    return [{name: take(name, step) for name in chosen[0]} for step in range(STEPS)]


def write_arrays(folder: Path, samples) -> Path:
    """The samples as arrays, with -100 where a label does not count."""
    with lock_product(folder):
        if folder.exists():
            return folder
        folder.mkdir(parents=True)
        fill(folder, samples)
    return folder


def fill(folder: Path, samples) -> None:
    for name in samples[0]:
        values = numpy.array([sample[name] for sample in samples])
        if name == "labels":
            values = numpy.where([sample["weights"] for sample in samples], values, -100)
        numpy.save(folder / f"{name}.npy", values.astype(numpy.int16))


def indexed(name: str, seed=5, count=60):
    return write_indexed(OUT / name, draw_documents(seed, count))


# The loss, the data in the source, their path at launch, and the data sets by weight. `routed` has a program of its own.
CASES = {
    "weights": (WEIGHTED, 'indexed("weights") { batch = 4, seq = 16 }', lambda: indexed("weights"),
                lambda: [(1, windows(draw_documents()))]),
    "labels of -100": (COUNTED, 'arrays("labels") { batch = 4, seq = 16 }',
                       lambda: write_arrays(OUT / "labels", windows(draw_documents())),
                       lambda: [(1, windows(draw_documents()))]),
    "packed": (WEIGHTED, 'indexed("packed") { batch = 4, seq = 16, packing = documents, overlong = split }',
               lambda: indexed("packed"), lambda: [(1, packs(draw_documents()))]),
    "routed": (None, None, lambda: indexed("routed"), lambda: [(1, packs(draw_documents()))]),
    "mixture": (WEIGHTED, 'indexed("3 large 1 small 0.5 tiny") { batch = 4, seq = 16, packing = documents, '
                'overlong = split }',
                lambda: f"3 {indexed('large')} 1 {indexed('small', 6, 20)} 0.5 {indexed('tiny', 7, 4)}",
                lambda: [(3, packs(draw_documents())), (1, packs(draw_documents(6, 20))),
                         (0.5, packs(draw_documents(7, 4)))]),
}


def make(name: str, train_name: str) -> tuple[Path, Path | str]:
    """The compiled program, and its data."""
    OUT.mkdir(parents=True, exist_ok=True)
    loss_text, data_text, write, _ = CASES[name]
    exe, word = OUT / f"{name.split()[0]}-{train_name}-program", name.split()[0]
    with lock_product(exe):
        data = write()
        if not exe.exists():
            program = PROGRAMS / "routed.titan"
            if name != "routed":
                program = OUT / f"{word}-{train_name}.titan"
                program.write_text(PROGRAM.replace("LOSS", loss_text).replace("DATA", data_text))
            build(program, train_name, "float64", exe)
    return exe, data


def run(name: str, train_name: str, processes: int) -> Path:
    """A run, executed once."""
    out = OUT / f"{name.split()[0]}-{train_name}-{processes}"
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            exe, data = make(name, train_name)
            Launch(STEPS, SEED, processes).run(exe, data, out, ["--check-replicas"] if processes > 1 else [])
    return out


def against_torch(name: str):
    out, against = run(name, "run", 1), OUT / f"{name.split()[0]}-reference"
    module = routed if name == "routed" else SimpleNamespace(loss=loss, UNDECAYED=())
    weights = load_file(out / "initial.safetensors")
    write_run(against, *train(module, weights, batches(CASES[name][3]()), Recipe(steps=STEPS)))
    result = compare(out, against, "float64")
    return result.passed(), result.table()


def against_one(name: str, train_name: str, processes: int):
    result = compare(run(name, train_name, processes), run(name, "run", 1), "float64")
    return result.passed(), result.table()


def resumed(name: str):
    """Two processes until half of the steps, four from there on."""
    whole, out = run(name, "run", 1), OUT / f"{name.split()[0]}-resumed"
    exe, data = make(name, "run")
    Launch(STEPS, SEED, 2).run(exe, data, out, ["--stop-at", STEPS // 2])
    call(on_ranks(4, [exe, "--data", data, "--steps", STEPS, "--seed", SEED, "--out", out, "--log-every", 1]),
         env=environment_of({}), timeout=300)
    result = compare(out, whole, "float64")
    return result.passed(), result.table()


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    torch.set_num_threads(1)
    report = Report()
    cases = []
    for name in CASES:
        cases += [(f"{name}, against PyTorch", partial(against_torch, name)),
                  (f"{name}, two processes with two microbatches", partial(against_one, name, "accumulated", 2)),
                  (f"{name}, two stages on four processes", partial(against_one, name, "staged", 4))]
        if name in ("packed", "mixture"):
            cases += [(f"{name}, four processes", partial(against_one, name, "run", 4)),
                      (f"{name}, two processes", partial(against_one, name, "run", 2)),
                      (f"{name}, resumed on four processes", partial(resumed, name))]
    report.cases(cases, arguments.names)
    report.end()


if __name__ == "__main__":
    main()

"""Checks that no name of a dimension is special: compiled models whose dimensions of samples and positions have other
names compute the same as with the names of the standard library.

    dimensions.py [-v] [NAME...]

Each program is written once. Its twin differs only in the names of dimensions; `default data` of its file or its run
states which are those of samples and positions. Twins must agree in every bit: losses of steps and of evaluations,
gradients, weights, and the text that they generate with caches and without. A twin that does not state its dimensions
must be refused, which shows that the test does not compare a program with itself.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy
import torch
from safetensors.torch import load_file

from run import OUT as PARITY
from titan import TITANC, Launch, Report, build, call, environment_of, read_arguments, lock_product, write_text

OUT = PARITY.parent / "dimensions"
STEPS, SEED, TOKENS = 6, 7, 40
PROMPTS = ["a", "the end of the text that was learnt by heart, and more of it"]

TEXT = """
import std.activation, std.attention, std.loss, std.metric, std.norm, std.rotary

block Attend(x[batch, seq, embed]) -> x {
  dims heads, head
  param norm[embed] = 1
  param wq[embed, heads, head] ~ normal(0.3)
  param wk[embed, heads, head] ~ normal(0.3)
  param wv[embed, heads, head] ~ normal(0.3)
  param wo[heads, head, embed] ~ normal(0.3)
  let h = rms_norm(x, norm, over embed)
  let q[batch, seq, heads, head] = h @ wq
  let k[batch, seq, heads, head] = h @ wk
  let v[batch, seq, heads, head] = h @ wv
  let a = causal_attention(rope(q, over head, along seq), rope(k, over head, along seq), v, over head, along seq)
  let y[batch, seq, embed] = a @ wo
  x = dropout(x + y, 0.1)
}

model Small(layers = 4, embed = 16, heads = 4, head = 4, vocab = 256) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  param table[vocab, embed] ~ normal(1)
  param place[seq, embed]   ~ normal(1)
  let x = table[vocab: tokens] + place
  repeat layers { x = Attend(x) }
  output logits[batch, seq, vocab] = x @ table
  let losses = cross_entropy(logits, labels, over vocab)
  loss = mean(losses, over batch, seq)
  metric accuracy = mean(hits(logits, labels, over vocab), over batch, seq)
  metric spread   = sqrt(mean(losses ** 2, over batch, seq))
}

parallel two     { shard = 2 splits batch stores params, grads, optimizer }
parallel context { cp = 2 splits seq { order = headtail, attention = ring } }
parallel stages  { pp = 2 splits layers }
"""
TEXT_RUNS = """
train run = Small {
  data      = text("text.txt") { seq = 32, batch = 8 }
  eval      { data = text("other.txt"), every = 3 }
  optimizer = adamw { lr = 1e-2 }
  schedule  = { warmup = 2 }
  clip      = 1.0
}
train sharded   = run on two with { accumulate = 2 }
train positions = run on context with { loss_chunks = 4 }
train staged    = run on stages with { pipeline { schedule = gpipe, microbatches = 4 } }
"""

IMAGES = """
import std.activation, std.loss

model Patches(embed = 8, classes = 5, tall = 4, wide = 4) {
  input image[batch, height, width]
  input label: int[batch]
  dims rows = height / tall, columns = width / wide
  param w[tall, wide, embed] ~ normal(0.2)
  param place[rows, columns, embed] ~ normal(0.2)
  param head[embed, classes] ~ normal(0.2)
  let cut = split(split(image / 255, height as (rows, tall)), width as (columns, wide))
  let x[batch, rows, columns, embed] = cut @ w
  let scores[batch, classes] = mean(silu(x + place), over rows, columns) @ head
  loss = mean(cross_entropy(scores, label, over classes), over batch)
}

parallel two { shard = 2 splits batch stores params, grads, optimizer }
"""
IMAGE_RUNS = """
train run = Patches {
  data      = arrays("images") { STATED batch = 4, height = 8, width = 12 }
  eval      { data = arrays("images"), every = 3 }
  optimizer = adamw { lr = 1e-2 }
}
train sharded = run on two with { accumulate = 2 }
"""


@dataclass(frozen=True)
class Twins:
    """A program, the names of its twin, and the twin's statement of them, in its file or in its run."""

    model: str
    runs: str
    names: dict[str, str]
    in_file: str
    in_run: str
    data: str
    processes: dict[str, int]  # of each run

    def text(self, renamed: bool, states: bool = True) -> str:
        stated = self.in_run if renamed and states else ""
        runs = self.runs.replace("STATED ", stated)
        if not renamed:
            return self.model + runs
        model = re.sub(r"\b(" + "|".join(self.names) + r")\b", lambda found: self.names[found[1]], self.model)
        return model + (self.in_file if states else "") + runs


TWINS = {
    "text": Twins(TEXT, TEXT_RUNS, {"batch": "sentence", "seq": "position"},
                  "default data { samples = sentence, positions = position }\n", "", "text.txt",
                  {"run": 1, "sharded": 2, "positions": 2, "staged": 2}),
    # In the twin, the standard library's names `batch` and `seq` are those of other dimensions.
    "images": Twins(IMAGES, IMAGE_RUNS, {"batch": "picture", "embed": "batch", "classes": "seq"}, "",
                    "samples = picture, ", "images", {"run": 1, "sharded": 2}),
}


def write_data() -> None:
    with lock_product(OUT / "data"):
        if (OUT / "images" / "label.npy").exists():
            return
        write_text(OUT / "text.txt", 4000)
        write_text(OUT / "other.txt", 1500, seed=2)
        (OUT / "images").mkdir(parents=True, exist_ok=True)
        chance = numpy.random.default_rng(3)
        numpy.save(OUT / "images" / "image.npy", chance.integers(0, 256, (23, 8, 12), dtype=numpy.uint8))
        numpy.save(OUT / "images" / "label.npy", chance.integers(0, 5, 23))


def program(name: str, renamed: bool, states: bool = True) -> Path:
    write_data()
    path = OUT / f"{name}{'-renamed' if renamed else ''}{'' if states else '-silent'}.titan"
    path.write_text(TWINS[name].text(renamed, states))
    return path


def executable(name: str, train: str, renamed: bool) -> Path:
    exe = OUT / f"{name}-{train}{'-renamed' if renamed else ''}"
    with lock_product(exe):
        if not exe.exists():
            build(program(name, renamed), train, "float32", exe)
    return exe


def rows(out: Path) -> list[dict]:
    """Metrics of the steps, without times and memory."""
    numbers = ("step", "loss", "grad_norm", "lr", "eval_loss", "eval_metrics", "tokens")
    return [{key: row[key] for key in numbers if key in row}
            for row in map(json.loads, (out / "metrics.jsonl").read_text().splitlines())]


def trained(name: str, train: str, renamed: bool) -> Path:
    out = OUT / f"{name}-{train}{'-renamed' if renamed else ''}-run"
    exe = executable(name, train, renamed)
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            Launch(STEPS, SEED, TWINS[name].processes[train]).run(exe, OUT / TWINS[name].data, out)
    return out


def same_tensors(ours: Path, theirs: Path) -> str:
    """The first tensor that differs in a bit; empty if there is none."""
    a, b = load_file(ours), load_file(theirs)
    if a.keys() != b.keys():
        return f"{sorted(a)} and {sorted(b)}"
    return next((key for key in a if not torch.equal(a[key], b[key])), "")


def training(name: str, train: str):
    ours, theirs = trained(name, train, True), trained(name, train, False)
    found, expected = rows(ours), rows(theirs)
    evaluated = sum("eval_loss" in row for row in found)
    if found != expected or len(found) < STEPS or not evaluated:
        return False, "\n".join(f"    {a}\n    {b}" for a, b in zip(found, expected) if a != b or not evaluated)
    for file in ("initial.safetensors", "gradients.safetensors", "model.safetensors"):
        if different := same_tensors(ours / file, theirs / file):
            return False, f"    {file}: {different}"
    return True, f"    {found[-1]}"


def generated(renamed: bool, *options: str) -> list[list[int]]:
    prompts = OUT / "prompts.jsonl"
    with lock_product(prompts):
        prompts.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in PROMPTS))
    command = [executable("text", "run", renamed), "generate", "--init-from",
               trained("text", "run", False) / "model.safetensors", "--prompts", prompts, "--json", "--max-tokens", TOKENS,
               *options]
    written = call(command, env=environment_of({}), timeout=300).splitlines()
    return [json.loads(line)["tokens"] for line in written]


def generation():
    ours = generated(True)
    others = {"the default names": generated(False), "no caches": generated(True, "--no-kv-cache")}
    wrong = [f"    {what}: {theirs}" for what, theirs in others.items() if theirs != ours]
    whole = len(ours) == len(PROMPTS) and all(len(tokens) == TOKENS for tokens in ours)
    return whole and not wrong, "\n".join([f"    {ours}", *wrong])


def without_statement(name: str):
    """titanc refuses a twin that does not state its dimensions."""
    done = subprocess.run([TITANC, "check", program(name, True, states=False)], capture_output=True, text=True)
    return done.returncode != 0 and "no dimension is named" in done.stderr, done.stderr


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    torch.set_num_threads(1)
    report = Report()
    report.cases([*((f"{name} {train}", partial(training, name, train))
                    for name, twins in TWINS.items() for train in twins.processes),
                  ("text generation", generation),
                  *((f"{name} without a statement", partial(without_statement, name)) for name in TWINS)],
                 arguments.names)
    report.end()


if __name__ == "__main__":
    main()

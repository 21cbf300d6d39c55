"""Compares compiled models that read arrays, in float64, with PyTorch, and two processes with one.

    arrays.py [-v] [NAME...]

Each case writes a data set, trains 20 steps over several epochs, and applies the criterion of compare.py:
images in bytes with their classes (a folder of .npy files), columns with a number to predict, and pairs that
a contrastive loss tells apart (a safetensors file).
"""

import subprocess
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import torch
from safetensors.torch import load_file, save_file

from compare import compare
from reference import write_run
from run import OUT as PARITY
from sample_order import permutation
from titan import Launch, Report, build, environment_of, lock_product, read_arguments
from training import Recipe, train

OUT = PARITY.parent / "arrays"
SAMPLES, BATCH, STEPS, SEED = 23, 4, 20, 7
SETTINGS = """
  seed = {seed}, steps = {steps}, clip = 1.0
  optimizer = adamw { lr = 8e-4, betas = (0.9, 0.95), weight_decay = 0.1 }
  schedule = wsd { warmup = 2, decay = linear, to = 0 }
""".replace("{seed}", str(SEED)).replace("{steps}", str(STEPS))

IMAGES = """
import std.activation, std.loss
model Patches(embed = 16, classes = 5, tall = 4, wide = 4) {
  input image[batch, height, width, channel]
  input label: int[batch]
  dims rows = height / tall, columns = width / wide
  param w[tall, wide, channel, embed] ~ normal(0.02)
  param position[rows, columns, embed] ~ normal(0.02)
  param head[embed, classes] ~ normal(0.02)
  let cut = split(split(image / 255, height as (rows, tall)), width as (columns, wide))
  let x[batch, rows, columns, embed] = cut @ w
  let pooled = mean(silu(x + position), over rows, columns)
  let scores[batch, classes] = pooled @ head
  loss = mean(cross_entropy(scores, label, over classes), over batch)
}
parallel two { shard = 2 splits batch stores params, grads, optimizer }
train run = Patches {
  data = arrays("images") { batch = 4, height = 8, width = 12, channel = 3 }
""" + SETTINGS + "}\ntrain sharded = run on two with {}\n"

COLUMNS = """
import std.activation
model Regression(features = 6, hidden = 32) {
  input x[batch, features]
  input y[batch]
  param w1[features, hidden] ~ normal(0.3)
  param b1[hidden] = 0
  param w2[hidden] ~ normal(0.3)
  let h = silu((x @ w1)[batch, hidden] + b1)
  let predicted[batch] = h @ w2
  loss = mean((predicted - y) ** 2, over batch)
}
parallel two { shard = 2 splits batch stores params, grads, optimizer }
train run = Regression {
  data = arrays("columns") { batch = 4 }
""" + SETTINGS + "}\ntrain sharded = run on two with {}\n"

PAIRS = """
model Contrastive(embed = 8) {
  input left[batch, features]
  input right[batch, features]
  param u[features, embed] ~ normal(0.3)
  param v[features, embed] ~ normal(0.3)
  let a[batch, embed] = left @ u
  let b[batch, embed] = right @ v
  let others = b[batch as other]
  let scores[batch, other] = a @ others
  let own = sum(a * b, over embed)
  loss = mean(log(sum(exp(scores), over other)) - own, over batch)
}
parallel two { shard = 2 splits batch stores params, grads, optimizer }
train run = Contrastive {
  data = arrays("pairs.safetensors") { batch = 4, features = 7 }
""" + SETTINGS + "}\ntrain sharded = run on two with {}\n"


def patches(p, image, label):
    cut = image.double().div(255).unflatten(1, (2, 4)).unflatten(3, (3, 4))  # b r t c w ch
    x = torch.einsum("brtcwh,twhe->brce", cut, p["w"]) + p["position"]
    pooled = torch.nn.functional.silu(x).mean((1, 2))
    return torch.nn.functional.cross_entropy(pooled @ p["head"], label)


def regression(p, x, y):
    h = torch.nn.functional.silu(x @ p["w1"] + p["b1"])
    return (h @ p["w2"] - y).square().mean()


def contrastive(p, left, right):
    a, b = left @ p["u"], right @ p["v"]
    return torch.nn.functional.cross_entropy(a @ b.T, torch.arange(len(a)))


def draw(name: str) -> dict[str, torch.Tensor]:
    """The data set of a case, in the types in which it is stored."""
    chance = torch.Generator().manual_seed(3)
    def normal(*shape, dtype=torch.float64):
        return torch.randn(shape, generator=chance, dtype=dtype)
    if name == "images":
        image = torch.randint(0, 256, (SAMPLES, 8, 12, 3), generator=chance, dtype=torch.uint8)
        return {"image": image, "label": torch.randint(0, 5, (SAMPLES,), generator=chance, dtype=torch.int32)}
    if name == "columns":
        return {"x": normal(SAMPLES, 6, dtype=torch.float32), "y": normal(SAMPLES)}
    return {"left": normal(SAMPLES, 7), "right": normal(SAMPLES, 7)}


def write(name: str, data: dict[str, torch.Tensor]) -> Path:
    if name == "pairs":
        save_file(data, OUT / "pairs.safetensors")
        return OUT / "pairs.safetensors"
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    for array, values in data.items():
        numpy.save(folder / f"{array}.npy", values.numpy())
    return folder


def batches(data: dict[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
    """The inputs of each step, by the documented order of samples."""
    order = [permutation(g % SAMPLES, SAMPLES, SEED, g // SAMPLES) for g in range(STEPS * BATCH)]
    def take(values, step):
        rows = values[order[step * BATCH:(step + 1) * BATCH]]
        return rows.double() if rows.is_floating_point() or rows.dim() > 1 else rows.long()
    return [{name: take(values, step) for name, values in data.items()} for step in range(STEPS)]


CASES = {"images": (IMAGES, patches), "columns": (COLUMNS, regression), "pairs": (PAIRS, contrastive)}


def prepare(name: str) -> tuple[Path, Path]:
    """The file of the program and its data, made once."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / f"{name}.titan"
    program.write_text(CASES[name][0])
    return program, write(name, draw(name))


def run_on_one_process(name: str) -> Path:
    """The run of one process, executed once."""
    out = OUT / f"{name}-one"
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            program, data = prepare(name)
            exe = build(program, "run", "float64", OUT / f"{name}-run")
            Launch(STEPS, SEED).run(exe, data, out)
    return out


def against_torch(name: str):
    out, against = run_on_one_process(name), OUT / f"{name}-reference"
    weights = load_file(out / "initial.safetensors")
    module = SimpleNamespace(loss=CASES[name][1], UNDECAYED=())
    write_run(against, *train(module, weights, batches(draw(name)), Recipe(steps=STEPS)))
    result = compare(out, against, "float64")
    return result.passed(), result.table()


def against_one(name: str):
    whole, out = run_on_one_process(name), OUT / f"{name}-sharded-run"
    exe = build(OUT / f"{name}.titan", "sharded", "float64", OUT / f"{name}-sharded")
    Launch(STEPS, SEED, 2).run(exe, OUT / ("pairs.safetensors" if name == "pairs" else name), out,
                               ["--check-replicas"])
    result = compare(out, whole, "float64")
    return result.passed(), result.table()


def wrong_label():
    """A class that the model lacks is found before the first step; a negative one has no loss."""
    run_on_one_process("images")
    lines, data = [], draw("images")
    for label, expected in ((5, "the array 'label' has 5 in sample 20, and the program uses it as an index of at most 4"),
                            (-100, None)):
        data["label"][20] = label
        words = [OUT / "images-run", "--data", write(f"images{label}", data), "--out", OUT / f"images{label}-out",
                 "--steps", "6"]
        done = subprocess.run(words, capture_output=True, text=True, env=environment_of({}), check=False, timeout=60)
        good = done.returncode == 0 if expected is None else done.returncode == 1 and expected in done.stderr
        if not good:
            lines.append(f"    {label}: {done.returncode} {done.stderr.strip()}")
    return not lines, "\n".join(lines)


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    torch.set_num_threads(1)
    report = Report()
    report.cases([(f"{name} {against}", partial(run, name)) for name in CASES
                  for against, run in (("against PyTorch", against_torch),
                                       ("on two processes against one", against_one))]
                 + [("a label that is no class", wrong_label)],
                 arguments.names)
    report.end()


if __name__ == "__main__":
    main()

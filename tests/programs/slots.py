"""The law of unused slots: samples with more slots that hold no data give the same step.

    slots.py [--count N] [--seed N]

Draws models with attention within documents, routers, experts, statistics over slots, buffers, and several losses, and takes
all models of the standard library with `packed = true`. Each is compiled for samples of two lengths, and interpreted for two
steps in float64 with the same documents. The slots behind the documents have other random tokens. Losses, gradients, and all
parameters and buffers after the steps must agree. A router that counts all slots must break the law.
"""

import argparse
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy
from safetensors.numpy import load_file, save_file

sys.path.append(str(Path(__file__).resolve().parents[1] / "parity"))
from titan import BUILD, CORES, ROOT, TITANC, Failed, call  # noqa: E402

OUT = BUILD / "tests/programs/slots"
LIBRARY = ROOT / "tests/parity/programs/families.titan"
BATCH, VOCAB = 4, 12
LIMIT = 1e-12  # of the norm of a tensor

MODEL = """import std.attention, std.loss, std.moe, std.norm, std.shift

model M(layers = 2, embed = 8, wide = 6, experts = 4, active = 2, expert_ffn = 4, vocab = 12, context = 32) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]
  input documents: int[batch, seq]
  input positions: int[batch, seq]
  input weights: f32[batch, seq]
  input used: int[batch, seq]
  param table[vocab, embed]    ~ normal(1)
  param places[context, embed] ~ normal(0.5)
  let filled = float(max(used, over seq))
  let x = table[vocab: tokens] + places[context: positions]
  let total = float(0 * index(batch))
BODY  output logits[batch, seq, vocab] = x @ table
  loss       = weighted_mean(cross_entropy(logits, labels, over vocab), weights, over batch, seq)
  loss total = 0.1 * weighted_mean(total, filled, over batch)
}

train t = M {
  data = indexed("none") { seq = 8, batch = 4, packing = documents }
  precision { params = f64, compute = f64 }
  optimizer = sgd { lr = 0.1 }
RUN}
"""

# Statements with a value `h` of [batch, seq, embed]; N is a number of their own.
MIXED = ["x = x + causal_attention(h, h, h, over embed, along seq, documents = documents)",
         "x = x + attention(h, h, h, over embed, along seq, mask = window(3) and document(documents))",
         """let own = delayed(documents, along seq, by = 1) == documents
x = x + 0.5 * where(own, delayed(h, along seq, by = 1), 0)""",
         """param upN[embed, wide] ~ normal(0.5)
param downN[wide, embed] ~ normal(0.5)
let u[batch, seq, wide] = h @ upN
x = x + tanh(u) @ downN""",
         "x = x - 0.3 * sum(where(used > 0, h, 0), over seq) / max(float(sum(used > 0, over seq)), 1)",
         """buffer usualN[embed] = 0
update usualN = 0.9 * usualN + 0.1 * weighted_mean(h, float(used), over batch, seq)
x = x - 0.5 * usualN""",
         "x = x + 0.1 * cumulative_sum(h, along seq)"]
ROUTERS = ["let shares, chosen, uneven = BalancedRouter(h, deviation = 0.5, used = used, named = \"rN\")\n"
           "total = total + uneven",
           "let shares, chosen = BiasedRouter(h, rate = 0.1, deviation = 0.5, used = used, named = \"rN\")",
           "let shares, chosen = BiasedRouter(h, rate = 0.1, groups = 2, deviation = 0.5, used = used, named = \"rN\")",
           "let shares, chosen = SoftmaxRouter(h, deviation = 0.5, named = \"rN\")"]
EXPERTS = ["x = x + GatedExperts(h, shares, chosen, deviation = 0.5, out_deviation = 0.5, named = \"eN\")",
           "let y, dropped = BoundedExperts(h, shares, chosen, CAPACITY, deviation = 0.5, out_deviation = 0.5, used = used, "
           "named = \"eN\")\nx = x + y\ntotal = total + 0.1 * float(dropped)"]


def draw_statements(chance: random.Random, numbers: list[int]) -> list[str]:
    """Lines of a layer, or of the model itself."""
    lines = []
    for _ in range(chance.randint(1, 3)):
        numbers[0] += 1
        text = chance.choice(MIXED)
        if chance.random() < 0.6:
            text = chance.choice(ROUTERS) + "\n" + chance.choice(EXPERTS)
        text = text.replace("CAPACITY", chance.choice(["0.5", "1", "1.25", "1.1"]))
        names = re.sub(r"(?<=[a-z])N\b", str(numbers[0]), text)
        # A name of its own for each value, since a layer may have several of a kind.
        names = re.sub(r"\b(h|own|u|shares|chosen|uneven|dropped|y)\b", rf"\g<1>_{numbers[0]}", names)
        lines += [f"let h_{numbers[0]} = unit_rms(x, over embed)", *names.split("\n")]
    return lines


def draw_model(seed: int) -> str:
    chance, numbers = random.Random(seed), [0]
    lines = ["  " + line for line in draw_statements(chance, numbers)]
    if chance.random() < 0.7:
        lines += ["  repeat layers {", *("    " + line for line in draw_statements(chance, numbers)), "  }"]
    run = "  accumulate = 2\n" if chance.random() < 0.3 else ""
    return MODEL.replace("BODY", "\n".join(lines) + "\n").replace("RUN", run)


def draw_documents(chance: random.Random, length: int) -> list[list[tuple[int, ...]]]:
    """For each sample the inputs of its used slots: token, label, document, position, weight. One sample may have none."""
    samples = []
    for sample in range(BATCH):
        slots, document, position = [], 0, 0
        for _ in range(chance.randint(min(sample, 1), length)):
            slots.append((chance.randrange(VOCAB), chance.randrange(VOCAB), document, position, chance.randrange(2)))
            position += 1
            if chance.random() < 0.3:
                document, position = document + 1, 0
        samples.append(slots)
    samples[-1][0] = (*samples[-1][0][:4], 1)
    chance.shuffle(samples)
    return samples


def write_inputs(samples, seq: int, chance: random.Random, path: Path) -> None:
    """The inputs in samples of `seq` slots; those without data have random tokens and labels."""
    rows = []
    for slots in samples:
        document = slots[-1][2] + 1 if slots else 0
        rows.append([(*slot, 1) for slot in slots])
        rows[-1] += [(chance.randrange(VOCAB), chance.randrange(VOCAB), document, 0, 0, 0) for _ in range(seq - len(slots))]
    names = ["tokens", "labels", "documents", "positions", "weights", "used"]
    values = numpy.array(rows)
    save_file({name: numpy.ascontiguousarray(values[:, :, i]).astype(numpy.float64 if name == "weights" else numpy.int64)
               for i, name in enumerate(names)}, path)


def step(program: list, seq: int, inputs: Path, stem: Path) -> dict[str, numpy.ndarray]:
    """Results of the second of two steps. `program` are arguments of titanc."""
    ir, dump = stem.with_suffix(".mlir"), stem.with_suffix(".dump")
    ir.write_text(call([TITANC, "--stop-after=gradient", *program, "--set", f"data.seq={seq}"]))
    call([BUILD / "bin/titan-interpret", "--program=train", "--float64", "--steps=2", f"--inputs={inputs}",
          f"--dump={dump}", ir])
    return load_file(dump)


def differences(name: str, program: list, seed: int) -> list[str]:
    """The results that depend on the number of unused slots."""
    chance = random.Random(seed)
    seq = chance.choice([4, 6, 8])
    lengths, samples = (seq, seq + chance.randint(1, 5)), draw_documents(chance, seq)
    results = []
    for length in lengths:
        stem = OUT / f"{name}-{length}"
        write_inputs(samples, length, chance, stem.with_suffix(".inputs"))
        results.append(step(program, length, stem.with_suffix(".inputs"), stem))
    short, long = results
    if set(short) != set(long) or not any(key.startswith("gradient.") for key in short):
        return [f"{sorted(short)} and {sorted(long)}"]
    def distance(key):
        return numpy.linalg.norm(short[key] - long[key]) - LIMIT * (numpy.linalg.norm(short[key]) + 0.1)
    wrong = [key for key in short if not distance(key) <= 0]
    if not wrong:
        for path in OUT.glob(f"{name}-*"):
            path.unlink()
    return [f"{key} differs by {numpy.linalg.norm(short[key] - long[key]):.2g} between samples of {lengths[0]} and "
            f"{lengths[1]} slots" for key in wrong]


def check_drawn(seed: int) -> list[str]:
    name = f"drawn-{seed}"
    source = OUT / f"{name}.titan"
    source.write_text(draw_model(seed))
    return differences(name, [source], seed)


def check_library(run: str, more: list[str]) -> list[str]:
    settings = ["model.packed=true", "data.format=indexed", "data.packing=documents", "precision.params=f64",
                "precision.compute=f64", "optimizer.eps=1e-4", *more]
    words = [word for setting in settings for word in ("--set", setting)]
    return differences("-".join([run, *more]), [LIBRARY, "--train", run, *words], len(run))


def check_sensitivity() -> list[str]:
    """Routers that count all slots break the law."""
    body = ['  let h = unit_rms(x, over embed)', *("  " + line for line in ROUTERS[0].split("\n")), "  " + EXPERTS[0]]
    text = MODEL.replace("BODY", "\n".join(body) + "\n").replace("RUN", "").replace("N\"", "1\"")
    (OUT / "marked.titan").write_text(text)
    (OUT / "unmarked.titan").write_text(text.replace(", used = used", ""))
    wrong = differences("marked", [OUT / "marked.titan"], 1)
    found = differences("unmarked", [OUT / "unmarked.titan"], 1)
    return wrong + ([] if any("loss.total" in line for line in found) else [f"an unmarked router changes only: {found}"])


def cases(seeds: range):
    runs = re.findall(r"^train (\w+) = \w+ \{", LIBRARY.read_text(), re.M)
    yield "an unmarked router", check_sensitivity
    for run in runs:
        yield run, partial(check_library, run, [])
    yield "mixtral, bounded", partial(check_library, "mixtral", ["model.capacity=1.25"])
    for seed in seeds:
        yield f"seed {seed}", partial(check_drawn, seed)


def attempt(case) -> list[str]:
    try:
        return case()
    except Failed as error:
        return [str(error)]


class Law:
    """The checks of all models, begun in a pool."""

    def __init__(self, pool: ThreadPoolExecutor, seeds: range):
        OUT.mkdir(parents=True, exist_ok=True)
        self.found = {name: pool.submit(attempt, case) for name, case in cases(seeds)}

    def report(self) -> bool:
        """Prints the failures and the number of models that pass; whether all pass."""
        wrong = {name: lines for name, found in self.found.items() if (lines := found.result())}
        for name, lines in wrong.items():
            print(f"{name}:", *lines, sep="\n  ")
        print(f"{len(self.found) - len(wrong)} of {len(self.found)} models have the same step with more unused slots")
        return not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=12, help="how many models are drawn")
    arguments = parser.parse_args()
    with ThreadPoolExecutor(CORES) as pool:
        law = Law(pool, range(arguments.seed, arguments.seed + arguments.count))
    sys.exit(0 if law.report() else 1)


if __name__ == "__main__":
    main()

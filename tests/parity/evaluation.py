"""Compares losses and metrics of evaluations, compiled in float64, with PyTorch on the whole set at once.

    evaluation.py [-v] [NAME...]

Batches of a set differ in the number of labels that count, so that a mean of the batches' means would be wrong. One set
fills its last batch, one does not, and one is smaller than a batch. Each program evaluates the weights after two steps on
the three sets, on one process, on two, and on the stages of a pipeline.
Training steps that also compute metrics must have the same losses.
"""

import json
import subprocess
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file

from run import OUT as PARITY
from titan import Launch, Report, build, call, environment_of, on_ranks, read_arguments, lock_product
from weighted import BATCH, PROGRAM, VOCAB, WEIGHTED, draw_documents, logits, windows, write_indexed

OUT = PARITY.parent / "evaluation"
LIMIT = 1e-12
SETS = {"few": (8, 30), "many": (9, 50), "tiny": (11, 3)}  # seed and number of documents: 27, 48 and 3 samples

METRICS = """  metric accuracy = weighted_mean(hits(logits, labels, over vocab), weights, over batch, seq)
  metric best3    = mean(hits(logits, labels, over vocab, k = 3), over batch, seq)
  metric spread   = sqrt(mean(losses ** 2, over batch, seq))
}
parallel two"""


def program(name: str) -> Path:
    text = PROGRAM.replace("import std.loss", "import std.loss, std.metric").replace("}\nparallel two", METRICS, 1)
    text = text.replace("LOSS", WEIGHTED).replace("data = DATA", 'data = indexed("train") { batch = 4, seq = 16 }\n'
                                                  '  eval { data = indexed("few=few many=many tiny=tiny"), every = 2 }')
    path = OUT / f"{name}.titan"
    path.write_text(text)
    return path


def make(train: str, settings: list[str] = ()) -> Path:
    """A compiled run with its data beside it."""
    exe = OUT / f"{train}{'-measured' if settings else ''}-program"
    with lock_product(exe):
        if not exe.exists():
            write_indexed(OUT / "train", draw_documents(5, 60))
            for name, (seed, count) in SETS.items():
                write_indexed(OUT / name, draw_documents(seed, count))
            build(program(exe.name), train, "float64", exe, settings)
    return exe


def trained() -> Path:
    """The run of two steps on one process."""
    out = OUT / "trained"
    exe = make("run")
    with lock_product(out):
        if not (out / "model.safetensors").exists():
            Launch(steps=2).run(exe, OUT / "train", out)
    return out


def expected(name: str, batches: int) -> dict[str, float]:
    """The numbers of a set, or of its first samples that fill so many batches."""
    p = {key: tensor.double() for key, tensor in load_file(trained() / "model.safetensors").items()}
    samples = windows(draw_documents(*SETS[name]))
    samples = samples[:batches * BATCH or len(samples)]
    stack = {key: torch.tensor([list(map(int, sample[key])) for sample in samples]) for key in samples[0]}
    scores = logits(p, stack["tokens"], stack["documents"], stack["positions"])
    losses = torch.nn.functional.cross_entropy(scores.flatten(0, 1), stack["labels"].flatten(), reduction="none")
    losses, counts = losses.reshape(scores.shape[:2]), stack["weights"].double()
    greater = (scores > scores.gather(-1, stack["labels"][..., None])).sum(-1)
    loss = (losses * counts).sum() / counts.sum()
    return {"loss": loss.item(), "perplexity": loss.exp().item(),
            "accuracy": (((greater < 1) * counts).sum() / counts.sum()).item(),
            "best3": (greater < 3).double().mean().item(), "spread": (losses ** 2).mean().sqrt().item(),
            "samples": len(samples), "tokens": counts.sum().item()}


def flat(found: dict) -> dict[str, float]:
    return {**found, **found["metrics"]}


def differences(found: dict[str, dict], batches: int = 0) -> list[str]:
    return [f"    {name}, {key}: {found[name].get(key)}, expected {value}"
            for name in SETS for key, value in expected(name, batches).items()
            if not abs(found[name].get(key, float("nan")) - value) <= LIMIT * abs(value)]


def evaluated(exe: Path, processes: int, batches: int) -> dict[str, dict]:
    command = [exe, "eval", "--init-from", trained(), "--json", "--set", f"eval.batches={batches}"]
    output = call(on_ranks(processes, command), env=environment_of({}), timeout=300)
    return {found["set"]: flat(found) for found in map(json.loads, output.splitlines())}


def case(train: str, processes: int, batches: int):
    lines = differences(evaluated(make(train), processes, batches), batches)
    return not lines, "\n".join(lines)


def in_a_run():
    """The evaluation of a run reports the numbers of `eval` in the row of the last step."""
    last = json.loads((trained() / "metrics.jsonl").read_text().splitlines()[-1])
    lines = [line for line in differences({name: flat(found) for name, found in last["eval_sets"].items()})
             if ", samples:" not in line and ", tokens:" not in line]  # only the command reports them
    return not lines and "metrics" not in last, "\n".join(lines)


def measured(train: str, processes: int):
    """Steps that compute metrics have the losses of steps that do not, and the metrics of one process."""
    rows = []
    for name, count in (("run", 1), (train, processes)):
        out = Launch(steps=2, processes=count).run(make(name, ["metrics.training=true"]), OUT / "train",
                                                   OUT / f"measured-{train}-{count}")
        rows.append([json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()])
    plain = [json.loads(line) for line in (trained() / "metrics.jsonl").read_text().splitlines()]
    lines = [f"    step {row['step']}: {row['metrics']}, on one process {one['metrics']}"
             for one, row in zip(*rows) for key, value in one["metrics"].items()
             if not abs(row["metrics"][key] - value) <= LIMIT * abs(value)]
    good = [row["loss"] for row in rows[0]] == [row["loss"] for row in plain] and len(rows[0][0]["metrics"]) == 3
    return good and not lines, "\n".join(lines)


def unknown_token():
    """A token outside of the vocabulary is an error before the first step, in training and evaluation data."""
    exe, good, bad = make("run"), OUT / "train", OUT / "bad"
    with lock_product(bad):
        write_indexed(bad, draw_documents(6, 20) + [([1, VOCAB], [0, 1])])
    position = sum(len(tokens) for tokens, _ in draw_documents(6, 20)) + 1
    expected_text = f"bad' holds the token {VOCAB} at position {position}, but the model's vocabulary has {VOCAB} tokens"
    lines = []
    for words in (["--data", bad], ["--data", f"1 {good} 1 {bad}"],
                  ["--data", bad, "--set", "data.packing=documents", "--set", "data.overlong=split"],
                  ["--data", good, "--eval-data", f"good={good}", "--eval-data", f"bad={bad}"]):
        done = subprocess.run([exe, *words, "--out", OUT / "refused", "--steps", "2"], capture_output=True, text=True,
                              env=environment_of({}), check=False, timeout=60)
        if done.returncode != 1 or expected_text not in done.stderr or (OUT / "refused").exists():
            lines.append(f"    {words}: {done.returncode} {done.stderr.strip()}")
    return not lines, "\n".join(lines)


def main() -> None:
    arguments = read_arguments(__doc__, OUT)
    OUT.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    report = Report()
    report.cases([("one process", partial(case, "run", 1, 0)),
                  ("two batches", partial(case, "run", 1, 2)),
                  ("two processes", partial(case, "accumulated", 2, 0)),
                  ("two stages on four processes", partial(case, "staged", 4, 0)),
                  ("in a run", in_a_run),
                  ("a token outside of the vocabulary", unknown_token),
                  ("metrics of steps, two processes with two microbatches", partial(measured, "accumulated", 2)),
                  ("metrics of steps, two stages on four processes", partial(measured, "staged", 4))],
                 arguments.names)
    report.end()


if __name__ == "__main__":
    main()

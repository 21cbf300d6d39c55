"""A compiled program reads prepared data, and prepares texts itself."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import makers
import numpy as np
from safetensors.numpy import save_file

from prepared import PACKAGE, expect, prepare
from texts import corpus
from titan import QUICK, TITANC, call, environment_of, on_ranks

COMMAND_FILE = PACKAGE / "titan-prepare"

SOURCE = """import std.loss

model Bigram(embed, vocab) {
  input tokens: int[batch, seq]
  input labels: int[batch, seq]

  param table[vocab, embed]   ~ normal(1)
  param unembed[embed, vocab] ~ normal(0.02)

  output logits[batch, seq, vocab] = table[vocab: tokens] @ unembed
  loss = mean(cross_entropy(logits, labels, over vocab), over batch, seq)
}

model Small = Bigram { embed = 8, vocab = 256 }

train bigram = Small {
  data      = text("corpus.txt") { seq = 32, batch = 4 }
  optimizer = adamw { lr = 3e-3 }
  schedule  = { warmup = 2, decay = linear, to = 0 }
  steps     = 20
}
"""


def losses(program: Path, *options) -> list[float]:
    run = program.parent / f"run-{len(list(program.parent.glob('run-*')))}"
    call([program, "--out", run, "--log-every", 1, *options], cwd=program.parent)
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


def program_reads_it(out: Path) -> None:
    """The bytes of a text, read directly and prepared, train the same: losses are bitwise equal."""
    out.mkdir(parents=True)
    lines = [" ".join(text.split()) for text in corpus(300)]
    (out / "corpus.txt").write_text("".join(line + "\n" for line in lines if line), encoding="utf-8")
    (out / "bigram.titan").write_text(SOURCE)
    call([TITANC, "build", out / "bigram.titan", "-o", out / "bigram", *QUICK], cwd=out)
    prepare("corpus.txt", "--tokenizer", "bytes", "-o", "lines", "--text-documents", "line", "--eos", 10, cwd=out)
    prepare("corpus.txt", "--tokenizer", "bytes", "-o", "data", cwd=out)
    expected = losses(out / "bigram")
    expect(len(expected) == 20, f"{len(expected)} steps")
    for prefix in ("data", "lines"):
        found = losses(out / "bigram", "--data", prefix, "--set", "data.format=indexed")
        expect(found == expected, f"{prefix}: {found} instead of {expected}")


class Trained:
    """A program that prepares its own data, in a folder with a cache of its own."""

    def __init__(self, out: Path):
        out.mkdir(parents=True)
        self.out, self.exe = out, out / "bigram"
        (out / "bigram.titan").write_text(SOURCE.replace('text("corpus.txt")', 'indexed("corpus")'))
        call([TITANC, "build", out / "bigram.titan", "-o", self.exe, *QUICK], cwd=out)

    def write(self, name: str, texts) -> None:
        (self.out / name).write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))

    def run(self, *options, processes=1, status=0, tool=COMMAND_FILE) -> tuple[list[float], str]:
        """The losses and the output."""
        run = self.out / f"run-{len(list(self.out.glob('run-*')))}"
        command = [self.exe, "--out", run, "--log-every", 1, *options]
        variables = {"TITAN_PREPARE": str(tool), "XDG_CACHE_HOME": str(self.out / "cache"),
                     "TITAN_PYTHON": sys.executable}
        done = subprocess.run(on_ranks(processes, command), cwd=self.out, env=environment_of(variables), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        expect(done.returncode == status, f"status {done.returncode} instead of {status}:\n{done.stdout}")
        rows = run / "metrics.jsonl"
        return [json.loads(row)["loss"] for row in rows.read_text().splitlines()] if rows.exists() else [], done.stdout


def program_prepares(out: Path) -> None:
    """JSON lines as data give the losses of their preparation, on one process and on two, which prepare once. What is
    up to date is used again, and other content is prepared again."""
    trained, texts = Trained(out), [text for text in corpus(300) if text.strip()]
    trained.write("my.jsonl", texts)
    prepare("my.jsonl", "--tokenizer", "bytes", "-o", "my", "--vocabulary", 256, cwd=out)
    expected, _ = trained.run("--data", "my")
    expect(len(expected) == 20, f"{len(expected)} steps")
    options = ("--data", "my.jsonl", "--tokenizer", "bytes")
    for processes, words in ((2, " documents, "), (1, "up to date")):
        (out / "my.idx").unlink(missing_ok=True)
        found, output = trained.run(*options, processes=processes)
        worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
        expect(worst < 1e-6, f"on {processes} processes: {found} instead of {expected}")
        expect(output.count("(u8)") == 1 and words in output, output)
    expect(len(list((out / "cache").rglob("*.idx"))) == 1, "one preparation")
    trained.write("my.jsonl", reversed(texts))
    other, output = trained.run(*options)
    expect("up to date" not in output and other != expected, output)


def program_reports_bad_texts(out: Path) -> None:
    """An error of the texts names file and line; a missing tokenizer and a missing tool are named with a remedy. Each
    ends the program before it trains."""
    trained = Trained(out)
    trained.write("my.jsonl", ["good"])
    with open(out / "my.jsonl", "a") as file:
        file.write("{bad\n")
    for options, tool, words in (
            (("--tokenizer", "bytes"), COMMAND_FILE, ("my.jsonl:2: ", "could not prepare 'my.jsonl' (status 1)")),
            ((), COMMAND_FILE, ("the run has no tokenizer", "--tokenizer bytes")),
            (("--tokenizer", "bytes"), "absent-tool", ("TITAN_PREPARE", "'absent-tool'"))):
        losses, output = trained.run("--data", "my.jsonl", *options, status=1, tool=tool)
        expect(not losses, f"trained {losses}")
        for word in words:
            expect(word in output, f"`{word}` is missing in:\n{output}")


def program_checks_weights_first(out: Path) -> None:
    """Weights that do not fit end the program before it prepares texts, whose errors would come first."""
    trained = Trained(out)
    trained.write("my.jsonl", [])
    (out / "my.jsonl").write_text("{bad\n")
    (out / "weights").mkdir()
    weights = out / "weights" / "model.safetensors"
    table, unembed = np.zeros((256, 8), np.float32), np.zeros((8, 256), np.float32)
    for tensors, words in (({"table": table}, "there is no tensor 'unembed'"),
                           ({"table": table, "unembed": unembed.T}, "has shape [256, 8]"),
                           ({"table": table, "unembed": unembed.astype(np.int8)}, "is I8"),
                           ({"table": table, "unembed": unembed, "more": table}, "no parameter for 'more'")):
        save_file(tensors, weights)
        _, output = trained.run("--data", "my.jsonl", "--tokenizer", "bytes", "--init-from", weights.parent, status=1)
        expect(words in output and "my.jsonl:1" not in output, f"`{words}` is missing in:\n{output}")
    save_file({"table": table, "unembed": unembed}, weights)
    _, output = trained.run("--data", "my.jsonl", "--tokenizer", "bytes", "--init-from", weights.parent, status=1)
    expect("my.jsonl:1" in output, output)


def program_knows_copied_tokenizers(out: Path) -> None:
    """The preparation by a tokenizer is the one by its copy elsewhere; another tokenizer has its own."""
    trained = Trained(out)
    trained.write("my.jsonl", [text for text in corpus(50) if text.strip()])
    first, copy = makers.byte_pairs(out / "first"), out / "copy"
    shutil.copytree(first, copy)
    program = (out / "bigram.titan").read_text().replace("vocab = 256", "vocab = 2000")
    (out / "bigram.titan").write_text(program)
    call([TITANC, "build", out / "bigram.titan", "-o", trained.exe, *QUICK], cwd=out)
    expected, _ = trained.run("--data", "my.jsonl", "--tokenizer", first)
    found, output = trained.run("--data", "my.jsonl", "--tokenizer", copy / "tokenizer.json")
    expect("up to date" in output and found == expected, output)
    configuration = json.loads((copy / "tokenizer_config.json").read_text())
    (copy / "tokenizer_config.json").write_text(json.dumps({**configuration, "add_bos_token": True}))
    _, output = trained.run("--data", "my.jsonl", "--tokenizer", copy)
    expect("up to date" not in output, output)
    expect(len(list((out / "cache").rglob("*.idx"))) == 2, "two preparations")


def program_prepares_chats(out: Path) -> None:
    """ShareGPT chats as data have the losses of their preparation. In packs, a chat that is longer than a sample is refused
    unless an option cuts it or leaves it out, which gives the losses of the preparation that does so."""
    trained = Trained(out)
    source = (out / "bigram.titan").read_text().replace("vocab = 256", "vocab = 2000")
    source = source.replace("mean(cross_entropy(logits, labels, over vocab), over", "weighted_mean(cross_entropy(logits, "
                            "labels, over vocab), weights, over").replace(
        "  input labels: int[batch, seq]", "  input labels: int[batch, seq]\n  input weights: f32[batch, seq]")
    (out / "bigram.titan").write_text(source)
    call([TITANC, "build", out / "bigram.titan", "-o", trained.exe, *QUICK], cwd=out)
    tokenizer = makers.byte_pairs(out / "bpe")
    texts = [text[:60 + 20 * (number % 4)] for number, text in enumerate(corpus(80)) if text.strip()]
    (out / "share.jsonl").write_text("".join(json.dumps({"conversations": [
        {"from": "human", "value": text[:20]}, {"from": "gpt", "value": text[20:] or "yes"}]}) + "\n" for text in texts))
    options, packed = ("--data", "share.jsonl", "--tokenizer", tokenizer), ("--set", "data.packing=documents")
    for number, (how, prepared) in enumerate((((("--set", "data.overlong=truncate"), ("--overlong", "truncate")),
                                               (("--set", "data.overlong=skip"), ("--overlong", "skip"))))):
        prepare("share.jsonl", "--tokenizer", tokenizer, "-o", f"share{number}", "--vocabulary", 2000, "--max-length", 33,
                *prepared, cwd=out)
        expected, _ = trained.run("--data", f"share{number}", *packed)
        found, output = trained.run(*options, *packed, *how)
        expect("records: chats (`conversations`)" in output and found == expected, f"{how}: {found}, not {expected}\n{output}")
    _, output = trained.run(*options, *packed, status=1)
    expect("data.overlong=truncate" in output and "a sample has 33" in output, output)
    (out / "pairs.jsonl").write_text(json.dumps({"prompt": "a", "chosen": "b", "rejected": "c"}) + "\n")
    _, output = trained.run("--data", "pairs.jsonl", "--tokenizer", tokenizer, status=1)
    expect("preference pairs" in output and "data.format=arrays" in output, output)


CASES = [program_reads_it, program_prepares, program_prepares_chats, program_checks_weights_first, program_knows_copied_tokenizers,
         program_reports_bad_texts]

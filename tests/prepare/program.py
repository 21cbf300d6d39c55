"""A compiled program reads what was prepared."""

import json
from pathlib import Path

from prepared import expect, prepare
from texts import corpus
from titan import TITANC, call

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
    call([TITANC, "build", out / "bigram.titan", "-o", out / "bigram"], cwd=out)
    prepare("corpus.txt", "--tokenizer", "bytes", "-o", "lines", "--text-documents", "line", "--eos", 10, cwd=out)
    prepare("corpus.txt", "--tokenizer", "bytes", "-o", "data", cwd=out)
    expected = losses(out / "bigram")
    expect(len(expected) == 20, f"{len(expected)} steps")
    for prefix in ("data", "lines"):
        found = losses(out / "bigram", "--data", prefix, "--set", "data.format=indexed")
        expect(found == expected, f"{prefix}: {found} instead of {expected}")


CASES = [program_reads_it]

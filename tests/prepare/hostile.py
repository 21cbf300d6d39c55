"""Damaged inputs, tokenizers and sidecars end with an error message or a result, never with an exception or a crash."""

import json
import os
import random
import shutil
import sys
from pathlib import Path

import makers
from answers import CHAT
from inputs import TEXTS, write_parquet
from prepared import PACKAGE, expect, write_lines

MUTANTS = 150  # of each file


def mutate(data: bytes, draw: random.Random) -> bytes:
    """Some bytes flipped, overwritten, removed, repeated or cut off."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 3, 20))):
        at, count = draw.randrange(len(changed) or 1), draw.randrange(1, 40)
        kind = draw.randrange(5)
        if kind == 0 and changed:
            changed[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            changed[at:at + count] = draw.randbytes(count)
        elif kind == 2:
            del changed[at:at + count]
        elif kind == 3:
            changed[at:at] = changed[at:at + count] * draw.randrange(1, 5)
        else:
            del changed[at + 1:]
    return bytes(changed)


def try_mutants(path: Path, use, seed: int) -> None:
    """`use()` on mutants of the file succeeds or raises an error of titan-prepare; some of them must be refused."""
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.errors import BadRecord, UserError
    os.environ["RUST_BACKTRACE"] = "0"  # of the panics of libraries, which are caught
    draw, good, refusals = random.Random(seed), path.read_bytes(), 0
    for number in range(MUTANTS):
        path.write_bytes(mutate(good, draw))
        try:
            use()
        except (UserError, BadRecord):
            refusals += 1
        except BaseException as error:
            expect(False, f"mutant {number}, which is now '{path}': {type(error).__name__}: {error}")
    path.write_bytes(good)
    expect(refusals > MUTANTS // 20, f"only {refusals} of {MUTANTS} mutants of {path.name} were refused")


def read_all(path: Path, field: str) -> None:
    from titan_prepare.inputs.sources import open_source
    from titan_prepare.inputs.units import Inputs, plan_units
    inputs = Inputs((open_source(str(path), "auto"),), (field,), False)
    reader = inputs.reader(inputs.sources[0])
    for unit in plan_units(inputs, 5000):
        for rows in unit.slices:
            for at, row in reader.rows(rows.begin, rows.end):
                reader.parse(row)


def damaged_inputs(out: Path) -> None:
    import gzip
    lines = write_lines(out / "a.jsonl", [{"text": text, "list": [1, 2.5, None, {"a": True}]} for text in TEXTS[:40]])
    (out / "a.json.gz").write_bytes(gzip.compress(lines.read_bytes()))
    write_parquet(out / "a.parquet", TEXTS[:100])
    for seed, (name, field) in enumerate((("a.jsonl", "text"), ("a.json.gz", "text"), ("a.parquet", "content"))):
        try_mutants(out / name, lambda name=name, field=field: read_all(out / name, field), seed)


def use_tokenizer(path: Path) -> None:
    from titan_prepare.tokenizers.opening import tokenizer_file
    tokenizer = tokenizer_file(str(path), True).open()
    tokenizer.default_ends()
    texts = ["", "In the beginning", "漢字 👍🏽 <|end|>"]
    tokenizer.encode(texts)
    tokenizer.locate(texts[2]).weights(texts[2], [(3, 9)])


def damaged_tokenizers(out: Path) -> None:
    folder = makers.byte_pairs(out / "bpe")
    for seed, path in enumerate((folder / "tokenizer.json", folder / "tokenizer_config.json",
                                 makers.tiktoken_ranks(out / "ranks", folder), makers.unigram(out / "unigram"))):
        try_mutants(path, lambda path=path: use_tokenizer(path.parent), seed)


def damaged_templates(out: Path) -> None:
    sys.path.insert(0, str(PACKAGE))
    from titan_prepare.chat.record import Chat
    from titan_prepare.chat.template import ChatTemplate
    out.mkdir(parents=True)
    template = out / "template"
    for seed, text in enumerate((makers.CHATML, makers.MARKED)):
        template.write_text(text)
        try_mutants(template, lambda: ChatTemplate(template.read_text(errors="replace"), {}).render(Chat(CHAT)), seed)


CASES = [damaged_inputs, damaged_tokenizers, damaged_templates]

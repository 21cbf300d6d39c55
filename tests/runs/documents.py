"""Checks the inputs `documents` and `positions` of a model against values that it derives from specially encoded
tokens."""

import random
import struct
from pathlib import Path

from compare import compare
from titan import Launch

SEQ, LONGEST = 32, 15  # of documents.titan; no sample has more than 16 documents


def cut_sample(chance: random.Random) -> list[int]:
    """Lengths of the documents of one sample, none longer than LONGEST."""
    lengths, left = [], SEQ
    while left:
        lengths.append(min(left, chance.randint(2, LONGEST)))
        left -= lengths[-1]
    return lengths


def write_documents(prefix: Path, samples: int, seed: int = 1) -> Path:
    """Documents that start at every sample and within it. A token is 16 times the document's index in its
    sample, plus its position."""
    chance = random.Random(seed)
    lengths, tokens = [], []
    for _ in range(samples):
        for number, length in enumerate(cut_sample(chance)):
            lengths.append(length)
            tokens += [16 * number + position for position in range(length)]
    lengths.append(1)  # the last sample's last label
    tokens.append(0)
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    count = len(lengths)
    prefix.with_suffix(".bin").write_bytes(struct.pack(f"<{len(tokens)}H", *tokens))
    prefix.with_suffix(".idx").write_bytes(
        b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, 8, count, count + 1) +
        struct.pack(f"<{count}i", *lengths) + struct.pack(f"<{count}q", *(2 * s for s in starts)) +
        struct.pack(f"<{count + 1}q", *range(count + 1)))
    return prefix


def try_documents(found: Path, given: Path, split: Path, out: Path):
    """Runs that derive documents from tokens, and runs that receive them: one process, and two that shard
    the sequence."""
    data = write_documents(out / "packed", samples=40)
    runs = [Launch(steps=6, processes=processes).run(exe, data, out / f"documents-{name}")
            for exe, name, processes in ((found, "found", 1), (given, "given", 1), (split, "split", 2))]
    results = [compare(run, runs[0], "float64") for run in runs[1:]]
    return all(result.passed() for result in results), "\n".join(r.table() for r in results)

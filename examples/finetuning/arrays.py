"""Writes JSON lines or CSV as arrays, the data of runs that read no text.

    arrays.py classes DATA --tokenizer MODEL --length N -o OUT.safetensors
    arrays.py pairs DATA --tokenizer MODEL --length N -o OUT.safetensors

classes: `text` and `label` become `input_ids` and `attention_mask`, [texts, N], and `labels`, [texts].

pairs: `prompt`, `chosen` and `rejected` become `tokens`, `labels`, `weights`, `documents` and `positions`, [pairs, N]. A row
has the chosen text as document 0 and the rejected one as document 1. Labels of answers have the weight 1; the answers
end with EOS.

Longer texts are an error.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from transformers import AutoTokenizer


def read(path: Path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file)) if path.suffix == ".csv" else [json.loads(line) for line in file]


def require_length(number: int, slots: int, length: int) -> None:
    if slots > length:
        raise SystemExit(f"record {number} needs {slots} slots, and --length is {length}")


def classes(rows: list[dict], tokenizer, length: int) -> dict[str, np.ndarray]:
    ids = np.full((len(rows), length), tokenizer.pad_token_id or 0, np.int32)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        tokens = tokenizer(row["text"])["input_ids"]
        require_length(number, len(tokens), length)
        ids[number, :len(tokens)], mask[number, :len(tokens)] = tokens, 1
    return {"input_ids": ids, "attention_mask": mask, "labels": np.array([int(row["label"]) for row in rows], np.int32)}


def encode(tokenizer, prompt: str, answer: str) -> tuple[list[int], list[int]]:
    """The tokens of both, and 1 for each with a character of the answer."""
    text = tokenizer(prompt + answer, return_offsets_mapping=True)
    counts = [int(end > len(prompt)) for _, end in text["offset_mapping"]]
    return text["input_ids"] + [tokenizer.eos_token_id], counts + [1]


def pairs(rows: list[dict], tokenizer, length: int) -> dict[str, np.ndarray]:
    arrays = {name: np.zeros((len(rows), length), np.int32) for name in ("tokens", "labels", "weights", "documents", "positions")}
    arrays["documents"][:] = 2  # unused slots
    for number, row in enumerate(rows):
        begin = 0
        for document, kind in enumerate(("chosen", "rejected")):
            tokens, counts = encode(tokenizer, row["prompt"], row[kind])
            slots = slice(begin, begin + len(tokens) - 1)
            require_length(number, slots.stop, length)
            arrays["tokens"][number, slots], arrays["labels"][number, slots] = tokens[:-1], tokens[1:]
            arrays["weights"][number, slots], arrays["documents"][number, slots] = counts[1:], document
            arrays["positions"][number, slots] = range(len(tokens) - 1)
            begin = slots.stop
    return arrays


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["classes", "pairs"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("-o", dest="out", required=True)
    given = parser.parse_args()
    make = {"classes": classes, "pairs": pairs}[given.kind]
    save_file(make(read(given.data), AutoTokenizer.from_pretrained(given.tokenizer), given.length), given.out)

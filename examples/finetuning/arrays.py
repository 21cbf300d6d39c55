"""Writes texts with labels, in JSON lines or CSV, as arrays: the data of classifiers.

    arrays.py DATA --tokenizer MODEL --length N -o OUT.safetensors

`text` and `label` become `input_ids` and `attention_mask`, [texts, N], and `labels`, [texts]. A longer text is an error.
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


def classes(rows: list[dict], tokenizer, length: int) -> dict[str, np.ndarray]:
    ids = np.full((len(rows), length), tokenizer.pad_token_id or 0, np.int32)
    mask = np.zeros_like(ids)
    for number, row in enumerate(rows):
        tokens = tokenizer(row["text"])["input_ids"]
        if len(tokens) > length:
            raise SystemExit(f"text {number} has {len(tokens)} tokens, and --length is {length}")
        ids[number, :len(tokens)], mask[number, :len(tokens)] = tokens, 1
    return {"input_ids": ids, "attention_mask": mask, "labels": np.array([int(row["label"]) for row in rows], np.int32)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--length", type=int, required=True)
    parser.add_argument("-o", dest="out", required=True)
    given = parser.parse_args()
    save_file(classes(read(given.data), AutoTokenizer.from_pretrained(given.tokenizer), given.length), given.out)

"""Single rows of several sources. Predicted are those of IBM's fms-fsdp on A100 (README at 5a296af).

Its share of recomputed layers follows from the two utilisations that it publishes, HFU / MFU: 1 + share / 3. Nodes have
400 Gbit/s (the README's heading, for a node of 8: IBM's Vela).
"""

import csv
from pathlib import Path

from case import Case, Row, Skipped, count, set_model
from bridge import UNBOUNDED
from rows import shard

TABLE = "misc.csv"
RECOMPUTED = {"Llama2-7b": 0, "Llama2-13b": 2, "Llama2-34b": 5, "Llama2-70b": 5}  # of five layers
REASONS = (("MI3", "AMD"), ("TPU", "TPU"))


def find_reason(line: dict) -> str:
    if "fms-fsdp" in line["source"]:
        return ""
    if reason := next((reason for gpu, reason in REASONS if gpu in line["gpu"]), ""):
        return reason
    if "fp8" in line["precision"]:
        return "float8"
    if "EP" in line["mesh"]:
        return UNBOUNDED
    return "microbatch not published" if not line["micro_batch"] else "every second product is recomputed"


def set_recompute(layers: int, of_five: int) -> dict:
    if of_five in (0, 5):
        return dict(recompute="full" if of_five else "none")
    chosen = [str(layer) for layer in range(layers) if layer % 5 < of_five]
    return dict(recompute=f"{{ layers = [{', '.join(chosen)}] }}")


def make_case(line: dict):
    name = f"{line['model']}, {line['gpus']} x {line['gpu']}, {line['precision']}, {line['mesh']}"
    if reason := find_reason(line):
        return Skipped("misc", name, reason)
    layers, embed, heads, keys, ffn, vocab, seq, ranks, sample = (
        int(line[column]) for column in ("L", "h", "heads", "kv", "ffn", "vocab", "seq", "gpus", "micro_batch"))
    sizes = dict(layers=layers, embed=embed, kv_heads=keys, group=heads // keys, head=embed // heads, ffn=ffn, vocab=vocab)
    axes = (f"replicate = {ranks // 8} splits batch", shard(8)) if line["mesh"] == "HSDP" else (shard(ranks),)
    row = Row("Llama", axes, seq, ranks * sample, loss_chunks=1, settings=(*set_model(**sizes), "precision.reduce = bf16", "clip = 1.0"),
              **set_recompute(layers, RECOMPUTED[line["model"]]))
    form = dict(L=layers, e=embed, k=keys, g=heads // keys, d=embed // heads, f=ffn, v=vocab)
    return Case("misc", name, line["use"], "a100-ibm", "models.llama", row, sample * seq / float(line["tokens_s_gpu"]),
                ranks=ranks, parameters=count("llama", form))


def read(folder: Path) -> list:
    with open(folder / TABLE, newline="") as file:
        return [make_case(line) for line in csv.DictReader(file)]

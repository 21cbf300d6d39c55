"""MPT with FSDP on A100 and H100 (mosaicml/llm-foundry, scripts/train/benchmarking).

Sizes are those of scripts/train/yamls/pretrain: GPT-2's form with biases, a tied table of 50,368 rows and learned
positions (the parameters that the table counts agree). Activation checkpointing recomputes whole layers. FULL_SHARD
gathers the parameters of layers again in the backward pass, SHARD_GRAD_OP does not. Gradients of PURE are reduced in bf16,
those of DEFAULT in f32.
"""

import csv
from pathlib import Path

from case import Case, Row, Skipped, count_gpt2, set_model
from rows import shard

TABLE = "llm_foundry_mpt_fsdp_a100_h100.csv"
SIZES = {"125m": (12, 12, 64), "350m": (24, 16, 64), "760m": (24, 12, 128), "1b": (24, 16, 128), "3b": (32, 20, 128),
         "7b": (32, 32, 128), "13b": (40, 40, 128), "30b": (48, 56, 128), "70b": (80, 64, 128)}  # layers, heads, head
VOCAB = 50368
RESHARD = {"FULL_SHARD": "default", "SHARD_GRAD_OP": "never"}
REDUCE = {"PURE": "bf16", "DEFAULT": "f32"}
MACHINES = {"h100_80gb": "h100-foundry", "a100_80gb": "a100-foundry", "a100_40gb": "a100-40gb-foundry"}


def find_reason(line: dict) -> str:
    if line["Precision"] == "amp_fp8":
        return "float8"
    if line["Activation CPUOffload"] == "True":
        return "activations on the host"
    return ""


def make_case(number: int, line: dict):
    model, seq, ranks = line["Model"], int(line["SeqLen (T)"]), int(line["# GPUs"])
    name = f"{number}: {model}, {seq}, {ranks} x {line['GPU']}, {line['GradAccum']} x {line['MicroBatchSize']}"
    if reason := find_reason(line):
        return Skipped("foundry", name, reason)
    sizes = dict(zip(("layers", "heads", "head"), SIZES[model], strict=True)) | dict(vocab=VOCAB, context=seq)
    batch, microbatches = int(line["GlobalBatchSize"]), int(line["GradAccum"])
    row = Row("Gpt2", (shard(ranks),), seq, batch, accumulate=microbatches, loss_chunks=1,
              recompute="full" if line["Activation Checkpointing"] == "True" else "none",
              settings=(*set_model(**sizes, act='"gelu"'),
                        f"precision.reduce = {REDUCE[line['MP Mode']]}",
                        f"sharding.reshard_after_forward = {RESHARD[line['Sharding Strategy']]}", "clip = 1.0"))
    return Case("foundry", name, line["use"], MACHINES[line["GPU"]], "models.gpt2", row,
                batch * seq / float(line["Throughput (T/s)"]), contest=(model, seq, line["GPU"]),
                microbatches=microbatches, ranks=ranks, parameters=count_gpt2(**sizes))


def read(folder: Path) -> list:
    with open(folder / TABLE, newline="") as file:
        return [make_case(number, line) for number, line in enumerate(csv.DictReader(file))]

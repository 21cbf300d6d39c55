"""vTrain (MICRO 2024, arXiv 2312.12391): GPT by Megatron-DeepSpeed on A100, one node and 8 to 64 nodes.

What the table lacks is from the artefact (VIA-Research/vTrain: config/validation, src/): a vocabulary of 50,257 that
Megatron pads, dropout of 0.1, half precision with gradients of two bytes, 1F1B, replicas outside of tensor parallelism.
Neither source says whether activations were recomputed:
- on several nodes they were: 3.6 B parameters on one rank with microbatches of 8 x 2,048 tokens fit in no other way;
- on one node they were not: 17.0 ms per layer of width 2,048 and 8 x 1,024 tokens would else need 95 % of the peak.
"""

import csv
from pathlib import Path

from case import Case, Row, count_gpt2, pad, set_model

FILES = {"one": "vtrain_ground_truth_single_a100.csv", "many": "vtrain_ground_truth_multi_a100.csv"}
COLUMNS = {"# GPUs": "ranks", "global batch": "batch", "micro batch": "sample", "hidden size": "embed",
           "attention heads": "heads", "# layers": "layers", "sequence length": "seq", "tensor parallelism": "tp",
           "data parallelism": "dp", "pipeline parallelism": "pp"}
RECOMPUTE = {"one": "none", "many": "full"}


def make_map(tp: int, dp: int, pp: int) -> tuple:
    """Ranks in Megatron's order: the pipeline outermost, tensor parallelism innermost."""
    axes = [(pp, f"pp = {pp} splits layers"), (dp, f"dp = {dp} splits batch"), (tp, f"tp = {tp} splits heads, ffn, vocab")]
    lines = tuple(line for degree, line in axes if degree > 1)
    return lines or ("dp = 1 splits batch",)


def make_case(nodes: str, number: int, line: dict) -> Case:
    size = {name: int(line[column]) for column, name in COLUMNS.items()}
    layers, pp, tp = size["layers"], size["pp"], size["tp"]
    microbatches = size["batch"] // size["dp"] // size["sample"]
    sizes = dict(layers=layers, heads=size["heads"], head=size["embed"] // size["heads"], vocab=pad(50257, 128 * tp),
                 context=size["seq"])
    pipeline = dict(schedule="1f1b", microbatches=microbatches, stages=(layers // pp,) * pp)
    row = Row("Gpt2", make_map(tp, size["dp"], pp), size["seq"], size["batch"], recompute=RECOMPUTE[nodes], loss_chunks=1,
              settings=(*set_model(**sizes, rate=0.1, embed_rate=0.1), "precision.reduce = bf16", "clip = 1.0"),
              **(pipeline if pp > 1 else dict(accumulate=microbatches)))
    model = (layers, size["embed"])
    return Case(f"vtrain {nodes}", f"{number}: {layers} x {size['embed']}, tp {tp}, dp {size['dp']}, pp {pp}, "
                f"{microbatches} x {size['sample']}", line["use"], f"a100-vtrain-{nodes}", "models.gpt2", row,
                float(line["iteration time (ms)"]) / 1e3, series=(*model, tp, size["dp"], pp, size["sample"]),
                contest=(*model, size["ranks"], size["batch"]), microbatches=microbatches, ranks=size["ranks"],
                parameters=count_gpt2(**sizes))


def read(folder: Path) -> list:
    cases = []
    for nodes, name in FILES.items():
        with open(folder / name, newline="") as file:
            cases += [make_case(nodes, number, line) for number, line in enumerate(csv.DictReader(file))]
    return cases

"""SimuMax (MooreThreads/SimuMax@4dcaae5, docs/b200): shortened Llama 3 and DeepSeek models by Megatron on 8 x B200.

From its launchers (simu_tools/megatron_scripts) and its guide: bf16 with f32 gradients, the distributed optimizer (bf16
parameters whole on each rank, gathered once a step; gradients whole, scattered once a step), sequence parallelism, no
recomputation, no overlap of communication, context by all-to-all, experts with a capacity factor of 1.
"""

import csv
from pathlib import Path

from case import Case, Row, count, set_model
from families import SIZES
from rows import STORED

TABLE = "simumax_b200.csv"
DEEPSEEK_V2 = dict(SIZES["DeepSeek_V3"][1], dense=1, e=5120, f=12288, F=1536, S=3072, x=160, active=6, v=102400)
MODELS = {  # module, model, what differs from the library's, and the sizes of its closed form (tests/costs/families.py)
    "llama3_70b": ("models.llama", "Llama3_70B", {}, SIZES["Llama3_70B"]),
    "llama3_405b": ("models.llama", "Llama3_405B", dict(kv_heads=16, group=8, rope='"default"'),
                    ("llama", dict(SIZES["Llama3_405B"][1], k=16, g=8))),
    "deepseekv2": ("models.deepseek", "DeepSeek_V2", {}, ("deepseek_v3", DEEPSEEK_V2)),
    "deepseekv3": ("models.deepseek", "DeepSeek_V3", {}, SIZES["DeepSeek_V3"]),
}

# Without this line the compiler gathers the experts once a step if that sends fewer bytes than their tokens.
TOKENS_MOVE = ('values "*BoundedExperts.x" { shard splits experts }',)


def make_map(line: dict) -> tuple:
    tp, pp, cp, dp, ep = (int(line[axis]) for axis in ("tp", "pp", "cp", "dp", "ep"))
    batch = "experts, batch" if ep > 1 else "batch"
    dims = "heads" if line["model"].startswith("deepseek") else "kv_heads, group"
    axes = [(pp, f"pp = {pp} splits layers"), (dp, f"shard = {dp} splits {batch} {STORED}"),
            (cp, f"cp = {cp} splits seq {STORED} {{ attention = all_to_all }}"),
            (tp, f"tp = {tp} splits {dims}, ffn, vocab, else seq")]
    return tuple(text for degree, text in axes if degree > 1)


def is_sparse(line: dict) -> bool:
    return line["model"].startswith("deepseek")


def set_sizes(line: dict) -> dict:
    """Arguments of the model; of the layers of a sparse one, the first is dense."""
    layers, sizes = int(line["layers"]), MODELS[line["model"]][2]
    return sizes | (dict(dense_layers=1, layers=layers - 1, capacity="1.0") if is_sparse(line) else dict(layers=layers))


def count_parameters(line: dict) -> int:
    kind, sizes = MODELS[line["model"]][3]
    layers = int(line["layers"])
    return count(kind, sizes | (dict(dense=1, L=layers - 1) if is_sparse(line) else dict(L=layers)))


def set_order(line: dict) -> dict:
    """How microbatches follow each other."""
    pp, microbatches, layers = int(line["pp"]), int(line["microbatches"]), int(line["layers"])
    if pp == 1:
        return dict(accumulate=microbatches)
    stages = [layers // pp] * pp
    stages[0] -= is_sparse(line)  # the dense layer precedes the layers that the pipeline divides
    return dict(schedule="1f1b", microbatches=microbatches, stages=tuple(stages))


def set_step(line: dict) -> tuple:
    """Parameters and gradients are whole within a step, if any axis shards them between steps."""
    sharded = int(line["dp"]) * int(line["cp"]) > 1
    return ("sharding.gather = step", "sharding.reduce = step") if sharded else ()


def make_case(line: dict) -> Case:
    module, model = MODELS[line["model"]][:2]
    microbatches = int(line["microbatches"])
    row = Row(model, make_map(line), int(line["seq"]), int(line["dp"]) * int(line["mbs"]) * microbatches, loss_chunks=1,
              settings=(*set_model(**set_sizes(line)), "sharding.overlap = never", *set_step(line), "clip = 1.0"),
              overrides=TOKENS_MOVE if is_sparse(line) else (), **set_order(line))
    series = tuple(line[column] for column in ("model", "layers", "seq", "tp", "ep", "pp", "cp", "dp"))
    return Case("simumax", line["case"], line["use"], "b200-simumax", module, row, float(line["real_step_ms"]) / 1e3,
                memory=float(line["real_alloc_gib"]) * 2 ** 30, series=series,
                contest=(line["model"], line["layers"], line["seq"]), microbatches=microbatches,
                ranks=int(line["gpus"]), parameters=count_parameters(line))


def read(folder: Path) -> list:
    with open(folder / TABLE, newline="") as file:
        return [make_case(line) for line in csv.DictReader(file)]

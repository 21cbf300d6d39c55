"""The parity table: compares a step of models on many meshes, with many options, with PyTorch.

    table.py [--all] [--list] [-v] [NAME...]

Generates rows: degrees of replicas, shards and tensor parallelism up to 16 ranks, the residual
stream sharded along the sequence or not, in block or head-tail order, attention by every method,
sharded storage, pipelines, options of the run. Each row is compiled up to the memory phase. One step is
interpreted in float64 on all ranks, with arenas, and loss, gradients and parameters must meet the criterion
of compare.py. Some rows also train for 50 steps (in bfloat16 for 10) as real processes: 40 rows, and all that
are marked `runs_as_processes`. Without --all, each commit tests a fifth of the rows; of these, 6 rows and every
second marked one train as processes.
"""

import itertools
import math
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import save_file

import reference
from compare import compare
from interpret import OUT as INTERPRET, make_reference, judge
from run import NARROW_STEPS, PROGRAMS, RECIPES, SEED, STEPS
from sample_order import batches
from titan import (QUICK, TITANC, Launch, Report, by_torchrun, call, lock_product, read_arguments, sample_by_commit,
                   write_text)

OUT = INTERPRET.parent / "table"
BATCH, SEQ = 4, 16
# Two layers, small enough for less than a second per row, every dimension divisible by 4.
SIZES = {
    "llama3": dict(layers=2, embed=16, kv_heads=4, group=2, head=4, ffn=32, vocab=256),
    "gpt2": dict(layers=2, embed=16, heads=4, head=4, ffn=32, vocab=256, context=16),
}
ROUTED = {
    model: dict(layers=2, embed=16, kv_heads=4, group=2, head=4, experts=8, expert_ffn=8, vocab=256)
    for model in ("mixtral", "mixtral_capacity")
}
# Latent attention, a dense layer, then layers of shared and of routed experts; V3 also has biases.
LATENT = {
    model: dict(layers=2, dense_layers=1, embed=16, heads=4, ffn=32, expert_ffn=8, experts=8, shared=shared,
                plain=8, turned=8, value=4, kv_rank=8, q_rank=12, vocab=256)
    for model, shared in (("deepseek", 2), ("deepseek_v3", 1))
}
TENSOR = {"llama3": "kv_heads, group, ffn, vocab", "gpt2": "heads, ffn, vocab"}
# Sizes that only degree 1 divides, and axis rules that pad them.
ODD = {
    "llama3": dict(kv_heads=3, ffn=30, vocab=257),
    "gpt2": dict(heads=3, ffn=30, vocab=257),
}
PADS = {
    "llama3": "splits kv_heads, ffn, vocab{seq}{stores} {{ pad = [kv_heads, ffn, vocab] }}",
    "gpt2": "splits heads, ffn, vocab{seq}{stores} {{ pad = [heads, ffn, vocab] }}",
}
STORES = ["", "optimizer", "grads, optimizer", "params, grads, optimizer"]
# Settings that change how a step is computed, but not its result; each is tested on some meshes. Programs in other
# precisions are also interpreted in float64.
GROUP = 'optimizer = adamw { group "layers.*" { lr_scale = 0.25 } }'
# Weights with gradients so large that the usual clip would change them.
LOUD = 'parameters "*" { init = normal(0.5) }'
TOKENS = f"data {{ seq = {SEQ}, batch = {BATCH // 2}, tokens = {BATCH * SEQ} }}"
OPTIONS = ["accumulate = 2", "loss_chunks = 4", TOKENS, GROUP, "recompute = full",
           "recompute { save = [matmul] }",
           "precision { params = f32, compute = f32, reduce = f32 }",
           "precision { params = f32, compute = bf16, reduce = f32 }"]
# Parameters without an f32 copy, whose gradients and AdamW's moments are bf16 as in PyTorch; and the
# element types one by one.
NARROW = "precision { params = bf16, compute = bf16, reduce = bf16, optimizer = bf16 }"
STORED = [NARROW, "precision { params = bf16, compute = bf16, optimizer = f32 }",
          "precision { params = f32, compute = bf16, optimizer = bf16 }",
          "precision { params = f32, compute = bf16, reduce = bf16, activations_reduce = f32 }"]
POLICIES = [f"sharding {{ reshard_after_forward = {policy} }}" for policy in ("always", "never")]
FLOAT64 = "precision { params = f64, compute = f64, reduce = f64 }"
# The number of rows that also train as real processes, with --all and without.
PROCESSES, SAMPLE = 40, 6


@dataclass(frozen=True)
class Row:
    """A model on a mesh with settings of the run."""

    model: str
    axes: tuple[str, ...]
    ranks: int
    settings: tuple[str, ...] = field(default=())
    is_odd: bool = False  # has the sizes ODD
    runs_as_processes: bool = False  # without --all, in every second commit
    layers: int = 2
    batch: int = BATCH
    table: str = ""  # the schedule of the pipeline: a file in programs/

    def sizes(self) -> dict[str, int]:
        return (SIZES | ROUTED | LATENT)[self.model] | (ODD[self.model] if self.is_odd else {}) | {"layers": self.layers}

    def dtype(self) -> str:
        """The dtype of the real processes."""
        given = [s for s in self.settings if s.startswith("precision")]
        if not given:
            return "float64"
        return "bfloat16" if "compute = bf16" in given[0] else "float32"

    def name(self) -> str:
        table = [f"pipeline {self.table}"] if self.table else []
        return " | ".join([self.model, f"{self.ranks} ranks", "; ".join(self.axes) or "none",
                           *table, *self.settings])


def axes_of(model: str, replicate: int, shard: int, tp: int, seq: bool, stores: str):
    if replicate > 1:
        yield f"replicate = {replicate} splits batch"
    if shard > 1:
        yield f"shard = {shard} splits batch" + (f" stores {stores}" if stores else "")
    if tp > 1:
        yield f"tp = {tp} splits {TENSOR[model]}" + (", else seq" if seq else "")


def rows() -> list[Row]:
    found = []
    for model, replicate, shard, tp in itertools.product(SIZES, (1, 2), (1, 2, 4), (1, 2, 4)):
        if replicate * shard > BATCH or replicate * shard * tp > 8:
            continue
        for seq, stores in itertools.product((False, True), STORES):
            if (seq and tp == 1) or (stores and shard == 1):
                continue
            axes = tuple(axes_of(model, replicate, shard, tp, seq, stores))
            found.append(Row(model, axes, replicate * shard * tp))
    for model, option in itertools.product(SIZES, OPTIONS):
        for shard, tp in itertools.product((1, 2), (1, 2)):
            axes = tuple(axes_of(model, 1, shard, tp, True, STORES[-1]))
            found.append(Row(model, axes, shard * tp, (option,)))
    for model in SIZES:  # unusual axis rules, and options of the run
        found += [
            Row(model, ("wide = 2 splits embed",), 2),
            Row(model, ("wide = 4 splits embed stores optimizer", "shard = 2 splits batch"), 8),
            Row(model, ("whole = 4 stores params, grads, optimizer",), 4),
            Row(model, ("long = 4 splits seq",), 4),
            Row(model, ("shard = 2 splits batch stores params",), 2, ("clip = 0", LOUD)),
            Row(model, (f"tp = 2 splits {TENSOR[model]}, else seq",), 2, ("clip = 0.01",)),
        ]
    for model in SIZES:
        def padded(degree: int, seq="", stores="", model=model) -> str:
            return f"tp = {degree} " + PADS[model].format(seq=seq, stores=stores)
        shard = "shard = 2 splits batch stores params, grads, optimizer"
        found += [
            Row(model, (padded(2),), 2, is_odd=True, runs_as_processes=model == "gpt2"),
            Row(model, (padded(4, seq=", else seq"),), 4, is_odd=True, runs_as_processes=model == "llama3"),
            Row(model, (padded(8, stores=" stores optimizer"),), 8, is_odd=True),
            Row(model, (shard, padded(4)), 8, ("accumulate = 2", "recompute = full", "loss_chunks = 2"), is_odd=True),
            Row(model, (shard, padded(2, seq=", else seq")), 4,
                ("precision { params = f32, compute = bf16, reduce = f32 }",), is_odd=True,
                runs_as_processes=model == "llama3"),
        ]
    for model in SIZES:  # gradients are reduced over the ranks in bf16, too
        axes = tuple(axes_of(model, 1, 2, 2, True, STORES[-1]))
        narrow = "precision { params = f32, compute = bf16, reduce = bf16 }"
        found.append(Row(model, axes, 4, (narrow,), runs_as_processes=True))
    found += overridden() + pipelined() + mirrored() + replicated() + stored() + prefetched() + chunked() + offloaded() + rings() + by_heads() + chosen() + routed() + latent()
    for model, policy in itertools.product(SIZES, POLICIES):
        for tp in (1, 2):
            axes = tuple(axes_of(model, 1, 2, tp, True, STORES[-1]))
            found.append(Row(model, axes, 2 * tp, (policy,)))
    # More ranks than key-value heads: the group is sharded, too.
    found.append(Row("llama3", ("tp = 4 splits kv_heads, ffn, vocab, else seq",
                                "more = 2 splits group, ffn, vocab, else seq"), 8))
    return found


# The schedules of pipelines, and the number of stages per rank in each.
SCHEDULES = {"gpipe": 1, "1f1b": 1, "zb_h1": 1, "interleaved_1f1b": 2, "looped_bfs": 2, "interleaved_zb": 2,
             "zbv": 2, "dualpipev": 2}


def pipelined() -> list[Row]:
    """Pipelines beside other axes, with every schedule and with the options of a run."""
    found = []

    def add(model, schedule, others=(), ranks=1, pp=2, settings=(), last=False, microbatches=4, **more):
        stages = SCHEDULES[schedule]
        axis = f"pp = {pp} splits layers" + (f" {{ stages = {stages} }}" if stages > 1 else "")
        axes = (*others, axis) if last else (axis, *others)
        pipeline = f"pipeline {{ schedule = \"{schedule}\", microbatches = {microbatches} }}"
        more = {"layers": max(4, pp * stages), "batch": 2 * BATCH} | more
        found.append(Row(model, axes, pp * ranks, (pipeline, *settings), **more))

    for model, schedule in itertools.product(SIZES, SCHEDULES):
        shown = model == "llama3" and schedule in ("1f1b", "zbv")
        add(model, schedule, runs_as_processes=shown)
        for replicate, shard, tp in ((1, 2, 1), (1, 1, 2), (2, 1, 1), (1, 2, 2)):
            others = tuple(axes_of(model, replicate, shard, tp, True, STORES[-1]))
            add(model, schedule, others, replicate * shard * tp)
    for model in SIZES:
        shard = tuple(axes_of(model, 1, 2, 1, True, STORES[-1]))
        both = tuple(axes_of(model, 1, 2, 2, True, STORES[-1]))
        add(model, "1f1b", pp=4, microbatches=8)
        add(model, "interleaved_1f1b", pp=4, microbatches=8)
        add(model, "1f1b", shard, 2, pp=4)
        add(model, "zb_h1", both, 4, pp=4)
        add(model, "1f1b", shard, 2, last=True, runs_as_processes=model == "gpt2")
        add(model, "1f1b", both, 4, last=True)
        add(model, "1f1b", layers=5)  # three layers and two
        add(model, "gpipe", microbatches=1)
        add(model, "1f1b", microbatches=2, settings=("pipeline.layers_per_stage = [1, 3]",))
        add(model, "zbv", settings=("pipeline.layers_per_stage = [1, 2, 2, 1]",), layers=6)
        cuts = ", ".join(f'"layers.{layer}"' for layer in (2, 3, 4))
        add(model, "interleaved_1f1b", shard, 2, settings=(f"pipeline.cuts = [{cuts}]",), layers=6)
        for option in OPTIONS[1:2] + OPTIONS[3:]:
            for schedule in ("1f1b", "zb_h1"):
                add(model, schedule, shard, 2, settings=(option,))
        for stores in STORES[:-1]:
            add(model, "1f1b", tuple(axes_of(model, 1, 2, 1, True, stores)), 2)
        for policy in POLICIES:
            add(model, "zb_h1", shard, 2, settings=(policy,))
        # Written by hand: B beside I and W, with sends and receives; three stages on two ranks.
        pair = dict(layers=4, batch=2 * BATCH)
        found += [Row(model, ("pp = 2 splits layers",), 2, table="mixed.csv", runs_as_processes=model == "llama3", **pair),
                  Row(model, ("pp = 2 splits layers",), 2, table="uneven.csv", runs_as_processes=model == "gpt2", **pair),
                  Row(model, (*shard, "pp = 2 splits layers"), 4, table="uneven.csv", **pair)]
        padded = "tp = 2 " + PADS[model].format(seq=", else seq", stores="")
        add(model, "interleaved_zb", (padded,), 2, is_odd=True)
    # Combinations that TorchTitan refuses (docs/rationale/combinations.md).
    add("llama3", "interleaved_1f1b", pp=4, microbatches=2)
    found.append(replace(found[-1], axes=("pp = 4 splits layers",)))
    return found


def mirrored() -> list[Row]:
    """Head-tail order: a rank has a block from each end of the sequence."""
    found = []

    def cp(degree: int, stores="") -> str:
        return f"cp = {degree} splits seq{stores} {{ order = headtail }}"

    for model in SIZES:
        shard = "shard = 2 splits batch stores params, grads, optimizer"
        tp = f"tp = 2 splits {TENSOR[model]}, else seq"
        found += [
            Row(model, (cp(2),), 2, runs_as_processes=True),
            Row(model, (cp(4, " stores params, grads, optimizer"),), 4, runs_as_processes=True),
            Row(model, (cp(2), tp), 4, runs_as_processes=True),
            Row(model, (tp, cp(2)), 4),
            Row(model, (shard, cp(2), tp), 8, ("recompute = full", "accumulate = 2")),
            Row(model, ("pp = 2 splits layers", cp(2)), 4, ("pipeline { microbatches = 2 }",)),
        ]
    return found


def replicated() -> list[Row]:
    """Replicas beside every product of the other axes, alone and with sharded storage (HSDP)."""
    found = []
    for model, shard, cp, tp, pp in itertools.product(SIZES, (1, 2), (1, 2), (1, 2), (1, 2)):
        ranks = 2 * shard * cp * tp * pp
        if cp == pp == 1 or ranks > 16:  # the other rows have these
            continue
        axes = [*axes_of(model, 2, shard, tp, True, STORES[-1])]
        if cp > 1:
            axes.insert(len(axes) - (tp > 1), f"cp = {cp} splits seq")
        settings = ()
        if pp > 1:
            axes.insert(0, f"pp = {pp} splits layers")
            settings = ("pipeline { microbatches = 2 }",)
        found.append(Row(model, tuple(axes), ranks, settings, batch=2 * BATCH,
                         runs_as_processes=model == "llama3" and (shard, cp, tp, pp) == (1, 1, 1, 2)))
    for model, stores in itertools.product(SIZES, STORES[1:-1]):
        axes = ("pp = 2 splits layers", *axes_of(model, 2, 2, 1, True, stores))
        found.append(Row(model, axes, 8, ("pipeline { microbatches = 2 }",), batch=2 * BATCH))
    return found


def stored() -> list[Row]:
    """Element types of parameters, gradients and optimizer state."""
    found = []
    for model, types in itertools.product(SIZES, STORED):
        both = tuple(axes_of(model, 1, 2, 2, True, STORES[-1]))
        found.append(Row(model, both, 4, (types,), runs_as_processes=types == NARROW))
        found.append(Row(model, ("pp = 2 splits layers", *axes_of(model, 2, 2, 1, True, STORES[-1])), 8,
                         ("pipeline { microbatches = 2 }", types), batch=2 * BATCH))
        found.append(Row(model, both, 4, (types, "accumulate = 2")))
    return found


def prefetched() -> list[Row]:
    """Parameters gathered several layers ahead."""
    found = []
    for model in SIZES:
        shard = tuple(axes_of(model, 1, 2, 1, True, STORES[-1]))
        both = tuple(axes_of(model, 2, 2, 2, True, STORES[-1]))
        found += [
            Row(model, shard, 2, ("sharding.prefetch = 2",), layers=5, runs_as_processes=model == "llama3"),
            Row(model, shard, 2, ("sharding.prefetch = 0",)),
            Row(model, shard, 2, ("sharding.prefetch = 2", "recompute { every = 2 }"), layers=5),
            Row(model, both, 8, ("sharding.prefetch = 3", "accumulate = 2"), layers=4, batch=2 * BATCH),
            Row(model, ("pp = 2 splits layers", *shard), 4,
                ("sharding.prefetch = 2", "pipeline { microbatches = 2 }"), layers=8),
        ]
    return found


def chunked() -> list[Row]:
    """Products and the messages beside them in chunks."""
    found = []
    for model in SIZES:
        tp, all_axes = tuple(axes_of(model, 1, 1, 2, True, "")), tuple(axes_of(model, 2, 2, 2, True, STORES[-1]))
        chunks = "sharding.chunk_products = always"
        found += [
            Row(model, tp, 2, (chunks,), runs_as_processes=model == "llama3"),
            Row(model, tp, 2, (chunks, "recompute = full")),
            Row(model, tp, 2, (chunks, "precision { params = f32, compute = bf16, reduce = f32 }")),
            Row(model, all_axes, 8, (chunks, "accumulate = 2"), batch=2 * BATCH),
            Row(model, ("cp = 2 splits seq { attention = gather }",), 2, (chunks,), runs_as_processes=model == "gpt2"),
            Row(model, ("pp = 2 splits layers", *tp), 4, (chunks, "pipeline { microbatches = 2 }"), batch=2 * BATCH),
        ]
    return found


def offloaded() -> list[Row]:
    """Parameters and optimizer state in memory of the host."""
    found = []
    for model in SIZES:
        shard = tuple(axes_of(model, 1, 2, 1, True, STORES[-1]))
        both = tuple(axes_of(model, 1, 2, 2, True, STORES[-1]))
        everything = "offload = [optimizer, params]"
        found += [
            Row(model, (), 1, (everything,)),
            Row(model, tuple(axes_of(model, 1, 1, 2, True, "")), 2, ("offload = [params]",)),
            Row(model, both, 4, (everything,), runs_as_processes=model == "gpt2"),
            Row(model, both, 4, (everything, "accumulate = 2", "sharding.prefetch = 2"), layers=4),
            Row(model, ("pp = 2 splits layers", *shard), 4,
                ("offload = [optimizer]", "pipeline { microbatches = 2 }")),
        ]
    return found


def rings() -> list[Row]:
    """Attention in a ring, in both orders, beside all other axes."""
    found = []

    def cp(degree: int, stores="", order="") -> str:
        return f"cp = {degree} splits seq{stores} {{ {order}attention = ring }}"

    mirrored = "order = headtail, "
    for model in SIZES:
        replicate = "replicate = 2 splits batch"
        shard = "shard = 2 splits batch stores params, grads, optimizer"
        tp = f"tp = 2 splits {TENSOR[model]}, else seq"
        pipeline = "pipeline { microbatches = 2 }"
        found += [
            Row(model, (cp(2),), 2, runs_as_processes=True),
            Row(model, (cp(4, order=mirrored),), 4, runs_as_processes=True),
            Row(model, (cp(4),), 4, ("recompute = full",)),
            Row(model, (cp(8, " stores params, grads, optimizer"),), 8),
            Row(model, (cp(2, order=mirrored), tp), 4, runs_as_processes=model == "llama3"),
            Row(model, (tp, cp(4)), 8),
            Row(model, (replicate, shard, cp(2, order=mirrored), tp), 16),
            Row(model, (shard, cp(2), tp), 8, ("recompute = full", "accumulate = 2")),
            Row(model, (shard, cp(4, order=mirrored)), 8, ("recompute { save = [matmul] }",)),
            Row(model, (shard, cp(2)), 4, ("precision { params = f32, compute = bf16, reduce = f32 }",),
                runs_as_processes=model == "llama3"),
            Row(model, ("pp = 2 splits layers", cp(2)), 4, (pipeline,), runs_as_processes=model == "gpt2"),
            Row(model, ("pp = 2 splits layers", cp(2, order=mirrored), tp), 8,
                ('pipeline { schedule = "zb_h1", microbatches = 2 }',)),
        ]
    # More ranks than key-value heads, and heads that no axis divides.
    found += [
        Row("llama3", ("tp = 4 splits kv_heads, ffn, vocab, else seq", cp(4)), 16),
        Row("gpt2", (cp(2, order=mirrored),), 2, is_odd=True),
        Row("llama3", (cp(4),), 4, is_odd=True),
    ]
    return found


def chosen() -> list[Row]:
    """Attention by the method that the compiler chooses: a ring on two ranks, a gather on eight."""
    return [Row(model, (f"cp = {degree} splits seq {{ attention = auto }}",), degree)
            for model in SIZES for degree in (2, 8)]


def by_heads() -> list[Row]:
    """Attention by all-to-all: an axis moves from positions to heads."""
    found = []

    def cp(degree: int, stores="") -> str:
        return f"cp = {degree} splits seq{stores} {{ attention = all_to_all }}"

    for model in SIZES:
        shard = "shard = 2 splits batch stores params, grads, optimizer"
        tp = f"tp = 2 splits {TENSOR[model]}"
        found += [
            Row(model, (cp(2),), 2, runs_as_processes=True),
            Row(model, (cp(4),), 4, ("recompute = full",), runs_as_processes=model == "llama3"),
            Row(model, (cp(2), tp), 4, runs_as_processes=model == "gpt2"),
            Row(model, (cp(2), tp + ", else seq"), 4),
            Row(model, (tp, cp(2)), 4),
            Row(model, (shard, cp(2, " stores params"), tp), 8, ("accumulate = 2",)),
            Row(model, (shard, cp(4)), 8, ("precision { params = f32, compute = bf16, reduce = f32 }",)),
            Row(model, ("pp = 2 splits layers", cp(2)), 4, ("pipeline { microbatches = 2 }",)),
        ]
    return found


def routed() -> list[Row]:
    """Experts divided over any axes, by lists of dimensions and by products of axes."""
    stores = "stores params, grads, optimizer"
    tp, cp = "tp = 2 splits kv_heads, vocab, else seq", "cp = 2 splits seq"
    pipeline = "pipeline { microbatches = 2 }"

    def shard(degree: int, dims="batch") -> str:
        return f"shard = {degree} splits {dims} {stores}"

    def product(*axes: str) -> str:
        return f"ep = ({', '.join(axes)}) splits experts"

    rows = [
        ((shard(2),), 2), ((shard(2, "batch, experts"), tp), 4),
        (("ep = 2 splits experts",), 2), (("ep = 4 splits experts, batch",), 4),
        (("tp = 2 splits expert_ffn, kv_heads, vocab, else seq",), 2),
        ((shard(2, "experts, batch"),), 2), ((shard(4, "experts, batch"),), 4),
        ((shard(2, "experts, batch"), tp), 4), ((shard(2), tp, product("shard", "tp")), 4),
        ((shard(2), cp, product("shard", "cp")), 4), ((shard(2), cp, tp, product("shard", "cp", "tp")), 8),
        ((shard(2), cp, tp, product("cp", "tp")), 8), ((shard(2), cp, tp, product("shard", "tp")), 8),
        (("replicate = 2 splits batch", shard(2, "experts, batch")), 4),
        ((shard(2, "experts, batch"), "tp = 2 splits expert_ffn, kv_heads, vocab, else seq"), 4),
        (("pp = 2 splits layers", shard(2, "experts, batch")), 4, (pipeline,)),
        ((shard(2), tp, "pp = 2 splits layers", product("shard", "tp")), 8, (pipeline,)),
        ((shard(2, "experts, batch"), tp), 4, ("recompute = full", "accumulate = 2")),
        ((shard(2, "experts, batch"), cp), 4, ("recompute { save = [matmul] }",)),
        ((shard(2, "experts, batch"),), 2, ("precision { params = f32, compute = bf16, reduce = f32 }",)),
    ]
    shown = {5, 8}
    return [Row(model, axes, ranks, *settings, runs_as_processes=number in shown)
            for model in ROUTED for number, (axes, ranks, *settings) in enumerate(rows)]


def latent() -> list[Row]:
    """DeepSeek's blocks on pipelines beside data, experts, tensor and context parallelism."""
    stores = "stores params, grads, optimizer"
    shard, experts = f"shard = 2 splits batch {stores}", f"shard = 2 splits experts, batch {stores}"
    tp = "tp = 2 splits heads, ffn, vocab, else seq"
    product = "ep = (shard, tp) splits experts"

    def pipeline(schedule: str, microbatches=4) -> str:
        return f"pipeline {{ schedule = \"{schedule}\", microbatches = {microbatches} }}"

    def pp(stages=1) -> str:
        return "pp = 2 splits layers" + (f" {{ stages = {stages} }}" if stages > 1 else "")

    rows = [
        ((experts,), 2, ()), ((shard, tp, product), 4, ()),
        *(((pp(stages),), 2, (pipeline(schedule),)) for schedule, stages in SCHEDULES.items()),
        ((pp(),), 2, (pipeline("1f1b", 1),)), ((pp(),), 2, (pipeline("gpipe", 8),)),
        ((pp(), shard), 4, (pipeline("1f1b", 2),)), ((pp(), shard), 4, (pipeline("zb_h1", 2),)),
        ((pp(), experts), 4, (pipeline("1f1b", 2),)), ((pp(2), experts), 4, (pipeline("zbv"),)),
        ((pp(), "ep = 4 splits experts, batch"), 8, (pipeline("zb_h1", 2),)),
        ((pp(), shard, tp, product), 8, (pipeline("1f1b", 2), "recompute = full")),
        ((pp(), tp), 4, (pipeline("zb_h1"), "recompute { save = [matmul] }")),
        ((pp(), "replicate = 2 splits batch", experts), 8, (pipeline("1f1b", 2),)),
        ((pp(), "cp = 2 splits seq { order = headtail, attention = ring }"), 4, (pipeline("zb_h1", 2),)),
        ((pp(), "cp = 2 splits seq { attention = all_to_all }"), 4, (pipeline("1f1b", 2),)),
        ((pp(),), 2, (pipeline("1f1b"), "pipeline.layers_per_stage = [1, 3]")),
        ((pp(2), experts), 4, (pipeline("interleaved_1f1b"), 'pipeline.cuts = ["layers.1", "layers.2", "layers.3"]')),
    ]
    shown = {4, 12, 14}
    return [Row(model, axes, ranks, settings, layers=4, batch=2 * BATCH, runs_as_processes=number in shown)
            for model in LATENT for number, (axes, ranks, settings) in enumerate(rows)]


def overridden() -> list[Row]:
    """Axis rules with overrides for some parameters, or for some values."""
    found = []
    for model in SIZES:
        shard = "shard = 2 splits batch stores params, grads, optimizer"
        tp = f"tp = 2 splits {TENSOR[model]}, else seq"
        up, down = {"llama3": ("w1", "w2"), "gpt2": ("w1", "w2")}[model]
        found += [
            Row(model, (shard, tp, 'parameters "*norm*" { shard stores none }'), 4),
            Row(model, (shard, tp, 'parameters "layers.*" { shard stores optimizer }'), 4),
            Row(model, (shard, tp, f'parameters "*.{up}" {{ tp splits embed }}',
                        f'parameters "*.{down}" {{ tp splits embed stores params, grads }}'), 4),
            Row(model, (shard, tp, 'parameters "*" { shard splits embed }'), 4),
            Row(model, (shard, tp, 'values "x" { tp splits none }'), 4),
            Row(model, (shard, tp, 'values "x" { tp splits embed }'), 4),
            Row(model, (shard, tp, 'values "*" { tp splits seq }'), 4),
            Row(model, (shard, tp, 'values "*" { tp splits none; shard splits seq }'), 4),
        ]
    return found


def recipe_of(row: Row) -> dict:
    """The settings that PyTorch must know; a clip of 0 means none."""
    clips = [float(s.removeprefix("clip = ")) for s in row.settings if s.startswith("clip = ")]
    recipe = {"clip": clips[0] or math.inf} if clips else {}
    if GROUP in row.settings:
        recipe["lr_scales"] = (("layers.*", 0.25),)
    return recipe


def write_program(row: Row, folder: Path) -> Path:
    sizes = ", ".join(f"{k} = {v}" for k, v in row.sizes().items())
    settings = list(row.settings)
    if row.table:
        settings.append(f'pipeline {{ schedule = "{PROGRAMS / row.table}" }}')
    if TOKENS not in settings:
        settings.append(f"data {{ seq = {SEQ}, batch = {row.batch} }}")
    if not any(s.startswith("precision") for s in settings):
        settings.append(FLOAT64)
    folder.mkdir(parents=True)
    program = folder / "row.titan"
    program.write_text(f'''import "{PROGRAMS / row.model}.titan" as base
parallel map {{
  {chr(10).join(row.axes)}
}}
train row = base.parity on map with {{
  model {{ {sizes} }}
  {chr(10).join(settings)}
}}
''')
    return program


def reference_of(row: Row, options: dict) -> Path:
    """A step in PyTorch, computed once."""
    against = OUT / f"{row.model}-{options}-{row.layers}-{row.batch}{'-odd' if row.is_odd else ''}"
    with lock_product(against):
        if not (against / "inputs.safetensors").exists():
            make_reference(row.model, row.sizes(), row.batch, SEQ, against, **options)
    return against


def check(row: Row, number: int):
    """A step after the memory phase, interpreted."""
    options = recipe_of(row)
    against = reference_of(row, options)
    folder = OUT / f"row-{number}"
    program = write_program(row, folder)
    ir = folder / "step.mlir"
    ir.write_text(call([TITANC, "--stop-after=memory", "--train", "row", program]))
    result = judge(against, ir, row.ranks)
    if result.passed() and options:
        return differs_from_usual(folder / "step", reference_of(row, {}))
    return result.passed(), result.table()


def differs_from_usual(ours: Path, usual: Path):
    """Whether the usual recipe gives another result, so that a row with another recipe can fail."""
    result = compare(ours, usual, "float64")
    return not result.passed(), "    agrees with the usual recipe as well:\n" + result.table()


def check_processes(row: Row, number: int, text: Path):
    """Steps of the compiled program, with one process per rank of the row."""
    steps = NARROW_STEPS if row.dtype() == "bfloat16" else STEPS
    folder = OUT / f"processes-{number}"
    program, exe = write_program(row, folder), folder / "program"
    call([TITANC, "build", program, "--train", "row", "-o", exe, *(QUICK if row.dtype() == "float64" else [])])
    return check_steps(row, exe, Launch(steps, SEED, row.ranks, start=by_torchrun), text)


def check_steps(row: Row, exe: Path, launch: Launch, text: Path):
    """Steps of a row's program compared with PyTorch."""
    dtype, folder = row.dtype(), exe.parent
    ours = launch.run(exe, text, folder / "ours")
    save_file({"tokens": batches(text.read_bytes(), launch.steps, row.batch, SEQ, launch.seed)},
              folder / "batches.safetensors")
    def train(recipe: dict, out: Path) -> Path:
        reference.run(row.model, ours / "initial.safetensors", folder / "batches.safetensors",
                      out, dtype, replace(RECIPES[row.model], steps=launch.steps, **recipe),
                      narrow_parameters=NARROW in row.settings)
        return out
    result = compare(ours, train(recipe_of(row), folder / "theirs"), dtype)
    if result.passed() and recipe_of(row):
        return differs_from_usual(ours, train({}, folder / "usual"))
    return result.passed(), result.table()


def select_for_processes(table: list[tuple[int, Row]], count: int) -> list[tuple[int, Row]]:
    """`count` equidistant rows in float64 on at most four ranks, and marked rows."""
    runnable = [(n, row) for n, row in table if 1 < row.ranks <= 4]
    chosen = [entry for entry in runnable if entry[1].dtype() == "float64"]
    if len(chosen) > count:
        chosen = [chosen[i * len(chosen) // count] for i in range(count)]
    marked = [entry for entry in runnable if entry[1].runs_as_processes and entry not in chosen]
    return chosen + (marked[::2] if count == SAMPLE else marked)


def cases(table: list[tuple[int, Row]], names: list[str], count: int, text: Path):
    """Cases of all rows. `count` rows with these names (without names, of all rows) run as processes."""
    if not names and count == SAMPLE:
        table = sample_by_commit(table, 5)
    named = [(n, row) for n, row in table
             if all(part in f"row {n} as processes: {row.name()}" for part in names)]
    for number, row in table:
        yield f"row {number}: {row.name()}", partial(check, row, number)
    for number, row in select_for_processes(named, count):
        yield (f"row {number} as processes: {row.name()}",
               partial(check_processes, row, number, text))


def add_arguments(parser) -> None:
    parser.add_argument("--all", action="store_true",
                        help="all rows, not a fifth of them; more rows as real processes")
    parser.add_argument("--list", action="store_true", help="print the rows and stop")


def main() -> None:
    arguments = read_arguments(__doc__, OUT, add_arguments)
    table = list(enumerate(rows()))
    if arguments.list:
        print(*(f"{number:3} {row.name()}" for number, row in table), sep="\n")
        return
    torch.set_num_threads(1)
    text = write_text(OUT / "text.txt", 60 * SEQ + 1)
    report = Report()
    count = PROCESSES if arguments.all or arguments.names else SAMPLE
    report.cases(cases(table, arguments.names, count, text), arguments.names)
    report.end()


if __name__ == "__main__":
    main()

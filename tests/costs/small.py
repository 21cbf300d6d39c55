"""Small programs that run as two to four processes: maps and settings whose traffic and memory processes.py compares
with their plans, and the known deviations. Data only."""

from dataclasses import dataclass

from known import Fault

STORED = "stores params, grads, optimizer"
GROUPED = "kv_heads, group, ffn, vocab"
MODELS = {
    "llama": ("models.llama", "Llama", dict(layers=4, embed=64, kv_heads=4, group=2, head=16, ffn=192, vocab=256)),
    "llama, odd sizes": ("models.llama", "Llama", dict(layers=3, embed=60, kv_heads=3, group=2, head=10, ffn=190,
                                                       vocab=257)),
    "gpt2": ("models.gpt2", "Gpt2", dict(layers=4, heads=4, head=16, vocab=256, context=64)),
    "olmo2": ("models.olmo2", "Olmo2", dict(layers=3, embed=64, kv_heads=4, group=2, head=16, ffn=192, vocab=256)),
    "mixtral": ("models.mixtral", "Mixtral", dict(layers=2, embed=64, kv_heads=4, group=2, head=16, expert_ffn=96,
                                                  experts=4, vocab=256)),
    "deepseek": ("models.deepseek", "DeepSeek", dict(layers=2, dense_layers=1, embed=64, heads=4, ffn=128,
                                                     expert_ffn=48, experts=4, active=2, shared=1, plain=16, turned=8,
                                                     value=16, kv_rank=32, vocab=256)),
}


@dataclass
class Small:
    model: str
    axes: tuple
    ranks: int
    settings: tuple = ()
    batch: int = 8

    @property
    def name(self) -> str:
        return " | ".join([self.model, "; ".join(self.axes), *self.settings])

    def text(self) -> str:
        module, model, sizes = MODELS[self.model]
        sizes = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        settings = [f'data = text("text.txt") {{ seq = 64, batch = {self.batch} }}', *self.settings]
        return (f"import {module}\nmodel Small = {model} {{ {sizes} }}\nparallel p {{\n  "
                + "\n  ".join(self.axes) + "\n}\ntrain r = Small on p {\n  " + "\n  ".join(settings) + "\n}\n")


def replicate(degree):
    return f"replicate = {degree} splits batch"


def shard(degree, more="batch", stores=STORED):
    return f"shard = {degree} splits {more} {stores}"


def tp(degree, dims=GROUPED + ", else seq"):
    return f"tp = {degree} splits {dims}"


def cp(degree, method, more=""):
    return f"cp = {degree} splits seq {more}{{ attention = {method} }}"


def pp(degree, stages=1):
    return f"pp = {degree} splits layers" + (f" {{ stages = {stages} }}" if stages > 1 else "")


def pipeline(schedule, microbatches=4):
    return f'pipeline {{ schedule = "{schedule}", microbatches = {microbatches} }}'


NARROW = "precision { compute = bf16 }"
FULL = "recompute = full"
ROWS = [
    # Data: replicas, shards, both, and when gradients and parameters travel.
    Small("llama", (replicate(2),), 2),
    Small("llama", (replicate(4),), 4, ("accumulate = 2", NARROW)),
    Small("llama", (shard(4),), 4, (FULL,)),
    Small("gpt2", (shard(2, stores="stores optimizer"),), 2),
    Small("llama", (replicate(2), shard(2)), 4, (NARROW, "recompute { every = 2 }")),
    Small("llama, odd sizes", (shard(3),), 3, ("sharding.prefetch = 2",), batch=6),
    Small("llama", (shard(2),), 2, ("accumulate = 2", "sharding { gather = step, reduce = step }")),
    Small("llama", (shard(2),), 2, ("accumulate = 2", "sharding { gather = microbatch, reduce = microbatch }", FULL)),
    Small("gpt2", (shard(2),), 2, ("offload = [optimizer, params]",)),
    # Tensors.
    Small("olmo2", (shard(2), tp(2)), 4, (NARROW,)),
    Small("gpt2", (tp(4, "heads, ffn, vocab"),), 4),
    # Context, by three methods.
    Small("llama", (cp(4, "gather"),), 4),
    Small("llama", (shard(2), cp(2, "ring")), 4, (FULL,)),
    Small("llama", (cp(4, "all_to_all"),), 4),
    # Pipelines.
    Small("llama", (pp(2), shard(2)), 4, (pipeline("1f1b"),)),
    Small("gpt2", (pp(4),), 4, (pipeline("gpipe"),)),
    Small("llama", (pp(2),), 2, (pipeline("zb_h1"), FULL)),
    Small("llama", (pp(2, 2), tp(2)), 4, (pipeline("interleaved_1f1b"),)),
    Small("llama", (pp(2, 2),), 2, (pipeline("zbv"), NARROW)),
    Small("gpt2", (pp(2, 2),), 2, (pipeline("dualpipev"),)),
    Small("llama", (pp(2), shard(2)), 4, (pipeline("1f1b"), "sharding { gather = microbatch, reduce = microbatch }")),
    # Experts: their tokens move, their weights move, and lists of bounded length.
    Small("mixtral", (shard(2, "experts, batch"),), 2),
    Small("mixtral", (shard(4),), 4),
    Small("mixtral", (shard(2, "batch, experts"), "ep = 2 splits experts"), 4, ("model.capacity = 1.25",)),
    Small("deepseek", (shard(2, "experts, batch"), "tp = 2 splits heads, ffn, vocab, else seq"), 4, (FULL,)),
]
# As in known.py: in each row that a fault names, at least one of its quantities must deviate.
KNOWN = [
    Fault("P2", "on a rank with a part of the experts, pages of rows that no token sends there are planned, not touched",
          ("deepseek | shard = 2 splits experts, batch*",), ("touched", "peak")),
]

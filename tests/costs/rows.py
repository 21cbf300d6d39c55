"""The rows: a model on a map, with the settings of a step. Data only; closed.py computes what they should cost."""

from dataclasses import dataclass, field

from maps import Map

STORED = "stores params, grads, optimizer"
GROUPED_TP = "kv_heads, ffn, vocab, else seq"


@dataclass
class Row:
    model: str
    lines: tuple  # of the map
    seq: int
    batch: int
    recompute: str = "none"  # "full", "every 2", "block GatedMlp"
    accumulate: int = 1
    schedule: str = ""
    microbatches: int = 0
    stages: tuple = ()  # layers of each stage
    capacity: float = 0
    offload: str = ""
    gather: str = "auto"  # when layers gather parameters: "step" or "microbatch"
    reduce: str = "auto"  # when gradients are reduced to shards
    loss_chunks: int = 0
    blocks: int = 2  # attention and MLP, each with a sum of its own
    note: str = ""  # what tells the row from another one
    overrides: tuple = ()  # lines of the map for tensors by name
    settings: tuple = ()  # further settings of the run
    # quantity -> why its closed form does not hold within its tolerance
    reasons: dict = field(default_factory=dict)

    def __post_init__(self):
        self.map = Map(self.lines)
        self.dense = not (self.map.of_experts() and not self.lines[0].startswith("tp"))

    @property
    def name(self) -> str:
        words = [self.model, " x ".join(f"{axis.name} {axis.degree}" for axis in self.map.axes)]
        words += [axis.method for axis in self.map.axes if "seq" in axis.splits]
        if self.schedule:
            words.append(f"{self.schedule} m {self.microbatches}")
        words += [f"{what} {value}" for what, value in (("recompute", self.recompute), ("accumulate", self.accumulate),
                                                        ("capacity", self.capacity), ("offload", self.offload),
                                                        ("gather", self.gather), ("reduce", self.reduce))
                  if value not in ("none", "auto", 1, 0, "")]
        if self.note:
            words.append(self.note)
        stored = {frozenset(axis.stores) for axis in self.map.axes if axis.stores}
        words += ["stores " + " ".join(sorted(stores)) for stores in stored if len(stores) < 3]
        return ", ".join(words)

    def text(self, module: str) -> str:
        """The program for titanc."""
        recompute = {"every 2": "recompute { every = 2 }", "block GatedMlp": "recompute { blocks = [GatedMlp] }"}
        settings = [f'data = text("x.txt") {{ seq = {self.seq}, batch = {self.batch} }}', "precision { compute = bf16 }",
                    recompute.get(self.recompute, f"recompute = {self.recompute}")]
        if self.accumulate > 1:
            settings.append(f"accumulate = {self.accumulate}")
        if self.schedule:
            settings.append(f'pipeline {{ schedule = "{self.schedule}", microbatches = {self.microbatches}\n'
                            f"    layers_per_stage = [{', '.join(map(str, self.stages))}] }}")
        if self.capacity:
            settings.append(f"model.capacity = {self.capacity}")
        if self.offload:
            settings.append(f"offload = [{self.offload}]")
        times = [f"{what} = {value}" for what, value in (("gather", self.gather), ("reduce", self.reduce))
                 if value != "auto"]
        if times:
            settings.append(f"sharding {{ {', '.join(times)} }}")
        if self.loss_chunks:
            settings.append(f"loss_chunks = {self.loss_chunks}")
        settings += self.settings
        lines = "\n".join("  " + line for line in self.lines + self.overrides)
        body = "\n".join("  " + setting for setting in settings)
        return f"import {module}\nparallel p {{\n{lines}\n}}\ntrain r = {self.model} on p {{\n{body}\n}}\n"


def shard(degree, more="batch"):
    return f"shard = {degree} splits {more} {STORED}"


def tp(degree, dims=GROUPED_TP):
    return f"tp = {degree} splits {dims}"


def context(degree, method, more=f" {STORED}"):
    return f"cp = {degree} splits seq{more} {{ attention = {method} }}"


TWO = " { stages = 2 }"
EIGHT = dict(model="Llama3_8B", seq=8192)
FULL = dict(recompute="full")
ROWS = [
    # Data parallelism and its storage: Llama 3 8B on 8 to 64 ranks.
    Row(lines=("replicate = 8 splits batch",), batch=64, **EIGHT, **FULL),
    Row(lines=("replicate = 8 splits batch",), batch=64, accumulate=4, **EIGHT, **FULL),
    Row(lines=(shard(64),), batch=256, **EIGHT, **FULL),
    Row(lines=(shard(64),), batch=64, **EIGHT),
    Row(lines=(shard(64),), batch=64, recompute="every 2", **EIGHT),
    Row(lines=(shard(64),), batch=64, recompute="block GatedMlp", **EIGHT),
    Row(lines=(shard(64),), batch=256, accumulate=4, **EIGHT, **FULL),
    Row(lines=(shard(64),), batch=256, accumulate=4, gather="step", **EIGHT, **FULL),
    Row(lines=(shard(64),), batch=256, accumulate=4, gather="step", reduce="step", **EIGHT, **FULL),
    Row(lines=("shard = 64 splits batch stores optimizer",), batch=256, **EIGHT, **FULL),
    Row(lines=("shard = 64 splits batch stores grads, optimizer",), batch=256, **EIGHT, **FULL),
    Row(lines=("replicate = 8 splits batch", shard(8)), batch=256, **EIGHT, **FULL),
    Row(lines=("replicate = 8 splits batch", shard(8)), batch=256, accumulate=4, **EIGHT, **FULL),
    # Tensor parallelism, with and without sequence parallelism.
    Row(lines=(shard(8), tp(8)), batch=64, **EIGHT, **FULL),
    Row(lines=(shard(8), tp(8)), batch=64, **EIGHT),
    Row(lines=(shard(8), tp(8, "kv_heads, group, ffn, vocab, else seq")), batch=64, note="with group", **EIGHT, **FULL),
    Row(lines=(shard(8), tp(8, "kv_heads, ffn, vocab")), batch=64, note="without else seq", **EIGHT, **FULL),
    # Context parallelism by three methods.
    Row(lines=(shard(8), context(8, "gather")), batch=32, **EIGHT, **FULL),
    Row(lines=(shard(8), context(8, "ring")), batch=32, **EIGHT, **FULL),
    Row(lines=(shard(8), context(8, "all_to_all")), batch=32, **EIGHT, **FULL),
    Row(lines=(shard(8), context(8, "gather")), batch=32, **EIGHT),
    Row(lines=(shard(8), context(8, "ring")), batch=32, **EIGHT),
    Row(lines=(shard(8), context(8, "all_to_all")), batch=32, **EIGHT),
    Row("Llama3_8B", (context(8, "gather"),), seq=131072, batch=1, recompute="full"),
    Row("Llama3_8B", (context(8, "ring"),), seq=131072, batch=1, recompute="full"),
    Row("Llama3_70B", (shard(8), context(4, "gather"), tp(8)), seq=32768, batch=16, recompute="full"),
    Row("Llama3_70B", (shard(8), context(4, "ring"), tp(8)), seq=32768, batch=16, recompute="full"),
    # Pipelines: every schedule.
    *(Row(lines=("pp = 4 splits layers" + stages, shard(16)), batch=256, schedule=schedule, microbatches=8,
          stages=layers, **EIGHT, **FULL)
      for schedule, stages, layers in (("1f1b", "", (8,) * 4), ("gpipe", "", (8,) * 4), ("zb_h1", "", (8,) * 4),
                                       ("interleaved_1f1b", TWO, (4,) * 8), ("looped_bfs", TWO, (4,) * 8),
                                       ("interleaved_zb", TWO, (4,) * 8), ("zbv", TWO, (4,) * 8),
                                       ("dualpipev", TWO, (4,) * 8))),
    Row(lines=("pp = 4 splits layers", shard(16)), batch=256, schedule="1f1b", microbatches=8, stages=(8,) * 4, **EIGHT),
    Row(lines=("pp = 4 splits layers", shard(16)), batch=256, schedule="1f1b", microbatches=8, stages=(8,) * 4,
        gather="microbatch", reduce="microbatch", **EIGHT, **FULL),
    Row(lines=("pp = 4 splits layers", shard(16)), batch=256, schedule="1f1b", microbatches=8, stages=(8,) * 4,
        gather="step", reduce="microbatch", **EIGHT, **FULL),
    Row(lines=("pp = 8 splits layers", "replicate = 8 splits batch"), batch=256, schedule="1f1b", microbatches=16,
        stages=(4,) * 8, **EIGHT, **FULL),
    Row("Llama3_405B", ("pp = 8 splits layers", shard(8), tp(8)), seq=8192, batch=512, recompute="full",
        schedule="1f1b", microbatches=32, stages=(16,) * 6 + (15,) * 2),
    Row("Llama3_405B", ("pp = 16 splits layers", shard(128), tp(8)), seq=8192, batch=2048, recompute="full",
        schedule="1f1b", microbatches=16, stages=(8,) * 14 + (7,) * 2),
    # Experts, both ways.
    Row("Mixtral_8x7B", (shard(8, "experts, batch"),), seq=4096, batch=32, recompute="full", note="tokens move"),
    Row("Mixtral_8x7B", (shard(8, "batch, experts"),), seq=4096, batch=32, recompute="full", note="batch first"),
    Row("Mixtral_8x7B", (shard(8, "experts, batch"),), seq=4096, batch=32, recompute="full", capacity=1.25),
    Row("Mixtral_8x7B", (shard(8),), seq=4096, batch=32, recompute="full"),
    Row("Qwen3_30B_A3B", (shard(8, "experts, batch"),), seq=4096, batch=32, recompute="full"),
    Row("Qwen3_30B_A3B", (shard(16),), seq=4096, batch=32, recompute="full"),
    Row("GptOss_20B", (shard(8, "experts, batch"),), seq=4096, batch=32, recompute="full"),
    Row("GptOss_20B", (shard(16),), seq=4096, batch=32, recompute="full"),
    Row("DeepSeek_V2_Lite", (shard(8, "experts, batch"),), seq=4096, batch=32, recompute="full"),
    Row("DeepSeek_V2_Lite", (shard(16),), seq=4096, batch=32, recompute="full"),
    Row("DeepSeek_V3", (shard(64, "experts, batch"),), seq=4096, batch=256, recompute="full"),
    # Offload.
    Row(lines=(shard(8),), batch=32, offload="optimizer", **EIGHT, **FULL),
    Row(lines=(shard(8),), batch=32, offload="optimizer, params", **EIGHT, **FULL),
    # The other dense families.
    *(Row(model, (shard(8),), seq=2048, batch=32, recompute=recompute)
      for model in ("Llama2_7B", "Llama3_1B", "Mistral_7B", "Phi3_Mini", "Qwen2_5_7B", "Qwen3_8B", "Gemma2_2B",
                    "Olmo2_7B", "Phi_2") for recompute in ("none", "full")),
    *(Row(model, (shard(8),), seq=1024, batch=64, recompute=recompute)
      for model in ("Gpt2_Small", "Gpt2_XL", "Tide_Small") for recompute in ("none", "full")),
    Row("Mistral_7B", (shard(8),), seq=16384, batch=16, recompute="full", note="window of a quarter"),
    Row("Gemma2_2B", (shard(8),), seq=16384, batch=16, recompute="full", note="window of a quarter"),
    *(Row(model, (shard(4), tp(degree, dims)), seq=2048, batch=32, blocks=blocks)
      for model, degree, dims, blocks in (
          ("Llama2_7B", 8, GROUPED_TP, 2), ("Qwen2_5_7B", 4, GROUPED_TP, 2), ("Qwen3_8B", 8, GROUPED_TP, 2),
          ("Gemma2_2B", 4, GROUPED_TP, 2), ("Olmo2_7B", 8, GROUPED_TP, 2),
          ("Phi_2", 8, "heads, ffn, vocab, else seq", 1))),
    Row("Llama3_70B", (shard(32), tp(8)), seq=8192, batch=128, recompute="full"),
    Row("Llama3_70B", (shard(32), tp(8)), seq=8192, batch=128, recompute="full", accumulate=2),
]

"""Closed forms of what a training step stores, sends and computes on one rank.

Sources, cited by these names below:
  [ZeRO]      Rajbhandari et al. 2020, arXiv 1910.02054, sections 5 and 7: stages of sharded storage and their volume
  [FSDP2]     torch.distributed.fsdp.fully_shard: all-gather of a block's parameters before forward and backward,
              reduce-scatter of its gradients; over the replicated axis of a hybrid mesh an all-reduce of shards
  [Titan-TT]  TorchTitan, Liang et al. 2024, arXiv 2410.06511: with a pipeline, parameters are gathered and gradients
              reduced once a step (reshard_after_forward is off, gradients are reduced with the last microbatch)
  [Ring]      Thakur, Rabenseifner and Gropp 2005: bytes of ring collectives: all-gather and reduce-scatter send
              (n - 1) / n of the whole value, all-reduce twice that, all-to-all (n - 1) / n of a rank's shard
  [Megatron]  Narayanan et al. 2021, arXiv 2104.04473: pipelines and their interleaving
  [SP]        Korthikanti et al. 2022, arXiv 2205.05198: sequence parallelism, activations of a layer, recomputation
  [Ulysses]   Jacobs et al. 2023, arXiv 2309.14509; [RingAttention] Liu et al. 2023, arXiv 2310.01889
  [GShard]    Lepikhin et al. 2020, arXiv 2006.16668: experts with bounded lists, all-to-all
  [ZB]        Qi et al. 2023, arXiv 2401.10241: zero-bubble schedules, memory of the V
  [Flash]     Dao et al. 2022, arXiv 2205.14135: the backward pass of attention has five products, the forward two
"""

from collections import Counter
from math import ceil, prod

F32, BF16 = 4, 2


def degree_of(axes) -> int:
    return prod(axis.degree for axis in axes)


def key(axes, kind):
    return ",".join(axis.name for axis in axes), kind


class Closed:
    def __init__(self, row, family):
        self.row, self.family, self.map = row, family, row.map
        self.microbatches = row.microbatches or row.accumulate
        data = [axis for axis in self.map.of_data()]
        self.tokens = row.batch * row.seq // degree_of(data)  # of a step on a rank
        self.tokens_of_microbatch = self.tokens // self.microbatches

    # ---- stored ----

    def local(self, param) -> float:
        """Elements of a parameter that a rank computes with."""
        return self.family.size(param) / degree_of(self.map.sharding(self.family, param))

    def storing(self, param, what) -> list:
        split = self.map.sharding(self.family, param)
        return [axis for axis in self.map.axes if what in axis.stores and axis not in split and axis.degree > 1]

    def stored(self, param, what) -> float:
        return self.local(param) / degree_of(self.storing(param, what))

    def layers_of(self, rank):
        """(layer, count) of the layers of a rank along the pipeline; all without one."""
        if not self.row.stages:
            return [(layer, 1 if layer.shared else layer.count) for layer in self.family.layers]
        count = sum(self.row.stages[stage] for stage in self.stages_of(rank))
        return [(self.family.layers[0], count)]

    def stages_of(self, rank) -> list:
        """The stages of a rank: looped, or as a V ([ZB], section 6)."""
        ranks, stages = self.map.pipeline().degree, len(self.row.stages)
        if self.row.schedule in ("zbv", "dualpipev"):
            return [rank, stages - 1 - rank]
        return list(range(rank, stages, ranks))

    def outer_of(self, rank) -> list:
        """The parameters beside the layers: the table on the first stage, the head on the last."""
        if not self.row.stages:
            return self.family.outer
        stages, last = self.stages_of(rank), len(self.row.stages) - 1
        params = []
        if 0 in stages:
            params += self.family.outer[:1]
        if last in stages:
            params += self.family.outer[1:]
        return params

    def sum_over(self, rank, bytes_of) -> float:
        return (sum(bytes_of(param) for param in self.outer_of(rank))
                + sum(count * sum(bytes_of(param) for param in layer.params) for layer, count in self.layers_of(rank)))

    def parameters(self, rank=0) -> float:
        return F32 * self.sum_over(rank, lambda param: self.stored(param, "params"))

    def optimizer(self, rank=0) -> float:
        """AdamW's two moments ([ZeRO], section 3.1)."""
        return 2 * F32 * self.sum_over(rank, lambda param: self.stored(param, "optimizer"))

    def gradients(self, rank=0) -> float:
        """Reduced gradients: shards also if only the optimizer's state is sharded, which alone reads them."""
        return F32 * self.sum_over(rank, lambda param: self.stored(param, "optimizer"))

    def caches(self) -> float:
        """Of one text of `seq` positions: keys and values, or latent vectors."""
        layers = sum(layer.count for layer in self.family.layers)
        elements = sum(map(prod, self.family.caches))
        split = degree_of(axis for axis in self.map.axes if "seq" in axis.splits)
        if "k" in self.family.sizes:
            split *= degree_of(axis for axis in self.map.of_tensors() if self.family.name("k") in axis.splits)
        return BF16 * layers * elements * self.row.seq / split

    # ---- activations ----

    def local_width(self, dims) -> float:
        """Elements per token of a value with these dimensions. Values of the residual stream are split along
        positions by tensor parallelism with `else seq` ([SP])."""
        split = 1
        for axis in self.map.of_tensors():
            if axis.takes([self.family.name(dim) for dim in dims],
                          {self.family.name(dim): self.family.extent(dim) for dim in dims} | {"seq": self.row.seq}):
                split *= axis.degree
            elif "seq" in axis.fallback:
                split *= axis.degree
        return prod(self.family.extent(dim) for dim in dims) / split

    def residuals_of(self, layer) -> float:
        """Bytes per token that the backward pass of a layer reads and nothing recomputes."""
        policy = self.row.recompute
        whole, every = self.residuals_by(layer, "none"), self.residuals_by(layer, "full")
        if policy == "every 2":
            return (whole + every) / 2
        return self.residuals_by(layer, policy)

    def residuals_by(self, layer, policy) -> float:
        if policy == "full":
            return BF16 * self.local_width(("e",))
        saved = layer.saved
        if policy == "block GatedMlp":  # of the block, its input alone, which its norm recomputes from the stream
            saved = [dims for dims in saved if dims != ("f",)]
        heads = self.local_width(("k", "g")) if "k" in self.family.sizes else 0
        return sum(BF16 * self.local_width(dims) for dims in saved) + F32 * heads  # log-sum-exps of attention

    def residuals(self) -> float:
        return sum(layer.count * self.residuals_of(layer) for layer in self.family.layers) * self.tokens_of_microbatch

    def stashes(self, rank) -> float:
        """Microbatches in flight, by schedule, times the residuals of a stage, with the input of the head. A message
        has two slots, so that one transfer overlaps with the use of another; a stage that never runs two forward
        passes in a row receives activations in one."""
        stages, last = self.stages_of(rank), len(self.row.stages) - 1
        value = BF16 * self.local_width(("e",)) * self.tokens_of_microbatch
        per_layer = self.residuals_of(self.family.layers[0]) * self.tokens_of_microbatch
        in_flight = self.in_flight(rank)
        kept = sum(count * self.row.stages[stage] * per_layer for stage, count in in_flight.items())
        if self.row.schedule == "zb_h1":
            kept += (rank + 1) * self.row.stages[stages[0]] * self.products_of_layer()
        slots = sum(4 * ((stage > 0) + (stage < last)) for stage in stages) + in_flight.get(last, 0)
        alternates = sum(in_flight.values()) == 1
        return kept + (slots - alternates) * value

    def products_of_layer(self) -> float:
        """What the weight gradients of a Llama layer read, if they run apart: the operand and the cotangent of each
        product ([ZB], section 2.1: M_W), of a microbatch."""
        operands = [("e",), ("k", "g", "d"), ("e",), ("f",)]
        cotangents = [("k", "g", "d"), ("k", "d"), ("k", "d"), ("e",), ("f",), ("f",), ("e",)]
        return BF16 * self.tokens_of_microbatch * sum(map(self.local_width, operands + cotangents))

    def in_flight(self, rank) -> dict:
        """stage -> most microbatches whose residuals are alive at once, at the worst moment of the rank."""
        ranks, m, schedule = self.map.pipeline().degree, self.row.microbatches, self.row.schedule
        stages = self.stages_of(rank)
        chunks = len(stages)
        if schedule in ("gpipe", "looped_bfs"):
            return {stage: m for stage in stages}
        if schedule == "1f1b":
            return {stages[0]: min(m, ranks - rank)}
        if schedule == "zb_h1":  # residuals as 1F1B's; rank r has r pending W and the one of its last B ([ZB], 3.1)
            return {stages[0]: min(m, ranks - rank)}
        if schedule == "interleaved_1f1b":  # [Megatron], section 2.2: warm-up, and the one in progress
            warmup = min((ranks - rank - 1) * 2 + (chunks - 1) * ranks, m * chunks)
            whole = min(warmup + 1, m * chunks)
            # The first chunk runs ahead by up to `ranks` microbatches per round.
            counts = [0] * chunks
            for at in range(whole):
                counts[(at // ranks) % chunks] += 1
            return dict(zip(stages, counts, strict=True))
        return {}  # the number of pending W of the other schedules has no closed form: stashes are not compared

    # ---- sent ----

    def traffic(self, rank=0) -> Counter:
        sent = Counter()
        self.add_storage(sent, rank)
        self.add_tensor_parallel(sent, rank)
        self.add_context(sent, rank)
        self.add_experts(sent, rank)
        self.add_pipeline(sent, rank)
        return Counter({where: count for where, count in sent.items() if count})

    def gathers_once(self) -> bool:
        """Whether layers gather their parameters once a step: by default in a pipeline ([Titan-TT]), else in each
        microbatch, as FSDP2 does."""
        return self.row.gather == "step" or self.row.gather == "auto" and bool(self.row.stages)

    def reduces_once(self) -> bool:
        return self.row.reduce == "step" or self.row.reduce == "auto" and bool(self.row.stages)

    def add_storage(self, sent, rank):
        """Gathers of parameters, sums of gradients ([ZeRO], [FSDP2]). What is beside the layers is gathered once in a
        microbatch, or once a step, like the layers; in a pipeline its gradients are always reduced once a step."""
        for param in self.outer_of(rank):
            if param != ("c", "e"):  # positions have vectors of all ranks: a few bytes
                self.add_param(sent, param, 1, 1 if self.gathers_once() else self.microbatches, bool(self.row.stages))
        for layer, count in self.layers_of(rank):
            gathers = 1 if self.gathers_once() or layer.shared else 2 * self.microbatches
            for param in layer.params:
                self.add_param(sent, param, count, gathers)

    def add_param(self, sent, param, count, gathers, reduces_once=False):
        sums = 1 if reduces_once or self.reduces_once() else self.microbatches
        split = self.map.sharding(self.family, param)
        over = self.storing(param, "params")
        reduced = self.storing(param, "optimizer")
        partial = [axis for axis in self.map.of_data() if axis not in split and axis.degree > 1]
        local, n = count * self.local(param), degree_of(over)
        if over:
            width = BF16 if len(param) > 1 else F32  # norms compute in f32
            sent[key(over, "all_gather")] += width * local * (n - 1) / n * gathers
        elif reduced:  # stages 1 and 2: the updated shards return to all ranks
            n = degree_of(reduced)
            sent[key(reduced, "all_gather")] += F32 * local * (n - 1) / n
        n = degree_of(reduced)
        if reduced:
            sent[key(reduced, "reduce_scatter")] += F32 * local * (n - 1) / n * sums
        rest = [axis for axis in partial if axis not in reduced]
        if rest:  # sums of sums: once a step, of shards
            r = degree_of(rest)
            sent[key(rest, "all_reduce")] += 2 * F32 * local / n * (r - 1) / r

    def layer_count(self, rank) -> int:
        if self.row.stages:
            return sum(self.row.stages[stage] for stage in self.stages_of(rank))
        return sum(layer.count for layer in self.family.layers)

    def add_tensor_parallel(self, sent, rank):
        """[SP], section 4.2: all-gathers and reduce-scatters around attention and MLP; the backward pass gathers
        again what weight gradients read. Recomputation repeats the forward pass except its last sum."""
        axes = self.map.of_tensors()
        if not axes or not self.row.dense:
            return
        t = degree_of(axes)
        whole = BF16 * self.tokens * self.family.sizes["e"] * (t - 1) / t
        layers = self.layer_count(rank)
        blocks = self.row.blocks  # 2: attention and MLP; 1: both read the same norm and are added before their sum
        again = blocks - 1 if self.row.recompute == "full" else 0
        outer = self.outer_of(rank)
        has_table, has_head = ("v", "e") in outer, outer[-1:] == [self.family.outer[-1]]
        if all("seq" in axis.fallback for axis in axes):
            sent[key(axes, "all_gather")] += whole * (layers * 3 * blocks + has_table + has_head)
            sent[key(axes, "reduce_scatter")] += whole * (layers * (2 * blocks + again) + has_table + has_head)
        else:
            sent[key(axes, "all_reduce")] += 2 * whole * (layers * (2 * blocks + again) + has_table + has_head)

    def add_context(self, sent, rank):
        axis = self.map.of_positions()
        if not axis or axis.degree == 1 or "k" not in self.family.sizes:
            return
        n, s, layers = axis.degree, self.family.sizes, self.layer_count(rank)
        tensor = degree_of(axis for axis in self.map.of_tensors() if "kv_heads" in axis.splits)
        shard = BF16 * self.tokens * s["k"] * s["d"] * layers / tensor  # of keys, of all layers
        full = self.row.recompute == "full"
        if axis.method == "gather":  # keys and values, again in the backward pass; the sums of their cotangents
            sent[key([axis], "all_gather")] += 2 * 2 * shard * (n - 1)
            sent[key([axis], "reduce_scatter")] += 2 * shard * (n - 1)
        elif axis.method == "ring":
            # [RingAttention]: each pass moves the shards n - 1 times; their cotangents, f32, n times.
            passes = 3 if full else 2
            sent[key([axis], "permute")] += passes * 2 * shard * (n - 1) + 2 * 2 * shard * n
        else:
            # [Ulysses]: q, k, v and the result; the cotangents of all four. Residuals have one sharding: operands move
            # again, and the result, which attention reads by heads and the gradient of its projection by positions.
            q = s["g"] * shard
            passes = 2 * q + 2 * shard  # q and the result, k and v
            times = 3 if full else 2
            again = 2 * q + 2 * shard if not full else 0
            sent[key([axis], "all_to_all")] += (passes * times + again) * (n - 1) / n

    def add_experts(self, sent, rank):
        axis = self.map.of_experts()
        layer = self.family.layers[-1]
        if not axis or not layer.active:
            return
        n, layers = axis.degree, layer.count
        rows = BF16 * self.tokens * self.family.sizes["e"] * layers
        if self.row.capacity:  # [GShard]: lists to the experts and back; the lists again in the backward pass
            rows *= self.family.sizes["active"] * self.row.capacity
            sent[key([axis], "all_to_all")] += 5 * rows * (n - 1) / n
        elif "batch" in axis.splits:  # tokens gathered, again in the backward pass, with the cotangents of results
            sent[key([axis], "all_gather")] += 3 * rows * (n - 1)
            sent[key([axis], "reduce_scatter")] += 2 * rows * (n - 1)

    def add_pipeline(self, sent, rank):
        """[Megatron], section 2: activations to the next stage, cotangents to the previous one, per microbatch."""
        axis = self.map.pipeline()
        if not axis or axis.degree == 1:
            return
        value = BF16 * self.tokens * self.family.sizes["e"]
        if all("seq" in other.fallback for other in self.map.of_tensors()):
            value /= degree_of(self.map.of_tensors())
        last = len(self.row.stages) - 1
        own = self.stages_of(rank)
        for stage in own:
            forward = stage < last and stage + 1 not in own
            backward = stage > 0 and stage - 1 not in own
            sent[key([axis], "send")] += value * (forward + backward)

    # ---- computed ----

    def flops(self) -> float:
        """Per token, executed: two per weight and product, three products with the backward pass ([Megatron],
        section 3, without its term for the vocabulary's table); attention under its mask, [Flash]."""
        family, forward, total = self.family, 0.0, 0.0
        for layer in family.layers:
            weights = sum(family.size(param) * layer.active.get(param, 1) * self.capacity_of(layer, param)
                          for param in layer.params if len(param) > 1)
            total += 6 * layer.count * weights
            unread = sum(family.size(param) * layer.active.get(param, 1) * self.capacity_of(layer, param)
                         for param in layer.last)
            forward += 2 * layer.count * (weights - unread)
        total += 6 * family.size(("v", "e"))  # the head, tied or not
        queries, values = family.attention
        for layers, window in family.windows(self.row.seq):
            # Positions that a query sees: all earlier ones, at most the window.
            visible = sum(min(at + 1, window) for at in range(self.row.seq)) / self.row.seq
            attention = 2 * layers * visible * (queries + values)
            total += attention * 3.5
            forward += attention
        return total + self.repeated(forward)

    def repeated(self, forward) -> float:
        """The operations of the forward pass of layers that the policy repeats: `forward` are those of all."""
        if self.row.recompute == "block GatedMlp":
            return sum(2 * layer.count * 2 * self.family.size(("e", "f")) for layer in self.family.layers)
        return {"none": 0, "full": 1, "every 2": 0.5}[self.row.recompute] * forward

    def capacity_of(self, layer, param) -> float:
        return self.row.capacity if self.row.capacity and param in layer.active else 1

    # ---- peak ----

    def wide(self) -> tuple[float, int]:
        """(elements per token of a layer's widest values, the number of them in flight): the product of gate and up and
        two cotangents in a gated MLP, the activation and one in another. Experts compute `active` rows for a token;
        those of an axis that gathers tokens compute the tokens of all its ranks, at most as many rows as they have
        experts. Their gate and up are in flight, too."""
        s, layer = self.family.sizes, self.family.layers[-1]
        if not layer.active:
            gated = self.family.layers[0].params.count(("e", "f")) == 2
            return self.local_width(("f",)), 3 if gated else 2
        width, rows = s.get("F", s["f"]), s["active"]
        axis = self.map.of_experts()
        if axis and not self.row.capacity:
            rows = axis.degree * min(rows, s["x"] // axis.degree)
        elif self.row.capacity:
            rows *= self.row.capacity
        return rows * width, 5

    def recomputed(self) -> float:
        """Elements per token that a fully recomputed layer holds beside its input: those of the layer with most."""
        if self.row.recompute == "block GatedMlp":
            return 2 * self.local_width(("f",))
        if self.row.recompute == "none":
            return 0
        return max(sum(self.local_width(dims) for dims in layer.saved[1:]) for layer in self.family.layers)

    def working(self) -> float:
        """What the backward pass of one layer needs beside residuals, in bf16 ([SP], equation 2, with flash attention):
        recomputed values; the normalised input of the MLP and two cotangents of the residual stream; with sequence
        parallelism also whole values of the stream: the inputs of both blocks and two cotangents."""
        stream = self.local_width(("e",))
        width, count = self.wide()
        sequence = [axis for axis in self.map.of_tensors() if "seq" in axis.fallback]
        whole = (4 if self.row.recompute == "full" else 3) * stream * degree_of(sequence) if sequence else 0
        per_token = self.recomputed() + 3 * stream + whole + count * width
        axis = self.map.of_positions()
        if axis and axis.method == "gather":  # keys and values of all ranks, and their cotangents
            per_token += 2 * 2 * axis.degree * self.local_width(("k", "d"))
        return BF16 * per_token * self.tokens_of_microbatch

    def gathered(self) -> float:
        """A layer's parameters in bf16, and those of the next, prefetched; its largest unreduced gradient in f32."""
        layer = self.family.layers[-1]
        sharded = any(self.storing(param, "params") for param in layer.params)
        weights = sum(self.local(param) for param in layer.params)
        return (2 if sharded else 1) * BF16 * weights + F32 * max(self.local(param) for param in layer.params)

    def kept(self, rank=0) -> float:
        """Parameters that are gathered, and gradients that are not reduced, for all microbatches of a step."""
        params = self.sum_over(rank, lambda param: self.local(param) if self.storing(param, "params") else 0)
        grads = self.sum_over(rank, lambda param: self.local(param) if self.storing(param, "optimizer") else 0)
        if self.microbatches == 1:
            return 0
        return BF16 * params * self.gathers_once() + F32 * grads * self.reduces_once()

    def peak_of_rank(self, rank) -> float:
        """Of a rank of a pipeline: what it stores and keeps, its stashes, and the layer in progress."""
        return (self.parameters(rank) + self.optimizer(rank) + self.gradients(rank) + self.kept(rank)
                + self.stashes(rank) + self.working() + F32 * max(map(self.local, self.family.layers[-1].params)))

    def head(self) -> float:
        """The head and its loss: chunks of logits, half as large as the gradient of the head (docs/language.md), that
        gradient, unreduced in f32, and its parameter, which more than one chunk needs again."""
        head = self.local(("v", "e"))
        logits = BF16 * self.tokens_of_microbatch * head / self.family.sizes["e"]
        chunks = self.row.loss_chunks or max(1, ceil(logits / (F32 * head / 2)))
        return F32 * head + logits / chunks + (BF16 * head if chunks > 1 else 0)

    def peak(self) -> float:
        """Of a step without a pipeline: persistent tensors, and the larger of the head and of a layer. Layer by layer,
        the backward pass consumes residuals and produces gradients, so the larger of both counts. The gradient of a
        table that is also the head is complete, and reduced, only at the end. With `accumulate`, the sums of earlier
        microbatches exist throughout."""
        head = F32 * sum(self.stored(param, "optimizer") for param in self.family.outer)
        sums = self.gradients() if self.row.accumulate > 1 else 0
        layer = max(self.residuals() + sums, self.gradients() - head) + head + self.working() + self.gathered()
        if self.family.tied:
            layer += F32 * self.local(("v", "e"))
        return self.parameters() + self.optimizer() + self.kept() + max(layer, self.residuals() + sums + self.head())

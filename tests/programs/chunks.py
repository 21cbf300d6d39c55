"""Programs that combine each positional operation with each construct that slices a dimension.

An element of a positional operation depends on its index or on the whole dimension: rotations, indices,
choices, running sums, tables, ranges, masks, random numbers. Chunked losses, microbatches,
recomputation and meshes slice dimensions. Each pair is a program. titan-check-programs compares the
loss of the sliced program with that of the whole one, its gradient with finite differences, and
every later phase with the previous one.

`REFUSED` lists the pairs that the compiler rejects: the user requests slices of a dimension that
the operation needs whole. All other pairs must compute equal results.
"""

OPS = {
    "rotary over batch": "rope(h, over wide, along batch, theta = 20)",
    "rotary over seq": "rope(h, over wide, along seq, theta = 20)",
    "rotary over both": "rope(rope(h, over wide, along seq, theta = 9), over wide, along batch)",
    "index of batch": "h * (0.3 * float(index(batch)) + 0.1)",
    "index of seq": "where(index(seq) == 1, h * 0.3, h)",
    "comparison of indices": "h * mean(where(index(batch) < tokens, 0.4, 1), over seq)",
    "running sum of batch": "0.3 * cumulative_sum(h, along batch)",
    "running sum of seq": "0.3 * cumulative_sum(h, along seq, reverse = true)",
    "scatter along bins": "scatter(h + places, min(tokens, 3), along bins)",
    "scatter along batch": "h + scatter(mean(h, over batch), row, along batch)",
    "scatter along seq": "h + scatter(mean(h, over seq), column, along seq)",
    "scatter over seq": "h + expand(scatter(h, min(tokens, 3), along bins, over seq)[bins: 1], seq)",
    "take along batch": "h + expand(h[batch: row], batch)",
    "take along seq": "h + expand(h[seq: column], seq)",
    "take from a table": "h * spots[spot: index(seq)]",
    "top-k of batch": "h + expand(best[top: 0] * float(at[top: 0] + 1), batch)",
    "range of seq": "h + expand(mean(h[seq: 1..3 as front], over front), seq)",
    "shift along seq": "h + delayed(h, along seq, by = 1)",
    "concatenation of seq": "concat(h[seq: 2.. as back] along back, h[seq: 0..2 as front] along front as seq)",
    "split of seq": "h + expand(mean(split(h, seq as (outer, inner)), over inner)[outer: 1], seq)",
    "merge of batch": "split(tanh(merge(h, (batch, seq) as all)), all as (batch, seq))",
    "softmax of batch": "h * softmax(h, over batch)",
    "maximum of seq": "h - max(h, over seq)",
    "attention": "h + attention(h, h, h, over wide, along seq, mask = causal and document(tokens))",
    "attention along batch": "h + attention(h, h, h, over wide, along batch, mask = window(2))",
    "random numbers": "h * random_uniform(batch, seq, wide)",
    "random numbers of seq": "h * random_uniform(batch) + 0.4 * random_normal(seq, wide)",
    "random numbers in a row": "h * (1 + sum(random_uniform(wide, batch), over wide))",
    "dropout": "dropout(h, 0.4)",
}

# Settings, axis rules, and whether the operation is in a recomputed layer.
REGIONS = {
    "loss in 2 chunks": (["loss_chunks = 2"], "", False),
    "loss in chosen chunks": (["loss_chunks = 0"], "", False),
    "loss in chunks of split batches": (["loss_chunks = 2"], "dp = 2 splits batch", False),
    "loss in chunks of split sequences": (["loss_chunks = 2"], "sp = 2 splits seq", False),
    "loss in chunks of mirrored sequences": (["loss_chunks = 2"], "sp = 2 splits seq { order = headtail }", False),
    "2 microbatches": (["accumulate = 2"], "", False),
    "microbatches of split batches": (["accumulate = 2"], "dp = 2 splits batch", False),
    "microbatches, recomputed": (["accumulate = 2", "recompute = full"], "", True),
    "recomputed": (["recompute = full"], "", True),
    "split sequences, recomputed": (["recompute = full"], "sp = 2 splits seq", True),
    "mirrored sequences, recomputed": (["recompute = full"], "sp = 2 splits seq { order = headtail }", True),
    "split batches": ([], "dp = 2 splits batch", False),
    "split rows": ([], "tp = 2 splits ROWS", False),
}

MODEL = """import std.rotary, std.shift

model M(embed = 4, wide = 8, bins = 4, vocab = 8, layers = 2) {{
  input tokens: int[batch, seq]
  dims outer = 2
  dims spot = 4
  param table[vocab, embed] ~ normal(0.8)
  param w[embed, wide] ~ normal(0.6)
  {more}
  let row = min(index(seq), batch - 1)
  let column = min(max(tokens, over seq), seq - 1)
  let x[batch, seq, embed] = table[vocab: tokens]
  {head}
  {loss}
}}
{parallel}
train t = M{on} {{
  data = text("none.txt") {{ seq = 4, batch = 4 }}
  precision {{ params = f64, compute = f64 }}
  optimizer = adamw {{ lr = 1e-3, eps = 1e-4 }}
  {settings}
}}
"""
LAYERS = """repeat layers {{
    let h[batch, seq, wide] = x @ w
    {before}
    let y = tanh({op})
    let back[batch, seq, embed] = {sum} @ w
    x = x + 0.5 * back
  }}"""
WHOLE = """let h[batch, seq, wide] = x @ w
  {before}
  let y = {op}"""
# Declarations that some operations need.
BEFORE = {"best": "let best, at = top_k(h, 1, over batch as top)"}
MORE = {"places": "param places[seq, wide] ~ normal(0.4)", "spots": "param spots[spot, wide] ~ normal(0.5)"}


def select_declarations(line_of: dict[str, str], text: str) -> str:
    """The declarations of the names that occur in `text`."""
    return "".join(line for name, line in line_of.items() if name in text)


def program(op: str, region: str) -> str:
    settings, mesh, is_layer = REGIONS[region]
    text = OPS[op]
    bins = "along bins" in text and "[bins:" not in text
    if is_layer:
        head = LAYERS.format(op=text, sum="sum(y, over bins)" if bins else "y", before=select_declarations(BEFORE, text))
        loss = "loss = mean(tanh(x) * x, over batch, seq, embed)"
    else:
        head = WHOLE.format(op=text, before=select_declarations(BEFORE, text))
        loss = f"loss = mean(tanh(y) * y, over batch, seq, wide{', bins' if bins else ''})"
    mesh = mesh.replace("ROWS", "bins" if "bins" in text else "spot" if "spot" in text else "wide")
    return MODEL.format(head=head, loss=loss, settings="\n  ".join(settings), more=select_declarations(MORE, text),
                        parallel=f"parallel map {{ {mesh} }}" if mesh else "",
                        on=" on map" if mesh else "")


def pairs() -> list[tuple[str, str]]:
    return [(op, region) for op in OPS for region in REGIONS]


# The slicings by their dimension, if the user requests them: the outermost dimension that no axis
# shards and no parameter has. The compiler's own choice skips dimensions that must stay whole.
SEQ_CHUNKS = ["loss in 2 chunks", "loss in chunks of split batches"]
LOSS_BATCH = ["loss in chunks of split sequences", "loss in chunks of mirrored sequences"]
STEP_BATCH = ["2 microbatches", "microbatches of split batches"]
BATCH_SLICES = [*LOSS_BATCH, *STEP_BATCH, "microbatches, recomputed"]
NEEDS_WHOLE = {
    "running sum of batch": BATCH_SLICES, "scatter along batch": BATCH_SLICES,
    "take along batch": BATCH_SLICES, "top-k of batch": BATCH_SLICES,
    "softmax of batch": BATCH_SLICES, "attention along batch": BATCH_SLICES,
    "running sum of seq": SEQ_CHUNKS, "scatter along seq": SEQ_CHUNKS, "scatter over seq": SEQ_CHUNKS,
    "take along seq": SEQ_CHUNKS, "range of seq": SEQ_CHUNKS, "shift along seq": SEQ_CHUNKS,
    "concatenation of seq": SEQ_CHUNKS, "split of seq": SEQ_CHUNKS, "maximum of seq": SEQ_CHUNKS,
    "attention": SEQ_CHUNKS,
    "scatter along bins": SEQ_CHUNKS,  # a parameter has seq, and bins are indexed
    "merge of batch": STEP_BATCH,  # the cotangent of `all` cannot be sliced
}
REFUSED = {(op, region) for op, regions in NEEDS_WHOLE.items() for region in regions}

// A decoder of two layers with the structure of larger ones: grouped queries, gated feed-forward, an untied head.
// It has no mesh; tests prepend one.
!tokens = !titan.tensor<i64[batch = 8, seq = 8]>
!table = !titan.tensor<f32[vocab = 16, embed = 16]>
!embed = !titan.tensor<f32[embed = 16]>
!unembed = !titan.tensor<f32[embed = 16, vocab = 16]>
!layers_embed = !titan.tensor<f32[layers = 2, embed = 16]>
!layers_wq = !titan.tensor<f32[layers = 2, embed = 16, heads = 4, group = 2, head = 4]>
!layers_wkv = !titan.tensor<f32[layers = 2, embed = 16, heads = 4, head = 4]>
!layers_wo = !titan.tensor<f32[layers = 2, heads = 4, group = 2, head = 4, embed = 16]>
!layers_up = !titan.tensor<f32[layers = 2, embed = 16, ffn = 32]>
!layers_down = !titan.tensor<f32[layers = 2, ffn = 32, embed = 16]>
!s = !titan.tensor<f32[]>
!x = !titan.tensor<f32[batch = 8, seq = 8, embed = 16]>
!index = !titan.tensor<i64[]>
!wq = !titan.tensor<f32[embed = 16, heads = 4, group = 2, head = 4]>
!wkv = !titan.tensor<f32[embed = 16, heads = 4, head = 4]>
!wo = !titan.tensor<f32[heads = 4, group = 2, head = 4, embed = 16]>
!up = !titan.tensor<f32[embed = 16, ffn = 32]>
!down = !titan.tensor<f32[ffn = 32, embed = 16]>
!rows = !titan.tensor<f32[batch = 8, seq = 8]>
!q = !titan.tensor<f32[batch = 8, seq = 8, heads = 4, group = 2, head = 4]>
!kv = !titan.tensor<f32[batch = 8, seq = 8, heads = 4, head = 4]>
!lse = !titan.tensor<f32[batch = 8, seq = 8, heads = 4, group = 2]>
!wide = !titan.tensor<f32[batch = 8, seq = 8, ffn = 32]>
!logits = !titan.tensor<f32[batch = 8, seq = 8, vocab = 16]>

func.func @train(%tokens: !tokens {titan.input = "tokens"},
    %labels: !tokens {titan.input = "labels"},
    %table: !table {titan.param = "table", titan.updated_by = @adamw, titan.init = #titan.init<normal, [0.5]>},
    %norm: !embed {titan.param = "norm", titan.updated_by = @adamw, titan.init = #titan.init<normal, [0.5]>},
    %unembed: !unembed {titan.param = "unembed", titan.updated_by = @adamw, titan.init = #titan.init<normal, [0.5]>},
    %an: !layers_embed {titan.param = "layers.an", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %wq: !layers_wq {titan.param = "layers.wq", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %wk: !layers_wkv {titan.param = "layers.wk", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %wv: !layers_wkv {titan.param = "layers.wv", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %wo: !layers_wo {titan.param = "layers.wo", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %fn: !layers_embed {titan.param = "layers.fn", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %w1: !layers_up {titan.param = "layers.w1", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %w3: !layers_up {titan.param = "layers.w3", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %w2: !layers_down {titan.param = "layers.w2", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>}) -> (!s {titan.output = "loss"}) attributes {titan.program = "train", titan.clip = 1.0 : f64} {
  %v1 = titan.gather %table along "vocab" at %tokens : (!table, !tokens) -> !x
  %v2 = titan.sharding_constraint %v1 : !x -> !x
  %y3 = titan.repeat <layers = 2> iter_args(%v2) scanned(%an, %wq, %wk, %wv, %wo, %fn, %w1, %w3, %w2) : (!x, !layers_embed, !layers_wq, !layers_wkv, !layers_wkv, !layers_wo, !layers_embed, !layers_up, !layers_up, !layers_down) -> !x {
  ^bb0(%l: !index, %c: !x, %l_an: !embed, %l_wq: !wq, %l_wk: !wkv, %l_wv: !wkv, %l_wo: !wo, %l_fn: !embed, %l_w1: !up, %l_w3: !up, %l_w2: !down):
    %v4 = titan.mul %c, %c : (!x, !x) -> !x
    %v5 = titan.reduce sum %v4 : !x -> !rows
    %v6 = titan.constant 6.250000e-02 : !s
    %v7 = titan.mul %v5, %v6 : (!rows, !s) -> !rows
    %v8 = titan.constant 1.000000e-05 : !s
    %v9 = titan.add %v7, %v8 : (!rows, !s) -> !rows
    %v10 = titan.rsqrt %v9 : !rows -> !rows
    %v11 = titan.mul %c, %v10 : (!x, !rows) -> !x
    %v12 = titan.mul %v11, %l_an : (!x, !embed) -> !x
    %q13 = titan.contract %v12, %l_wq : (!x, !wq) -> !q
    %v14 = titan.sharding_constraint %q13 : !q -> !q
    %v15 = titan.contract %v12, %l_wk : (!x, !wkv) -> !kv
    %v16 = titan.sharding_constraint %v15 : !kv -> !kv
    %v17 = titan.contract %v12, %l_wv : (!x, !wkv) -> !kv
    %v18 = titan.sharding_constraint %v17 : !kv -> !kv
    %v19 = titan.rotary %v14 along "seq" dim "head" {theta = 1.0e+04, interleaved} : !q -> !q
    %v20 = titan.rotary %v16 along "seq" dim "head" {theta = 1.0e+04, interleaved} : !kv -> !kv
    %v21, %v22 = titan.attention %v19, %v20, %v18 along "seq" head "head" {scale = 0.5, causal} : (!q, !kv, !kv) -> (!q, !lse)
    %v23 = titan.contract %v21, %l_wo : (!q, !wo) -> !x
    %v24 = titan.add %c, %v23 : (!x, !x) -> !x
    %v25 = titan.sharding_constraint %v24 : !x -> !x
    %v26 = titan.mul %v25, %v25 : (!x, !x) -> !x
    %v27 = titan.reduce sum %v26 : !x -> !rows
    %v28 = titan.constant 6.250000e-02 : !s
    %v29 = titan.mul %v27, %v28 : (!rows, !s) -> !rows
    %v30 = titan.constant 1.000000e-05 : !s
    %v31 = titan.add %v29, %v30 : (!rows, !s) -> !rows
    %v32 = titan.rsqrt %v31 : !rows -> !rows
    %v33 = titan.mul %v25, %v32 : (!x, !rows) -> !x
    %v34 = titan.mul %v33, %l_fn : (!x, !embed) -> !x
    %v35 = titan.contract %v34, %l_w1 : (!x, !up) -> !wide
    %v36 = titan.sharding_constraint %v35 : !wide -> !wide
    %v37 = titan.contract %v34, %l_w3 : (!x, !up) -> !wide
    %v38 = titan.sigmoid %v36 : !wide -> !wide
    %v39 = titan.mul %v36, %v38 : (!wide, !wide) -> !wide
    %v40 = titan.mul %v39, %v37 : (!wide, !wide) -> !wide
    %v41 = titan.contract %v40, %l_w2 : (!wide, !down) -> !x
    %v42 = titan.add %v25, %v41 : (!x, !x) -> !x
    %v43 = titan.sharding_constraint %v42 : !x -> !x
    titan.yield %v43 : !x
  }
  %v44 = titan.mul %y3, %y3 : (!x, !x) -> !x
  %v45 = titan.reduce sum %v44 : !x -> !rows
  %v46 = titan.constant 6.250000e-02 : !s
  %v47 = titan.mul %v45, %v46 : (!rows, !s) -> !rows
  %v48 = titan.constant 1.000000e-05 : !s
  %v49 = titan.add %v47, %v48 : (!rows, !s) -> !rows
  %v50 = titan.rsqrt %v49 : !rows -> !rows
  %v51 = titan.mul %y3, %v50 : (!x, !rows) -> !x
  %v52 = titan.mul %v51, %norm : (!x, !embed) -> !x
  %v53 = titan.contract %v52, %unembed : (!x, !unembed) -> !logits
  %v54 = titan.sharding_constraint %v53 : !logits -> !logits
  %v55 = titan.reduce max %v54 : !logits -> !rows
  %v56 = titan.sub %v54, %v55 : (!logits, !rows) -> !logits
  %v57 = titan.exp %v56 : !logits -> !logits
  %v58 = titan.reduce sum %v57 : !logits -> !rows
  %v59 = titan.log %v58 : !rows -> !rows
  %v60 = titan.gather %v56 along "vocab" at %labels : (!logits, !tokens) -> !rows
  %v61 = titan.sub %v59, %v60 : (!rows, !rows) -> !rows
  %v62 = titan.reduce sum %v61 : !rows -> !s
  %v63 = titan.constant 1.562500e-02 : !s
  %v64 = titan.mul %v62, %v63 : (!s, !s) -> !s
  return %v64 : !s
}

// AdamW as a function of scalars, which applies to parameters of any dimensions.
func.func private @adamw(%p: !titan.tensor<f32[]> {titan.operand = "parameter"}, %g: !titan.tensor<f32[]> {titan.operand = "gradient"},
    %lr: !titan.tensor<f32[]> {titan.scalar = "lr"}, %step: !titan.tensor<f32[]> {titan.scalar = "step"},
    %m: !titan.tensor<f32[]> {titan.state = "m"}, %v: !titan.tensor<f32[]> {titan.state = "v"})
    -> (!titan.tensor<f32[]> {titan.updates = 0 : i64}, !titan.tensor<f32[]> {titan.updates = 4 : i64}, !titan.tensor<f32[]> {titan.updates = 5 : i64})
    attributes {titan.optimizer} {
  %one = titan.constant 1.0 : !titan.tensor<f32[]>
  %beta1 = titan.constant 0.9 : !titan.tensor<f32[]>
  %new1 = titan.constant 0.1 : !titan.tensor<f32[]>
  %beta2 = titan.constant 0.95 : !titan.tensor<f32[]>
  %new2 = titan.constant 0.05 : !titan.tensor<f32[]>
  %eps = titan.constant 1.0e-8 : !titan.tensor<f32[]>
  %old_m = titan.mul %beta1, %m : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %add_m = titan.mul %new1, %g : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %m1 = titan.add %old_m, %add_m : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %square = titan.mul %g, %g : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %old_v = titan.mul %beta2, %v : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %add_v = titan.mul %new2, %square : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %v1 = titan.add %old_v, %add_v : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %power1 = titan.pow %beta1, %step : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %c1 = titan.sub %one, %power1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %power2 = titan.pow %beta2, %step : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %c2 = titan.sub %one, %power2 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %variance = titan.div %v1, %c2 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %deviation = titan.sqrt %variance : !titan.tensor<f32[]> -> !titan.tensor<f32[]>
  %size = titan.add %deviation, %eps : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %rate = titan.div %lr, %c1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %scaled = titan.mul %rate, %m1 : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %move = titan.div %scaled, %size : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  %p1 = titan.sub %p, %move : (!titan.tensor<f32[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[]>
  return %p1, %m1, %v1 : !titan.tensor<f32[]>, !titan.tensor<f32[]>, !titan.tensor<f32[]>
}

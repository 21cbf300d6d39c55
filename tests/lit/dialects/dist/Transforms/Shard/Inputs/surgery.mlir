// A model of the operations that decoder.mlir lacks: attention in elementary operations, and dimensions that
// are split, merged, sliced, padded and renamed. It has no mesh; tests prepend one.
!tokens = !titan.tensor<i64[batch = 8, seq = 8]>
!table = !titan.tensor<f32[vocab = 16, embed = 16]>
!layers_w = !titan.tensor<f32[layers = 2, embed = 16, heads = 4, head = 4]>
!layers_wo = !titan.tensor<f32[layers = 2, inner = 16, embed = 16]>
!layers_b = !titan.tensor<f32[layers = 2, embed = 16]>
!layers_gain = !titan.tensor<f32[layers = 2]>
!w = !titan.tensor<f32[embed = 16, heads = 4, head = 4]>
!wo = !titan.tensor<f32[inner = 16, embed = 16]>
!b = !titan.tensor<f32[embed = 16]>
!x = !titan.tensor<f32[batch = 8, seq = 8, embed = 16]>
!xp = !titan.tensor<f32[batch = 8, seq = 8, pair = 8, two = 2]>
!rows = !titan.tensor<f32[batch = 8, seq = 8]>
!q = !titan.tensor<f32[batch = 8, seq = 8, heads = 4, head = 4]>
!k = !titan.tensor<f32[batch = 8, keys = 8 of seq, heads = 4, head = 4]>
!inner = !titan.tensor<f32[batch = 8, seq = 8, inner = 16]>
!scores = !titan.tensor<f32[batch = 8, seq = 8, heads = 4, keys = 8 of seq]>
!tops = !titan.tensor<f32[batch = 8, seq = 8, heads = 4]>
!mask = !titan.tensor<i1[seq = 8, keys = 8 of seq]>
!i = !titan.tensor<i64[seq = 8]>
!j = !titan.tensor<i64[keys = 8 of seq]>
!prefix = !titan.tensor<f32[batch = 8, prefix = 4 of seq, embed = 16]>
!s = !titan.tensor<f32[]>

func.func @train(%tokens: !tokens {titan.input = "tokens"}, %labels: !tokens {titan.input = "labels"},
    %table: !table {titan.param = "table", titan.updated_by = @adamw, titan.init = #titan.init<normal, [0.5]>},
    %scale: !s {titan.param = "scale", titan.updated_by = @adamw, titan.init = #titan.init<constant, [0.5]>},
    %wq: !layers_w {titan.param = "layers.wq", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %wk: !layers_w {titan.param = "layers.wk", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %wo: !layers_wo {titan.param = "layers.wo", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %b: !layers_b {titan.param = "layers.b", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<normal, [0.5]>},
    %gain: !layers_gain {titan.param = "layers.gain", titan.updated_by = @adamw, titan.stacked, titan.init = #titan.init<constant, [0.7]>})
    -> (!s {titan.output = "loss"})
    attributes {titan.program = "train", titan.clip = 1.0 : f64} {
  %0 = titan.gather %table along "vocab" at %tokens : (!table, !tokens) -> !x
  %x0 = titan.sharding_constraint %0 : !x -> !x
  // Values that the repeat uses and operations outside of it define: a mask, and a parameter whose gradient is an iteration argument.
  %i = titan.iota : !i
  %j = titan.iota : !j
  %mask = titan.compare ge, %i, %j : (!i, !j) -> !mask
  %low = titan.constant -1.0e+09 : !s
  %none = titan.constant 0.0 : !s
  %y, %side = titan.repeat <layers = 2> iter_args(%x0, %none) scanned(%wq, %wk, %wo, %b, %gain)
      : (!x, !s, !layers_w, !layers_w, !layers_wo, !layers_b, !layers_gain) -> (!x, !s) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %aux: !s, %q_: !w, %k_: !w, %o_: !wo, %b_: !b, %gain_: !s):
    %1 = titan.contract %c, %q_ : (!x, !w) -> !q
    %q = titan.sharding_constraint %1 : !q -> !q
    %2 = titan.contract %c, %k_ : (!x, !w) -> !q
    %k = titan.rename %2 : !q -> !k
    %3 = titan.contract %q, %k : (!q, !k) -> !scores
    %4 = titan.mul %3, %scale : (!scores, !s) -> !scores
    %5 = titan.select %mask, %4, %low : (!mask, !scores, !s) -> !scores
    %top = titan.reduce max %5 : !scores -> !tops
    %6 = titan.sub %5, %top : (!scores, !tops) -> !scores
    %7 = titan.exp %6 : !scores -> !scores
    %8 = titan.reduce sum %7 : !scores -> !tops
    %p = titan.div %7, %8 : (!scores, !tops) -> !scores
    %9 = titan.contract %p, %k : (!scores, !k) -> !q
    %10 = titan.merge %9 dim "inner" : !q -> !inner
    %11 = titan.contract %10, %o_ : (!inner, !wo) -> !x
    %12 = titan.add %11, %b_ : (!x, !b) -> !x
    %13 = titan.split %12 dim "embed" : !x -> !xp
    %14 = titan.tanh %13 : !xp -> !xp
    %15 = titan.merge %14 dim "embed" : !xp -> !x
    %16 = titan.slice %15 dim "seq" from 2 : !x -> !prefix
    %17 = titan.sigmoid %16 : !prefix -> !prefix
    %18 = titan.pad %17 dim "seq" from 1 : !prefix -> !x
    %19 = titan.add %15, %18 : (!x, !x) -> !x
    %20 = titan.mul %19, %gain_ : (!x, !s) -> !x
    %21 = titan.add %c, %20 : (!x, !x) -> !x
    %next = titan.sharding_constraint %21 : !x -> !x
    %22 = titan.mul %20, %20 : (!x, !x) -> !x
    %23 = titan.reduce sum %22 : !x -> !s
    %24 = titan.add %aux, %23 : (!s, !s) -> !s
    titan.yield %next, %24 : !x, !s
  }
  %25 = titan.contract %y, %table : (!x, !table) -> !titan.tensor<f32[batch = 8, seq = 8, vocab = 16]>
  %26 = titan.gather %25 along "vocab" at %labels : (!titan.tensor<f32[batch = 8, seq = 8, vocab = 16]>, !tokens) -> !rows
  %27 = titan.reduce sum %26 : !rows -> !s
  %28 = titan.sub %side, %27 : (!s, !s) -> !s
  %29 = titan.constant 1.0e-02 : !s
  %loss = titan.mul %28, %29 : (!s, !s) -> !s
  return %loss : !s
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

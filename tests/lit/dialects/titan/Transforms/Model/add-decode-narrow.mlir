// RUN: titan-opt %s --split-input-file --titan-add-decode="prefill=4" | FileCheck %s

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!e = !titan.tensor<f32[batch = 1, seq = 8, embed = 8]>
!c = !titan.tensor<f32[batch = 1, seq = 8, rank = 2]>
!r = !titan.tensor<f32[batch = 1, seq = 8, turned = 2]>
!k = !titan.tensor<f32[batch = 1, seq = 8, heads = 4, head = 4]>
!rk = !titan.tensor<f32[batch = 1, seq = 8, turned = 2, heads = 4]>
!rq = !titan.tensor<f32[batch = 1, seq = 8, heads = 4, turned = 2]>
!j = !titan.tensor<f32[batch = 1, seq = 8, heads = 4, joined = 6]>
!rj = !titan.tensor<f32[batch = 1, seq = 8, joined = 6, heads = 4]>
!v = !titan.tensor<f32[batch = 1, seq = 8, heads = 4, value = 3]>
!lse = !titan.tensor<f32[batch = 1, seq = 8, heads = 4]>

// Keys are weights times narrow rows, beside rotated rows that all heads share; values are other weights
// times the narrow rows. The weights multiply query and result instead, and the rows are cached. Keys contain the rows
// of the values, so that attention reads the keys as values, and a range of its result is used.
// CHECK: func.func @logits
// CHECK: titan.attention {{.*}} head "joined"
// CHECK: func.func @decode(
// CHECK-SAME: %[[KC:[^ ]*]]: !titan.tensor<f32[batch = 1, seq = 8, joined.narrow = 4]> {titan.cache = "k"}
// CHECK-NOT: titan.cache
// CHECK: %[[C:.*]] = titan.contract {{.*}} -> !titan.tensor<f32[batch = 1, seq = 1, rank = 2]>
// CHECK: %[[Q:.*]] = titan.contract {{.*}} -> !titan.tensor<f32[batch = 1, seq = 1, heads = 4, head = 4]>
// CHECK: %[[KT:.*]] = titan.rotary {{.*}} -> <f32[batch = 1, seq = 1, turned = 2]>
// CHECK: %[[QT:.*]] = titan.rotary {{.*}} -> <f32[batch = 1, seq = 1, heads = 4, turned = 2]>
// CHECK-NOT: titan.expand
// CHECK: %[[QC:.*]] = titan.contract %[[Q]], %{{.*}} -> !titan.tensor<f32[batch = 1, seq = 1, heads = 4, rank = 2]>
// CHECK-DAG: titan.pad %[[QC]] dim "joined.narrow" from 0
// CHECK-DAG: titan.pad %[[QT]] dim "joined.narrow" from 2
// CHECK-DAG: titan.pad %[[C]] dim "joined.narrow" from 0
// CHECK-DAG: titan.pad %[[KT]] dim "joined.narrow" from 2
// CHECK: %[[K:.*]] = titan.insert_slice %{{.*}} into %[[KC]]
// CHECK: %[[V:.*]] = titan.rename %[[K]] : {{.*}} -> <f32[batch = 1, seq = 8, joined.narrow_value = 4]>
// CHECK: %[[A:.*]]:2 = titan.attention %{{.*}}, %[[K]], %[[V]] from %{{.*}} head "joined.narrow"
// CHECK: %[[R:.*]] = titan.slice %[[A]]#0 dim "joined.narrow_value" from 0 : {{.*}} -> <f32[batch = 1, seq = 1, heads = 4, rank = 2]>
// CHECK: titan.contract %[[R]], %{{.*}} -> !titan.tensor<f32[batch = 1, seq = 1, heads = 4, value = 3]>
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, embed = 8]> {titan.param = "table"},
                  %down: !titan.tensor<f32[embed = 8, rank = 2]> {titan.param = "down"},
                  %kt: !titan.tensor<f32[embed = 8, turned = 2]> {titan.param = "kt"},
                  %ku: !titan.tensor<f32[rank = 2, heads = 4, head = 4]> {titan.param = "ku"},
                  %vu: !titan.tensor<f32[rank = 2, heads = 4, value = 3]> {titan.param = "vu"},
                  %wq: !titan.tensor<f32[embed = 8, heads = 4, head = 4]> {titan.param = "wq"},
                  %qt: !titan.tensor<f32[embed = 8, heads = 4, turned = 2]> {titan.param = "qt"})
    -> (!v {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %e = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, embed = 8]>, !t) -> !e
  %c = titan.contract %e, %down : (!e, !titan.tensor<f32[embed = 8, rank = 2]>) -> !c loc("c")
  %k = titan.contract %c, %ku : (!c, !titan.tensor<f32[rank = 2, heads = 4, head = 4]>) -> !k
  %named = titan.sharding_constraint %k {titan.name = "k"} : !k -> !k
  %v = titan.contract %c, %vu : (!c, !titan.tensor<f32[rank = 2, heads = 4, value = 3]>) -> !v
  %q = titan.contract %e, %wq : (!e, !titan.tensor<f32[embed = 8, heads = 4, head = 4]>) -> !k
  %r = titan.contract %e, %kt : (!e, !titan.tensor<f32[embed = 8, turned = 2]>) -> !r
  %p = titan.contract %e, %qt : (!e, !titan.tensor<f32[embed = 8, heads = 4, turned = 2]>) -> !rq
  %rr = titan.rotary %r along "seq" dim "turned" {theta = 1.0e4} : !r -> !r
  %pr = titan.rotary %p along "seq" dim "turned" {theta = 1.0e4} : !rq -> !rq
  %q0 = titan.pad %q dim "joined" from 0 : !k -> !j
  %q1 = titan.pad %pr dim "joined" from 4 : !rq -> !j
  %qs = titan.add %q0, %q1 : (!j, !j) -> !j
  %re = titan.expand %rr : !r -> !rk
  %k0 = titan.pad %named dim "joined" from 0 : !k -> !j
  %k1 = titan.pad %re dim "joined" from 4 : !rk -> !rj
  %ks = titan.add %k0, %k1 : (!j, !rj) -> !j loc("k")
  %y, %lse = titan.attention %qs, %ks, %v along "seq" head "joined" {causal, scale = 1.0} : (!j, !j, !v) -> (!v, !lse)
  return %y : !v
}
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!e = !titan.tensor<f32[batch = 1, seq = 8, embed = 8]>
!k = !titan.tensor<f32[batch = 1, seq = 8, heads = 2, head = 4]>
!lse = !titan.tensor<f32[batch = 1, seq = 8, heads = 2]>

// Rows as wide as the keys are not narrower, so ordinary attention does not change.
// CHECK: func.func @decode(
// CHECK-SAME: !titan.tensor<f32[batch = 1, seq = 8, heads = 2, head = 4]> {titan.cache = "k"}
// CHECK: titan.attention {{.*}} head "head"
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, embed = 8]> {titan.param = "table"},
                  %wk: !titan.tensor<f32[embed = 8, heads = 2, head = 4]> {titan.param = "wk"})
    -> (!k {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %e = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, embed = 8]>, !t) -> !e
  %k = titan.contract %e, %wk : (!e, !titan.tensor<f32[embed = 8, heads = 2, head = 4]>) -> !k loc("k")
  %y, %lse = titan.attention %k, %k, %k along "seq" head "head" {causal, scale = 1.0} : (!k, !k, !k) -> (!k, !lse)
  return %y : !k
}
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!e = !titan.tensor<f32[batch = 1, seq = 8, embed = 7]>
!k = !titan.tensor<f32[batch = 1, seq = 8, heads = 2, head = 4]>
!lse = !titan.tensor<f32[batch = 1, seq = 8, heads = 2]>

// Rows that are hardly narrower, and without heads, would save little memory and cost many products:
// 14 elements instead of 16 in caches, and 28 products instead of 16.
// CHECK: func.func @decode(
// CHECK-SAME: !titan.tensor<f32[batch = 1, seq = 8, heads = 2, head = 4]> {titan.cache = "k"}
// CHECK: titan.attention {{.*}} head "head"
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, embed = 7]> {titan.param = "table"},
                  %wk: !titan.tensor<f32[embed = 7, heads = 2, head = 4]> {titan.param = "wk"})
    -> (!k {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %e = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, embed = 7]>, !t) -> !e
  %k = titan.contract %e, %wk : (!e, !titan.tensor<f32[embed = 7, heads = 2, head = 4]>) -> !k loc("k")
  %y, %lse = titan.attention %k, %k, %k along "seq" head "head" {causal, scale = 1.0} : (!k, !k, !k) -> (!k, !lse)
  return %y : !k
}
}

// -----

!t = !titan.tensor<i64[batch = 1, seq = 8]>
!e = !titan.tensor<f32[batch = 1, seq = 8, embed = 8]>
!c = !titan.tensor<f32[batch = 1, seq = 8, rank = 2]>
!k = !titan.tensor<f32[batch = 1, seq = 8, heads = 4, head = 4]>
!lse = !titan.tensor<f32[batch = 1, seq = 8, heads = 4]>

// Keys that are rotated after their product depend on the position: only values can be narrower, and would
// have the heads of keys.
// CHECK: func.func @decode(
// CHECK-SAME: !titan.tensor<f32[batch = 1, seq = 8, heads = 4, head = 4]> {titan.cache = "k"}
// CHECK-SAME: !titan.tensor<f32[batch = 1, seq = 8, heads = 4, head = 4]> {titan.cache = "v"}
module attributes {titan.data_dims = #titan.data_dims<samples = "batch", positions = "seq">} {
func.func @logits(%t: !t {titan.input = "tokens"}, %table: !titan.tensor<f32[vocab = 16, embed = 8]> {titan.param = "table"},
                  %down: !titan.tensor<f32[embed = 8, rank = 8]> {titan.param = "down"},
                  %wk: !titan.tensor<f32[rank = 8, heads = 4, head = 4]> {titan.param = "wk"})
    -> (!k {titan.output = "logits"}) attributes {titan.program = "logits"} {
  %e = titan.gather %table along "vocab" at %t : (!titan.tensor<f32[vocab = 16, embed = 8]>, !t) -> !e
  %c = titan.contract %e, %down : (!e, !titan.tensor<f32[embed = 8, rank = 8]>) -> !titan.tensor<f32[batch = 1, seq = 8, rank = 8]>
  %v = titan.contract %c, %wk : (!titan.tensor<f32[batch = 1, seq = 8, rank = 8]>, !titan.tensor<f32[rank = 8, heads = 4, head = 4]>) -> !k loc("v")
  %k = titan.rotary %v along "seq" dim "head" {theta = 1.0e4} : !k -> !k loc("k")
  %y, %lse = titan.attention %k, %k, %v along "seq" head "head" {causal, scale = 1.0} : (!k, !k, !k) -> (!k, !lse)
  return %y : !k
}
}

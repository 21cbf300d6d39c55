// RUN: titan-opt --dist-propagate %s | FileCheck %s

dist.mesh @mesh [#dist.axis<t = 2>]
dist.axis_rules "t" shards ["ffn"] fallback ["seq"] stores []

// A sharding propagates forward through operations that keep the dimension.
// CHECK-LABEL: func.func @forward
func.func @forward(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>) {
  // CHECK: titan.tanh {{.*}} -> {{.*}}<f32[seq = 8, embed = 4], <[{t}, {}]>>
  %0 = titan.tanh %x : !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>> -> !titan.tensor<f32[seq = 8, embed = 4]>
  // CHECK: titan.reduce sum {{.*}} -> {{.*}}<f32[seq = 8], <[{t}]>>
  %1 = titan.reduce sum %0 : !titan.tensor<f32[seq = 8, embed = 4]> -> !titan.tensor<f32[seq = 8]>
  return
}

// In a conflict the axis rules' first dimension wins: ffn before seq.
// CHECK-LABEL: func.func @conflict
func.func @conflict(%x: !titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>, %w: !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>>) {
  // CHECK: titan.contract {{.*}} -> {{.*}}<f32[seq = 8, ffn = 6], <[{}, {t}]>>
  %0 = titan.contract %x, %w : (!titan.tensor<f32[seq = 8, embed = 4], <[{t}, {}]>>, !titan.tensor<f32[embed = 4, ffn = 6], <[{}, {t}]>>) -> !titan.tensor<f32[seq = 8, ffn = 6]>
  return
}

// Each user of an index table gets its own copy with the sharding that the user needs.
// CHECK-LABEL: func.func @tables
func.func @tables(%a: !titan.tensor<i64[seq = 8], <[{t}]>>, %b: !titan.tensor<i64[seq = 8], <[{}]>>) {
  // CHECK-DAG: %[[SPLIT:.*]] = titan.iota : {{.*}}<i64[seq = 8], <[{t}]>>
  // CHECK-DAG: %[[WHOLE:.*]] = titan.iota : {{.*}}<i64[seq = 8], <[{}]>>
  %i = titan.iota : !titan.tensor<i64[seq = 8]>
  // CHECK: titan.compare ge, %{{.*}}, %[[SPLIT]]
  %0 = titan.compare ge, %a, %i : (!titan.tensor<i64[seq = 8], <[{t}]>>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<i1[seq = 8]>
  // CHECK: titan.compare ge, %{{.*}}, %[[WHOLE]]
  %1 = titan.compare ge, %b, %i : (!titan.tensor<i64[seq = 8], <[{}]>>, !titan.tensor<i64[seq = 8]>) -> !titan.tensor<i1[seq = 8], <[{}]>>
  return
}

// A stacked residual has the sharding of its slots, also in the repeat that scans it.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: !titan.tensor<f32[seq = 8], <[{t}]>>) {
  // CHECK: titan.repeat {{.*}} -> ({{.*}}<f32[seq = 8], <[{t}]>>, {{.*}}<f32[layers = 2, seq = 8], <[{}, {t}]>>)
  %0, %1 = titan.repeat <layers = 2> iter_args(%x) scanned() : (!titan.tensor<f32[seq = 8], <[{t}]>>) -> (!titan.tensor<f32[seq = 8], <[{t}]>>, !titan.tensor<f32[layers = 2, seq = 8]>) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !titan.tensor<f32[seq = 8], <[{t}]>>):
    %2 = titan.tanh %c : !titan.tensor<f32[seq = 8], <[{t}]>> -> !titan.tensor<f32[seq = 8]>
    titan.yield %c, %2 : !titan.tensor<f32[seq = 8], <[{t}]>>, !titan.tensor<f32[seq = 8]>
  }
  titan.repeat <layers = 2> reverse iter_args() scanned(%1) : (!titan.tensor<f32[layers = 2, seq = 8]>) -> () {
  // CHECK: ^bb0(%{{.*}}, %{{.*}}: !titan.tensor<f32[seq = 8], <[{t}]>>)
  ^bb0(%l: !titan.tensor<i64[]>, %s: !titan.tensor<f32[seq = 8]>):
    titan.yield
  }
  return
}

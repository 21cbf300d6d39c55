// Gathers and reductions of activations are divided with the products beside them.
//
// RUN: titan-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(dist-chunk-products{policy=always}))' | FileCheck %s
// RUN: titan-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(dist-chunk-products{policy=never}))' | FileCheck %s --check-prefix=NEVER
// RUN: titan-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(dist-chunk-products{policy=auto}))' | FileCheck %s --check-prefix=AUTO
// NEVER-NOT: dist.chunk
// AUTO-LABEL: func.func @gather
// AUTO: dist.whole = "2 chunks would cost 0.010 ms"
// AUTO-LABEL: func.func @long
// AUTO: dist.chunk = "1 of 4 of seq"

// Two products share the chunks of a gathered value; a weight gradient, which sums over the rows, reads the joined value.
// CHECK-LABEL: func.func @gather
// CHECK: %[[S:.*]] = titan.split %arg0 dim "batch"
// CHECK: titan.slice %[[S]] dim "batch.chunk" from 0
// CHECK: %[[G0:.*]] = dist.all_gather %{{.*}} over ["tp"] {dist.chunk = "1 of 2 of batch"}
// CHECK: %[[G1:.*]] = dist.all_gather %{{.*}} over ["tp"] {dist.chunk = "2 of 2 of batch"}
// CHECK: titan.contract %[[G0]], %arg1
// CHECK: titan.pad
// CHECK: titan.contract %[[G0]], %arg2
// CHECK: titan.pad
// CHECK: titan.contract %[[G1]], %arg1
// CHECK: titan.insert_slice
// CHECK: titan.contract %[[G1]], %arg2
// CHECK: titan.insert_slice
// CHECK: titan.pad
// CHECK: titan.insert_slice
// CHECK: %[[WHOLE:.*]] = titan.merge
// CHECK: titan.contract %[[WHOLE]], %arg3
dist.mesh @mesh [#dist.axis<"shard" = 2>, #dist.axis<"tp" = 2>]
!shard = !titan.tensor<f32[batch = 4, seq = 4, embed = 32], <[{shard}, {tp}, {}]>>
!whole = !titan.tensor<f32[batch = 4, seq = 4, embed = 32], <[{shard}, {}, {}]>>
!weight = !titan.tensor<f32[embed = 32, ffn = 4], <[{}, {tp}]>>
!wide = !titan.tensor<f32[batch = 4, seq = 4, ffn = 4], <[{shard}, {}, {tp}]>>
func.func @gather(%x: !shard, %a: !weight, %b: !weight, %d: !wide) -> (!wide, !wide, !titan.tensor<f32[embed = 32, ffn = 4], <[{}, {tp}] partial sum {shard}>>) {
  %g = dist.all_gather %x over ["tp"] : !shard -> !whole
  %y = titan.contract %g, %a : (!whole, !weight) -> !wide
  %z = titan.contract %g, %b : (!whole, !weight) -> !wide
  %dw = titan.contract %g, %d : (!whole, !wide) -> !titan.tensor<f32[embed = 32, ffn = 4], <[{}, {tp}] partial sum {shard}>>
  return %y, %z, %dw : !wide, !wide, !titan.tensor<f32[embed = 32, ffn = 4], <[{}, {tp}] partial sum {shard}>>
}

// -----

// A sum of two products before a reduction is divided with them. One sample per rank: the scattered dimension itself is divided.
// CHECK-LABEL: func.func @scatter
// CHECK: titan.contract
// CHECK: titan.contract
// CHECK: titan.add
// CHECK: %[[R0:.*]] = dist.reduce_scatter %{{.*}} over ["tp"] {dist.chunk = "1 of 2 of seq"}
// CHECK: titan.contract
// CHECK: titan.contract
// CHECK: titan.add
// CHECK: %[[R1:.*]] = dist.reduce_scatter %{{.*}} over ["tp"] {dist.chunk = "2 of 2 of seq"}
// CHECK: titan.pad
// CHECK: titan.insert_slice
dist.mesh @mesh [#dist.axis<"tp" = 2>]
!wide = !titan.tensor<f32[batch = 1, seq = 4, ffn = 32], <[{}, {}, {tp}]>>
!weight = !titan.tensor<f32[ffn = 32, embed = 4], <[{tp}, {}]>>
!partial = !titan.tensor<f32[batch = 1, seq = 4, embed = 4], <[{}, {}, {}] partial sum {tp}>>
!shard = !titan.tensor<f32[batch = 1, seq = 4, embed = 4], <[{}, {tp}, {}]>>
func.func @scatter(%x: !wide, %y: !wide, %a: !weight, %b: !weight) -> !shard {
  %p = titan.contract %x, %a : (!wide, !weight) -> !partial
  %q = titan.contract %y, %b : (!wide, !weight) -> !partial
  %s = titan.add %p, %q : (!partial, !partial) -> !partial
  %r = dist.reduce_scatter %s over ["tp"] : !partial -> !shard
  return %r : !shard
}

// -----

// No product, a rank with an odd number of elements, positions in head-tail order.
// CHECK-LABEL: func.func @refused
// CHECK: dist.all_gather {{.*}} {dist.whole = "no product reads the value"}
// CHECK: dist.all_gather {{.*}} {dist.whole = "no dimension that the products keep has 2, 3 or 4 equal chunks on a rank"}
// CHECK: dist.all_gather {{.*}} {dist.whole = "no dimension that the products keep has 2, 3 or 4 equal chunks on a rank"}
dist.mesh @mesh [#dist.axis<"tp" = 2>]
!shard = !titan.tensor<f32[seq = 10, embed = 32], <[{tp}, {}]>>
!whole = !titan.tensor<f32[seq = 10, embed = 32], <[{}, {}]>>
!zig = !titan.tensor<f32[seq = 8, embed = 32], <[{tp headtail}, {}]>>
!zag = !titan.tensor<f32[seq = 8, embed = 32], <[{}, {}]>>
!weight = !titan.tensor<f32[embed = 32, ffn = 2], <[{}, {tp}]>>
func.func @refused(%x: !shard, %y: !zig, %w: !weight) -> (!whole, !titan.tensor<f32[seq = 10, ffn = 2], <[{}, {tp}]>>, !titan.tensor<f32[seq = 8, ffn = 2], <[{}, {tp}]>>) {
  %a = dist.all_gather %x over ["tp"] : !shard -> !whole
  %b = dist.all_gather %x over ["tp"] : !shard -> !whole
  %c = dist.all_gather %y over ["tp"] : !zig -> !zag
  %n = titan.neg %a : !whole -> !whole
  %p = titan.contract %b, %w : (!whole, !weight) -> !titan.tensor<f32[seq = 10, ffn = 2], <[{}, {tp}]>>
  %q = titan.contract %c, %w : (!zag, !weight) -> !titan.tensor<f32[seq = 8, ffn = 2], <[{}, {tp}]>>
  return %n, %p, %q : !whole, !titan.tensor<f32[seq = 10, ffn = 2], <[{}, {tp}]>>, !titan.tensor<f32[seq = 8, ffn = 2], <[{}, {tp}]>>
}

// -----

// Long products hide three of four messages; two samples per rank would leave one of two.
dist.mesh @mesh [#dist.axis<"tp" = 8>]
!shard = !titan.tensor<bf16[batch = 2, seq = 8192, embed = 4096], <[{}, {tp}, {}]>>
!whole = !titan.tensor<bf16[batch = 2, seq = 8192, embed = 4096], <[{}, {}, {}]>>
!weight = !titan.tensor<bf16[embed = 4096, ffn = 28672], <[{}, {tp}]>>
!wide = !titan.tensor<bf16[batch = 2, seq = 8192, ffn = 28672], <[{}, {}, {tp}]>>
func.func @long(%x: !shard, %w: !weight) -> !wide {
  %g = dist.all_gather %x over ["tp"] : !shard -> !whole
  %y = titan.contract %g, %w : (!whole, !weight) -> !wide
  return %y : !wide
}

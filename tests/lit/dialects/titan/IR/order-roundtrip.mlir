// RUN: titan-opt %s | titan-opt | FileCheck %s

// Order-dependent operations name their dimension.
// CHECK-LABEL: func.func @order
func.func @order(%x: !titan.tensor<f32[seq = 8, experts = 16]>) {
  // CHECK: titan.top_k %{{.*}} along "experts" : <f32[seq = 8, experts = 16]> -> <f32[seq = 8, chosen = 2]>, <i64[seq = 8, chosen = 2]>
  %values, %indices = titan.top_k %x along "experts" : !titan.tensor<f32[seq = 8, experts = 16]> -> !titan.tensor<f32[seq = 8, chosen = 2]>, !titan.tensor<i64[seq = 8, chosen = 2]>
  // CHECK: titan.cumulative_sum %{{.*}} along "seq" : <f32[seq = 8, experts = 16]>
  %sums = titan.cumulative_sum %x along "seq" : !titan.tensor<f32[seq = 8, experts = 16]> -> !titan.tensor<f32[seq = 8, experts = 16]>
  // CHECK: titan.cumulative_sum %{{.*}} along "seq" {reverse}
  %back = titan.cumulative_sum %indices along "seq" {reverse} : !titan.tensor<i64[seq = 8, chosen = 2]> -> !titan.tensor<i64[seq = 8, chosen = 2]>
  // CHECK: titan.cumulative_count %{{.*}} along "experts" size 16 over ["seq", "chosen"] : <i64[seq = 8, chosen = 2]> -> <i64[seq = 8, chosen = 2]>
  %slots = titan.cumulative_count %indices along "experts" size 16 over ["seq", "chosen"] : !titan.tensor<i64[seq = 8, chosen = 2]> -> !titan.tensor<i64[seq = 8, chosen = 2]>
  return
}

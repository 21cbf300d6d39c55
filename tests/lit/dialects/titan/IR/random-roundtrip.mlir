// RUN: titan-opt %s | titan-opt | FileCheck %s

// A random tensor with a stream and keys.
// CHECK-LABEL: func.func @random
func.func @random(%seed: !titan.tensor<i64[]>, %step: !titan.tensor<f32[]>) {
  // CHECK: titan.random uniform "h.0" keys(%{{.*}}, %{{.*}}) : (!titan.tensor<i64[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[seq = 8]>
  %u = titan.random uniform "h.0" keys(%seed, %step) : (!titan.tensor<i64[]>, !titan.tensor<f32[]>) -> !titan.tensor<f32[seq = 8]>
  // CHECK: titan.random normal "h.1" keys() : () -> !titan.tensor<f64[seq = 8]>
  %n = titan.random normal "h.1" keys() : () -> !titan.tensor<f64[seq = 8]>
  // CHECK: titan.random normal "h.2" keys(%{{.*}}) from(%{{.*}}) of [#titan.dim<seq = 16>] : (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<f64[batch = 2, seq = 8]>
  %c = titan.random normal "h.2" keys(%seed) from(%seed) of [#titan.dim<seq = 16>] : (!titan.tensor<i64[]>, !titan.tensor<i64[]>) -> !titan.tensor<f64[batch = 2, seq = 8]>
  return
}

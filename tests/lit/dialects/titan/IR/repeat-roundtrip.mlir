// RUN: titan-opt %s | titan-opt | FileCheck %s

!x = !titan.tensor<f32[seq = 8]>
!xs = !titan.tensor<f32[layers = 6, seq = 8]>

// A repeat with an iteration argument, a scanned parameter and a stacked output.
// CHECK-LABEL: func.func @scan
func.func @scan(%x: !x, %w: !xs) -> (!x, !xs) {
  // CHECK: titan.repeat <layers = 6> iter_args(%{{.*}}) scanned(%{{.*}})
  %y, %seen = titan.repeat <layers = 6> iter_args(%x) scanned(%w) : (!x, !xs) -> (!x, !xs) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x):
    %n = titan.mul %c, %wl : (!x, !x) -> !x
    // CHECK: titan.yield %{{.*}}, %{{.*}}
    titan.yield %n, %c : !x, !x
  }
  return %y, %seen : !x, !xs
}

// A reverse repeat without iteration arguments and stacked outputs.
// CHECK-LABEL: func.func @reverse
func.func @reverse(%x: !x) -> !x {
  // CHECK: titan.repeat <layers = 6> reverse iter_args(%{{.*}}) scanned()
  %y = titan.repeat <layers = 6> reverse iter_args(%x) scanned() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return %y : !x
}

// Two variants. A scanned input or stacked output of one variant has the slots of its iterations.
// CHECK-LABEL: func.func @variants
func.func @variants(%x: !x, %w: !xs, %e: !titan.tensor<f32[layers.x2 = 2 of layers, seq = 8]>)
    -> (!titan.tensor<f32[layers.x4 = 4 of layers, seq = 8]>, !xs) {
  // CHECK: titan.repeat <layers = 6> table [0, 1, 0, 0, 1, 0] iter_args(%{{.*}}) scanned(%{{[^ ,]*}}, %{{[^ ]*}} for [1]) stacked([0], [0, 1]) :
  %y, %some, %all = titan.repeat <layers = 6> table [0, 1, 0, 0, 1, 0] iter_args(%x) scanned(%w, %e for [1])
      stacked([0], [0, 1]) : (!x, !xs, !titan.tensor<f32[layers.x2 = 2 of layers, seq = 8]>)
      -> (!x, !titan.tensor<f32[layers.x4 = 4 of layers, seq = 8]>, !xs) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x):
    %n = titan.mul %c, %wl : (!x, !x) -> !x
    titan.yield %n, %c, %n : !x, !x, !x
  // CHECK: }, {
  }, {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x, %el: !x):
    %n = titan.add %wl, %el : (!x, !x) -> !x
    titan.yield %n, %c : !x, !x
  }
  return %some, %all : !titan.tensor<f32[layers.x4 = 4 of layers, seq = 8]>, !xs
}

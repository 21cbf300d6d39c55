// RUN: titan-opt %s | titan-opt | FileCheck %s

!x = !titan.tensor<f32[seq = 8]>
!xs = !titan.tensor<f32[layers = 6, seq = 8]>

// A repeat carries a value, slices a parameter and stacks what each layer saw.
// CHECK-LABEL: func.func @scan
func.func @scan(%x: !x, %w: !xs) -> (!x, !xs) {
  // CHECK: titan.repeat <layers = 6> carry(%{{.*}}) slices(%{{.*}})
  %y, %seen = titan.repeat <layers = 6> carry(%x) slices(%w) : (!x, !xs) -> (!x, !xs) {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x, %wl: !x):
    %n = titan.mul %c, %wl : (!x, !x) -> !x
    // CHECK: titan.yield %{{.*}}, %{{.*}}
    titan.yield %n, %c : !x, !x
  }
  return %y, %seen : !x, !xs
}

// The other direction, nothing carried and nothing stacked are as good.
// CHECK-LABEL: func.func @reverse
func.func @reverse(%x: !x) -> !x {
  // CHECK: titan.repeat <layers = 6> reverse carry(%{{.*}}) slices()
  %y = titan.repeat <layers = 6> reverse carry(%x) slices() : (!x) -> !x {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !x):
    titan.yield %c : !x
  }
  return %y : !x
}

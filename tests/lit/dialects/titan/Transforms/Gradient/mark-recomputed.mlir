// RUN: split-file %s %t
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=all | FileCheck %s --check-prefix=CHECK-FULL
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=every=2 | FileCheck %s --check-prefix=CHECK-EVERY
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=layers=0 | FileCheck %s --check-prefix=CHECK-LAYERS
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=save=matmul | FileCheck %s --check-prefix=CHECK-SAVE
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed | FileCheck %s --check-prefix=CHECK-NONE

// `all`: all operations of all layers are marked.
// CHECK-FULL: titan.repeat <layers = 3> iter_args(
// CHECK-FULL: titan.contract {{.*}} {titan.recompute}
// CHECK-FULL: titan.reduce max {{.*}} {titan.recompute}

// `every`: every second layer, here the second one. The body becomes two bodies with the same scanned
// inputs.
// CHECK-EVERY: titan.repeat <layers = 3> table [0, 1, 0] iter_args(%{{.*}}) scanned(%{{[^ ]*}}) :
// CHECK-EVERY: titan.contract
// CHECK-EVERY-NOT: titan.recompute
// CHECK-EVERY: }, {
// CHECK-EVERY: titan.contract {{.*}} {titan.recompute}

// `layers`: the listed layers are marked.
// CHECK-LAYERS: titan.repeat <layers = 3> table [0, 1, 1]
// CHECK-LAYERS: titan.contract {{.*}} {titan.recompute}
// CHECK-LAYERS: }, {
// CHECK-LAYERS-NOT: titan.recompute

// `save`: all operations except products are marked.
// CHECK-SAVE-NOT: titan.contract {{.*}} {titan.recompute}
// CHECK-SAVE: titan.reduce max {{.*}} {titan.recompute}

// `blocks`: the operations of the block are marked.
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=blocks=Tall | FileCheck %s --check-prefix=CHECK-BLOCKS
// CHECK-BLOCKS-NOT: titan.recompute
// CHECK-BLOCKS: titan.reduce max {{.*}} {titan.recompute}
// CHECK-BLOCKS-NOT: titan.recompute
// CHECK-BLOCKS-NOT: titan.blocks

// CHECK-NONE-NOT: titan.recompute

// With full recomputation the forward stacks the iteration argument, and the backward contains the
// contraction and the maximum; with saved products only the maximum.
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=all --titan-differentiate | FileCheck %s --check-prefix=CHECK-FULL-GRADIENT
// CHECK-FULL-GRADIENT: titan.repeat <layers = 3> iter_args({{.*}} -> (!titan.tensor<f64[seq = 3, in = 2]>, !titan.tensor<f64[layers = 3, seq = 3, in = 2]>) {
// CHECK-FULL-GRADIENT: titan.repeat <layers = 3> reverse
// CHECK-FULL-GRADIENT: titan.contract
// CHECK-FULL-GRADIENT: titan.reduce max
// CHECK-FULL-GRADIENT-NOT: titan.recompute
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed=save=matmul --titan-differentiate | FileCheck %s --check-prefix=CHECK-SAVE-GRADIENT
// CHECK-SAVE-GRADIENT: titan.repeat <layers = 3> reverse
// CHECK-SAVE-GRADIENT: titan.reduce max
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed --titan-differentiate | FileCheck %s --check-prefix=CHECK-NONE-GRADIENT
// CHECK-NONE-GRADIENT: titan.repeat <layers = 3> reverse
// CHECK-NONE-GRADIENT-NOT: titan.reduce max

// Recomputation changes no bit.
// RUN: titan-opt %t/program.mlir --titan-mark-recomputed --titan-differentiate -o %t/none.out.mlir
// RUN: for policy in all every=2 layers=0 save=matmul blocks=Tall; do titan-opt %t/program.mlir --titan-mark-recomputed=$policy --titan-differentiate | titan-interpret - --program train --compare %t/none.out.mlir || exit 1; done | FileCheck %s --check-prefix=CHECK-ALIKE
// CHECK-ALIKE-COUNT-5: equal: 4 results compared, greatest deviation 0 in

//--- program.mlir
!t = !titan.tensor<f64[seq = 3, in = 2]>
!ws = !titan.tensor<f64[layers = 3, in = 2, out = 2]>
!s = !titan.tensor<f64[]>
func.func @train(%x: !t {titan.param = "x", titan.init = #titan.init<normal, [1.0]>},
                 %v: !titan.tensor<f64[out = 2, in = 2]> {titan.param = "v", titan.init = #titan.init<normal, [1.0]>},
                 %w: !ws {titan.param = "layers.w", titan.stacked, titan.init = #titan.init<normal, [1.0]>})
    -> (!s {titan.output = "loss"}) attributes {titan.program = "train"} {
  %y = titan.repeat <layers = 3> iter_args(%x) scanned(%w) : (!t, !ws) -> !t {
  ^bb0(%l: !titan.tensor<i64[]>, %c: !t, %wl: !titan.tensor<f64[in = 2, out = 2]>):
    %h = titan.contract %c, %wl : (!t, !titan.tensor<f64[in = 2, out = 2]>) -> !titan.tensor<f64[seq = 3, out = 2]>
    %m = titan.reduce max %h {titan.blocks = ["Deep", "Tall"]} : !titan.tensor<f64[seq = 3, out = 2]> -> !titan.tensor<f64[seq = 3]>
    %e = titan.div %h, %m : (!titan.tensor<f64[seq = 3, out = 2]>, !titan.tensor<f64[seq = 3]>) -> !titan.tensor<f64[seq = 3, out = 2]>
    %n = titan.contract %e, %v : (!titan.tensor<f64[seq = 3, out = 2]>, !titan.tensor<f64[out = 2, in = 2]>) -> !t
    titan.yield %n : !t
  }
  %loss = titan.reduce sum %y : !t -> !s
  return %loss : !s
}
